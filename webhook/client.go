package webhook

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"syscall"
	"time"
)

// class says in one word why an attempt had no answer. "" is none of them: there
// was an answer, and its status tells.
type class string

// The classes of the delivery log.
const (
	timeout     class = "timeout"         // the whole exchange took too long
	refused     class = "refused"         // no connection: refused, or no way there
	noName      class = "dns"             // the host's name could not be resolved
	badTLS      class = "tls"             // no TLS connection: certificate, version, not TLS at all
	blockedAddr class = "blocked_address" // the name's address is one to which nothing is sent
	closed      class = "closed"          // the connection ended before the answer's headers did
	badResponse class = "bad_response"    // what came was not an HTTP answer, or its headers were endless
)

const (
	maxHeader = 64 << 10 // bytes of an answer's headers, interim answers included
	maxBody   = 4 << 10  // bytes of an answer's body that are read and thrown away
)

var errBlocked = errors.New("webhook: blocked address")

// client makes one exchange over one connection of its own: no pool, no second try,
// no redirect, no proxy, no cookie. The connection may be opened before it is known that
// anything will be sent over it.
//
// http.Transport with DisableKeepAlives does not repeat a POST either, but takes a fifth
// to a third more processor time for an exchange (BenchmarkPost, both ends counted), and
// may give a write's error in place of what a receiver answered before it had read
// everything.
type client struct {
	timeout      time.Duration // for everything from the name's resolution to the answer's end
	allowPrivate bool
	roots        *x509.CertPool // nil is the machine's
	resolver     *net.Resolver  // nil is the machine's
}

// post sends the body once and returns the answer's status, or why there was none.
func (c *client) post(ctx context.Context, target string, h http.Header, body []byte) (status int, why class) {
	return c.open(ctx, target, h, body).send(ctx)
}

// exchange is a request of which nothing was sent yet, and the connection for it.
type exchange struct {
	client *client
	req    *http.Request
	conn   net.Conn
	wire   net.Conn // conn, or TLS over it
	why    class    // why there is no connection
	opened time.Time
	took   time.Duration // to open it
}

// open makes everything ready up to the first byte of the request.
func (c *client) open(ctx context.Context, target string, h http.Header, body []byte) *exchange {
	req, err := http.NewRequest(http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return &exchange{why: noName}
	}
	req.Header, req.Close = h, true
	x := &exchange{client: c, req: req}
	x.connect(ctx)
	return x
}

func (x *exchange) connect(ctx context.Context) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, x.client.timeout)
	defer cancel()
	if x.conn, x.why = x.client.connect(ctx, x.req.URL); x.why == "" {
		x.wire, x.why = x.client.secure(ctx, x.req.URL, x.conn)
	}
	x.opened = time.Now()
	x.took = x.opened.Sub(began)
}

func (x *exchange) close() {
	if x.conn != nil {
		_ = x.conn.Close()
	}
}

// keepsFor is how long a connection may wait for its request: a receiver may close one
// over which nothing comes.
const keepsFor = time.Second

// send sends the request and returns the answer's status, or why there was none; the
// connection is closed then. The status decides as soon as the headers are there; what
// becomes of the body after them does not matter. The time that an exchange has is for
// opening the connection and for what is done here, not for any wait between.
func (x *exchange) send(ctx context.Context) (status int, why class) {
	if x.why == "" && time.Since(x.opened) > keepsFor {
		x.close()
		x.connect(ctx)
	}
	defer x.close()
	if x.why != "" {
		return 0, x.why
	}
	ctx, cancel := context.WithTimeout(ctx, x.client.timeout-x.took)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = x.conn.SetDeadline(time.Unix(1, 0)) })()
	// A receiver may answer before it has read everything and close: what it said
	// counts, and when it said nothing, reading tells why better than writing.
	_ = x.req.Write(x.wire)
	return readAnswer(ctx, x.wire, x.req)
}

// secure returns TLS over the connection where the URL asks for it.
func (c *client) secure(ctx context.Context, u *url.URL, conn net.Conn) (net.Conn, class) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(maxHeader) // so that no more of an endless answer is taken in than is read
	}
	if u.Scheme != "https" {
		return conn, ""
	}
	wire := tls.Client(conn, &tls.Config{ServerName: u.Hostname(), RootCAs: c.roots, MinVersion: tls.VersionTLS12})
	if err := wire.HandshakeContext(ctx); err != nil {
		return nil, classOf(ctx, err, badTLS)
	}
	return wire, ""
}

// connect opens the connection. The address is judged when the name has been
// resolved, by the very value that is connected to, so that a name cannot point
// elsewhere in between.
func (c *client) connect(ctx context.Context, u *url.URL) (net.Conn, class) {
	host, port := u.Hostname(), u.Port()
	if disguised(host) {
		return nil, blockedAddr
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	dialer := net.Dialer{Resolver: c.resolver, KeepAlive: -1, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || blocked(to.Addr(), c.allowPrivate) {
			return errBlocked
		}
		return nil
	}}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, classOf(ctx, err, refused)
	}
	return conn, ""
}

// readAnswer reads the answer's status, passing over interim answers, and throws a
// little of its body away, so that a receiver which is still writing can finish.
func readAnswer(ctx context.Context, wire io.Reader, req *http.Request) (status int, why class) {
	limit := &io.LimitedReader{R: wire, N: maxHeader}
	in := bufio.NewReader(limit)
	for {
		resp, err := http.ReadResponse(in, req)
		switch {
		case err != nil && limit.N <= 0:
			return 0, badResponse
		case err != nil:
			return 0, classOf(ctx, err, badResponse)
		case resp.StatusCode < 100:
			return 0, badResponse
		case resp.StatusCode < 200 && resp.StatusCode != http.StatusSwitchingProtocols:
			continue
		}
		limit.N = int64(max(0, maxBody-in.Buffered()))
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return resp.StatusCode, ""
	}
}

// classOf sorts an error; otherwise is the class of the stage at which it happened.
func classOf(ctx context.Context, err error, otherwise class) class {
	var noHost *net.DNSError
	var late interface{ Timeout() bool }
	switch {
	case errors.Is(err, errBlocked):
		return blockedAddr
	case ctx.Err() != nil, errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &late) && late.Timeout():
		return timeout
	case errors.As(err, &noHost):
		return noName
	case otherwise == badResponse:
		return cutOff(err)
	}
	return otherwise
}

// cutOff sorts an error that came while the answer was read.
func cutOff(err error) class {
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		return badTLS
	}
	var wire *net.OpError
	if errors.As(err, &wire) {
		if wire.Op == "remote error" { // an alert, as for want of a client's certificate
			return badTLS
		}
		return closed
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return closed
	}
	return badResponse
}
