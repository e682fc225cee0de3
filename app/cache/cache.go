// Package cache keeps what was read and answered lately. A caller who asks the same again is
// answered without a statement, as long as the answer cannot have become another one:
// until anything is committed, by this process or another, or until the day is over on
// which it depends. Dashboards and agents ask the same much more often than anything
// changes, and a small machine takes milliseconds for a long list.
package cache

import (
	"bytes"
	"sync"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// ResponseCache holds answers by who asked: service, user, role, scope and whatever else
// decides what a caller may see, so that none is given to whom it was not made for. An
// answer that depends on the clock more closely than by the day is not kept, nor is one
// that a write took part in; its db.Dependencies tell that.
type ResponseCache struct {
	d       *db.DB
	mu      sync.Mutex
	version int64 // of the database, at which everything in held was asked for
	held    map[question]answer
	size    int // of everything in held, in bytes
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

type answer struct {
	body  []byte
	daily bool
	day   exact.Day // on which it is right, when daily
}

// What is kept is bounded, in bytes: memory is small where this runs.
const (
	mostAnswers  = 2 << 20
	mostAnswer   = 256 << 10
	answerBeside = 200 // what one takes beside its own bytes, or a little more
)

// New makes the one cache of a process.
func New(d *db.DB) *ResponseCache {
	return &ResponseCache{d: d, held: map[question]answer{}}
}

// Get returns the answer that was kept for the caller's question: what is asked, and with
// which arguments. Its bytes must not be changed. When there is none, version is the
// database's before the answer is worked out, for Put. The caller was authenticated since
// the request came, which has read the version.
func (c *ResponseCache) Get(who db.Caller, what, with string) (body []byte, version int64, found bool) {
	if who.User == "" {
		return nil, 0, false
	}
	version, err := c.d.SeenVersion()
	if err != nil {
		return nil, 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if version != c.version {
		return nil, version, false
	}
	k, found := c.held[asked(who, what, with)]
	if !found || k.daily && k.day != c.d.Today() {
		return nil, version, false
	}
	return k.body, version, true
}

// Put keeps a copy of the answer that was worked out after Get gave the version.
func (c *ResponseCache) Put(who db.Caller, what, with string, version int64, on *db.Dependencies, body []byte) {
	size := len(body) + len(what) + len(with) + answerBeside
	if version == 0 || !on.Cacheable() || size > mostAnswer {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at(version)
	if c.size+size > mostAnswers {
		clear(c.held)
		c.size = 0
	}
	q := asked(who, what, with)
	if old, found := c.held[q]; found { // of another day, or by a request that came at the same time
		c.size -= len(old.body) + len(what) + len(with) + answerBeside
	}
	c.size += size
	day, daily := on.Day()
	c.held[q] = answer{body: bytes.Clone(body), daily: daily, day: day}
}

// at forgets what was asked for at another version. It is called with mu held.
func (c *ResponseCache) at(version int64) {
	if version != c.version {
		clear(c.held)
		c.version, c.size = version, 0
	}
}
