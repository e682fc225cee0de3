package db

import (
	"bytes"
	"context"
	"sync"

	"quartermaster/schema/exact"
)

// Recent keeps what was read and answered lately. Whoever asks the same again is
// answered without a statement, as long as the answer cannot have become another one:
// until anything is committed, by this process or another, or until the day is over on
// which it depends. Dashboards and agents ask the same much more often than anything
// changes, and a small machine takes milliseconds for a long list.
//
// An answer that depends on the clock more closely than by the day is not kept, nor is
// one that a write took part in; the Basis of each notices that by itself. Answers are
// kept by API key, so that none is given to whom it was not made for.
type Recent struct {
	d       *DB
	mu      sync.Mutex
	version int64 // of the database, at which everything in held was asked for
	held    map[question]kept
	size    int // of everything in held, in bytes
}

type question struct {
	key        int64 // the API key's id
	what, with string
}

type kept struct {
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

// NewRecent makes the one Recent of a process. A nil Recent keeps nothing.
func NewRecent(d *DB) *Recent { return &Recent{d: d, held: map[question]kept{}} }

// Recall gives the answer that was kept for the caller's question: what is asked, and
// with which arguments. Nobody may change its bytes.
func (a *Recent) Recall(who Caller, what, with string) ([]byte, bool) {
	if a == nil {
		return nil, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if who.Seen == 0 || who.Seen != a.version {
		return nil, false
	}
	k, found := a.held[question{who.KeyID, what, with}]
	if !found || k.daily && k.day != a.d.today() {
		return nil, false
	}
	return k.body, true
}

// Keep keeps a copy of the answer that was worked out on the basis.
func (a *Recent) Keep(who Caller, what, with string, on *Basis, body []byte) {
	size := len(body) + len(what) + len(with) + answerBeside
	if a == nil || who.Seen == 0 || !on.lasts() || size > mostAnswer {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if who.Seen != a.version || a.size+size > mostAnswers {
		clear(a.held)
		a.version, a.size = who.Seen, 0
	}
	q := question{who.KeyID, what, with}
	if old, found := a.held[q]; found { // of another day, or by a request that came at the same time
		a.size -= len(old.body) + len(what) + len(with) + answerBeside
	}
	a.size += size
	a.held[q] = kept{body: bytes.Clone(body), daily: on.today, day: on.day}
}

// Basis notes on what an answer was founded: whether the database was read, what of the
// clock was looked at, and whether anything else makes the answer a passing one.
type Basis struct {
	viewed, passing bool
	now, today      bool
	day             exact.Day // of the view
}

type basisKey struct{}

// Founding gives a context under which View and Update note in the Basis what is asked
// of them. It serves one goroutine.
func Founding(ctx context.Context) (context.Context, *Basis) {
	b := new(Basis)
	return context.WithValue(ctx, basisKey{}, b), b
}

func basisOf(ctx context.Context) *Basis {
	b, _ := ctx.Value(basisKey{}).(*Basis)
	return b
}

func (b *Basis) views(c *Conn) {
	if b == nil {
		return
	}
	if day := c.now.Day(c.loc); b.viewed && day != b.day {
		b.passing = true // two days took part: it is right on neither
	} else {
		b.day = day
	}
	b.viewed = true
}

func (b *Basis) passes() {
	if b != nil {
		b.passing = true
	}
}

// Passing notes that the answer that is worked out under ctx depends on what is in no
// database, such as times that are stored later: it is not kept.
func Passing(ctx context.Context) { basisOf(ctx).passes() }

// lasts tells whether the answer stays right until the next commit, or to the end of
// its day.
func (b *Basis) lasts() bool { return b.viewed && !b.passing && !b.now }

func (d *DB) today() exact.Day { return exact.InstantOf(d.now()).Day(d.zone) }
