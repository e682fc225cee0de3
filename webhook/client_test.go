package webhook

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quartermaster/schema/assert"
)

// line is a listener that passes every connection to serve and counts them.
type line struct {
	url   string // http://127.0.0.1:port
	count atomic.Int64
}

func listen(t *testing.T, serve func(conn net.Conn)) *line {
	t.Helper()
	l := assert.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	n := &line{url: "http://" + l.Addr().String()}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			n.count.Add(1)
			go func() {
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	return n
}

// says reads the request, writes text and then does after.
func says(text string, after func(net.Conn)) func(net.Conn) {
	return func(conn net.Conn) {
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		_, _ = io.WriteString(conn, text)
		after(conn)
	}
}

func hangUp(net.Conn)    {}
func hold(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) } // until the other side closes
func repeat(s string) func(net.Conn) {
	return func(conn net.Conn) {
		for {
			if _, err := io.WriteString(conn, s); err != nil {
				return
			}
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 1000)
	cases := []struct {
		name   string
		serve  func(net.Conn)
		status int
		why    class
	}{
		{"2xx", says("HTTP/1.1 204 No Content\r\n\r\n", hangUp), 204, ""},
		{"4xx", says("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", hangUp), 410, ""},
		{"5xx without a reason", says("HTTP/1.1 503\r\n\r\n", hangUp), 503, ""},
		{"HTTP/1.0", says("HTTP/1.0 200 OK\r\n\r\nthanks", hangUp), 200, ""},
		{"a redirect", says("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n\r\n", hangUp), 302, ""},
		{"interim answers", says("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", hangUp), 200, ""},
		{"another protocol", says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", hold), 101, ""},
		{"an endless body", says("HTTP/1.1 200 OK\r\n\r\n", repeat(long)), 200, ""},
		{"an endless chunked body", says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", repeat("3e8\r\n"+long+"\r\n")), 200, ""},
		{"a body cut short", says("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nthanks", hangUp), 200, ""},
		{"no answer", says("", hold), 0, timeout},
		{"half a header", says("HTTP/1.1 200 OK\r\nX-Half: ", hold), 0, timeout},
		{"interim answers only", says("HTTP/1.1 100 Continue\r\n\r\n", hold), 0, timeout},
		{"closed after the request", says("", hangUp), 0, closed},
		{"closed in the headers", says("HTTP/1.1 200 OK\r\nX-Half: ", hangUp), 0, closed},
		{"closed at once", hangUp, 0, closed},
		{"not HTTP", says("220 mail.example ESMTP\r\n", hold), 0, badResponse},
		{"a status below 100", says("HTTP/1.1 099 Odd\r\n\r\n", hold), 0, badResponse},
		{"a status of four digits", says("HTTP/1.1 2000 Odd\r\n\r\n", hold), 0, badResponse},
		{"a header without a colon", says("HTTP/1.1 200 OK\r\nodd\r\n\r\n", hold), 0, badResponse},
		{"an endless header line", says("HTTP/1.1 200 OK\r\nX-Long: ", repeat(long)), 0, badResponse},
		{"endless headers", says("HTTP/1.1 200 OK\r\n", repeat("X-More: "+long+"\r\n")), 0, badResponse},
		{"endless interim answers", says("", repeat("HTTP/1.1 100 Continue\r\nX: "+long+"\r\n\r\n")), 0, badResponse},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := listen(t, c.serve)
			limit := 20 * time.Second // for tests that must not depend on it
			if c.why == timeout {
				limit = 100 * time.Millisecond
			}
			to := newClient(limit, true)
			status, why := to.post(t.Context(), l.url+"/hooks", http.Header{}, []byte(`{"n":1}`))
			assert.That(t, status == c.status && why == c.why, "got %d %q, want %d %q", status, why, c.status, c.why)
			assert.Equal(t, l.count.Load(), 1, "connections were made")
		})
	}
}

// TestRequest compares the bytes of a request, with a proxy in the environment that must not be used.
func TestRequest(t *testing.T) {
	proxy := listen(t, hangUp)
	t.Setenv("HTTP_PROXY", proxy.url)
	t.Setenv("http_proxy", proxy.url)
	var raw strings.Builder
	done := make(chan struct{})
	l := listen(t, func(conn net.Conn) {
		defer close(done)
		in := bufio.NewReader(io.TeeReader(conn, &raw))
		req, err := http.ReadRequest(in)
		if err == nil {
			_, _ = io.Copy(io.Discard, req.Body)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		}
	})
	to := newClient(20*time.Second, true)
	h := header(&outgoing{id: 7, service: "store", event: "order.paid", eventID: "evt_1", secret: "s", body: []byte(`{"n":1}`), at: 1}, "1.2.3")
	status, why := to.post(t.Context(), l.url+"/a%20b?q=1#part", h, []byte(`{"n":1}`))
	assert.Must(t, status == 200 && why == "", "got %d %q", status, why)
	<-done
	host := strings.TrimPrefix(l.url, "http://")
	want := "POST /a%20b?q=1 HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: quartermaster/1.2.3\r\nConnection: close\r\nContent-Length: 7\r\n" +
		"Content-Type: application/json\r\nWebhook-Id: evt_1\r\nWebhook-Signature: " + h.Get("Webhook-Signature") +
		"\r\nWebhook-Timestamp: 1\r\nX-Store-Delivery: 7\r\nX-Store-Event: order.paid\r\nX-Store-Signature: " +
		h.Get("X-Store-Signature") + "\r\n\r\n{\"n\":1}"
	assert.That(t, raw.String() == want, "the request was\n%s\nwant\n%s", raw.String(), want)
	n := proxy.count.Load()
	assert.That(t, n == 0, "the proxy got %d connections", n)
}

func TestTLS(t *testing.T) {
	t.Parallel()
	ok := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {})
	serve := func(t *testing.T, change func(*tls.Config)) *httptest.Server {
		s := httptest.NewUnstartedServer(ok)
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.TLS = &tls.Config{}
		change(s.TLS)
		s.StartTLS()
		t.Cleanup(s.Close)
		return s
	}
	as := func(*tls.Config) {}
	good := serve(t, as)
	roots := x509.NewCertPool()
	roots.AddCert(good.Certificate())
	picky := serve(t, func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert })
	old := serve(t, func(c *tls.Config) { c.MaxVersion = tls.VersionTLS11; c.MinVersion = tls.VersionTLS10 })
	plain := httptest.NewServer(ok)
	t.Cleanup(plain.Close)
	mute := listen(t, hold)
	deaf := listen(t, hangUp)
	secure := func(url string) string { return "https" + strings.TrimPrefix(url, "http") }
	cases := []struct {
		name, url string
		roots     *x509.CertPool
		limit     time.Duration
		status    int
		why       class
	}{
		{"trusted", good.URL, roots, time.Minute, 200, ""},
		{"not trusted", good.URL, nil, time.Minute, 0, badTLS},
		{"another name", strings.Replace(good.URL, "127.0.0.1", "localhost", 1), roots, time.Minute, 0, badTLS},
		{"wants a client certificate", picky.URL, roots, time.Minute, 0, badTLS},
		{"too old", old.URL, roots, time.Minute, 0, badTLS},
		{"not TLS", secure(plain.URL), roots, time.Minute, 0, badTLS},
		{"hangs up", secure(deaf.url), roots, time.Minute, 0, badTLS},
		{"says nothing", secure(mute.url), roots, 100 * time.Millisecond, 0, timeout},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			to := newClient(c.limit, true)
			to.transport.TLSClientConfig.RootCAs = c.roots
			status, why := to.post(t.Context(), c.url, http.Header{}, []byte("{}"))
			assert.That(t, status == c.status && why == c.why, "got %d %q, want %d %q", status, why, c.status, c.why)
		})
	}
}

