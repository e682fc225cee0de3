package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// Limits of every listener, so that a slow client delays nobody else.
const (
	maxConnections = 512 // fewer if the process may open few files, or has little memory
	fewConnections = 8
	reservedFiles  = 128      // for the database, the deliveries and the log
	connSize       = 24 << 10 // memory of a connection, with its buffers and stacks
	headerTimeout  = 10 * time.Second
	bodyTimeout    = 60 * time.Second
	writeTimeout   = 60 * time.Second
	idleTimeout    = 90 * time.Second
	maxHeaderBytes = 16<<10 - 4096 // net/http allows 4096 more than configured
)

// limits are shared by all listeners.
type limits struct {
	connections int
	memory      *memory
}

// limitsFor divides the process's open files among so many listeners.
func limitsFor(c *Config, listeners int) limits {
	n := maxConnections
	if files := openFiles(); files > 0 {
		n = max(fewConnections, min(n, int(files-reservedFiles)/max(listeners, 1)))
	}
	if most := allowedMemory(); most > 0 { // a sixth of it
		n = max(fewConnections, min(n, int(most/6/connSize)/max(listeners, 1)))
	}
	return limits{connections: n, memory: newMemory(c.memory(), n)}
}

// listener serves one handler on one address.
type listener struct {
	addr   string // the actual one, with the chosen port
	server *http.Server
	net    net.Listener
	memory *memory
	api    http.Handler // its handler without pages
}

// listen opens the address; serving begins with serve.
func listen(addr string, h http.Handler, tlsConfig *tls.Config, in limits, log zerolog.Logger) (*listener, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	real := ln.Addr().String()
	limiter := newConnLimiter(in.connections)
	in.memory.limiters = append(in.memory.limiters, limiter)
	server := &http.Server{
		Handler:           trackRequests(h, in.memory),
		TLSConfig:         tlsConfig,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          quietLog(log),
		ConnContext:       withConn,
	}
	ln = &limitedListener{Listener: ln, limiter: limiter}
	if tlsConfig != nil {
		server.TLSConfig.NextProtos = []string{"h2", "http/1.1"}
		ln = tls.NewListener(ln, server.TLSConfig)
	}
	return &listener{addr: real, server: server, net: ln, memory: in.memory, api: h}, nil
}
