package webhook

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quartermaster/schema/assert"
)

// FuzzAnswer: any answer gives a status or a class, and no more of it is read than allowed.
func FuzzAnswer(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\n\r\nthanks")
	f.Add("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 404 Not Found\r\nContent-Length: 3\r\n\r\nabc")
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\nffffffffffffffff\r\n")
	f.Add("HTTP/1.1 -10 ?\r\n\r\n")
	f.Add("220 mail.example\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		c := newClient(20*time.Second, true)
		read := new(atomic.Int64)
		c.transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				defer theirs.Close()
				if _, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
					_, _ = io.WriteString(theirs, text)
				}
			}()
			return counted{ours, read}, nil
		}
		status, why := c.post(context.Background(), "http://receiver.example/", http.Header{}, nil)
		assert.That(t, (status == 0) != (why == "") && (status == 0 || status >= 100 && status <= 999), "%q: got %d %q", text,
			status, why)
		n := read.Load()
		assert.That(t, n <= maxHeader+2*maxBody, "%d bytes were read", n)
	})
}

// FuzzURL: an accepted URL can be sent to, and its shown form has no path, query or user.
func FuzzURL(f *testing.F) {
	for _, s := range []string{
		"https://shop.example/hooks?a=b#c", "http://[::1%25eth0]:80", "HTTP://127.1:65535", "http://h:/", "http://user@h/", "http:opaque", "//h", "http://h/%zz",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := checkURL(text)
		if err != nil {
			return
		}
		req, err := http.NewRequest(http.MethodPost, text, http.NoBody)
		assert.OK(t, err, "%q is accepted, and cannot be sent to", text)
		assert.NoError(t, req.Write(io.Discard), "%q is accepted, and cannot be written", text)
		told := site(u)
		assert.That(t, !strings.ContainsAny(told[len(u.Scheme)+3:], "/?#@"), "%q is told as %q", text, told)
	})
}
