package strict

import (
	"strconv"
	"unicode/utf8"
)

// MaxDepth is the usual limit for Parse: the deepest nesting of arrays and objects.
const MaxDepth = 32

// Parse validates the whole of b and returns its one value, which white space may surround. Every error is an *Error
// with position and reason.
//
// maxDepth is the deepest nesting of arrays and objects; 0 allows neither. Parse calls itself once per level, so keep
// it small. Its time is linear in len(b), for any b.
func Parse(b []byte, maxDepth int) (Value, error) {
	p := parser{b: b, maxDepth: maxDepth}
	start := skipSpace(b, 0)
	if start == len(b) {
		p.fail(start, "empty input: expected a value")
		return Value{}, p.err
	}
	if len(b) >= 3 && b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf {
		p.fail(0, "byte order mark")
		return Value{}, p.err
	}
	end := p.value(start, 0)
	if end < 0 {
		return Value{}, p.err
	}
	if i := skipSpace(b, end); i < len(b) {
		p.fail(i, "expected nothing after the value but found "+named(b, i))
		return Value{}, p.err
	}
	return Value{raw: b[start:end]}, nil
}

// parser is the state of one Parse. Its methods take the index where their part begins and return the index after it,
// or -1 with err set.
type parser struct {
	b        []byte
	maxDepth int
	err      *Error
}

func (p *parser) fail(i int, what string) int {
	p.err = &Error{Offset: i, What: what}
	return -1
}

// unexpected refuses the byte at i, or the end of the input.
func (p *parser) unexpected(i int, expected string) int {
	if i >= len(p.b) {
		return p.fail(len(p.b), "unexpected end of input: expected "+expected)
	}
	return p.fail(i, "expected "+expected+" but found "+named(p.b, i))
}

func (p *parser) value(i, depth int) int {
	if i >= len(p.b) {
		return p.unexpected(i, "a value")
	}
	switch c := p.b[i]; c {
	case '"':
		end, _ := p.string(i + 1)
		return end
	case '{', '[':
		if depth >= p.maxDepth {
			return p.fail(i, "nested deeper than "+strconv.Itoa(p.maxDepth))
		}
		if c == '{' {
			return p.object(i+1, depth+1)
		}
		return p.array(i+1, depth+1)
	case 't':
		return p.literal(i, "true")
	case 'f':
		return p.literal(i, "false")
	case 'n':
		return p.literal(i, "null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.number(i)
	}
	return p.unexpected(i, "a value")
}

// object begins after the opening brace.
func (p *parser) object(i, depth int) int {
	b := p.b
	names := map[string]bool{}
	i = skipSpace(b, i)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return p.unexpected(i, "a name in double quotes")
		}
		end, escaped := p.string(i + 1)
		if end < 0 {
			return -1
		}
		name := b[i+1 : end-1]
		if escaped {
			name = unescape(nil, name)
		}
		if names[string(name)] {
			return p.fail(i, "duplicate name "+quoted(name))
		}
		names[string(name)] = true
		i = skipSpace(b, end)
		if i >= len(b) || b[i] != ':' {
			return p.unexpected(i, "':'")
		}
		if i = p.value(skipSpace(b, i+1), depth); i < 0 {
			return -1
		}
		i = skipSpace(b, i)
		if i >= len(b) || b[i] != ',' {
			break
		}
		i = skipSpace(b, i+1)
	}
	if i >= len(b) || b[i] != '}' {
		return p.unexpected(i, "',' or '}'")
	}
	return i + 1
}

// array begins after the opening bracket.
func (p *parser) array(i, depth int) int {
	b := p.b
	i = skipSpace(b, i)
	if i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		if i = p.value(i, depth); i < 0 {
			return -1
		}
		i = skipSpace(b, i)
		if i >= len(b) || b[i] != ',' {
			break
		}
		i = skipSpace(b, i+1)
	}
	if i >= len(b) || b[i] != ']' {
		return p.unexpected(i, "',' or ']'")
	}
	return i + 1
}

// string begins after the opening quote; escaped reports whether it contains a backslash.
func (p *parser) string(i int) (end int, escaped bool) {
	for b := p.b; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			escaped = true
			if i = p.escape(i); i < 0 {
				return -1, false
			}
		case c < ' ':
			return p.fail(i, named(b, i)+" in a string, which must be escaped"), false
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return p.fail(i, "invalid UTF-8"), false
			}
			i += n
		}
	}
	return p.unexpected(i, "the end of a string"), false
}

// escape begins at the backslash.
func (p *parser) escape(i int) int {
	b := p.b
	if i+1 >= len(b) {
		return p.unexpected(i+1, "an escape")
	}
	if escapes[b[i+1]] != 0 {
		return i + 2
	}
	if b[i+1] != 'u' {
		return p.fail(i, "no such escape: a backslash before "+named(b, i+1))
	}
	r := hexRune(b[i+2:])
	switch {
	case r < 0:
		return p.fail(i, `\u without four hexadecimal digits`)
	case r < 0xd800 || r > 0xdfff:
		return i + 6
	}
	if r < 0xdc00 && i+8 <= len(b) && b[i+6] == '\\' && b[i+7] == 'u' {
		if low := hexRune(b[i+8:]); low >= 0xdc00 && low <= 0xdfff {
			return i + 12
		}
	}
	return p.fail(i, `escape \u`+hex4(r)+" of half a surrogate pair")
}

func (p *parser) literal(i int, word string) int {
	if len(p.b)-i >= len(word) && string(p.b[i:i+len(word)]) == word {
		return i + len(word)
	}
	return p.fail(i, "a word that begins like "+word+" but is not")
}

func (p *parser) number(i int) int {
	b := p.b
	if b[i] == '-' {
		i++
	}
	first := i
	if i = digits(b, i); i == first {
		return p.unexpected(i, "a digit")
	}
	if b[first] == '0' && i > first+1 {
		return p.fail(first, "number with a leading zero")
	}
	if i < len(b) && b[i] == '.' {
		first = i + 1
		if i = digits(b, first); i == first {
			return p.unexpected(i, "a digit after the decimal point")
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		first = i + 1
		if first < len(b) && (b[first] == '+' || b[first] == '-') {
			first++
		}
		if i = digits(b, first); i == first {
			return p.unexpected(i, "a digit in the exponent")
		}
	}
	return i
}

// digits returns the index of the first non-digit of b from i on.
func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}
