package webhook

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"syscall"
	"testing"
	"time"
)

// BenchmarkPost compares the client with http.Transport, each with a connection of its
// own for every exchange.
func BenchmarkPost(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer server.Close()
	body := bytes.Repeat([]byte("x"), 1500)
	header := http.Header{"Content-Type": {"application/json"}}
	own := client{timeout: 5 * time.Second, allowPrivate: true}
	b.Run("own", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if status, why := own.post(b.Context(), server.URL, header, body); status != 200 {
				b.Fatal(status, why)
			}
		}
	})
	dialer := net.Dialer{KeepAlive: -1, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || blocked(to.Addr(), true) {
			return errBlocked
		}
		return nil
	}}
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true, DialContext: dialer.DialContext, MaxResponseHeaderBytes: maxHeader}
	b.Run("Transport", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second)
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, bytes.NewReader(body))
			if err != nil {
				b.Fatal(err)
			}
			req.Header = header
			resp, err := transport.RoundTrip(req)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxBody))
			_ = resp.Body.Close()
			cancel()
		}
	})
}
