// Package cache keeps what was read and answered lately. A caller who asks the same again in the
// same second is answered without a statement, unless anything was committed meanwhile, by this
// process or another: a crowd that asks for a long list at once is worth one reading of it.
package cache

import (
	"bytes"
	"sync"

	"quartermaster/schema/db"
)

// ResponseCache holds answers by who asked: service, user, role, scope and whatever else
// decides what a caller may see, so that none is given to whom it was not made for. The clock
// tells seconds, so an answer cannot become another one within its second but by a write.
type ResponseCache struct {
	d    *db.DB
	mu   sync.Mutex
	at   db.At // at which everything in held was asked for
	held map[question][]byte
	size int // of everything in held, in bytes
}

type question struct {
	who        db.Caller
	what, with string
}

// asked returns the question; the way and the key by which it came decide nothing.
func asked(who db.Caller, what, with string) question {
	who.Via, who.KeyID, who.Session, who.Request = "", 0, 0, nil
	return question{who, what, with}
}

// What is kept is bounded, in bytes: memory is small where this runs.
const (
	mostAnswers  = 2 << 20
	mostAnswer   = 256 << 10
	answerBeside = 200 // what one takes beside its own bytes, or a little more
)

// New makes the one cache of a process.
func New(d *db.DB) *ResponseCache {
	return &ResponseCache{d: d, held: map[question][]byte{}}
}

// Get returns the answer that was kept for the caller's question: what is asked, and with
// which arguments. Its bytes must not be changed. When there is none, at is when the answer is
// asked for, for Put. The caller was authenticated since the request came, which has read the
// database's version.
func (c *ResponseCache) Get(who db.Caller, what, with string) (body []byte, at db.At, found bool) {
	if who.User == "" {
		return nil, db.At{}, false
	}
	at, err := c.d.At()
	if err != nil {
		return nil, db.At{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at != c.at {
		return nil, at, false
	}
	body, found = c.held[asked(who, what, with)]
	return body, at, found
}

// Put keeps a copy of the answer that was worked out after Get told when, if that is still now.
func (c *ResponseCache) Put(who db.Caller, what, with string, at db.At, body []byte) {
	size := sizeOf(what, with, body)
	if now, err := c.d.At(); err != nil || at != now || size > mostAnswer {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at != c.at || c.size+size > mostAnswers {
		clear(c.held)
		c.at, c.size = at, 0
	}
	q := asked(who, what, with)
	if old, found := c.held[q]; found { // by a request that came at the same time
		c.size -= sizeOf(what, with, old)
	}
	c.size += size
	c.held[q] = bytes.Clone(body)
}

func sizeOf(what, with string, body []byte) int {
	return len(what) + len(with) + len(body) + answerBeside
}
