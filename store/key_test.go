package store

import (
	"strings"
	"testing"
	"unicode/utf8"
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

func FuzzReadKey(f *testing.F) {
	for _, seed := range []string{"", "0123456789ABCDEFGHJKMNPQR", "o1234-56789-abcde-fghjk-mnpqr", "7Q4Z-J0M3-RT9W-XYAB", "\xff", "٠", strings.Repeat("-", 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, written string) {
		for _, n := range []int{keyLength, codeLength} {
			got, ok := read(written, n)
			if !ok {
				if got != "" {
					t.Errorf("refused %q and gave %q", written, got)
				}
				continue
			}
			if len(got) != n || strings.Trim(got, alphabet) != "" {
				t.Errorf("read %q as %q", written, got)
			}
			again, ok := read(strings.ToLower(grouped(got, 4)), n)
			if !ok || again != got {
				t.Errorf("%q reads as %q the second time", got, again)
			}
			if utf8.RuneCountInString(written) < n {
				t.Errorf("%d characters out of %q", n, written)
			}
		}
	})
}

func FuzzStripeSignature(f *testing.F) {
	for _, seed := range []string{
		"", "t=1492774577,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd", "t=,v1=", "t=1,t=2,v1=00", "v1=,v0=x", "t=-1", "=,=", "t==1",
		"t=1492774577,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd,v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39",
	} {
		f.Add(seed)
	}
	body := []byte(`{"id":"evt_1"}`)
	f.Fuzz(func(t *testing.T, header string) {
		s, ok := readStripeSignature(header)
		if ok && (len(s.v1) == 0 || s.time == "" || s.at < 0) {
			t.Errorf("%q reads as %+v", header, s)
		}
		if verifyStripe(header, body, "whsec_fuzz", 1492774577) == nil {
			t.Errorf("%q verifies", header)
		}
	})
}
