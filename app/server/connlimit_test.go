package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quartermaster/schema/assert"
)

// pair is a limited connection and its client's end.
type pair struct {
	*limitedConn
	client net.Conn
}

func connect(t *testing.T, r *connLimiter) pair {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return pair{r.wrap(ours), theirs}
}

// grow makes the connection old enough to be closed for another.
func (p pair) grow() { p.limiter.mu.Lock(); p.since = p.since.Add(-idleGrace); p.limiter.mu.Unlock() }

func (p pair) gone() bool {
	_ = p.client.SetReadDeadline(time.Now()) // an open connection has nothing to read
	_, err := p.client.Read(make([]byte, 1))
	return err == io.EOF
}

// TestOldestIdleIsClosed fills a limiter of three; one connection is working.
func TestOldestIdleIsClosed(t *testing.T) {
	r := newConnLimiter(3)
	a, b, c := connect(t, r), connect(t, r), connect(t, r)
	for _, p := range []pair{a, b, c} {
		p.reading.Store(true)
		p.grow()
	}
	a.working.Add(1)
	d := connect(t, r)
	assert.That(t, b.gone() && !a.gone() && !c.gone(), "b was the oldest that waited")
	a.working.Add(-1)
	e := connect(t, r)
	assert.That(t, a.gone() && !c.gone(), "a was the oldest that waited")
	for _, p := range []pair{a, b, c, d, e} {
		_ = p.Close() // a and b a second time, as net/http does
	}
	assert.That(t, r.left == 3 && r.conns.Len() == 0, "%d places left and %d taken, want 3 and 0", r.left, r.conns.Len())
}

// TestIdle: whether the next step is the client's.
func TestIdle(t *testing.T) {
	r := newConnLimiter(1)
	p := connect(t, r)
	now := time.Now()
	later := now.Add(idleGrace + time.Second)
	is := func(what string, at time.Time, want bool) {
		t.Helper()
		assert.That(t, p.idle(at) == want, "%s: idle is %v", what, !want)
	}
	is("not read yet", later, false)
	p.reading.Store(true)
	is("new", now, false)
	is("says nothing", later, true)
	p.working.Add(2)
	is("worked on, and watched for its end", later, false)
	p.working.Add(-1)
	is("one of two requests is worked on", later, false)
	p.sending.Add(1)
	p.progress.Store(now.UnixNano())
	is("takes its answer", now, false)
	is("does not take its answer", later, true)
	p.sending.Add(-1)
	p.working.Add(-1)
	is("asks nothing more", later, true)
}

// TestStalled follows an upload and its answer on its own clock. A client that sends a piece in time is not
// disconnected in favour of others; one without progress is.
func TestStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, newConnLimiter(1))
		is := func(what string, want bool) {
			t.Helper()
			synctest.Wait()
			assert.That(t, p.stalled(time.Now()) == want, "%s: stalled is %v", what, !want)
		}
		send := func(n int) {
			t.Helper()
			_, err := p.client.Write(make([]byte, n))
			assert.OK(t, err)
		}
		go func() { _, _ = io.Copy(io.Discard, p.limitedConn) }()
		time.Sleep(time.Hour)
		is("it holds no memory", false)
		p.holding.Add(1)
		p.progress.Store(time.Now().UnixNano()) // as a grant of memory does
		time.Sleep(briskGrace - 1)
		is("a moment is left for the first piece", false)
		time.Sleep(time.Nanosecond)
		is("nothing was sent", true)
		for range 5 {
			send(briskPiece)
			is("a piece was sent", false)
			time.Sleep(briskGrace - 1)
			is("a piece each time", false)
		}
		send(briskPiece - 1)
		time.Sleep(time.Nanosecond)
		is("the piece is not whole", true)
		send(1)
		is("the piece is whole", false)

		p.working.Add(1)
		time.Sleep(time.Hour)
		is("it is worked on", false)
		p.sending.Add(1)
		p.progress.Store(time.Now().UnixNano())
		is("the answer is on its way", false)
		time.Sleep(briskGrace)
		is("the answer is not taken", true)
	})
}

