package table

import (
	"errors"
	"io"
)

var errLongToken = errors.New("one of its texts is longer than 8 MiB")

// bounded reads XML whose single tags, texts and comments have at most maxPart bytes: the decoder keeps each of them in
// memory, and a few bytes of ZIP unpack to gigabytes.
type bounded struct {
	in     io.Reader
	length int
	before [2]byte // the last two bytes
	marked bool    // in <!-- -->, <![CDATA[ ]]> or another <!, where < and > have no meaning
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	for _, c := range p[:n] {
		switch {
		case c == '!' && b.before[1] == '<':
			b.marked = true
		case c == '>' && b.marked && (b.before == [2]byte{'-', '-'} || b.before == [2]byte{']', ']'}):
			b.marked = false
		case !b.marked && (c == '<' || c == '>'):
			b.length = 0
		}
		b.before = [2]byte{b.before[1], c}
		if b.length++; b.length > maxPart {
			return 0, errLongToken
		}
	}
	return n, err
}
