package crash

import (
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// crowd is the number of bad clients at once: more than a listener's limit.
const crowd = 600

// notShutOut bounds a good client's request while a crowd is connected. It normally takes milliseconds; a client that
// is shut out waits for the timeouts of the whole crowd, which reconnects again and again.
const notShutOut = 20 * time.Second

// TestCrowdsDoNotBlockClients connects crowds of bad clients to the real program. A good client's requests, each on its
// own connection, all succeed meanwhile.
func TestCrowdsDoNotBlockClients(t *testing.T) {
	dir := t.TempDir()
	keys := apptest.Keys(t, dir)
	p := apptest.Serve(t, dir)
	key := keys["reorder"]
	post := func(path, key string, length int) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", path, key, length)
	}
	ask := "GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, c := range []struct{ name, service, begins, then string }{
		{"nothing is said", "reorder", "", ""},
		{"a header trickles", "reorder", "GET /api/ping HTTP/1.1\r\nHost: x\r\nX-Slow: ", "x"},
		{"a header never ends", "reorder", "GET /api/ping HTTP/1.1\r\n", ""},
		{"a body trickles", "reorder", post("/api/sales-history", key, 16_000_000), " "},
		{"a body trickles that needs no key", "store", post("/license/check", "", 1<<20), " "},
		{"a body trickles that nobody may send", "reorder", post("/api/sales-history", "apk_wrong", 100_000), " "},
		{"a body trickles to the agent endpoint", "reorder", post("/mcp", key, 100_000), " "},
		{"a body is promised in chunks", "reorder", "POST /api/sales-history HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " + key + "\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"},
		{"an answered connection is kept", "reorder", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", ""},
		{"answers are asked for and not read", "reorder", strings.Repeat(ask, 40), ""},
		{"a handshake that is none", "reorder", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "\x00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			leave := crowdIn(t, p, c.service, c.begins, c.then)
			defer leave()
			good(t, p, keys, 2)
		})
	}
	good(t, p, keys, 1)
	peak := memoryOf(t, p, "VmHWM")
	assert.That(t, peak <= 300<<20, "the crowds made it take %d MiB", peak>>20)
	code := p.Stop(t)
	assert.That(t, code == 0, "exit %d: %s", code, p.Stderr)
}

// memoryOf is the memory of the process now ("VmRSS") or at most ("VmHWM"), in bytes; 0 where the system does not
// report it.
func memoryOf(t *testing.T, p *apptest.Process, what string) (size int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, what+": %d kB", &size); err == nil {
			return size << 10
		}
	}
	t.Fatalf("no %s in %s", what, status)
	return 0
}

// crowdIn connects a crowd: each client sends begins, then sends then again and again, and reconnects when it is
// disconnected.
func crowdIn(t *testing.T, p *apptest.Process, service, begins, then string) (leave func()) {
	t.Helper()
	addr := strings.TrimPrefix(p.URL(service, ""), "http://")
	quit := make(chan struct{})
	var all, inside sync.WaitGroup
	inside.Add(crowd)
	for range crowd {
		all.Go(func() {
			first := sync.OnceFunc(inside.Done)
			defer first()
			for {
				select {
				case <-quit:
					return
				default:
					badClient(addr, begins, then, quit, first)
				}
			}
		})
	}
	inside.Wait()
	return func() { close(quit); all.Wait() }
}

// badClient is one connection of a bad client, until it is closed.
func badClient(addr, begins, then string, quit chan struct{}, inside func()) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer conn.Close()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4096) // fills the other end's buffer sooner
	}
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // the server may not read
	if _, err := io.WriteString(conn, begins); err != nil {
		return
	}
	inside()
	gone := make(chan struct{})
	if then != "" || begins == "" {
		go func() { // it notices a disconnect, and reads the answer
			defer close(gone)
			_, _ = io.Copy(io.Discard, conn)
		}()
	}
	drip := time.NewTicker(100 * time.Millisecond)
	defer drip.Stop()
	for {
		select {
		case <-quit:
			return
		case <-gone:
			return
		case <-drip.C:
		}
		_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
		if _, err := io.WriteString(conn, then); err != nil {
			return
		}
	}
}

