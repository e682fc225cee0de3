package strict

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape appends the text of s, the inside of a valid JSON string, to buf.
func unescape(buf, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			return append(buf, s...)
		}
		buf = append(buf, s[:i]...)
		c := s[i+1]
		if c != 'u' {
			buf = append(buf, escapes[c])
			s = s[i+2:]
			continue
		}
		r := hexRune(s[i+2:])
		s = s[i+6:]
		if utf16.IsSurrogate(r) {
			r = utf16.DecodeRune(r, hexRune(s[2:]))
			s = s[6:]
		}
		buf = utf8.AppendRune(buf, r)
	}
}

// escapes maps the letter of a two-byte escape to its character, 0 for none.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// hexRune parses the first four bytes of s as hexadecimal digits, -1 if they are not.
func hexRune(s []byte) rune {
	if len(s) < 4 {
		return -1
	}
	r := rune(0)
	for _, c := range s[:4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
