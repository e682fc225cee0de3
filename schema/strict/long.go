package strict

import (
	"cmp"
	"slices"
)

// longSpan is the least size in bytes of an array or object whose end Parse records, so that walking past it needs no
// second scan.
const longSpan = 1024

// span is the position of one array or object in the input.
type span struct{ start, end int }

// input is shared by the Values of one input.
type input struct {
	size int
	long []span // the arrays and objects of at least longSpan bytes, by start
}

// input returns the recorded spans, nil if nothing was long.
func (p *parser) input() *input {
	if len(p.long) == 0 {
		return nil
	}
	slices.SortFunc(p.long, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	return &input{size: len(p.b), long: p.long}
}

// skip returns the index in v.raw after the value that begins there at i.
func (v Value) skip(i int) int {
	b := v.raw
	switch b[i] {
	case '"':
		end, _ := skipString(b, i+1)
		return end
	case '{', '[':
		if v.in == nil {
			return skipNested(b, i+1, len(b))
		}
		if end := skipNested(b, i+1, min(i+longSpan, len(b))); end != 0 {
			return end
		}
		base := v.in.size - cap(b)
		at, _ := slices.BinarySearchFunc(v.in.long, base+i, func(s span, start int) int {
			return cmp.Compare(s.start, start)
		})
		return v.in.long[at].end - base
	}
	return skipScalar(b, i)
}
