//go:build linux

// Bench compares the real program with the least that any program on this engine and this machine needs: `go run
// ./app/bench`. It builds the program, makes a data set of a stated size in a temporary folder and serves it. Beside
// each figure it prints baselines of the same run, turn by turn: the same query by a bare prepared statement, commits
// without a server, and a handler that does nothing.
//
// It reads /proc, and therefore runs on Linux only.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// options are the command line's.
type options struct {
	size   string
	rounds int
	slice  time.Duration
	only   *regexp.Regexp
	binary string
	data   string
	sync   time.Duration
	asJSON bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

// run is the whole program. With -child it is one of the baselines that need their own process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, child, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if child != "" {
		return beChild(ctx, child, o, stdout)
	}
	b, err := prepare(ctx, o, stderr)
	if err != nil {
		return err
	}
	defer b.cleanUp()
	rep, err := b.measure(ctx)
	if err != nil {
		return err
	}
	if o.asJSON {
		return rep.writeJSON(stdout)
	}
	return rep.writeTable(stdout)
}

func parse(args []string, stderr io.Writer) (o options, child string, err error) {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.size, "size", "small", "the data set: "+strings.Join(sizeNames(), ", "))
	f.IntVar(&o.rounds, "rounds", 3, "how many turns each case and its floors get; medians are printed")
	f.DurationVar(&o.slice, "for", 400*time.Millisecond, "how long one turn takes")
	only := f.String("only", "", "measure only the cases whose name matches this regular expression")
	f.StringVar(&o.binary, "binary", "", "measure this program instead of building one")
	f.StringVar(&o.data, "data", "", "keep the data set in this folder, and use the one that is there")
	f.DurationVar(&o.sync, "sync", 0, "make each sync take this much longer, by strace, as a slow card would")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	f.StringVar(&child, "child", "", "be one of the floors; for the program's own use")
	if err := f.Parse(args); err != nil {
		return o, "", err
	}
	if o.only, err = regexp.Compile(*only); err != nil {
		return o, "", err
	}
	if _, ok := sizes[o.size]; !ok {
		return o, "", fmt.Errorf("-size %s is not one of %s", o.size, strings.Join(sizeNames(), ", "))
	}
	if o.rounds < 1 || o.slice <= 0 || f.NArg() > 0 {
		return o, "", errors.New("-rounds and -for must be more than nothing, and there are no arguments")
	}
	return o, child, nil
}

// bench is one run.
type bench struct {
	options
	log   io.Writer
	dir   string // temporary
	path  string // of the database
	shop  *shop
	self  string // this program, for baselines that need a process
	start []time.Duration
}

// prepare builds the program and makes the data set.
func prepare(ctx context.Context, o options, log io.Writer) (_ *bench, err error) {
	b := &bench{options: o, log: log}
	if b.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if b.dir, err = os.MkdirTemp("", "quartermaster-bench"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			b.cleanUp()
		}
	}()
	if b.binary == "" {
		b.binary = filepath.Join(b.dir, "quartermaster")
		if err := build(ctx, b.binary); err != nil {
			return nil, err
		}
	}
	folder := b.dir
	if o.data != "" {
		folder = o.data
	}
	began := time.Now()
	b.path = filepath.Join(folder, "bench-"+o.size+".db")
	if b.shop, err = openShop(ctx, b.path, sizes[o.size]); err != nil {
		return nil, err
	}
	fmt.Fprintf(log, "data set %s ready after %.1f s\n", o.size, time.Since(began).Seconds())
	return b, nil
}

func (b *bench) cleanUp() { _ = os.RemoveAll(b.dir) }
