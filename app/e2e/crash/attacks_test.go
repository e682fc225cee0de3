package crash

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestManyTinyPartsAreRefused sends forms of hundreds of thousands of parts, several at once and without a session.
// They cost little, and the answer repeats none of them.
func TestManyTinyPartsAreRefused(t *testing.T) {
	dir := t.TempDir()
	apptest.Keys(t, dir)
	p := apptest.Serve(t, dir)
	var parts strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&parts, "--b\r\nContent-Disposition: form-data; name=n%d\r\n\r\n\r\n", i)
	}
	parts.WriteString("--b--\r\n")
	for _, path := range []string{"/do/add_photo", "/do/save_asset", "/login"} {
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				status, size, err := sendParts(p.URL("maintenance", path), parts.String())
				assert.That(t, err == nil && (status == http.StatusUnauthorized || status == http.StatusRequestEntityTooLarge) &&
					size <= 100<<10, "%s: %d, %d bytes, %v", path, status, size, err)
			})
		}
		all.Wait()
	}
	peak := memoryOf(t, p, "VmHWM")
	assert.That(t, peak <= 80<<20, "they took %d MiB", peak>>20)
}

// sendParts sends a form as a script does: it reads any answer, also when it cannot send all.
func sendParts(url, parts string) (status, size int, err error) {
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close()
	go func() {
		_, _ = fmt.Fprintf(conn, "POST /%s HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nSec-Fetch-Site: same-origin\r\n"+
			"Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", path, len(parts), parts)
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, int(n), err
}

// TestPagesAreNoJSON requests JSON of pages, as a script does that guesses an API's address.
func TestPagesAreNoJSON(t *testing.T) {
	dir := t.TempDir()
	apptest.Keys(t, dir)
	p := apptest.Serve(t, dir)
	for path, want := range map[string]int{"/skus": 406, "/login": 406, "/nix": 404} {
		r, _ := http.NewRequest(http.MethodGet, p.URL("reorder", path), nil)
		r.Header.Set("Accept", "application/json")
		resp := assert.Value(http.DefaultClient.Do(r))(t)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != want || !strings.Contains(resp.Header.Get("Content-Type"), "application/json") ||
			resp.Header.Get("Cache-Control") != "no-store" || !strings.Contains(string(body), `"detail":`) {
			t.Errorf("%s: %d %v %s %v", path, resp.StatusCode, resp.Header, body, err)
		}
	}
}

// TestUntrustedProxyIsLogged: the log warns at startup that all clients share one address.
func TestUntrustedProxyIsLogged(t *testing.T) {
	for _, c := range []struct {
		flags []string
		told  bool
	}{{[]string{"--behind-proxy"}, true}, {[]string{"--behind-proxy", "--trusted-proxy", "127.0.0.1/32"}, false}, {nil, false}} {
		dir := t.TempDir()
		apptest.Keys(t, dir)
		p := apptest.Serve(t, dir, c.flags...)
		p.Stop(t)
		told := strings.Contains(p.Stderr.String(), "--behind-proxy without --trusted-proxy")
		assert.That(t, told == c.told, "%v: told %v: %s", c.flags, told, p.Stderr)
	}
}
