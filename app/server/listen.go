package server

import (
	"crypto/tls"
	"net"
	"net/http"
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
	api    http.Handler // what it serves beside pages
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
		Handler:           watched(h),
		TLSConfig:         tlsConfig,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       bodyTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          quietLog(log),
		ConnContext:       seated,
	}
	ln = &limited{Listener: ln, room: room}
	if tlsConfig != nil {
		server.TLSConfig.NextProtos = []string{"h2", "http/1.1"}
		ln = tls.NewListener(ln, server.TLSConfig)
	}
	return &listener{addr: real, server: server, net: ln, api: h}, nil
}
