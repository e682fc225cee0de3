package crash

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// mostMemory limits the program's memory while hundreds of clients send half a body and read no answer; restMemory
// limits it some seconds later.
const (
	mostMemory = 160 << 20
	restMemory = 45 << 20
)

// TestBodiesAndAnswersHaveABudget sends 500 halves of bodies of nearly a MiB, then requests a large answer 500 times
// without reading it. Other clients are served meanwhile, with large answers too, and the memory is released
// afterwards.
func TestBodiesAndAnswersHaveABudget(t *testing.T) {
	dir := t.TempDir()
	keys := apptest.Keys(t, dir)
	fillSKUs(t, dir, 4000)
	p := apptest.Serve(t, dir)
	for _, c := range memoryCrowds(keys["reorder"]) {
		t.Run(c.name, func(t *testing.T) {
			leave := crowdOf(t, p, c.texts...)
			good(t, p, keys, 2)
			largeAnswer(t, p, keys["reorder"])
			leave()
			t.Logf("%d MiB at most so far", memoryOf(t, p, "VmHWM")>>20)
		})
	}
	good(t, p, keys, 1)
	if peak := memoryOf(t, p, "VmHWM"); peak > mostMemory {
		t.Errorf("it took %d MiB", peak>>20)
	} else {
		t.Logf("it took %d MiB at most", peak>>20)
	}
	began := time.Now()
	apptest.Await(t, "the memory to go back", func() bool { return memoryOf(t, p, "VmRSS") <= restMemory || time.Since(began) > 12*time.Second })
	t.Logf("%d MiB are left", memoryOf(t, p, "VmRSS")>>20)
	took := time.Since(began)
	assert.That(t, took <= 10*time.Second, "the memory went back after %v", took)
}

// largeAnswer requests a large answer, and repeats it when told to.
func largeAnswer(t *testing.T, p *apptest.Process, key string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: notShutOut}
	apptest.Await(t, "a large answer beside the crowd", func() bool {
		r, _ := http.NewRequest(http.MethodGet, p.URL("reorder", "/api/reorder-report?status=all"), nil)
		r.Header.Set("Authorization", "Bearer "+key)
		resp := assert.Value(client.Do(r))(t)
		defer resp.Body.Close()
		n, err := io.Copy(io.Discard, resp.Body)
		if again := resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != ""; again {
			return false
		}
		assert.That(t, err == nil && resp.StatusCode == http.StatusOK && n >= 1<<20,
			"a large answer: %d, %d bytes, %v", resp.StatusCode, n, err)
		return true
	})
}

type memoryCrowd struct {
	name  string
	texts []string // sent by its clients in turn
}

// memoryCrowds would each need hundreds of MiB, or all workers.
func memoryCrowds(key string) []memoryCrowd {
	get := func(path string) string {
		return fmt.Sprintf("GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, key)
	}
	half := fmt.Sprintf("POST /api/sales-history HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", key, 1<<20) + strings.Repeat(" ", 900_000)
	report, list := get("/api/reorder-report?status=all"), get("/api/skus?limit=5000")
	return []memoryCrowd{
		{"half bodies", []string{half}},
		{"answers that nobody reads", []string{report}},
		{"answers to two questions that nobody reads", []string{report, list}},
	}
}

// crowdOf opens 500 connections to the reorder service that each send one of the texts, then stop and read nothing. A
// client that is cut off reconnects once.
func crowdOf(t *testing.T, p *apptest.Process, texts ...string) (leave func()) {
	t.Helper()
	addr := strings.TrimPrefix(p.URL("reorder", ""), "http://")
	quit := make(chan struct{})
	var all sync.WaitGroup
	for i := range 500 {
		text := texts[i%len(texts)]
		all.Go(func() {
			for range 2 {
				conn, err := net.Dial("tcp", addr)
				if err != nil {
					return
				}
				_ = conn.(*net.TCPConn).SetReadBuffer(4096)
				_ = conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
				_, err = io.WriteString(conn, text)
				if err == nil {
					<-quit
				}
				_ = conn.Close()
				select {
				case <-quit:
					return
				default:
				}
			}
		})
	}
	return func() { close(quit); all.Wait() }
}

func fillSKUs(t *testing.T, dir string, n int) {
	t.Helper()
	var rows strings.Builder
	rows.WriteString("sku,name,supplier,current_stock,lead_time_days,active\n")
	for i := range n {
		fmt.Fprintf(&rows, "SKU-%05d,%s,Supplier %d,5,7,true\n", i, strings.Repeat("name ", 20), i%9)
	}
	assert.OK(t, os.WriteFile(filepath.Join(dir, "skus.csv"), []byte(rows.String()), 0o600))
	code, _, errs := apptest.Exec(t, dir, "import", "reorder", "skus", "skus.csv")
	assert.Must(t, code == 0, "%v", errs)
}
