package server

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// idleGrace is how long a connection may at least take to send its first request, and
// a piece of an answer to be taken, before it may be closed for a new one. An honest
// client needs a fraction of it.
const idleGrace = 250 * time.Millisecond

// A client that sends a briskPiece of its body each briskGrace is not cut off for others.
const (
	briskPiece = 64 << 10
	briskGrace = 500 * time.Millisecond
)

// connLimiter bounds a listener's connections. When all are taken, a new connection
// closes the oldest one that waits for its client: for the rest of a header or a body,
// for its answer to be taken, for the next request. So clients that trickle, that stop
// half-way, that do not read or that open and keep connections lock no other client out,
// however many they are; a connection whose request is worked on is never closed for
// another.
//
// Age counts from the beginning of the connection, for otherwise a crowd could hold the
// limiter by asking for something now and then.
//
// netutil.LimitListener bounds the number too, but leaves a new connection waiting until
// one ends by itself: 16 clients that send nothing shut all others out of its 16 places
// until the header timeout (TestLimitListenerShutsOut). What ours costs beside it, with
// the telling of requests and the counting of memory: 61 against 54 us a request on a kept
// connection, 272 against 252 us with a connection a request (BenchmarkConnLimiter).
type connLimiter struct {
	mu      sync.Mutex
	left    int
	take    time.Duration // for a piece of an answer
	proxies []netip.Prefix
	conns   *list.List // of *limitedConn, the oldest first
	free    chan struct{}
}

func newConnLimiter(size int) *connLimiter {
	return &connLimiter{left: size, take: takeTimeout, conns: list.New(), free: make(chan struct{}, 1)}
}

// limitedConn is one connection that the limiter counts.
type limitedConn struct {
	net.Conn
	limiter *connLimiter
	once    sync.Once

	address string // the client's
	shared  bool   // many clients may stand behind it: the machine's own programs, a proxy

	elem  *list.Element
	since time.Time

	working  atomic.Int32 // whole requests that are not answered yet; more than one over HTTP/2
	reading  atomic.Bool  // for what its client has not sent yet
	deadline atomic.Int64 // for the whole answer, in Unix nanoseconds; 0: none
	brisk    atomic.Int64 // when the last briskPiece of a body had come, or its request began, in Unix nanoseconds
	some     int64        // of the next one; only who reads touches it
	sending  atomic.Int32 // of those that are worked on, how many send an answer over HTTP/2
	sent     atomic.Int64 // when one of them began to send a piece, in Unix nanoseconds
	writing  atomic.Int64 // since when, in Unix nanoseconds, what its client has not taken yet; else 0
}

// client returns a client's address, and whether it stands for many.
func (r *connLimiter) client(c net.Conn) (address string, shared bool) {
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

// wrap counts the connection in, closing another one if need be.
func (r *connLimiter) wrap(c net.Conn) *limitedConn {
	const again = 5 * time.Millisecond // another may have begun to wait meanwhile
	s := &limitedConn{Conn: c, limiter: r}
	s.address, s.shared = r.client(c)
	for !r.admit(s) {
		if oldest := r.idle(); oldest != nil {
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

// admit counts the connection if one more is allowed.
func (r *connLimiter) admit(s *limitedConn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left == 0 {
		return false
	}
	r.left--
	s.since = time.Now()
	s.elem = r.conns.PushBack(s)
	return true
}

// idle is the oldest connection that waits for its client, or nil.
func (r *connLimiter) idle() *limitedConn {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for e := r.conns.Front(); e != nil; e = e.Next() {
		if s, ok := e.Value.(*limitedConn); ok && s.idle(now) {
			return s
		}
	}
	return nil
}

// idle reports whether the next step is the client's. A connection whose goroutine neither
// reads nor writes does not wait for its client.
func (s *limitedConn) idle(now time.Time) bool {
	if since := s.writing.Load(); since != 0 {
		return now.UnixNano()-since >= int64(idleGrace)
	}
	if n := s.sending.Load(); n > 0 && n >= s.working.Load() {
		return now.UnixNano()-s.sent.Load() >= int64(idleGrace)
	}
	return s.working.Load() == 0 && s.reading.Load() && now.Sub(s.since) >= idleGrace
}

// stalled reports whether it is idle, and its client has not sent briskly of late: who is in
// the middle of an upload waits for its client again and again, a moment each.
func (s *limitedConn) stalled(now time.Time) bool {
	return s.idle(now) && (s.writing.Load() != 0 || now.UnixNano()-s.brisk.Load() >= int64(briskGrace))
}

func (s *limitedConn) Read(p []byte) (int, error) {
	s.reading.Store(true)
	defer s.reading.Store(false)
	n, err := s.Conn.Read(p)
	if s.some += int64(n); s.some >= briskPiece {
		s.some = 0
		s.brisk.Store(time.Now().UnixNano())
	}
	return n, err
}

// Write sends in pieces, each of which the client must take within the limiter's time for it.
func (s *limitedConn) Write(p []byte) (n int, err error) {
	defer s.writing.Store(0)
	for {
		piece := p[n:min(len(p), n+sendPiece)]
		now := time.Now()
		s.writing.Store(now.UnixNano())
		if len(p) >= sendTimed { // a short one finds room in the socket's buffer
			if err := s.Conn.SetWriteDeadline(s.sooner(now.Add(s.limiter.take))); err != nil {
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
func (s *limitedConn) SetWriteDeadline(t time.Time) error {
	if t.IsZero() {
		s.deadline.Store(0)
	} else {
		s.deadline.Store(t.UnixNano())
	}
	return s.Conn.SetWriteDeadline(t)
}

// SetDeadline is SetWriteDeadline and that for reading.
func (s *limitedConn) SetDeadline(t time.Time) error {
	if err := s.SetWriteDeadline(t); err != nil {
		return err
	}
	return s.SetReadDeadline(t)
}

func (s *limitedConn) sooner(t time.Time) time.Time {
	if whole := s.deadline.Load(); whole != 0 && whole < t.UnixNano() {
		return time.Unix(0, whole)
	}
	return t
}

// Close ends the connection and counts it out, once.
func (s *limitedConn) Close() error {
	defer s.once.Do(s.leave)
	return s.Conn.Close()
}

func (s *limitedConn) leave() {
	s.limiter.mu.Lock()
	s.limiter.conns.Remove(s.elem)
	s.limiter.left++
	s.limiter.mu.Unlock()
	select {
	case s.limiter.free <- struct{}{}:
	default: // a signal is pending already
	}
}

// limitedListener accepts connections that the limiter counts.
type limitedListener struct {
	net.Listener
	limiter *connLimiter
}

func (l *limitedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.limiter.wrap(c), nil
}

type connKey struct{}

// withConn returns the requests of a connection its limitedConn in their context.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}
