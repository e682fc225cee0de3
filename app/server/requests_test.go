package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
)

// TestStreamsThatAreNotRead: over HTTP/2 a client can block an answer by giving its stream no window, which the
// connection does not show. It is disconnected like one of HTTP/1: for a new connection, for another's answer, and
// after the time limit for a piece.
func TestStreamsThatAreNotRead(t *testing.T) {
	const large = 8 << 20 // more than the client's window of 4 MiB
	for _, c := range []struct {
		name        string
		connections int
		budget      int64
		take        time.Duration
	}{
		{"for a new connection", 1, 64 << 20, time.Minute},
		{"for another answer", 2, 12 << 20, time.Minute},
		{"in time", 2, 64 << 20, 500 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ended := make(chan error, 2)
			answer := strings.Repeat("x", large)
			limiter, memory := newConnLimiter(c.connections), newMemory(c.budget, 16)
			memory.limiters = []*connLimiter{limiter}
			limiter.take = c.take
			server := httptest.NewUnstartedServer(trackRequests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.That(t, r.ProtoMajor == 2, "it is %s", r.Proto)
				_, err := io.WriteString(w, answer)
				ended <- err
			}), memory))
			server.Listener = &limitedListener{Listener: server.Listener, limiter: limiter}
			server.Config.ConnContext = withConn
			server.EnableHTTP2 = true
			server.StartTLS()
			t.Cleanup(server.Close)
			get := func() (*http.Response, error) {
				transport := server.Client().Transport.(*http.Transport).Clone() // a connection of its own
				t.Cleanup(transport.CloseIdleConnections)
				return (&http.Client{Transport: transport, Timeout: 20 * time.Second}).Get(server.URL)
			}
			unread := assert.Value(get())(t)
			defer unread.Body.Close()
			if c.take < time.Minute {
				err := <-ended
				assert.That(t, err != nil, "it was sent")
				return
			}
			read := assert.Value(get())(t)
			defer read.Body.Close()
			n, err := io.Copy(io.Discard, read.Body)
			assert.That(t, n == large && err == nil, "%d bytes, %v", n, err)
			if one, other := <-ended, <-ended; (one == nil) == (other == nil) {
				t.Error(fmt.Errorf("the ends: %w", errors.Join(one, other)))
			}
		})
	}
}
