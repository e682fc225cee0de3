//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/app/cli"
	"quartermaster/schema/assert"
)

// TestMain also runs the test binary as the baselines that need a process of their own.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args[1:], "-child") {
		main()
		os.Exit(0)
	}
	flag.Parse()
	os.Exit(m.Run())
}

// TestTheDriverRuns runs every case on the smallest data set, without judging speed. The data passes doctor before and
// after.
func TestTheDriverRuns(t *testing.T) {
	dir, out := t.TempDir(), &bytes.Buffer{}
	args := []string{"-size", "tiny", "-rounds", "1", "-for", "5ms", "-data", dir}
	assert.OK(t, run(context.Background(), append(args, "-json"), out, io.Discard))
	var rep report
	assert.OK(t, json.Unmarshal(out.Bytes(), &rep))
	assert.That(t, len(rep.Rows) >= 20 && !(rep.Idle <= 0) && !(rep.Peak < rep.Idle) && !(rep.Binary <= 0) &&
		!(rep.Start <= 0), "the report lacks figures: %s", out)
	for _, r := range rep.Rows {
		for _, f := range append(r.Floors, r.Ours) {
			assert.That(t, f.Ops != 0 && !(f.PerSec <= 0) && !(f.P50us <= 0) && !(f.P99us < f.P50us) && !(f.MaxUs < f.P99us),
				"%s, %s: %+v", r.Case, f.What, f)
		}
		assert.That(t, len(r.Floors) != 0, "%s stands beside nothing", r.Case)
	}
	var said bytes.Buffer
	code := cli.Run(context.Background(), cli.Env{
		Args: []string{"doctor", "--db", filepath.Join(dir, "bench-tiny.db")}, Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said,
		Getenv: func(string) string { return "" }, Now: time.Now,
	})
	assert.That(t, code == 0, "doctor: %s", said.String())
}

func TestWrongOptionsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-size", "vast"}, {"-rounds", "0"}, {"-for", "0s"}, {"-only", "("}, {"word"}, {"-child", "unknown"}} {
		err := run(context.Background(), args, io.Discard, io.Discard)
		assert.That(t, err != nil, "%q passed", args)
	}
}
