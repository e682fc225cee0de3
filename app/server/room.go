package server

import (
	"container/list"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long a connection may at least take to send its first request, and
// a piece of an answer to be taken, before it makes place for another. Whoever means
// well needs a fraction of it.
const patience = 250 * time.Millisecond

// room bounds a listener's connections. When it is full, a new connection takes the
// place of the oldest one that waits for its client: for the rest of a header or a
// body, for its answer to be taken, for the next request. So clients that trickle,
// that stop half-way, that do not read or that open and keep connections shut nobody
// out, however many they are; and a request that is worked on is never dropped for
// another.
//
// Age counts from the beginning of the connection, for otherwise a crowd could hold
// the room by asking for something now and then.
type room struct {
	mu      sync.Mutex
	left    int
	proxies []netip.Prefix
	seats   *list.List // of *seat, the oldest first
	free    chan struct{}
}

func newRoom(size int) *room {
	return &room{left: size, seats: list.New(), free: make(chan struct{}, 1)}
}

// seat is one connection in the room.
type seat struct {
	net.Conn
	room *room
	once sync.Once

	address string // the client's
	shared  bool   // many clients may stand behind it: the machine's own programs, a proxy

	place *list.Element
	since time.Time

	working  atomic.Int32 // whole requests that are not answered yet; more than one over HTTP/2
	reading  atomic.Bool  // for what its client has not sent yet
	deadline atomic.Int64 // for the whole answer, in Unix nanoseconds; 0: none
	writing  atomic.Int64 // since when, in Unix nanoseconds, what its client has not taken yet; else 0
}

// whose gives a client's address, and whether it stands for many.
func (r *room) whose(c net.Conn) (address string, shared bool) {
	if tcp, ok := c.(*net.TCPConn); ok {
		// What the system holds for a client that does not read is bounded as well.
		_ = tcp.SetWriteBuffer(socketBuffer)
		_ = tcp.SetReadBuffer(socketBuffer)
	}
	from, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return "", true
	}
	a := from.Addr().Unmap()
	return a.String(), a.IsLoopback() || slices.ContainsFunc(r.proxies, func(p netip.Prefix) bool { return p.Contains(a) })
}

const socketBuffer = 64 << 10

// enter gives the connection a place, that of another one if need be.
func (r *room) enter(c net.Conn) *seat {
	const again = 5 * time.Millisecond // somebody may have begun to wait meanwhile
	s := &seat{Conn: c, room: r}
	s.address, s.shared = r.whose(c)
	for !r.sit(s) {
		if oldest := r.waits(); oldest != nil {
			_ = oldest.Close()
			continue
		}
		select {
		case <-r.free:
		case <-time.After(again):
		}
	}
	return s
}

// sit takes a place if there is one.
func (r *room) sit(s *seat) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left == 0 {
		return false
	}
	r.left--
	s.since = time.Now()
	s.place = r.seats.PushBack(s)
	return true
}

// waits is the oldest connection that waits for its client, or nil.
func (r *room) waits() *seat {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for e := r.seats.Front(); e != nil; e = e.Next() {
		if s, ok := e.Value.(*seat); ok && s.waits(now) {
			return s
		}
	}
	return nil
}

// waits tells whether it is the client's turn. A connection whose goroutine has not
// come to read or to write does not wait for its client.
func (s *seat) waits(now time.Time) bool {
	if since := s.writing.Load(); since != 0 {
		return now.UnixNano()-since >= int64(patience)
	}
	return s.working.Load() == 0 && s.reading.Load() && now.Sub(s.since) >= patience
}

func (s *seat) Read(p []byte) (int, error) {
	s.reading.Store(true)
	defer s.reading.Store(false)
	return s.Conn.Read(p)
}