// names is a name server that knows one address, 127.0.0.1, or none if find is false.
func names(t *testing.T, find bool) *net.Resolver {
	t.Helper()
	server := assert.Value(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { server.Close() })
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := server.ReadFrom(b)
			if err != nil {
				return
			}
			end := 12 // the question follows the header: labels, a zero, type and class
			for end < n && b[end] != 0 {
				end += int(b[end]) + 1
			}
			reply := append([]byte{}, b[:end+5]...)
			reply[2], reply[3] = 0x81, 0x80
			copy(reply[6:12], []byte{0, 0, 0, 0, 0, 0})
			switch isA := b[end+2] == 1; {
			case !find:
				reply[3] |= 3 // no such name
			case isA:
				reply[7] = 1
				reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1)
			}
			_, _ = server.WriteTo(reply, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

// TestTargets checks which targets are connected to, by the connections that a receiver on the loopback address saw.
func TestTargets(t *testing.T) {
	t.Parallel()
	l := listen(t, says("HTTP/1.1 200 OK\r\n\r\n", hangUp))
	// its own port is used, and nobody listens on it
	busy := assert.Value(net.Dial("tcp", strings.TrimPrefix(listen(t, hold).url, "http://")))(t)
	t.Cleanup(func() { busy.Close() })
	nobody := busy.LocalAddr().String()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(l.url, "http://"))
	cases := []struct {
		host    string // :port is appended
		find    bool   // whether the name server knows the name
		allowed bool
		status  int
		why     class
	}{
		{"127.0.0.1", true, false, 0, blockedAddr},
		{"localhost", true, false, 0, blockedAddr},
		{"[::1]", true, false, 0, blockedAddr},
		{"[::ffff:127.0.0.1]", true, false, 0, blockedAddr},
		{"[::ffff:7f00:1]", true, false, 0, blockedAddr},
		{"receiver.example", true, false, 0, blockedAddr},
		{"receiver.example", false, false, 0, noName},
		{"2130706433", true, false, 0, blockedAddr},
		{"0x7f.1", true, false, 0, blockedAddr},
		{"017700000001", true, false, 0, blockedAddr},
		{"127.1", true, false, 0, blockedAddr},
		{"0.0.0.0", true, true, 0, blockedAddr},
		{"2130706433", true, true, 0, blockedAddr},
		{"169.254.169.254", true, true, 0, blockedAddr},
		{"[fd00:ec2::254]", true, true, 0, blockedAddr},
		{"[64:ff9b::127.0.0.1]", true, true, 0, blockedAddr},
		{"127.0.0.1", true, true, 200, ""},
		{"[::ffff:127.0.0.1]", true, true, 200, ""},
		{"receiver.example", true, true, 200, ""},
	}
	for _, c := range cases {
		before := l.count.Load()
		to := clientWith(names(t, c.find), c.allowed)
		status, why := to.post(t.Context(), "http://"+c.host+":"+port+"/", http.Header{}, []byte("{}"))
		assert.That(t, status == c.status && why == c.why,
			"%s (private allowed %v): got %d %q, want %d %q", c.host, c.allowed, status, why, c.status, c.why)
		want := int64(0)
		if c.status != 0 {
			want = 1
		}
		n := l.count.Load() - before
		assert.That(t, n == want, "%s (private allowed %v): %d connections were made, want %d", c.host, c.allowed, n, want)
	}
	to := newClient(time.Minute, true)
	status, why := to.post(t.Context(), "http://"+nobody, http.Header{}, []byte("{}"))
	assert.That(t, status == 0 && why == refused, "nobody listens: got %d %q, want 0 %q", status, why, refused)
}

