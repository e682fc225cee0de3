package server

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
	"quartermaster/schema/wire"
)

// holding serves bodies of up to 1 MiB with memory for two of them.
func holding(t *testing.T) (addr string, m *memory) {
	t.Helper()
	m = newMemory(2<<20, 64)
	limiter := newConnLimiter(64)
	m.limiters = []*connLimiter{limiter}
	server := httptest.NewUnstartedServer(trackRequests(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := wire.ReadBody(r, 1<<20)
		if e, refused := fault.As(err); refused {
			wire.Refuse(w, e)
			return
		}
		_, _ = io.WriteString(w, strconv.Itoa(len(body)))
	}), m))
	server.Listener = &limitedListener{Listener: server.Listener, limiter: limiter}
	server.Config.ConnContext = withConn
	server.Start()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), m
}

const largeHeader = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n"

// TestHalfBodiesMakeRoom: a client that sent half a body keeps its memory until another needs it.
func TestHalfBodiesMakeRoom(t *testing.T) {
	t.Parallel()
	addr, m := holding(t)
	for range 8 {
		conn, err := net.Dial("tcp", addr)
		assert.OK(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, largeHeader+strings.Repeat("x", 100_000))
		assert.OK(t, err)
	}
	for m.left.TryAcquire(1) { // until two hold all of it
		m.give(1)
		runtime.Gosched()
	}
	client := http.Client{Timeout: waitMemory}
	defer client.CloseIdleConnections()
	for range 3 {
		resp := assert.Value(client.Post("http://"+addr, "text/plain", strings.NewReader(strings.Repeat("x", 1<<20))))(t)
		resp.Body.Close()
		assert.That(t, resp.StatusCode == http.StatusOK, "a whole body: %s", resp.Status)
	}
}

// TestWaitersForMemoryAreBounded: a waiter above the limit is refused at once, the others when their time is over. No
// working client is disconnected.
func TestWaitersForMemoryAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(1000, 4)
		if err := m.take(t.Context(), 5000); err != nil { // more than the total: all of it
			t.Fatal(err)
		}
		began, refused := time.Now(), make(chan time.Duration, 3)
		for range 3 {
			go func() {
				err := m.take(t.Context(), 10)
				e, ok := fault.As(err)
				assert.That(t, ok && e.Kind == fault.Unavailable && e.Retry == time.Second, "%v", err)
				refused <- time.Since(began)
			}()
		}
		assert.Equal(t, <-refused, 0, "the third was refused after")
		for range 2 {
			assert.Equal(t, <-refused, waitMemory, "refused after")
		}
		m.give(5000)
		assert.NoError(t, m.take(t.Context(), 1000))
		m.idle.Stop()
	})
}
