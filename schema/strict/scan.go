package strict

import (
	"encoding/binary"
	"math/bits"
)

// The scanners below look at eight bytes of a string at a time. In each of the
// masks the lowest marked byte is exact: a borrow out of one byte can only make
// a false mark above a true one.
const (
	each = 0x0101010101010101
	high = 0x8080808080808080
)

// notable marks the bytes that are a quote, a backslash, a control character or
// not ASCII.
func notable(x uint64) uint64 {
	quote := x ^ each*'"'
	slash := x ^ each*'\\'
	return ((quote - each) | (slash - each) | (x - each*' ') | x) & high
}

// quoteOrSlash marks the bytes that are a quote or a backslash.
func quoteOrSlash(x uint64) uint64 {
	quote := x ^ each*'"'
	slash := x ^ each*'\\'
	return ((quote-each)&^quote | (slash-each)&^slash) & high
}

// plain returns the index of the first byte of b from i on that is notable, or
// len(b).
func plain(b []byte, i int) int {
	for i+8 <= len(b) {
		if m := notable(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(b) && !(b[i] == '"' || b[i] == '\\' || b[i] < ' ' || b[i] >= 0x80) {
		i++
	}
	return i
}

// skipString returns the index after the string whose opening quote is just
// before i, in valid JSON.
func skipString(b []byte, i int) int {
	for {
		for i+8 <= len(b) {
			m := quoteOrSlash(binary.LittleEndian.Uint64(b[i:]))
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		for b[i] != '"' && b[i] != '\\' {
			i++
		}
		if b[i] == '"' {
			return i + 1
		}
		i += 2
	}
}

// skipValue returns the index after the value that begins at i, in valid JSON.
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i+1)
	case '{', '[':
		return skipNested(b, i+1)
	}
	for i < len(b) && !ends[b[i]] {
		i++
	}
	return i
}

// skipNested returns the index after the array or object whose opening bracket
// is just before i, in valid JSON.
func skipNested(b []byte, i int) int {
	for depth := 1; ; {
		switch b[i] {
		case '"':
			i = skipString(b, i+1)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
		i++
	}
}

// ends holds the bytes that may follow a number or a literal.
var ends = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, ',': true, ']': true, '}': true}

// skipSpace returns the index of the first byte of b from i on that is not
// white space, or len(b).
func skipSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}
