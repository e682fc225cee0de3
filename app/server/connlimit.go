package server

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// idleGrace is the least time a connection has to send its first request, and to read a piece of an answer, before it
// may be closed for a new one. An honest client needs a fraction of it.
const idleGrace = 250 * time.Millisecond

// A client that sends or reads a briskPiece each briskGrace is not disconnected for others' memory.
const (
	briskPiece = 64 << 10
	briskGrace = 500 * time.Millisecond
)

// connLimiter bounds a listener's connections. When all are taken, a new connection closes the oldest one that waits
// for its client: for the rest of a header or a body, for its answer to be read, for the next request. So clients that
// trickle, stop half-way, do not read, or open and keep connections cannot lock out others, however many they are. A
// connection whose request is being processed is never closed for another.
//
// Age counts from the beginning of the connection, since otherwise a crowd could hold the limiter with occasional
// requests.
//
// netutil.LimitListener bounds the number too, but makes a new connection wait until one ends by itself: 16 silent
// clients block its 16 places until the header timeout (TestLimitListenerBlocksNewClients). BenchmarkConnLimiter
// compares the cost.
type connLimiter struct {
	mu    sync.Mutex
	left  int
	take  time.Duration // for a piece of an answer
	conns *list.List    // of *limitedConn, oldest first
	free  chan struct{}
}

func newConnLimiter(size int) *connLimiter {
	return &connLimiter{left: size, take: takeTimeout, conns: list.New(), free: make(chan struct{}, 1)}
}

// limitedConn is a connection that the limiter counts.
type limitedConn struct {
	net.Conn
	limiter *connLimiter
	once    sync.Once

	elem  *list.Element
	since time.Time

	working  atomic.Int32 // complete requests without an answer; more than one over HTTP/2
	reading  atomic.Bool  // waiting for its client to send
	sending  atomic.Int32 // number of requests with a piece of an answer that the client has not read yet
	holding  atomic.Int32 // number of requests that hold memory
	progress atomic.Int64 // when the last briskPiece arrived, or sending a piece began, in Unix nanoseconds
	some     int64        // of the next one; only the reader uses it
}

const socketBuffer = 64 << 10

// wrap counts the connection, closing another one if needed.
func (r *connLimiter) wrap(c net.Conn) *limitedConn {
	const again = 5 * time.Millisecond // another may have begun to wait meanwhile
	s := &limitedConn{Conn: c, limiter: r}
	if tcp, ok := c.(*net.TCPConn); ok {
		// The system's buffer for a client that does not read is bounded as well.
		_ = tcp.SetWriteBuffer(socketBuffer)
		_ = tcp.SetReadBuffer(socketBuffer)
	}
	for !r.admit(s) {
		if oldest := r.oldest((*limitedConn).idle); oldest != nil {
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

// oldest is the oldest connection for which so is true, or nil.
func (r *connLimiter) oldest(is func(*limitedConn, time.Time) bool) *limitedConn {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for e := r.conns.Front(); e != nil; e = e.Next() {
		if s, ok := e.Value.(*limitedConn); ok && is(s, now) {
			return s
		}
	}
	return nil
}

// idle reports whether the next step is the client's. A connection whose goroutine neither reads nor writes does not
// wait for its client.
func (s *limitedConn) idle(now time.Time) bool {
	if n := s.sending.Load(); n > 0 && n >= s.working.Load() {
		return now.UnixNano()-s.progress.Load() >= int64(idleGrace)
	}
	return s.working.Load() == 0 && s.reading.Load() && now.Sub(s.since) >= idleGrace
}

// stalled reports whether the connection holds memory, is idle, and has made no progress recently. A client in the
// middle of an upload is idle again and again, a moment each.
func (s *limitedConn) stalled(now time.Time) bool {
	return s.holding.Load() > 0 && s.idle(now) && now.UnixNano()-s.progress.Load() >= int64(briskGrace)
}

func (s *limitedConn) Read(p []byte) (int, error) {
	s.reading.Store(true)
	defer s.reading.Store(false)
	n, err := s.Conn.Read(p)
	if s.some += int64(n); s.some >= briskPiece {
		s.some = 0
		s.progress.Store(time.Now().UnixNano())
	}
	return n, err
}

// Close ends the connection and uncounts it, once.
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

// withConn adds a connection's limitedConn to its requests' context.
func withConn(ctx context.Context, c net.Conn) context.Context {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}
