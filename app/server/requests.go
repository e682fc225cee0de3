package server

import (
	"io"
	"net/http"
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
		t := &inFlight{ResponseWriter: w, conn: s, budget: b}
		defer t.done()
		if req.ContentLength == 0 {
			t.whole()
		} else {
			s.brisk.Store(time.Now().UnixNano())
			req = req.WithContext(req.Context()) // net/http looks at its own request's body afterwards
			req.Body = &incoming{ReadCloser: req.Body, req: t}
		}
		h.ServeHTTP(t, req)
		// net/http would send what is left of the answer only after the handler, when the
		// connection counts as waiting again.
		_ = http.NewResponseController(w).Flush() // a failed write is ignored: the client has gone
	})
}

// inFlight is one request that is not answered yet, and the writer of its answer.
type inFlight struct {
	http.ResponseWriter
	conn    *limitedConn
	budget  *budget
	working bool
	turn    chan struct{} // it is among the budget's workers, and among these
	held    int64         // of the budget
	sent    int64         // of that, by its answer
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
	if t.held > 0 {
		t.budget.give(t, t.held)
	}
}

// Write sends a piece of the answer; a large one is counted while it is sent, which is as
// long as it is held. One for which there is no room in time is not sent: its client is
// cut off.
func (t *inFlight) Write(p []byte) (int, error) {
	if n := int64(len(p)); n > freeAnswer {
		if err := t.budget.take(t, n, true); err != nil {
			_ = t.conn.Close()
			return 0, err
		}
	}
	t.rest()
	return t.ResponseWriter.Write(p)
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
