// Package cache keeps recent answers. A caller who repeats a request in the same second gets the answer without a
// statement, unless something was committed meanwhile, by this process or another. So a long list requested by many at
// once is read once.
package cache

import (
	"bytes"
	"sync"

	"quartermaster/schema/db"
)

// ResponseCache holds answers by caller: service, user, role, scope and everything else that decides what a caller may
// see. The clock counts seconds, so within its second only a write can change an answer.
type ResponseCache struct {
	d    *db.DB
	mu   sync.Mutex
	at   db.At // when everything in held was requested
	held map[question][]byte
	size int // of everything in held, in bytes
}

type question struct {
	who        db.Caller
	what, with string
}

// asked returns the cache's key; the interface and the API key of the request are not part of it.
func asked(who db.Caller, what, with string) question {
	who.Via, who.KeyID, who.Session, who.Request = "", 0, 0, nil
	return question{who, what, with}
}

// mostAnswers bounds the cache, in bytes, to save memory.
const (
	mostAnswers  = 2 << 20
	mostAnswer   = 256 << 10
	answerBeside = 200 // an entry's size beside its bytes, rounded up
)

// New makes the one cache of a process.
func New(d *db.DB) *ResponseCache {
	return &ResponseCache{d: d, held: map[question][]byte{}}
}

// Get returns the cached answer for the caller's request with its arguments. Its bytes must not be changed. If there is
// none, at is for Put. The caller was authenticated since the request came, which has read the database's version.
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

// Put caches a copy of the answer that was computed after Get, if at is still the present.
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
	if old, found := c.held[q]; found { // by a simultaneous request
		c.size -= sizeOf(what, with, old)
	}
	c.size += size
	c.held[q] = bytes.Clone(body)
}

func sizeOf(what, with string, body []byte) int {
	return len(what) + len(with) + len(body) + answerBeside
}
