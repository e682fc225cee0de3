//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// -c names a program that does the same work with the engine in C, and nothing else. It is called as `report FILE W
// QUERY ARG ARG TURNS`, `commit FILE N FULL`, `mk FILE W SKUS DAYS FIRST` and `ingest FILE ROWS W sorted stmt FULL
// TURNS`, and prints lines of a name and a number. Its baselines are shown beside those of the translated engine.

// inC runs it and returns the printed numbers by name, and its processor time.
func (b *bench) inC(args ...string) (map[string]float64, time.Duration, error) {
	cmd := exec.Command(b.c, args...) // #nosec G204 -- the user of the benchmark names it
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, 0, fmt.Errorf("%s %v: %w: %s", b.c, args, err, errs.String())
	}
	found := map[string]float64{}
	for in := bufio.NewScanner(&out); in.Scan(); {
		if name, value, ok := strings.Cut(in.Text(), " "); ok {
			found[name], _ = strconv.ParseFloat(value, 64) // 0 shows the error
		}
	}
	return found, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// once is a sample of one operation of so many milliseconds.
func once(ms float64) sample {
	took := time.Duration(ms * float64(time.Millisecond))
	return sample{Ops: 1, Wall: took, CPU: took, Took: []time.Duration{took}}
}

// queryInC is the baseline of a query with at most two whole numbers; none without -c.
func (b *bench) queryInC(query string, args ...any) []floor {
	if b.c == "" || len(args) > 2 {
		return nil
	}
	bound := []string{"0", "0"}
	for i, a := range args {
		bound[i] = fmt.Sprint(a)
	}
	return []floor{{"the statement in C", func() (sample, error) {
		found, _, err := b.inC("report", b.path, "W", query, bound[0], bound[1], "5")
		return once(found["total_ms"]), err
	}}}
}

// commitsInC is the baseline of plain commits.
func (b *bench) commitsInC() []floor {
	if b.c == "" {
		return nil
	}
	return []floor{{"plain commits in C", func() (s sample, err error) {
		const n = 2000
		path := filepath.Join(b.dir, "commits-in-c.db")
		defer func() { _ = os.Remove(path) }()
		found, cpu, err := b.inC("commit", path, strconv.Itoa(n), "FULL")
		if err != nil || found["per_s"] == 0 {
			return s, err
		}
		s = sample{Ops: n, Wall: time.Duration(n / found["per_s"] * float64(time.Second)), CPU: cpu}
		s.Took = []time.Duration{time.Duration(found["p50_us"] * float64(time.Microsecond))}
		return s, nil
	}}}
}

// upsertsInC is the baseline of an upload: its rows, sorted, in one durable commit, into a table with the same content.
func (b *bench) upsertsInC(rows func(n int) []sale) []floor {
	if b.c == "" {
		return nil
	}
	n := 0
	return []floor{{"upserts in C", func() (sample, error) {
		template, file := filepath.Join(b.dir, "in-c.db"), filepath.Join(b.dir, "rows.bin")
		if _, err := os.Stat(template); err != nil {
			if _, _, err := b.inC("mk", template, "W", strconv.Itoa(b.shop.skus), strconv.Itoa(b.shop.saleDays),
				strconv.Itoa(int(b.shop.today)-b.shop.saleDays)); err != nil {
				return sample{}, err
			}
		}
		var bin []byte
		for _, r := range rows(n) {
			for _, v := range []int{r.sku, int(r.day), r.qty} {
				bin = binary.LittleEndian.AppendUint32(bin, uint32(v)) // #nosec G115 -- small numbers
			}
		}
		n++
		if err := os.WriteFile(file, bin, 0o600); err != nil {
			return sample{}, err
		}
		found, _, err := b.inC("ingest", template, file, "W", "sorted", "stmt", "FULL", "1")
		return once(found["total_ms"]), err
	}}}
}
