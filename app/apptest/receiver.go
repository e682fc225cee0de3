package apptest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"quartermaster/schema/assert"
)

// Receiver is a real webhook receiver. It answers with Status and stores its requests.
type Receiver struct {
	URL string

	mu     sync.Mutex
	status int
	got    []Delivered
	came   chan Delivered
}

// Delivered is a request to a receiver.
type Delivered struct {
	Header http.Header
	Body   string
}

// Receive starts a receiver that answers 204.
func Receive(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{status: http.StatusNoContent, came: make(chan Delivered, 10_000)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		assert.NoError(t, err)
		d := Delivered{Header: req.Header, Body: string(body)}
		r.mu.Lock()
		r.got = append(r.got, d)
		status := r.status
		r.mu.Unlock()
		w.WriteHeader(status)
		r.came <- d
	}))
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// Answer sets the status of the answers from now on.
func (r *Receiver) Answer(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// Next waits for the next delivery.
func (r *Receiver) Next(t testing.TB) Delivered {
	t.Helper()
	select {
	case d := <-r.came:
		return d
	case <-time.After(20 * time.Second): // far beyond any attempt's own limit
		t.Fatal("no delivery came")
	}
	return Delivered{}
}

// All is everything received so far.
func (r *Receiver) All() []Delivered {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Delivered(nil), r.got...)
}
