package strict

import "bytes"

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds. Null is also the kind of the zero Value.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

var kindNames = [...]string{"null", "true or false", "a number", "a string", "an array", "an object"}

// String returns the kind as a phrase: "a string", "an object", "null".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "no kind of value"
}

// Value is one valid JSON value: a span of the input of Parse. The zero Value is Null with nil Raw. A method for
// another kind than the value's returns nothing: "", false, no member.
type Value struct{ raw []byte }

// Kind returns the kind of the value.
func (v Value) Kind() Kind {
	if len(v.raw) == 0 {
		return Null
	}
	switch v.raw[0] {
	case '"':
		return String
	case '{':
		return Object
	case '[':
		return Array
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	return Number
}

// Raw returns the value as in the input, without surrounding space. It is part of the input and must not be written to.
// The Raw of a Number is a number in the grammar of RFC 8259.
func (v Value) Raw() []byte { return v.raw[:len(v.raw):len(v.raw)] }

// Text returns the text of a string, unescaped, as a copy.
func (v Value) Text() string {
	s, ok := v.inside()
	if !ok {
		return ""
	}
	if bytes.IndexByte(s, '\\') < 0 {
		return string(s)
	}
	return string(unescape(make([]byte, 0, len(s)), s))
}

// TextBytes returns the text of a string, unescaped, and nil for another kind. Without escapes it is part of the input
// and must not be written to; otherwise it is written to buf, or to new memory if buf is too short.
func (v Value) TextBytes(buf []byte) []byte {
	s, ok := v.inside()
	if !ok || bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	return unescape(buf[:0], s)
}

// inside returns what is between the quotes of a string.
func (v Value) inside() ([]byte, bool) {
	if len(v.raw) < 2 || v.raw[0] != '"' {
		return nil, false
	}
	end := len(v.raw) - 1
	return v.raw[1:end:end], true
}

// Bool reports whether the value is true.
func (v Value) Bool() bool { return len(v.raw) > 0 && v.raw[0] == 't' }

// Fields yields the members of an object in order; for name, v := range v.Fields. The name is unescaped; it must not be
// written to.
func (v Value) Fields(yield func(name []byte, v Value) bool) {
	b := v.raw
	if len(b) == 0 || b[0] != '{' {
		return
	}
	i := skipSpace(b, 1)
	for b[i] != '}' {
		end, escaped := skipString(b, i+1)
		name := b[i+1 : end-1 : end-1]
		if escaped {
			name = unescape(nil, name)
		}
		i = skipSpace(b, end) // at the colon
		i = skipSpace(b, i+1) // at the value
		end = skip(b, i)
		if !yield(name, Value{raw: b[i:end]}) {
			return
		}
		i = nextMember(b, end)
	}
}

// Items yields the elements of an array in order, i from 0; for i, v := range v.Items.
func (v Value) Items(yield func(i int, v Value) bool) {
	b := v.raw
	if len(b) == 0 || b[0] != '[' {
		return
	}
	i := skipSpace(b, 1)
	for n := 0; b[i] != ']'; n++ {
		end := skip(b, i)
		if !yield(n, Value{raw: b[i:end]}) {
			return
		}
		i = nextMember(b, end)
	}
}

// nextMember returns the index of the member or the closing bracket after the value that ends at i.
func nextMember(b []byte, i int) int {
	i = skipSpace(b, i)
	if b[i] == ',' {
		i = skipSpace(b, i+1)
	}
	return i
}

// Get returns the member of an object by its unescaped name. It scans the object from its start; use Fields for many
// members.
func (v Value) Get(name string) (Value, bool) {
	for n, member := range v.Fields {
		if string(n) == name {
			return member, true
		}
	}
	return Value{}, false
}
