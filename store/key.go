package store

import (
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"unicode"
)

// License keys, redeem codes and order references are written in Crockford's base32:
// ten digits and the letters without I, L, O and U.
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const (
	keyLength  = 25 // 125 bits: XXXXX-XXXXX-XXXXX-XXXXX-XXXXX
	codeLength = 16 // 80 bits: XXXX-XXXX-XXXX-XXXX
	refLength  = 10 // ORD-XXXXXXXXXX
)

// meant is the canonical character for each ASCII letter and digit as people write
// them; 0 is one that the alphabet does not have.
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

// read returns what a person wrote as n canonical characters: in any case, O for 0, I
// and L for 1, whatever is no letter and no digit (hyphens, spaces, dashes that a
// mail program made) ignored. ok is false for anything else.
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

// digest is what a key or code is looked up by. An ill-formed one has a digest too,
// which nothing was stored under, so that looking it up takes the same work.
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

func newKey() string  { return grouped(random(keyLength), 5) }
func newCode() string { return grouped(random(codeLength), 4) }
func newRef() string  { return "ORD-" + random(refLength) }

// mask hides a key but for its last four characters.
func mask(key string) string {
	const shown = 4
	b := []byte(key)
	for i := range max(0, len(b)-shown) {
		if b[i] != '-' {
			b[i] = '*'
		}
	}
	return string(b)
}
