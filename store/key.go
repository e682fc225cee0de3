package store

import (
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"unicode"

	"quartermaster/schema/db"
)

// License keys, redeem codes and order references are written in Crockford's base32:
// ten digits and the letters without I, L, O and U.
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const (
	keyLength  = 25 // 125 bits: XXXXX-XXXXX-XXXXX-XXXXX-XXXXX
	codeLength = 16 // 80 bits: XXXX-XXXX-XXXX-XXXX
	refLength  = 10 // ORD-XXXXXXXXXX
)

// meant is the canonical character for each ASCII letter and digit as people write them; 0 for one outside the
// alphabet.
var meant = func() (m [128]byte) {
	for _, c := range alphabet {
		m[c] = byte(c)
		m[unicode.ToLower(c)] = byte(c)
	}
	for written, c := range map[byte]byte{'O': '0', 'o': '0', 'I': '1', 'i': '1', 'L': '1', 'l': '1'} {
		m[written] = c
	}
	return m
}()

// read returns a typed text as n canonical characters: in any case, O for 0, I and L for 1, ignoring other characters
// (hyphens, spaces, dashes of mail programs). ok is false for anything else.
func read(written string, n int) (canonical string, ok bool) {
	var buf [keyLength]byte
	got := 0
	for _, r := range written {
		switch {
		case r < 128 && meant[r] != 0:
			if got == n {
				return "", false
			}
			buf[got] = meant[r]
			got++
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return "", false
		}
	}
	if got != n {
		return "", false
	}
	return string(buf[:n]), true
}

// digest is the look-up value of a code, or of a key of our form. An ill-formed one has a digest too, under which
// nothing is stored, so that its look-up takes the same work.
func digest(written string, n int) []byte {
	canonical, _ := read(written, n)
	sum := sha256.Sum256([]byte(canonical))
	return sum[:]
}

// random returns n characters of the alphabet, each by its own random bits.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = alphabet[b[i]%32]
	}
	return string(b)
}

// grouped writes canonical characters in groups of size, with hyphens between.
func grouped(canonical string, size int) string {
	var b strings.Builder
	b.Grow(len(canonical) + len(canonical)/size)
	for i := range len(canonical) {
		if i > 0 && i%size == 0 {
			b.WriteByte('-')
		}
		b.WriteByte(canonical[i])
	}
	return b.String()
}

// The length of an imported key, in characters.
const (
	leastKey = 8
	mostKey  = 1000
)

// stored are the look-up values of a license's key: the digest of our form, or of another form's text and of its loose
// form.
func stored(key string) (hash, loose []byte) {
	if _, ours := read(key, keyLength); ours {
		return digest(key, keyLength), nil
	}
	if form := looseForm(key); form != "" {
		loose = marked('~', form)
	}
	return marked('=', key), loose
}

// probes are the three digests that a text is looked up by, the arguments of licenseOfKey.
func probes(written string) []any {
	written = strings.TrimSpace(written)
	return []any{digest(written, keyLength), marked('=', written), marked('~', looseForm(written))}
}

// licenseOfKey is, in SQL, the id of the one license of a text, 0 for none: by our form, verbatim, or by the loose form
// if one license has that. At most one of the first two matches. All three are always looked up, so that an existing
// key takes as long as an unknown one.
const licenseOfKey = `max(ifnull((SELECT id FROM store_licenses WHERE key_hash = ?1), 0), ifnull((SELECT id
	FROM store_licenses WHERE key_hash = ?2), 0),
	ifnull((SELECT CASE count(*) WHEN 1 THEN min(id) END FROM (SELECT id FROM store_licenses
	WHERE loose_hash = ?3 LIMIT 2)), 0))`

// licenseByText is the id of the license that a text means; 0 is none.
func licenseByText(c *db.Conn, written string) (int64, error) {
	id, _, err := db.One(c, db.Int, "SELECT "+licenseOfKey, probes(written)...)
	return id, err
}

// marked is a digest that no digest of another sort can equal: sort is not a character of our keys.
func marked(sort byte, text string) []byte {
	sum := sha256.Sum256(append([]byte{sort}, text...))
	return sum[:]
}

// looseForm is a key without what copying may change: the case of ASCII letters, white space, hyphens and dashes.
func looseForm(key string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case unicode.IsSpace(r), unicode.Is(unicode.Pd, r), r == '\u00ad', r == '\u2212':
			return -1
		}
		return r
	}, key)
}

func newKey() string  { return grouped(random(keyLength), 5) }
func newCode() string { return grouped(random(codeLength), 4) }
func newRef() string  { return "ORD-" + random(refLength) }

// mask hides a key but for its last four characters.
func mask(key string) string {
	b := []rune(key)
	for i := range max(0, len(b)-shownOfKey) {
		if b[i] != '-' {
			b[i] = '*'
		}
	}
	return string(b)
}

// shownOfKey is the number of characters of a key shown to people who may not use it.
const shownOfKey = 4

// KeyEnd is the last four characters of a key.
func KeyEnd(key string) string {
	b := []rune(key)
	return string(b[max(0, len(b)-shownOfKey):])
}
