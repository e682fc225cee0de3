//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// beChild is this program as a baseline that needs its own process.
func beChild(ctx context.Context, kind string, o options, stdout io.Writer) error {
	switch kind {
	case "empty":
		return serveEmpty(ctx, stdout)
	case "plain":
		s, err := plainLoop(o.data, o.slice)
		if err != nil {
			return err
		}
		return json.NewEncoder(stdout).Encode(s)
	}
	return fmt.Errorf("-child %s is neither empty nor plain", kind)
}

// serveEmpty is net/http with a handler that does nothing: the cost of any server.
func serveEmpty(ctx context.Context, stdout io.Writer) error {
	addr, err := freeAddr()
	if err != nil {
		return err
	}
	body := []byte("{}")
	server := &http.Server{Addr: addr, ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			_, _ = w.Write(body)
		})}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	fmt.Fprintln(stdout, addr)
	err = server.ListenAndServe()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// engine is a connection with its prepared statements. They keep their last values, since clearing them makes the
// engine plan a statement again.
type engine struct {
	*sqlite.Conn
	kept map[string]*sqlite.Stmt
}

// openEngine opens a file with the engine alone, with the appliance's settings for writing.
func openEngine(path string) (*engine, error) {
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, err
	}
	e := &engine{Conn: c, kept: map[string]*sqlite.Stmt{}}
	c.SetBusyTimeout(10 * time.Second)
	for _, p := range []string{"journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "temp_store = MEMORY",
		"cache_size = -4000"} {
		if err := sqlitex.ExecuteTransient(c, "PRAGMA "+p, nil); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return e, nil
}

// step runs a prepared statement with whole numbers and texts bound, reads every column of every row and counts the
// rows.
func step(c *engine, query string, args ...any) (rows int, err error) {
	s := c.kept[query]
	if s == nil {
		if s, err = c.Prepare(query); err != nil {
			return 0, err
		}
		c.kept[query] = s
	}
	defer func() { err = errors.Join(err, s.Reset()) }()
	for i, a := range args {
		switch v := a.(type) {
		case int:
			s.BindInt64(i+1, int64(v))
		case string:
			s.BindText(i+1, v)
		case []byte:
			s.BindBytes(i+1, v)
		}
	}
	for {
		more, err := s.Step()
		if err != nil || !more {
			return rows, err
		}
		rows++
		for i := range s.ColumnCount() {
			if s.ColumnType(i) == sqlite.TypeInteger {
				_ = s.ColumnInt64(i)
			} else {
				_ = s.ColumnText(i)
			}
		}
	}
}

// threadCPU is the processor time of this thread.
func threadCPU() time.Duration {
	var u syscall.Rusage
	const thisThread = 1
	if err := syscall.Getrusage(thisThread, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// repeat does one thing repeatedly for a turn, on its own thread.
func repeat(most time.Duration, do func(n int) error) (s sample, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began, before := time.Now(), threadCPU()
	for n := 0; n == 0 || time.Since(began) < most; n++ {
		asked := time.Now()
		if err := do(n); err != nil {
			return s, err
		}
		s.Took = append(s.Took, time.Since(asked))
	}
	s.Wall, s.CPU, s.Ops = time.Since(began), threadCPU()-before, len(s.Took)
	return s, nil
}

// bareQuery is a baseline: the query by a prepared statement, on its own connection to the served file.
func (b *bench) bareQuery(query string, args ...any) runner {
	return func() (s sample, err error) {
		c, err := openEngine(b.path)
		if err != nil {
			return s, err
		}
		defer func() { err = errors.Join(err, c.Close()) }()
		return repeat(b.slice, func(int) error {
			rows, err := step(c, query, args...)
			if err == nil && rows == 0 {
				err = fmt.Errorf("no row: %s", query)
			}
			return err
		})
	}
}

// plainLoop writes a row and its outbox row, and commits, repeatedly: the cost without shared commits.
func plainLoop(dir string, most time.Duration) (s sample, err error) {
	path := filepath.Join(dir, fmt.Sprintf("plain-%d.db", os.Getpid()))
	c, err := openEngine(path)
	if err != nil {
		return s, err
	}
	defer func() {
		err = errors.Join(err, c.Close())
		_ = os.Remove(path)
	}()
	for _, q := range []string{"CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b INTEGER)",
		"CREATE TABLE outbox (id INTEGER PRIMARY KEY, topic TEXT, body TEXT)"} {
		if _, err := step(c, q); err != nil {
			return s, err
		}
	}
	return repeat(most, func(n int) error {
		_, begin := step(c, "BEGIN IMMEDIATE")
		_, row := step(c, "INSERT INTO t (a, b) VALUES (?, ?)", "hello durable world", n)
		_, event := step(c, "INSERT INTO outbox (topic, body) VALUES (?, ?)", "work_order.created",
			`{"id":123,"status":"open","note":"a short event body"}`)
		_, commit := step(c, "COMMIT")
		return errors.Join(begin, row, event, commit)
	})
}
