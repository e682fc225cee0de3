package docs

import (
	"os"
	"path/filepath"
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"regexp"
	"strings"
	"testing"
)

// document reads a document and its shell blocks, run or not, by their first line.
func document(t *testing.T, path string) (blocks map[int]string, text string) {
	t.Helper()
	content := assert.Value(os.ReadFile(path))(t)
	blocks = map[int]string{}
	shell := regexp.MustCompile("(?ms)^```sh[^\n]*\n(.*?)^```$")
	for _, m := range shell.FindAllStringSubmatchIndex(string(content), -1) {
		blocks[strings.Count(string(content[:m[0]]), "\n")+1] = string(content[m[2]:m[3]])
	}
	assert.That(t, strings.Count("\n"+string(content), "\n```")%2 == 0, "%s: a block is not closed", path)
	return blocks, string(content)
}

// documents are the README and all files of docs.
func documents(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("../../../docs/*.md")
	assert.Must(t, err == nil && len(all) != 0, "%v", err)
	return append(all, "../../../README.md", "../../../CONTRIBUTING.md", "../../../CHANGELOG.md")
}

var (
	links   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	notWord = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestDocumentsHaveNoDeadLinks: a link into the tree leads to an existing file and heading.
func TestDocumentsHaveNoDeadLinks(t *testing.T) {
	t.Parallel()
	for _, path := range documents(t) {
		_, text := document(t, path)
		for _, m := range links.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			file := path
			if target != "" {
				file = filepath.Join(filepath.Dir(path), target)
			}
			content, err := os.ReadFile(file)
			if st, is := os.Stat(file); is == nil && st.IsDir() {
				continue
			}
			if err != nil {
				t.Errorf("%s: the link %s leads nowhere", path, m[1])
				continue
			}
			assert.That(t, anchor == "" || hasHeading(string(content), anchor), "%s: %s has no heading #%s", path, file, anchor)
		}
	}
}

func hasHeading(text, anchor string) bool {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		slug := strings.ReplaceAll(notWord.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		if slug == anchor {
			return true
		}
	}
	return false
}

// TestDocumentsCallExistingCommands: every line of a shell block that calls the program names an existing command
// with existing flags.
func TestDocumentsCallExistingCommands(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	helped := map[string]string{}
	flag := regexp.MustCompile(`\s(--[a-z][a-z-]*)`)
	for _, path := range documents(t) {
		if filepath.Base(path) == "CHANGELOG.md" {
			continue
		}
		blocks, _ := document(t, path)
		for at, block := range blocks {
			for line := range strings.SplitSeq(strings.ReplaceAll(block, "\\\n", " "), "\n") {
				line, _, _ = strings.Cut(line, " #")
				line, _, _ = strings.Cut(line, " | ")
				call := strings.TrimPrefix(strings.TrimSpace(line), "./")
				words := strings.Fields(call)
				if len(words) < 2 || words[0] != "quartermaster" {
					continue
				}
				help := helpFor(c, helped, words[1:])
				if help == "" {
					t.Errorf("%s:%d: there is no command %s", path, at, call)
					continue
				}
				for _, m := range flag.FindAllStringSubmatch(call, -1) {
					assert.Contains(t, help, m[1], "%s:%d: %s: the command has no", path, at, call)
				}
			}
		}
	}
}

// helpFor is the help of the longest command at the start of words.
func helpFor(c *apptest.CLI, known map[string]string, words []string) string {
	n := 0
	for n < len(words) && regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(words[n]) && n < 4 {
		n++
	}
	for ; n > 0; n-- {
		name := strings.Join(words[:n], " ")
		if _, ok := known[name]; !ok {
			code, out, _ := c.Call(append(append([]string{}, words[:n]...), "--help")...)
			known[name] = ""
			if code == 0 && strings.Contains(out, "quartermaster "+name) {
				known[name] = out
			}
		}
		if known[name] != "" {
			return known[name]
		}
	}
	return ""
}

// TestEveryFlagOfServeIsDocumented: install.md's table has every flag of serve with its variable.
func TestEveryFlagOfServeIsDocumented(t *testing.T) {
	_, text := document(t, "../../../docs/install.md")
	code, help, _ := apptest.BareCLI(t).Call("serve", "--help")
	flags := regexp.MustCompile(`(?m)^ +(?:-h, )?--([a-z-]+)`).FindAllStringSubmatch(help, -1)
	assert.Must(t, code == 0 && len(flags) >= 20, "serve --help: exit %d\n%s", code, help)
	for _, m := range flags {
		switch m[1] {
		case "help":
		default:
			assert.That(t, strings.Contains(text, "`--"+m[1]+"`") || strings.Contains(text, "`--"+m[1]+" "),
				"docs/install.md does not tell of --%s", m[1])
		}
	}
}

// TestDocumentsNameExistingFiles: a Go file or a test that a document names exists.
func TestDocumentsNameExistingFiles(t *testing.T) {
	t.Parallel()
	files, tests := map[string]bool{}, ""
	err := filepath.WalkDir("../../..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		for part := strings.TrimPrefix(path, "../../../"); part != ""; _, part, _ = strings.Cut(part, "/") {
			files[part] = true
		}
		if strings.HasSuffix(path, "_test.go") {
			content, err := os.ReadFile(path)
			tests += string(content)
			return err
		}
		return nil
	})
	assert.OK(t, err)
	file, test := regexp.MustCompile("`([a-z][a-z_/.]*\\.go)`"), regexp.MustCompile(`\bTest[A-Z]\w+`)
	for _, path := range documents(t) {
		_, text := document(t, path)
		for _, m := range file.FindAllStringSubmatch(text, -1) {
			assert.That(t, files[m[1]], "%s names %s, which is not there", path, m[1])
		}
		for _, name := range test.FindAllString(text, -1) {
			if !strings.Contains(tests, "func "+name) { // a prefix stands for all names that begin with it
				t.Errorf("%s names %s, which is not there", path, name)
			}
		}
	}
}
