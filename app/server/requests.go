package server

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// trackRequests tells each connection when its request is whole and when it is answered,
// and counts the memory that the request holds.
func trackRequests(h http.Handler, b *budget) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s, ok := req.Context().Value(connKey{}).(*limitedConn)
		if !ok {
			h.ServeHTTP(w, req)
			return
		}
		t := &inFlight{ResponseWriter: w, conn: s, budget: b, stream: req.ProtoMajor > 1, began: time.Now()}
		defer t.done()
		if req.ContentLength == 0 {
			t.whole()
		} else {
			s.brisk.Store(time.Now().UnixNano())
			req = req.WithContext(req.Context()) // net/http looks at its own request's body afterwards
			req.Body = &incoming{ReadCloser: req.Body, req: t}
		}
		h.ServeHTTP(t, req)
		t.flush()
	})
}

// inFlight is one request that is not answered yet, and the writer of its answer.
type inFlight struct {
	http.ResponseWriter
	conn    *limitedConn
	budget  *budget
	stream  bool // over HTTP/2
	began   time.Time
	taking  atomic.Int64 // since when, in Unix nanoseconds, its stream's client has not taken a piece; else 0
	working bool
	turn    chan struct{} // it is among the budget's workers, and among these
	held    int64         // of the budget
	sent    int64         // of that, by its answer
	sends   []copyKey     // the pieces of its answer that are counted
	cut     bool          // off, so that others find room in the budget
}

// address is whose requests share a part of the budget.
func (t *inFlight) address() string { return t.conn.address }

// shared reports whether many clients may stand behind the address.
func (t *inFlight) shared() bool { return t.conn.shared }

func (t *inFlight) whole() {
	if !t.working {
		t.working = true
		t.conn.working.Add(1)
	}
}

// done ends the request, also when the handler panics.
func (t *inFlight) done() {
	if t.working {
		t.conn.working.Add(-1)
	}
	t.rest()
	if len(t.sends) > 0 || t.held > 0 { // in this order: what is sent may be counted for another at any moment
		t.budget.end(t)
	}
}

// Write sends a piece of the answer; a large one is counted while it is sent, which is as
// long as it is held. One for which there is no room in time is not sent: its client is
// cut off.
func (t *inFlight) Write(p []byte) (int, error) {
	if n := int64(len(p)); n > freeAnswer {
		if err := t.budget.send(t, p); err != nil {
			_ = t.conn.Close()
			return 0, err
		}
	}
	t.rest()
	if t.stream {
		return t.writeStream(p)
	}
	return t.ResponseWriter.Write(p)
}

// flush sends what is left of the answer. net/http would do so only after the handler,
// when the connection counts as waiting again. A failed write is ignored: the client has
// gone.
func (t *inFlight) flush() {
	flush := http.NewResponseController(t.ResponseWriter).Flush
	if t.stream {
		_ = t.send(flush)
		return
	}
	_ = flush()
}

// writeStream sends over HTTP/2 in pieces.
func (t *inFlight) writeStream(p []byte) (n int, err error) {
	for {
		piece, k := p[n:min(len(p), n+sendPiece)], 0
		err := t.send(func() (err error) { k, err = t.ResponseWriter.Write(piece); return err })
		if n += k; err != nil || n == len(p) {
			return n, err
		}
	}
}

// send sends a piece over HTTP/2, which the client must take within the limiter's time for
// it. The connection itself does not tell that: to a stream that has no window nothing is
// written.
func (t *inFlight) send(piece func() error) error {
	now := time.Now()
	t.conn.sent.Store(now.UnixNano())
	t.conn.sending.Add(1)
	defer t.conn.sending.Add(-1)
	t.taking.Store(now.UnixNano())
	defer t.taking.Store(0)
	late := now.Add(t.conn.limiter.take)
	if whole := t.began.Add(writeTimeout); whole.Before(late) {
		late = whole
	}
	if err := http.NewResponseController(t.ResponseWriter).SetWriteDeadline(late); err != nil {
		return err
	}
	return piece()
}

// stalled reports whether its client neither takes nor sends anything.
func (t *inFlight) stalled(now time.Time) bool {
	if since := t.taking.Load(); since != 0 {
		return now.UnixNano()-since >= int64(idleGrace)
	}
	return t.conn.stalled(now)
}

// Unwrap is for http.ResponseController.
func (t *inFlight) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// incoming is a request's body; at its end the request is whole. Who reads it says how
// much memory that takes: see strict.Account.
type incoming struct {
	io.ReadCloser
	req *inFlight
}

func (b *incoming) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.req.whole()
	}
	return n, err
}

// Reserve counts n bytes, or refuses them.
func (b *incoming) Reserve(n int64) error { return b.req.budget.take(b.req, n, false) }

// Release says that n of the bytes are not in use any more.
func (b *incoming) Release(n int64) { b.req.budget.give(b.req, n) }
