package db

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
)

// TestTrialInAPrivateCopy: a trial in a private copy sees and reports its own changes, others write meanwhile, and
// nothing of it remains, nor a name of its file.
func TestTrialInAPrivateCopy(t *testing.T) {
	d, _ := fresh(t)
	if err := Exec(ctx, d, CLI(""), func(tx *Tx) error { // more than the copy's cache holds
		return errors.Join(script(tx, "INSERT INTO import_files (id, token_hash, session, service, table_name, name, bytes, created_at) VALUES (1, x'00', 1, 's', 't', 'n', 1, 1)"),
			script(tx, "INSERT INTO import_pieces VALUES (1, 0, randomblob(8000000))"), addUser(tx, "ann"), tx.Audit("fixture", "x", 1))
	}); err != nil {
		t.Fatal(err)
	}
	before := temporaries(t)
	changes, err := d.TrialAside(ctx, func(inner *DB) error {
		if err := Exec(ctx, inner, CLI(""), func(tx *Tx) error { return errors.Join(addUser(tx, "tried"), tx.Audit("a", "b", 1)) }); err != nil {
			return err
		}
		refused := Exec(ctx, inner, CLI(""), func(tx *Tx) error { return errors.Join(script(tx, "DELETE FROM users"), errors.New("refused")) })
		assert.That(t, refused != nil, "the inner refusal was lost")
		short, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err := Exec(short, d, CLI(""), func(tx *Tx) error { return errors.Join(addUser(tx, "bob"), tx.Audit("a", "b", 1)) }); err != nil {
			t.Errorf("a writer beside a trial: %v", err)
		}
		assert.That(t, inner.Trying(), "the trial does not know that it is one")
		nameless(t, before)
		return inner.View(ctx, func(c *Conn) error {
			names, err := All(c, Text, "SELECT name FROM users ORDER BY id")
			assert.That(t, strings.Join(names, " ") == "ann tried", "the trial sees %q", names)
			return err
		})
	})
	assert.That(t, err == nil && len(changes) != 0 && changes[0].Record == "user:2", "%+v, %v", changes, err)
	if names, err := Read(ctx, d, func(c *Conn) ([]string, error) { return All(c, Text, "SELECT name FROM users ORDER BY id") }); err != nil || strings.Join(names, " ") != "ann bob" {
		t.Errorf("kept %q, %v", names, err)
	}
	boom := errors.New("boom")
	_, err = d.TrialAside(ctx, func(*DB) error { return boom })
	assert.That(t, errors.Is(err, boom), "%v", err)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = d.TrialAside(ended, func(*DB) error { return nil })
	assert.That(t, err != nil, "a trial whose request had ended went on")
	left := temporaries(t)
	assert.That(t, len(left) == len(before), "temporary files are still open: %v, before %v", left, before)
}

// temporaries are the engine's temporary files that this process has open.
func temporaries(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	if runtime.GOOS != "linux" {
		return found
	}
	open, err := os.ReadDir("/proc/self/fd")
	assert.OK(t, err)
	for _, fd := range open {
		path, _ := os.Readlink(filepath.Join("/proc/self/fd", fd.Name()))               // it may be closed by now
		if strings.Contains(path, "etilqs_") || strings.HasSuffix(path, " (deleted)") { // the engine's name, or none
			found[path] = true
		}
	}
	return found
}

// nameless requires new temporary files, without names.
func nameless(t *testing.T, before map[string]bool) {
	t.Helper()
	all := temporaries(t)
	assert.That(t, runtime.GOOS != "linux" || len(all) > len(before), "the copy is in no file")
	for path := range all {
		assert.That(t, strings.HasSuffix(path, " (deleted)"), "%s has a name", path)
	}
}

// TestScratch: rows that are sorted are in no file with a name.
func TestScratch(t *testing.T) {
	before := temporaries(t)
	s, err := NewScratch("CREATE TABLE rows (n INTEGER, text TEXT)")
	assert.OK(t, err)
	for i := range 5000 { // more than the cache holds
		_, err := s.Exec("INSERT INTO rows VALUES (?, ?)", int64(-i), strings.Repeat("x", 1000))
		assert.OK(t, err)
	}
	n, _, err := One(&s.Conn, Int, "SELECT n FROM rows ORDER BY n LIMIT 1")
	assert.That(t, err == nil && n == -4999, "the first is %d (%v)", n, err)
	nameless(t, before)
	assert.OK(t, s.Close())
	left := temporaries(t)
	assert.That(t, len(left) == len(before), "left %v", left)
}
