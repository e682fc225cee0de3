package app

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Limits of every listener, so that a slow client holds no one else up.
const (
	maxConnections = 512
	headerTimeout  = 10 * time.Second
	bodyTimeout    = 60 * time.Second
	writeTimeout   = 60 * time.Second
	idleTimeout    = 90 * time.Second
	maxHeaderBytes = 16<<10 - 4096 // net/http allows 4096 more than it is told
)

// listener serves one handler on one address.
type listener struct {
	addr   string // the real one, with the port that was picked
	server *http.Server
	net    net.Listener
}

// listen opens the address; serving begins with serve.
func listen(addr string, h http.Handler, tlsConfig *tls.Config, log zerolog.Logger) (*listener, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	real := ln.Addr().String()
	room := newRoom(maxConnections)
	server := &http.Server{
		Handler:           h,
		TLSConfig:         tlsConfig,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          quietLog(log),
		ConnState:         room.note,
	}
	ln = &limited{Listener: ln, room: room}
	if tlsConfig != nil {
		server.TLSConfig.NextProtos = []string{"h2", "http/1.1"}
		ln = tls.NewListener(ln, server.TLSConfig)
	}
	return &listener{addr: real, server: server, net: ln}, nil
}

// room counts a listener's connections. When it is full, the connection that has
// idled longest makes place for a new one, so that clients that open and keep
// connections shut nobody out.
type room struct {
	mu    sync.Mutex
	free  *sync.Cond
	left  int
	idle  *list.List // of net.Conn, longest idle first
	where map[net.Conn]*list.Element
}

func newRoom(size int) *room {
	r := &room{left: size, idle: list.New(), where: map[net.Conn]*list.Element{}}
	r.free = sync.NewCond(&r.mu)
	return r
}

// enter waits for a place.
func (r *room) enter() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.left == 0 {
		if oldest := r.idle.Front(); oldest != nil {
			c, _ := r.idle.Remove(oldest).(net.Conn)
			delete(r.where, c)
			go func() { _ = c.Close() }() // its place comes free when it is closed
		}
		r.free.Wait()
	}
	r.left--
}

func (r *room) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left++
	r.free.Signal()
}

// note follows which connections wait for their next request.
func (r *room) note(c net.Conn, state http.ConnState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.where[c]; ok {
		r.idle.Remove(e)
		delete(r.where, c)
	}
	if state == http.StateIdle {
		r.where[c] = r.idle.PushBack(c)
		r.free.Signal()
	}
}

// limited accepts only while there is room.
type limited struct {
	net.Listener
	room *room
}

func (l *limited) Accept() (net.Conn, error) {
	l.room.enter()
	c, err := l.Listener.Accept()
	if err != nil {
		l.room.leave()
		return nil, err
	}
	return &counted{Conn: c, room: l.room}, nil
}

type counted struct {
	net.Conn
	room *room
	once sync.Once
}

func (c *counted) Close() error {
	defer c.once.Do(c.room.leave)
	return c.Conn.Close()
}
