package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"
)

// class is the reason in one word why an attempt had no answer. "": there was one, and its status counts.
type class string

// The classes of the delivery log.
const (
	timeout     class = "timeout"         // the whole exchange took too long
	refused     class = "refused"         // no connection: refused, or unreachable
	noName      class = "dns"             // the host's name could not be resolved
	badTLS      class = "tls"             // no TLS connection: certificate, version, not TLS at all
	blockedAddr class = "blocked_address" // sending to the name's address is forbidden
	closed      class = "closed"          // the connection ended before the answer's headers
	badResponse class = "bad_response"    // the answer was not HTTP, or its headers were too long
)

const (
	maxHeader = 64 << 10 // bytes of an answer's headers, interim answers included
	maxBody   = 4 << 10  // bytes of an answer's body that are read and discarded
)

var errBlocked = errors.New("webhook: blocked address")

// client makes one exchange over its own connection: no pool, so no retry, no redirect, no proxy, no cookie.
type client struct {
	timeout      time.Duration // for everything from the name's resolution to the answer's end
	allowPrivate bool
	transport    *http.Transport
}

func newClient(timeout time.Duration, allowPrivate bool) *client {
	c := &client{timeout: timeout, allowPrivate: allowPrivate}
	c.transport = &http.Transport{
		DialContext:            c.dialer().DialContext,
		DialTLSContext:         c.dialTLS,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
	}
	return c
}

// dialer checks the resolved address that is connected to, so that a name cannot change in between.
func (c *client) dialer() *net.Dialer {
	return &net.Dialer{KeepAlive: -1, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || blocked(to.Addr(), c.allowPrivate) {
			return errBlocked
		}
		return nil
	}}
}

// handshakeError distinguishes a handshake's error from one of the exchange.
type handshakeError struct{ error }

func (e handshakeError) Unwrap() error { return e.error }

func (c *client) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.transport.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := c.transport.TLSClientConfig.Clone()
	config.ServerName, _, _ = net.SplitHostPort(address)
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, handshakeError{err}
	}
	return secure, nil
}

// post sends the body once and returns the answer's status, or why there was none. The headers decide; a little of the
// body is discarded, so that a receiver that is still writing can finish.
func (c *client) post(ctx context.Context, target string, h http.Header, body []byte) (status int, why class) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var answered atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: func() { answered.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return 0, noName
	}
	if disguised(req.URL.Hostname()) {
		return 0, blockedAddr
	}
	req.Header, req.Close = h, true
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return 0, classOf(ctx, err, answered.Load())
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 100 {
		return 0, badResponse
	}
	_, _ = io.CopyN(io.Discard, resp.Body, maxBody)
	return resp.StatusCode, ""
}

// classOf sorts the error of an exchange; answered reports whether anything came back.
func classOf(ctx context.Context, err error, answered bool) class {
	var noHost *net.DNSError
	var late interface{ Timeout() bool }
	var wire *net.OpError
	switch {
	case errors.Is(err, errBlocked):
		return blockedAddr
	case ctx.Err() != nil, errors.As(err, &late) && late.Timeout():
		return timeout
	case errors.As(err, &noHost):
		return noName
	case errors.As(err, new(handshakeError)), errors.As(err, new(tls.RecordHeaderError)):
		return badTLS
	case errors.As(err, &wire) && wire.Op == "dial":
		return refused
	case errors.As(err, &wire) && wire.Op == "remote error": // an alert, as for want of a client's certificate
		return badTLS
	case !answered, errors.As(err, &wire), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return closed
	}
	return badResponse
}
