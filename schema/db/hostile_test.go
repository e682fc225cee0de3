package db

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"

	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
)

// TestFailedBatchFailsAllItsWrites: a neighbour in the batch that saw uncommitted data must not answer with it,
// neither as a replay nor as a conflict.
func TestFailedBatchFailsAllItsWrites(t *testing.T) {
	d, _ := fresh(t)
	c, err := connect(d.path, false)
	assert.OK(t, err)
	defer c.Close()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	seen := 0
	sees := func(answer error) func(*Tx) error {
		return func(tx *Tx) error {
			if n, _, _ := One(&tx.Conn, Int, "SELECT count(*) FROM users"); n == 1 {
				seen++
				return answer
			}
			return nil
		}
	}
	batch := []*pending{
		{ctx: ctx, who: CLI(""), fn: func(tx *Tx) error {
			return errors.Join(addUser(tx, "a"), script(tx, "PRAGMA defer_foreign_keys = ON"),
				script(tx, "INSERT INTO roles VALUES (99, 'store', 'admin')")) // the COMMIT refuses it
		}},
		{ctx: ctx, who: CLI(""), fn: sees(&Replay{Status: 200})},
		{ctx: ctx, who: CLI(""), fn: sees(fault.Conflictf("there is one already"))},
		{ctx: ended, who: CLI(""), fn: sees(nil)},
	}
	d.commit(c, batch)
	assert.Must(t, seen == 2, "%d neighbours saw the row, want 2", seen)
	for i, p := range batch[:3] {
		assert.That(t, p.err != nil && p.err.Error() == batch[0].err.Error() && !fault.Is(p.err, fault.Conflict),
			"write %d: %v, want what the COMMIT said", i, p.err)
	}
	assert.Equal(t, count(t, d, "SELECT count(*) FROM users"), 0, "users")
}

// TestUncertainCommitEndsTheProcess: in the sync, or after it.
func TestUncertainCommitEndsTheProcess(t *testing.T) {
	for code, want := range map[sqlite.ResultCode]bool{
		sqlite.ResultIOErrFsync: true, sqlite.ResultIOErrSHMSize: true, sqlite.ResultIOErrSHMMap: true, sqlite.ResultNoMem: true,
		sqlite.ResultFull: false, sqlite.ResultIOErrWrite: false, sqlite.ResultBusy: false,
	} {
		ended := false
		d := &DB{core: &core{fatal: func(error) { ended = true }}}
		d.fatalIfUncertain(code.ToError())
		assert.That(t, ended == want, "%v: ended %v, want %v", code, ended, want)
	}
}

// TestPanicReleasesItsSnapshot: a reader whose row callback panicked sees later writes, and a write's panic keeps the
// stack of the function.
func TestPanicReleasesItsSnapshot(t *testing.T) {
	d, _ := fresh(t)
	d.slots = make(chan struct{}, 1) // one reader, so that it is the same one
	add := func(name string) {
		t.Helper()
		assert.OK(t, Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, name) }))
	}
	add("a")
	add("b")
	const query = "SELECT name FROM users"
	burst := func(*Row) error { panic("out") }
	for name, loop := range map[string]func(*Conn){
		"Each": func(c *Conn) { _ = Each(c, burst, query) },
		"One":  func(c *Conn) { _, _, _ = One(c, func(r *Row) error { return burst(r) }, query) },
		"Stmt": func(c *Conn) {
			s, _ := c.Prepare(query)
			_, _ = s.Step()
			panic("out")
		},
	} {
		t.Run(name, func(t *testing.T) {
			func() {
				defer func() { _ = recover() }()
				_ = d.View(ctx, func(c *Conn) error { loop(c); return nil })
			}()
			was := count(t, d, "SELECT count(*) FROM users")
			add(name)
			n := count(t, d, "SELECT count(*) FROM users")
			assert.That(t, n == was+1, "the reader sees %d users, want %d", n, was+1)
			func() {
				defer func() {
					p, is := recover().(*Panic)
					assert.That(t, is && p.Cause == "out" && strings.Contains(string(p.Stack), "hostile_test.go"),
						"the panic is %v", p)
				}()
				_ = Exec(ctx, d, CLI(""), func(tx *Tx) error { loop(&tx.Conn); return nil })
			}()
			add(name + " later")
		})
	}
}

// TestTheFileUnderARunningProgram moves, replaces or removes it: nothing else is written to, and a moved file is
// complete at the end.
func TestTheFileUnderARunningProgram(t *testing.T) {
	strange := []byte("somebody else's")
	for name, do := range map[string]func(t *testing.T, path string){
		"moved": func(t *testing.T, path string) { assert.OK(t, os.Rename(path, path+".moved")) },
		"replaced": func(t *testing.T, path string) {
			assert.OK(t, errors.Join(os.Rename(path, path+".moved"), os.WriteFile(path, strange, 0o600)))
		},
		"removed": func(t *testing.T, path string) {
			assert.OK(t, errors.Join(os.Link(path, path+".moved"), os.Remove(path)))
		},
		"log gone": func(t *testing.T, path string) {
			assert.OK(t, errors.Join(os.Link(path, path+".moved"), os.Remove(path+"-wal")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			blankAt(t, path)
			var told []string
			d, err := Open(path, Options{Notice: func(s string) { told = append(told, s) }})
			assert.OK(t, err)
			add := func(name string) error {
				return Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, name) })
			}
			assert.OK(t, add("a"))
			do(t, path)
			err = add("b")
			assert.That(t, fault.Is(err, fault.Unavailable), "a write: %v, want a refusal", err)
			err = d.View(ctx, func(*Conn) error { return nil })
			assert.That(t, fault.Is(err, fault.Unavailable), "a read: %v, want a refusal", err)
			all := strings.Join(told, "\n")
			assert.That(t, strings.Contains(all, path) && strings.Contains(all, "put the right file back"), "told %q", all)
			err = d.Close()
			assert.That(t, err != nil, "closed without a word")
			if now, err := os.ReadFile(path); name == "replaced" && (err != nil || string(now) != string(strange)) {
				t.Errorf("the strange file is %q (%v)", now, err)
			}
			assert.OK(t, check(path+".moved"))
			moved, err := Open(path+".moved", Options{})
			assert.OK(t, err)
			assert.Equal(t, count(t, moved, "SELECT count(*) FROM users"), 1, "users in the file that was moved")
			assert.OK(t, moved.Close())
		})
	}
}
