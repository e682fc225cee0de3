package server

import (
	"io"
	"net/http"
	"time"
)

// trackRequests notifies each connection when its request is complete and when it is answered, and counts the memory
// that the request holds.
func trackRequests(h http.Handler, m *memory) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s, ok := req.Context().Value(connKey{}).(*limitedConn)
		if !ok {
			h.ServeHTTP(w, req)
			return
		}
		t := &inFlight{ResponseWriter: w, conn: s, memory: m, began: time.Now()}
		defer t.done()
		if req.ContentLength == 0 {
			t.whole()
		} else {
			req = req.WithContext(req.Context()) // net/http reads its own request's body afterwards
			t.body = req.Body
			req.Body = (*incoming)(t)
		}
		t.req = req
		h.ServeHTTP(t, req)
		// net/http would send the rest only when the connection counts as waiting again. A failed write is ignored: the
		// client has gone.
		_ = t.send(http.NewResponseController(w).Flush)
	})
}

// inFlight is a request without an answer yet, and the writer of its answer.
type inFlight struct {
	http.ResponseWriter
	req     *http.Request
	body    io.ReadCloser
	conn    *limitedConn
	memory  *memory
	began   time.Time
	working bool
	held    int64 // of the memory
}

func (t *inFlight) whole() {
	if !t.working {
		t.working = true
		t.conn.working.Add(1)
	}
}

// done ends the request, also if the handler panics.
func (t *inFlight) done() {
	if t.working {
		t.conn.working.Add(-1)
	}
	t.keep(0)
}

// Hold takes n bytes until the request ends; see wire.Hold.
func (t *inFlight) Hold(n int64) error {
	if n <= t.held {
		return nil
	}
	if err := t.memory.take(t.req.Context(), n-t.held); err != nil {
		t.Header().Set("Connection", "close")
		return err
	}
	t.conn.progress.Store(time.Now().UnixNano())
	if t.held == 0 {
		t.conn.holding.Add(1)
	}
	t.held = n
	return nil
}

// keep releases what the request holds beyond n bytes.
func (t *inFlight) keep(n int64) {
	if t.held <= n {
		return
	}
	t.memory.give(t.held - n)
	if t.held = n; n == 0 {
		t.conn.holding.Add(-1)
	}
}

// Write sends a piece of the answer. A large one is counted; if there is no memory in time, it is not sent and its
// client is disconnected.
func (t *inFlight) Write(p []byte) (n int, err error) {
	if len(p) > freeAnswer {
		if err := t.Hold(min(int64(len(p)), t.memory.size)); err != nil {
			_ = t.conn.Close()
			return 0, err
		}
	}
	t.keep(int64(len(p)))
	for {
		piece, k := p[n:min(len(p), n+sendPiece)], 0
		err := t.send(func() (err error) { k, err = t.ResponseWriter.Write(piece); return err })
		if n += k; err != nil || n == len(p) {
			return n, err
		}
	}
}

// send sends a piece, which the client must read within the limiter's time for it, and within the time for the whole
// answer.
func (t *inFlight) send(piece func() error) error {
	now := time.Now()
	t.conn.progress.Store(now.UnixNano())
	t.conn.sending.Add(1)
	defer t.conn.sending.Add(-1)
	late := now.Add(t.conn.limiter.take)
	if whole := t.began.Add(writeTimeout); whole.Before(late) {
		late = whole
	}
	if err := http.NewResponseController(t.ResponseWriter).SetWriteDeadline(late); err != nil {
		return err
	}
	return piece()
}

// How an answer is sent.
const (
	freeAnswer  = 64 << 10         // is not counted
	takeTimeout = 20 * time.Second // a client that reads nothing for so long is disconnected
	sendPiece   = 64 << 10
)

// Unwrap is for http.ResponseController.
func (t *inFlight) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// incoming is a request's body; at its end the request is complete.
type incoming inFlight

func (b *incoming) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if err == io.EOF {
		(*inFlight)(b).whole()
	}
	return n, err
}

func (b *incoming) Close() error { return b.body.Close() }

// Hold is the request's.
func (b *incoming) Hold(n int64) error { return (*inFlight)(b).Hold(n) }
