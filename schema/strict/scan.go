package strict

import (
	"encoding/binary"
	"math/bits"
)

// The scanners below read eight bytes of a string at a time. In each mask the lowest marked byte is exact: a borrow can
// only cause a false mark above a true one.
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

// hasSlash reports whether a byte of x is a backslash.
func hasSlash(x uint64) bool {
	slash := x ^ each*'\\'
	return (slash-each)&^slash&high != 0
}

// zeros marks the bytes of x that are 0, each of them exactly.
func zeros(x uint64) uint64 {
	return ^((x&^high + (high - each)) | x) & high
}

// shortEnd returns the index after the string whose opening quote is just before i, if it has at most eight plain ASCII
// characters; otherwise 0. It is small enough to be inlined where names are read.
func shortEnd(b []byte, i int) int {
	if i+8 < len(b) {
		i += bits.TrailingZeros64(notable(binary.LittleEndian.Uint64(b[i:]))) >> 3
		if b[i] == '"' {
			return i + 1
		}
	}
	return 0
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
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' && b[i] < 0x80 {
		i++
	}
	return i
}

// skipString returns the index after the string whose opening quote is just before i, or that continues at i, in valid
// JSON; escaped reports whether it met a backslash.
func skipString(b []byte, i int) (end int, escaped bool) {
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
			return i + 1, escaped
		}
		escaped = true
		i += 2
	}
}

// skipScalar returns the index after the number or literal that begins at i, in
// valid JSON.
func skipScalar(b []byte, i int) int {
	for i < len(b) && !ends[b[i]] {
		i++
	}
	return i
}

// skipNested returns the index after the array or object whose opening bracket is just before i, in valid JSON. It
// gives up and returns 0 at stop; at len(b) it never does.
//
// It reads eight bytes at a time, without a branch per string: the parity of the quotes so far tells which bytes are
// inside a string; the rest are brackets. Words with a backslash are read byte by byte.
func skipNested(b []byte, i, stop int) int {
	depth := 1
	inside := uint64(0) // each if the bytes before i end inside a string
	for i < stop {
		if i+8 > len(b) || hasSlash(binary.LittleEndian.Uint64(b[i:])) {
			if inside != 0 {
				i, _ = skipString(b, i)
				inside = 0
				continue
			}
			if i, depth = skipBytes(b, i, depth); depth == 0 {
				return i
			}
			continue
		}
		x := binary.LittleEndian.Uint64(b[i:])
		// The product adds up, in each byte, the quotes up to that byte.
		parity := zeros(x^each*'"')>>7*each ^ inside
		inside = parity >> 56 & 1 * each
		// Outside strings only brackets have all the bits of 0x59.
		for m := zeros((x|each*0x26)^each*0x7f) &^ (parity << 7); m != 0; m &= m - 1 {
			at := i + bits.TrailingZeros64(m)>>3
			if b[at]&4 == 0 { // [ and {
				depth++
			} else if depth--; depth == 0 {
				return at + 1
			}
		}
		i += 8
	}
	return 0
}

// skipBytes reads about eight bytes from i on, outside strings, one by one. It returns the index and the depth reached;
// at depth 0 it stops.
func skipBytes(b []byte, i, depth int) (int, int) {
	for stop := min(i+8, len(b)); i < stop; {
		switch b[i] {
		case '"':
			i, _ = skipString(b, i+1)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, 0
			}
		}
		i++
	}
	return i, depth
}

// ends are the bytes that may follow a number or a literal.
var ends = [256]bool{' ': true, '\t': true, '\n': true, '\r': true, ',': true, ']': true, '}': true}

// skipSpace returns the index of the first byte of b from i on that is not
// white space, or len(b).
func skipSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}
