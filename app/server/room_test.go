package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
)

// pair is a connection in a room and its client's end.
type pair struct {
	*seat
	client net.Conn
}

func enter(t *testing.T, r *room) pair {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	return pair{r.enter(ours), theirs}
}

// grow makes the connection old enough to make place.
func (p pair) grow() { p.room.mu.Lock(); p.since = p.since.Add(-patience); p.room.mu.Unlock() }

func (p pair) gone() bool {
	_ = p.client.SetReadDeadline(time.Now()) // one that is open has nothing to read
	_, err := p.client.Read(make([]byte, 1))
	return err == io.EOF
}

// TestTheOldestThatWaitsMakesPlace fills a room of three, one of whom works.
func TestTheOldestThatWaitsMakesPlace(t *testing.T) {
	r := newRoom(3)
	a, b, c := enter(t, r), enter(t, r), enter(t, r)
	for _, p := range []pair{a, b, c} {
		p.reading.Store(true)
		p.grow()
	}
	a.working.Add(1)
	d := enter(t, r)
	if !b.gone() || a.gone() || c.gone() {
		t.Error("b was the oldest that waited")
	}
	a.working.Add(-1)
	e := enter(t, r)
	if !a.gone() || c.gone() {
		t.Error("a was the oldest that waited")
	}
	for _, p := range []pair{a, b, c, d, e} {
		_ = p.Close() // a and b for a second time, as net/http does
	}
	if r.left != 3 || r.seats.Len() != 0 {
		t.Errorf("%d places left and %d taken, want 3 and 0", r.left, r.seats.Len())
	}
}

// TestWaiting tells whose turn it is.
func TestWaiting(t *testing.T) {
	r := newRoom(1)
	p := enter(t, r)
	now := time.Now()
	later := now.Add(patience + time.Second)
	is := func(what string, at time.Time, want bool) {
		t.Helper()
		if p.waits(at) != want {
			t.Errorf("%s: waits is %v", what, !want)
		}
	}
	is("not read yet", later, false)
	p.reading.Store(true)
	is("new", now, false)
	is("says nothing", later, true)
	p.working.Add(2)
	is("worked on, and watched for its end", later, false)
	p.working.Add(-1)
	is("one of two requests is worked on", later, false)
	p.writing.Store(now.UnixNano())
	is("takes its answer", now, false)
	is("does not take its answer", later, true)
	p.writing.Store(0)
	p.working.Add(-1)
	is("asks nothing more", later, true)
}

// TestNobodyIsDroppedForWork fills a room with work: a new connection waits.
func TestNobodyIsDroppedForWork(t *testing.T) {
	r := newRoom(1)
	a := enter(t, r)
	a.reading.Store(true)
	a.grow()
	a.working.Add(1)
	entered := make(chan *seat)
	ours, _ := net.Pipe()
	go func() { entered <- r.enter(ours) }()
	for range 2 { // once it has taken a second token, it has looked around in vain
		r.free <- struct{}{}
		for len(r.free) > 0 {
			runtime.Gosched()
		}
	}
	if a.gone() {
		t.Error("a worked and was dropped")
	}
	_ = a.Close()
	if s := <-entered; s.Conn != ours || r.left != 0 {
		t.Errorf("%d places left after it entered", r.left)
	}
}

// TestARequestIsWorkWhenItIsWhole follows a request from its header to its answer.
func TestARequestIsWorkWhenItIsWhole(t *testing.T) {
	r := newRoom(1)
	p := enter(t, r)
	works := func() bool { return p.working.Load() == 1 }
	serve := func(body string, h http.HandlerFunc) {
		t.Helper()
		req := httptest.NewRequest("POST", "/", strings.NewReader(body))
		req = req.WithContext(context.WithValue(req.Context(), seatKey{}, net.Conn(p.seat)))
		func() {
			defer func() { _ = recover() }()
			watched(h, newBudget(1<<20)).ServeHTTP(httptest.NewRecorder(), req)
		}()
		if works() {
			t.Error("it is worked on when it is over")
		}
	}
	serve("", func(http.ResponseWriter, *http.Request) {
		if !works() {
			t.Error("a request without a body is whole")
		}
	})
	serve("body", func(_ http.ResponseWriter, req *http.Request) {
		if _, err := io.ReadFull(req.Body, make([]byte, 2)); err != nil || works() {
			t.Errorf("half of a body is not whole (%v)", err)
		}
		if _, err := io.ReadAll(req.Body); err != nil || !works() {
			t.Errorf("a body at its end is whole (%v)", err)
		}
	})
	serve("body", func(http.ResponseWriter, *http.Request) {}) // refused before it is read
	serve("", func(http.ResponseWriter, *http.Request) { panic("x") })
}

// TestAnAnswerIsOnItsWayBeforeItsTurnIsOver reads an answer while its handler's turn
// is not over.
func TestAnAnswerIsOnItsWayBeforeItsTurnIsOver(t *testing.T) {
	r := newRoom(1)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	h := watched(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "answer") }), newBudget(1<<20))
	server := &http.Server{ConnContext: seated, Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h.ServeHTTP(w, req)
		<-read
	})}
	go func() { _ = server.Serve(&limited{Listener: ln, room: r}) }()
	t.Cleanup(func() { server.Close() })
	resp, err := http.Get("http://" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b := make([]byte, 6)
	if _, err := io.ReadFull(resp.Body, b); err != nil || string(b) != "answer" {
		t.Errorf("%q %v", b, err)
	}
	close(read)
}
