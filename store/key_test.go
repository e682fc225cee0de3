package store

import (
	"strings"
	"testing"
)

func TestKeysAreReadAsPeopleWriteThem(t *testing.T) {
	const key = "0123456789ABCDEFGHJKMNPQR"
	for written, ok := range map[string]bool{
		key:                                       true,
		"01234-56789-ABCDE-FGHJK-MNPQR":           true,
		" o1234 56789 abcde fghjk mnpqr\n":        true,
		"OI234–56789—ABCDE−FGHJK_MNPQR":           true, // dashes that mail programs make
		"0l234.56789/ABCDE\u00a0FGHJK\u200bMNPQR": true,
		"0L23456789ABCDEFGHJKMNPQR.":              true,
		"U1234-56789-ABCDE-FGHJK-MNPQR":           false,
		"0123456789ABCDEFGHJKMNPQ":                false,
		"0123456789ABCDEFGHJKMNPQRS":              false,
		"٠1234-56789-ABCDE-FGHJK-MNPQR":           false,
		"О1234-56789-ABCDE-FGHJK-MNPQR":           false, // a Cyrillic O
		"":                                        false,
		"-----":                                   false,
		"\xff\xfe":                                false,
	} {
		got, is := read(written, keyLength)
		if is != ok || ok && got != key {
			t.Errorf("read(%q) = %q, %v, want %v", written, got, is, ok)
		}
	}
}

func TestRandomTextUsesTheWholeAlphabet(t *testing.T) {
	seen := map[byte]int{}
	for _, c := range []byte(random(32 * 1000)) {
		seen[c]++
	}
	equal(t, "characters", len(seen), 32)
	for c, n := range seen {
		if strings.IndexByte(alphabet, c) < 0 || n < 700 || n > 1300 { // some nine standard deviations
			t.Errorf("%q came %d times of 32000", c, n)
		}
	}
}