// TestHeavyRequestsHoldNobodyUp sends, several at a time, requests at and above the limits of size and complexity. Each
// is answered correctly, and a good client's requests all succeed meanwhile.
func TestHeavyRequestsHoldNobodyUp(t *testing.T) {
	dir := t.TempDir()
	keys := apptest.Keys(t, dir)
	p := apptest.Serve(t, dir)
	const mib = 1 << 20
	rows := func(inside string) string { return `{"rows":[` + inside + `]}` }
	names := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+`:1,`, i)
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	deep := strings.Repeat(`{"a":[`, 5_000) + strings.Repeat("]}", 5_000)
	heavy := []struct {
		service, path, body string
		status              int
	}{
		{"reorder", "/api/sales-history", rows(strings.Repeat(" ", 16*mib-20)), 200},
		{"reorder", "/api/sales-history", rows(strings.Repeat(" ", 16*mib)), 413},
		{"reorder", "/api/sales-history", rows(strings.Repeat("[],", 4*mib) + "0"), 422},
		{"reorder", "/api/sales-history", rows(strings.Repeat(`{"sku":"x","sku":"x"},`, 10_000) + "0"), 400},
		{"reorder", "/api/sales-history", rows(deep), 400},
		{"reorder", "/api/sales-history", strings.Repeat("[", 16*mib), 400},
		{"reorder", "/api/sales-history", strings.Repeat("x", 17*mib), 413},
		{"reorder", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + deep + `}`, 400},
		{"reorder", "/mcp", names(50_000, `"n%d"`), 400},
		{"maintenance", "/api/work-orders", names(60_000, `"n%d"`), 422},
		{"maintenance", "/api/work-orders", `{` + strings.Repeat(`"same":1,`, 60_000) + `"same":1}`, 400},
		{"maintenance", "/api/work-orders", `{"description":"` + strings.Repeat("x", 2*mib) + `"}`, 413},
		{"rental", "/api/maintenance", `{"title":"` + strings.Repeat(`\u00e9`, 100_000) + `"}`, 422},
		{"rental", "/mcp", strings.Repeat("9", mib-1), 400},
		{"store", "/license/check", deep, 413},
		{"store", "/license/check", deep[:8000], 400},
	}
	quit := make(chan struct{})
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for i := worker; ; i++ {
				select {
				case <-quit:
					if i >= worker+len(heavy) { // each at least once
						return
					}
				default:
				}
				h := heavy[i%len(heavy)]
				assert.Equal(t, heavily(t, client, p.URL(h.service, h.path), keys[h.service], h.body), h.status,
					"%s %s %.40s...", h.service, h.path, h.body)
			}
		})
	}
	good(t, p, keys, 2)
	close(quit)
	all.Wait()
	good(t, p, keys, 1)
}

func heavily(t *testing.T, client *http.Client, url, key, body string) int {
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		t.Errorf("%s %.40s...: %v", url, body, err)
		return 0
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	assert.NoError(t, err)
	return resp.StatusCode
}

// good is a good client: it reads and writes, on new connections and on a kept one.
func good(t *testing.T, p *apptest.Process, keys map[string]string, times int) {
	t.Helper()
	kept := &http.Transport{}
	defer kept.CloseIdleConnections()
	for i := range times {
		for _, client := range []*http.Client{
			{Timeout: notShutOut, Transport: &http.Transport{DisableKeepAlives: true}}, {Timeout: notShutOut, Transport: kept},
		} {
			for _, service := range []string{"reorder", "store"} {
				wellAnswered(t, client, p, service, "GET", "/api/ping", keys[service], "")
			}
			wellAnswered(t, client, p, "reorder", "POST", "/api/sales-history", keys["reorder"], fmt.Sprintf(`{"rows":[{"date":"2026-01-01","sku":"S-%d","qty":1}]}`, i))
			wellAnswered(t, client, p, "reorder", "POST", "/mcp", keys["reorder"], `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		}
	}
}

func wellAnswered(t *testing.T, client *http.Client, p *apptest.Process, service, method, path, key, body string) {
	t.Helper()
	r := assert.Value(http.NewRequest(method, p.URL(service, path), strings.NewReader(body)))(t)
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", rand.Text()) // makes net/http retry on a kept connection that was closed
	resp, err := client.Do(r)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	assert.That(t, err == nil && resp.StatusCode == 200, "%s %s: %d %s %v", method, path, resp.StatusCode, b, err)
}
