// Package words compares a search text with stored texts: each word, in any order, in any case, with or without
// diacritics. The database has it as SQL functions (has_words, folded).
package words

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Words are a search: each word, in any order, in any case, with or without diacritics.
type Words []string

// Of are the words of a text, folded; none for an empty one.
func Of(text string) Words { return strings.Fields(Fold(text)) }

// In reports whether each word is in one of the texts. No words are in every text.
func (w Words) In(texts ...string) bool {
	for _, word := range w {
		found := false
		for _, t := range texts {
			if hasFolded(t, word) {
				found = true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// HeldBy is the number of the words that the text contains.
func (w Words) HeldBy(text string) (n int) {
	for _, word := range w {
		if hasFolded(text, word) {
			n++
		}
	}
	return n
}

// Parts are the words of a text like Of, also separated by characters other than letters and digits: "TEA-GREEN-100"
// has three.
func Parts(text string) Words {
	return strings.FieldsFunc(Fold(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// base are letters that no diacritic makes, but that people type as plain ones.
var base = strings.NewReplacer("ø", "o", "ł", "l", "đ", "d", "æ", "ae", "œ", "oe", "ß", "ss", "ı", "i", "þ", "th", "ð",
	"d")

// Fold is a text in the form for comparison: "Müller" is "muller".
func Fold(text string) string {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			text = strings.ToLower(strings.ToUpper(text))
			return base.Replace(strings.Map(func(r rune) rune {
				if unicode.Is(unicode.Mn, r) {
					return -1
				}
				return r
			}, norm.NFD.String(text)))
		}
	}
	return strings.ToLower(text)
}

// hasFolded reports whether the text contains the folded one. ASCII, the most frequent case, is compared in place.
func hasFolded(text, wanted string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return strings.Contains(Fold(text), wanted)
		}
	}
	for from := 0; from+len(wanted) <= len(text); from++ {
		n := 0
		for n < len(wanted) && lower(text[from+n]) == wanted[n] {
			n++
		}
		if n == len(wanted) {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// Number is the number in a text, with # or one of the prefixes or without: 12, #12, and with the prefix WO also WO-12,
// wo12 and "wo 12". It is 0 for any other text.
func Number(text string, prefixes ...string) int64 {
	text = strings.TrimSpace(text)
	for _, p := range append(prefixes, "#") {
		if len(text) > len(p) && strings.EqualFold(text[:len(p)], p) {
			text = strings.TrimLeft(text[len(p):], "#- ")
			break
		}
	}
	if strings.TrimLeft(text, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
