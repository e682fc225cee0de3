package server

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quartermaster/schema/fault"
)

// A budget is the memory that the bodies and answers under way may take together. When
// it is used up, the largest of those that wait for their clients is cut off: a body that
// is sent in drops, an answer that is not read. So half-sent bodies and readers that do
// not read cost a bounded number of bytes, however many there are, and whoever sends and
// reads briskly is served beside them.
//
// What is counted are the buffers, not the bytes in them; and what was given back is
// taken again only when the collector has run, for it is in memory until then.
//
// The first bytes of each are not counted: what devices and most clients send and get
// never waits for the budget.
type budget struct {
	size    int64
	share   int64 // what the requests of one address may hold, and what all answers may
	workers *workers
	queue   queue

	mu         sync.Mutex
	left       int64
	garbage    int64 // given back, and not collected yet
	collecting bool
	answers    int64 // what answers hold
	held       map[*inFlight]struct{}
	by         map[string]int64 // by address
	copies     map[copyKey]*sharedCopy
	claims     []*claim    // that wait for memory, the oldest first
	again      *time.Timer // settles them anew
}

// A claim waits for n bytes.
type claim struct {
	req     *inFlight
	n       int64
	answer  bool          // or a body
	piece   copyKey       // of an answer that others may send as well; else zero
	granted chan struct{} // closed when it is
}

const (
	freeAnswer  = 64 << 10
	waitBudget  = 5 * time.Second       // for those that hold it to end, or to be slow enough to be cut off
	settleAgain = 10 * time.Millisecond // for a client that was brisk may have stalled meanwhile
)

func newBudget(size int64) *budget {
	b := &budget{
		size: size, left: size, share: size / 2, held: map[*inFlight]struct{}{}, by: map[string]int64{}, copies: map[copyKey]*sharedCopy{},
		workers: newWorkers(size), queue: queue{most: maxConnections / 2},
	}
	b.again = time.AfterFunc(settleAgain, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.settle()
	})
	return b
}

// take takes n bytes for the request, of its answer or of its body. It refuses, as
// unavailable, when there are none for some time, or when many wait already. A request
// that is alone may have more than there is: an upload, or a report, that is allowed
// finds room.
func (b *budget) take(t *inFlight, n int64, answer bool) error {
	return b.claim(&claim{req: t, n: n, answer: answer})
}

func (b *budget) claim(c *claim) error {
	t := c.req
	c.granted = make(chan struct{})
	b.mu.Lock()
	if b.fits(c, b.left) {
		b.grant(c)
		b.mu.Unlock()
		return nil
	}
	if !c.answer { // of answers no more wait than there are workers
		if !b.queue.enter() {
			b.mu.Unlock()
			return t.tooMuch("too much is being sent and fetched at once")
		}
		defer b.queue.leave()
	}
	b.claims = append(b.claims, c)
	b.settle()
	b.mu.Unlock()

	late := time.NewTimer(waitBudget)
	defer late.Stop()
	select {
	case <-c.granted:
		return nil
	case <-late.C:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.claims, c)
	if i < 0 { // granted at the last moment
		return nil
	}
	b.claims = slices.Delete(b.claims, i, i+1)
	return t.tooMuch("too much is being sent and fetched at once")
}

// fits reports whether the claim could be granted if so many bytes were left. It is
// called with mu held, as all below.
func (b *budget) fits(c *claim, left int64) bool {
	if b.copies[c.piece] != nil {
		return true
	}
	return !b.overAddress(c) && !b.overAnswers(c) && (c.n <= left || left+c.req.held >= b.size)
}

// overAddress reports whether the claim has to wait for other requests of its address.
func (b *budget) overAddress(c *claim) bool {
	held := b.by[c.req.address()]
	return held+c.n > b.share && held != c.req.held && !c.req.shared()
}

// overAnswers reports whether the claim has to wait for other answers.
func (b *budget) overAnswers(c *claim) bool {
	return c.answer && b.answers+c.n > b.share && b.answers != c.req.sent
}

func (b *budget) grant(c *claim) {
	shared := b.copies[c.piece] != nil
	if c.piece.first != nil {
		b.join(c.req, c.piece)
	}
	if shared {
		return
	}
	b.left -= c.n
	c.req.held += c.n
	b.held[c.req] = struct{}{}
	b.by[c.req.address()] += c.n
	if c.answer {
		c.req.sent += c.n
		b.answers += c.n
	}
}

// settle grants what fits, and makes room for what does not: by the collector where that
// is enough, else by cutting off one request, the end of which settles again.
func (b *budget) settle() {
	b.claims = slices.DeleteFunc(b.claims, func(c *claim) bool {
		fits := b.fits(c, b.left)
		if fits {
			b.grant(c)
			close(c.granted)
		}
		return fits
	})
	if len(b.claims) == 0 || b.collecting {
		return
	}
	if b.garbage > 0 && slices.ContainsFunc(b.claims, func(c *claim) bool { return b.fits(c, b.left+b.garbage) }) {
		b.collecting = true
		go b.collect(b.garbage)
		return
	}
	b.cut(time.Now())
	b.again.Reset(settleAgain)
}

// collect has the collector free the n bytes that were given back so far. It is called
// without mu.
func (b *budget) collect(n int64) {
	runtime.GC()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.garbage, b.left, b.collecting = b.garbage-n, b.left+n, false
	b.settle()
}

// cut cuts off the largest request whose client has stalled, of those that a claim waits for.
func (b *budget) cut(now time.Time) {
	var stalled []*inFlight
	for t := range b.held {
		if !t.cut && t.stalled(now) {
			stalled = append(stalled, t)
		}
	}
	slices.SortFunc(stalled, func(x, y *inFlight) int { return cmp.Compare(y.held, x.held) })
	for _, c := range b.claims {
		ofAddress, ofAnswers := b.overAddress(c), b.overAnswers(c)
		for _, t := range stalled {
			if t != c.req && (!ofAddress || t.address() == c.req.address()) && (!ofAnswers || t.sent > 0) {
				t.cut = true
				_ = t.conn.Close()
				return
			}
		}
	}
}

// give returns n bytes of what the request holds, of which nothing is in use any more.
func (b *budget) give(t *inFlight, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.giveBack(t, n)
}

// end returns all that the request holds and no other sends.
func (b *budget) end(t *inFlight) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.leave(t)
	if t.held > 0 {
		b.giveBack(t, t.held)
	}
}

func (b *budget) giveBack(t *inFlight, n int64) {
	b.garbage += n
	if b.by[t.address()] -= n; b.by[t.address()] <= 0 {
		delete(b.by, t.address())
	}
	if t.held -= n; t.held == 0 {
		b.answers, t.sent = b.answers-t.sent, 0
		delete(b.held, t)
	}
	b.settle()
}

// A queue bounds how many requests wait, for memory or for a worker: each keeps one of
// the connections meanwhile, and some of those must be left for new ones.
type queue struct {
	most int
	n    atomic.Int64
}

func (q *queue) enter() bool {
	if q.n.Add(1) <= int64(q.most) {
		return true
	}
	q.n.Add(-1)
	return false
}

func (q *queue) leave() { q.n.Add(-1) }

// tooMuch refuses for now, and frees the connection.
func (t *inFlight) tooMuch(what string) error {
	t.Header().Set("Connection", "close")
	e := fault.Unavailablef(nil, "%s: nothing was written; try again in a moment", what)
	e.Retry = time.Second
	return e
}
