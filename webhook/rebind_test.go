package webhook

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"quartermaster/schema/assert"
)

// TestDNSRebinding resolves a name first to a receiver, then to a forbidden address. Each attempt resolves once and
// checks the address that it connects to.
func TestDNSRebinding(t *testing.T) {
	t.Parallel()
	l := listen(t, says("HTTP/1.1 200 OK\r\n\r\n", hangUp))
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(l.url, "http://"))
	var asked atomic.Int64
	resolver := moving(t, &asked)
	for i, want := range []class{"", blockedAddr, blockedAddr} {
		to := clientWith(resolver, true)
		status, why := to.post(t.Context(), "http://receiver.example:"+port+"/", http.Header{}, []byte("{}"))
		assert.That(t, why == want && (status == 200) == (want == ""), "attempt %d: %d %q, want %q", i, status, why, want)
		assert.Equal(t, asked.Load(), int64(i+1), "look-ups in %d attempts", i+1)
	}
	assert.Equal(t, l.count.Load(), 1, "connections were made")
}

// moving is a name server that returns the loopback address once, and afterwards the metadata address of clouds.
func moving(t *testing.T, asked *atomic.Int64) *net.Resolver {
	t.Helper()
	server := assert.Value(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { server.Close() })
	go func() {
		b := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(b)
			if err != nil {
				return
			}
			end := 12
			for end < n && b[end] != 0 {
				end += int(b[end]) + 1
			}
			reply := append([]byte{}, b[:end+5]...)
			reply[2], reply[3] = 0x81, 0x80
			copy(reply[6:12], make([]byte, 6))
			if b[end+2] == 1 { // the question is for an A record
				address := []byte{169, 254, 169, 254}
				if asked.Add(1) == 1 {
					address = []byte{127, 0, 0, 1}
				}
				reply[7] = 1
				reply = append(append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), address...)
			}
			_, _ = server.WriteTo(reply, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}
