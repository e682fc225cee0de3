package strict

import "sync"

// GetBuffer lends a buffer, empty as (*p)[:0], for JSON that is sent and then discarded.
func GetBuffer() *[]byte {
	p, _ := scratch.Get().(*[]byte)
	return p
}

// PutBuffer takes a lent buffer back, including one that moved as it grew. It must not be read any more. Large ones are
// dropped, to save memory.
func PutBuffer(p *[]byte, used []byte) {
	const most = 256 << 10
	if cap(used) > cap(*p) && cap(used) <= most {
		*p = used
	}
	scratch.Put(p)
}

var scratch = sync.Pool{New: func() any { return new([]byte) }}
