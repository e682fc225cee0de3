package docs

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"quartermaster/schema/assert"
)

// longestSentence is the most words of a sentence in a document; the average of a page is at most 15. Commands, names
// in backquotes and link addresses count as one word.
const (
	longestSentence = 25
	averageSentence = 15.0
	longestPage     = 1500
)

// endlessPages may be longer than longestPage: the list of changes, and what a test wrote.
var endlessPages = []string{"CHANGELOG.md", "agents-day.md"}

// notOnAPage are words that the glossary replaces, and habits of older text.
var notOnAPage = regexp.MustCompile(`(?i)\b(least order|lies unsold|take into stock|receive payment|record a payment\*|` +
	`create work order|create purchase|advance status|licenses that work|active until forever|until forever|come in as|` +
	`your word that|cells are parted|read it so|what stands there|means: nothing|no such page|is not asked so|issue \d+|` +
	`who changed it, and when|rows told|is told as|stands in for|next to no rights|whoever|good until|shown once|` +
	`in-progress\*)`)

var (
	fences    = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	comments  = regexp.MustCompile(`(?s)<!--.*?-->`)
	codeWord  = regexp.MustCompile("``[^`]+``|`[^`]*`")
	linkText  = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	endOfOne  = regexp.MustCompile(`[.!?]['")*_]*(\s+|$)`)
	listItem  = regexp.MustCompile(`^\s*([-*]|\d+\.)\s+`)
	tableRule = regexp.MustCompile(`^\s*\|?[\s:|-]+\|?\s*$`)
)

// prose is a Markdown text without blocks and comments; commands and names are the word "code", links their texts.
func prose(text string) string {
	text = fences.ReplaceAllString(comments.ReplaceAllString(text, "\n"), "\n\n")
	return codeWord.ReplaceAllString(linkText.ReplaceAllString(text, "$1"), "code")
}

// sentences returns the sentences of a Markdown text's paragraphs, list items and table cells, without blocks, headings
// and comments.
func sentences(text string) (all []string) {
	var paragraph []string
	end := func() {
		rest := strings.Join(paragraph, " ")
		paragraph = nil
		for rest != "" {
			cut := len(rest)
			if at := endOfOne.FindStringIndex(rest); at != nil {
				cut = at[1]
			}
			if s := strings.TrimSpace(rest[:cut]); wordsIn(s) > 1 {
				all = append(all, s)
			}
			rest = rest[cut:]
		}
	}
	for line := range strings.SplitSeq(prose(text), "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "", strings.HasPrefix(trimmed, "#"), tableRule.MatchString(line):
			end()
		case strings.HasPrefix(trimmed, "|"):
			end()
			for cell := range strings.SplitSeq(strings.Trim(trimmed, "|"), "|") {
				paragraph = []string{strings.TrimSpace(cell)}
				end()
			}
		case listItem.MatchString(line):
			end()
			paragraph = []string{listItem.ReplaceAllString(line, "")}
		default:
			paragraph = append(paragraph, strings.TrimPrefix(trimmed, "> "))
		}
	}
	end()
	return all
}

// wordsIn counts the words that have a letter or a digit.
func wordsIn(s string) (n int) {
	for f := range strings.FieldsSeq(s) {
		if strings.IndexFunc(f, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0 {
			n++
		}
	}
	return n
}

func TestSentencesOfDocumentsAreShort(t *testing.T) {
	t.Parallel()
	for _, path := range documents(t) {
		_, text := document(t, path)
		total, all := 0, sentences(text)
		for _, s := range all {
			n := wordsIn(s)
			total += n
			assert.That(t, n <= longestSentence, "%s: %d words: %s", path, n, s)
		}
		if average := float64(total) / float64(max(len(all), 1)); average > averageSentence {
			t.Errorf("%s: sentences have %.1f words on average, more than %g", path, average, averageSentence)
		}
		if name := filepath.Base(path); total > longestPage && !slices.Contains(endlessPages, name) {
			t.Errorf("%s: %d words, more than %d", path, total, longestPage)
		}
		found := notOnAPage.FindAllString(comments.ReplaceAllString(text, ""), -1)
		assert.That(t, found == nil, "%s: words that the glossary replaces: %s", path, strings.Join(found, ", "))
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	got := fmt.Sprint(len(sentences("# A heading\n\nOne thing. Two `a b c` things;\nand a third.\n\n- an item\n- two items: yes it is\n\n" +
		"```sh\nno sentence here\n```\n\n| a cell | two of them. Yes sir |\n|---|---|\n")))
	assert.That(t, got == "7", "%s sentences", got)
}
