package strict

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Error is the reason of a refusal.
type Error struct {
	Offset int    // in bytes from the start of the input; may equal its length
	What   string // printable text; quotes at most 60 bytes of the input
}

// Error returns What and the place: `duplicate name "qty" at byte 40`.
func (e *Error) Error() string {
	return e.What + " at byte " + strconv.Itoa(e.Offset)
}

const quotedBytes = 48

// quoted returns s in double quotes, shortened if long, with unprintable characters escaped.
func quoted(s []byte) string {
	b := make([]byte, 1, quotedBytes+8)
	b[0] = '"'
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		var one [12]byte
		q := strconv.AppendQuote(one[:0], string(s[:n]))
		q = q[1 : len(q)-1]
		if r != utf8.RuneError && unicode.IsPrint(r) && r != '"' && r != '\\' {
			q = s[:n]
		}
		if len(b)+len(q) > quotedBytes {
			return string(b) + `…"`
		}
		b = append(b, q...)
		s = s[n:]
	}
	return string(b) + `"`
}

// named describes the byte at b[i] for a message.
func named(b []byte, i int) string {
	c := b[i]
	switch {
	case c == '\'':
		return "a single quote"
	case c > ' ' && c < 0x7f:
		return "'" + string(rune(c)) + "'"
	case c == 0:
		return "a NUL byte"
	case c < utf8.RuneSelf:
		return "control character 0x" + hex2(c)
	}
	if r, n := utf8.DecodeRune(b[i:]); n > 1 {
		if unicode.IsPrint(r) {
			return "'" + string(r) + "'"
		}
		return "character U+" + hex4(r)
	}
	return "byte 0x" + hex2(c)
}

const hexDigits = "0123456789abcdef"

func hex2(c byte) string { return string([]byte{hexDigits[c>>4], hexDigits[c&15]}) }

func hex4(r rune) string {
	s := strconv.FormatInt(int64(r), 16)
	for len(s) < 4 {
		s = "0" + s
	}
	return s
}
