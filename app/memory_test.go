package app_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/app/apptest"
)

// mostMemory is what the program may take while hundreds send half of their bodies and
// read none of their answers, with a budget of 20 MiB for both.
const mostMemory = 150 << 20

// TestBodiesAndAnswersHaveABudget sends 500 half bodies of most of a MiB, then asks for
// a large answer 500 times without reading it. Others are served meanwhile.
func TestBodiesAndAnswersHaveABudget(t *testing.T) {
	dir := t.TempDir()
	keys := apptest.Keys(t, dir)
	fillSKUs(t, dir, 4000)
	p := apptest.Serve(t, dir, "--memory-budget", "20")
	for _, c := range memoryCrowds(keys["reorder"]) {
		t.Run(c.name, func(t *testing.T) {
			leave := crowdOf(t, p, c.texts...)
			good(t, p, keys, 2)
			leave()
			t.Logf("%d MiB at most so far", peakMemory(t, p)>>20)
		})
	}
	good(t, p, keys, 1)
	if peak := peakMemory(t, p); peak > mostMemory {
		t.Errorf("it took %d MiB", peak>>20)
	} else {
		t.Logf("it took %d MiB at most", peak>>20)
	}
}

type memoryCrowd struct {
	name  string
	texts []string // that its clients say in turn
}

// memoryCrowds would each take hundreds of MiB, or all workers.
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

// crowdOf opens 500 connections to the reorder service that say one of the texts each and
// then stop, reading nothing; whoever is cut off comes back once.
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
	if err := os.WriteFile(filepath.Join(dir, "skus.csv"), []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := apptest.Exec(t, dir, "import", "reorder", "skus", "skus.csv"); code != 0 {
		t.Fatal(errs)
	}
}