// TestWorkIsNeverClosed fills a limiter with working connections: a new one waits.
func TestWorkIsNeverClosed(t *testing.T) {
	r := newConnLimiter(1)
	a := connect(t, r)
	a.reading.Store(true)
	a.grow()
	a.working.Add(1)
	entered := make(chan *limitedConn)
	ours, _ := net.Pipe()
	go func() { entered <- r.wrap(ours) }()
	for range 2 { // after its second token it has searched in vain
		r.free <- struct{}{}
		for len(r.free) > 0 {
			runtime.Gosched()
		}
	}
	assert.That(t, !a.gone(), "a worked and was dropped")
	_ = a.Close()
	s := <-entered
	assert.That(t, s.Conn == ours && r.left == 0, "%d places left after it entered", r.left)
}

// TestOnlyCompleteRequestsCountAsWork follows a request from its header to its answer.
func TestOnlyCompleteRequestsCountAsWork(t *testing.T) {
	r := newConnLimiter(1)
	p := connect(t, r)
	works := func() bool { return p.working.Load() == 1 }
	serve := func(body string, h http.HandlerFunc) {
		t.Helper()
		req := httptest.NewRequest("POST", "/", strings.NewReader(body))
		req = req.WithContext(context.WithValue(req.Context(), connKey{}, net.Conn(p.limitedConn)))
		func() {
			defer func() { _ = recover() }()
			trackRequests(h, newMemory(1<<20, 16)).ServeHTTP(httptest.NewRecorder(), req)
		}()
		assert.That(t, !works(), "it is worked on when it is over")
	}
	serve("", func(http.ResponseWriter, *http.Request) {
		assert.That(t, works(), "a request without a body is whole")
	})
	serve("body", func(_ http.ResponseWriter, req *http.Request) {
		_, err := io.ReadFull(req.Body, make([]byte, 2))
		assert.That(t, err == nil && !works(), "half of a body is not whole (%v)", err)
		_, err = io.ReadAll(req.Body)
		assert.That(t, err == nil && works(), "a body at its end is whole (%v)", err)
	})
	serve("body", func(http.ResponseWriter, *http.Request) {}) // refused before it is read
	serve("", func(http.ResponseWriter, *http.Request) { panic("x") })
}

// TestAnswerIsSentBeforeDone reads an answer while its handler is still running.
func TestAnswerIsSentBeforeDone(t *testing.T) {
	r := newConnLimiter(1)
	ln := assert.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	read := make(chan struct{})
	h := trackRequests(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "answer") }), newMemory(1<<20, 16))
	server := &http.Server{ConnContext: withConn, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h.ServeHTTP(w, req)
		<-read
	})}
	go func() { _ = server.Serve(&limitedListener{Listener: ln, limiter: r}) }()
	t.Cleanup(func() { server.Close() })
	resp := assert.Value(http.Get("http://" + ln.Addr().String()))(t)
	defer resp.Body.Close()
	b := make([]byte, 6)
	_, err := io.ReadFull(resp.Body, b)
	assert.That(t, err == nil && string(b) == "answer", "%q %v", b, err)
	close(read)
}

// TestUnreadAnswerIsCutOff: an answer is sent as long as the client reads pieces of it. The connections are real,
// since a pipe has no buffers.
func TestUnreadAnswerIsCutOff(t *testing.T) {
	in := assert.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	r := newConnLimiter(2)
	r.take = time.Second
	answer, ended := make([]byte, 16<<20), make(chan error, 2)
	server := &http.Server{ConnContext: withConn, ReadHeaderTimeout: time.Minute}
	server.Handler = trackRequests(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write(answer)
		ended <- err
	}), newMemory(64<<20, 2))
	go func() { _ = server.Serve(&limitedListener{Listener: in, limiter: r}) }()
	t.Cleanup(func() { _ = server.Close() })
	ask := func() net.Conn {
		conn, err := net.Dial("tcp", in.Addr().String())
		assert.OK(t, err)
		t.Cleanup(func() { conn.Close() })
		_, err = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		assert.OK(t, err)
		return conn
	}
	n, err := io.Copy(io.Discard, ask())
	assert.That(t, err == nil && n >= int64(len(answer)), "who reads got %d bytes (%v)", n, err)
	assert.NoError(t, <-ended)
	ask()
	err = <-ended
	assert.That(t, errors.Is(err, os.ErrDeadlineExceeded), "who takes nothing: %v", err)
	assert.That(t, takeTimeout == 20*time.Second, "the time is %v", takeTimeout)
}