// clientWith is a client that uses another name server.
func clientWith(resolver *net.Resolver, allowPrivate bool) *client {
	c := newClient(time.Minute, allowPrivate)
	d := c.dialer()
	d.Resolver = resolver
	c.transport.DialContext = d.DialContext
	return c
}

// counted counts the bytes read of an answer.
type counted struct {
	net.Conn
	n *atomic.Int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// TestAnswerBodyIsReadInPart sends endless answers: at most the discarded part and one buffer are read.
func TestAnswerBodyIsReadInPart(t *testing.T) {
	t.Parallel()
	const buffer = 4 << 10
	for head, test := range map[string]struct {
		more   string
		status int
		most   int64
	}{
		"HTTP/1.1 200 OK\r\n\r\n":                                                          {"a", 200, maxBody},
		"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n":                         {"a", 200, maxBody},
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n":                            {"3\r\nabc\r\n", 200, 3 * maxBody},
		"HTTP/1.1 200 OK\r\nX-Long: " + strings.Repeat("a", 10_000) + "\r\n\r\n":           {"a", 200, maxBody},
		"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n": {"a", 200, maxBody},
		"HTTP/1.1 200 OK\r\nX: y\r\n":                                                      {"X: y\r\n", 0, maxHeader},
	} {
		l := listen(t, says(head, repeat(strings.Repeat(test.more, 10_000))))
		c := newClient(20*time.Second, true)
		dial, read := c.transport.DialContext, new(atomic.Int64)
		c.transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return counted{conn, read}, err
		}
		status, _ := c.post(t.Context(), l.url, http.Header{}, []byte("{}"))
		if n := read.Load(); status != test.status || n > int64(len(head))+test.most+buffer {
			t.Errorf("%.40q: status %d, and %d bytes were read", head, status, n)
		}
	}
}

// TestAPostIsNeverSentTwice makes a keep-alive receiver end each exchange in a way after which a client may retry:
// every body arrives once.
func TestAPostIsNeverSentTwice(t *testing.T) {
	t.Parallel()
	const answer = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"
	var mu sync.Mutex
	came := map[string]int{}
	l := listen(t, func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for { // while requests come over the connection
			req, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			body, _ := io.ReadAll(req.Body)
			mu.Lock()
			came[string(body)]++
			n := len(came)
			mu.Unlock()
			switch n % 4 {
			case 0:
				_, _ = io.WriteString(conn, answer)
			case 1:
				return
			case 2:
				_ = conn.(*net.TCPConn).SetLinger(0) // a reset instead of an end
				return
			default:
				_, _ = io.WriteString(conn, answer[:20])
				return
			}
		}
	})
	c := newClient(20*time.Second, true)
	for i := range 40 {
		h := http.Header{"Idempotency-Key": {"which says that it may be sent again"}}
		status, why := c.post(t.Context(), l.url, h, []byte(strconv.Itoa(i)))
		answered := i%4 == 3
		assert.That(t, answered == (status == 200) && answered == (why == ""), "request %d: %d %q", i, status, why)
	}
	mu.Lock()
	defer mu.Unlock()
	assert.That(t, len(came) == 40 && l.count.Load() == 40,
		"%d bodies came over %d connections, want 40 over 40", len(came), l.count.Load())
	for body, n := range came {
		assert.That(t, n == 1, "body %s came %d times", body, n)
	}
}