// Write sends in pieces, each of which the client must take within takeTimeout.
func (s *seat) Write(p []byte) (n int, err error) {
	defer s.writing.Store(0)
	for {
		piece := p[n:min(len(p), n+sendPiece)]
		now := time.Now()
		s.writing.Store(now.UnixNano())
		if len(p) >= sendTimed { // a short one finds room in the socket's buffer
			if err := s.Conn.SetWriteDeadline(s.sooner(now.Add(takeTimeout))); err != nil {
				return n, err
			}
		}
		k, err := s.Conn.Write(piece)
		if n += k; err != nil || n == len(p) {
			return n, err
		}
	}
}

// How an answer is sent.
const (
	takeTimeout = 20 * time.Second // a client that takes nothing for so long is cut off
	sendPiece   = 64 << 10
	sendTimed   = 4 << 10
)

// SetWriteDeadline sets the time for the whole answer; each piece has its own within it.
func (s *seat) SetWriteDeadline(t time.Time) error {
	if t.IsZero() {
		s.deadline.Store(0)
	} else {
		s.deadline.Store(t.UnixNano())
	}
	return s.Conn.SetWriteDeadline(t)
}

// SetDeadline is SetWriteDeadline and that for reading.
func (s *seat) SetDeadline(t time.Time) error {
	if err := s.SetWriteDeadline(t); err != nil {
		return err
	}
	return s.SetReadDeadline(t)
}

func (s *seat) sooner(t time.Time) time.Time {
	if whole := s.deadline.Load(); whole != 0 && whole < t.UnixNano() {
		return time.Unix(0, whole)
	}
	return t
}

// Close gives the place back, once.
func (s *seat) Close() error {
	defer s.once.Do(s.leave)
	return s.Conn.Close()
}

func (s *seat) leave() {
	s.room.mu.Lock()
	s.room.seats.Remove(s.place)
	s.room.left++
	s.room.mu.Unlock()
	select {
	case s.room.free <- struct{}{}:
	default: // whoever waits is told already
	}
}

// limited accepts into the room.
type limited struct {
	net.Listener
	room *room
}

func (l *limited) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.room.enter(c), nil
}

type seatKey struct{}

// seated puts a connection's seat into the context of its requests.
func seated(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return context.WithValue(ctx, seatKey{}, c)
}

// watched notes for every request when it is whole and when it is answered, and counts
// what it holds.
func watched(h http.Handler, b *budget) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		s, ok := req.Context().Value(seatKey{}).(*seat)
		if !ok {
			h.ServeHTTP(w, req)
			return
		}
		t := &turn{ResponseWriter: w, seat: s, budget: b}
		defer t.over()
		if req.ContentLength == 0 {
			t.whole()
		} else {
			req = req.WithContext(req.Context()) // net/http looks at its own request's body afterwards
			req.Body = &incoming{ReadCloser: req.Body, turn: t}
		}
		h.ServeHTTP(t, req)
		// net/http would send what is left of the answer only after the turn, when the
		// connection counts as waiting again.
		_ = http.NewResponseController(w).Flush() // a client that has gone is told nothing more
	})
}

// turn is one request on its way through the program, and where it is answered.
type turn struct {
	http.ResponseWriter
	seat    *seat
	budget  *budget
	working bool
	busy    bool  // it is among the budget's workers
	held    int64 // of the budget
}

// address is whose requests share a part of the budget.
func (t *turn) address() string { return t.seat.address }

// shared tells whether many clients may stand behind the address.
func (t *turn) shared() bool { return t.seat.shared }

func (t *turn) whole() {
	if !t.working {
		t.working = true
		t.seat.working.Add(1)
	}
}

// over ends the turn, also when the handler panics.
func (t *turn) over() {
	if t.working {
		t.seat.working.Add(-1)
	}
	t.rest()
	t.budget.give(t)
}

// incoming is a request's body; at its end the request is whole.
type incoming struct {
	io.ReadCloser
	turn *turn
	came int64
}

func (b *incoming) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.turn.whole()
	}
	if b.came += int64(n); n > 0 && b.came > freeBytes {
		if full := b.turn.budget.take(b.turn, int64(n)); full != nil {
			return n, full
		}
	}
	return n, err
}
