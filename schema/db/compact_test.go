package db

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// timesIn counts a text in a file and its log, in any case of ASCII.
func timesIn(t *testing.T, path, text string) (times int) {
	t.Helper()
	for _, p := range []string{path, path + "-wal"} {
		file, err := os.ReadFile(p)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		times += bytes.Count(bytes.ToLower(file), []byte(strings.ToLower(text)))
	}
	return times
}

const zaphod = "Zaphod Beeblebrox"

// leaveTraces makes a file with a name in unused parts only, like a file of an older version that did not overwrite
// deleted data.
func leaveTraces(t *testing.T, path string, large bool) {
	t.Helper()
	blankAt(t, path)
	c, err := connect(path, false)
	assert.OK(t, err)
	assert.OK(t, errors.Join(run(c, "PRAGMA secure_delete = OFF"), run(c, "BEGIN")))
	filler := strings.Repeat("x", 3000)
	if large {
		filler = strings.Repeat("x", 250_000)
	}
	const entry = "INSERT INTO audit (at, service, actor, via, action, subject, changes) VALUES (1, 'store', '', '', '', '', ?)"
	for i := range 300 {
		assert.OK(t, errors.Join(run(c, entry, fmt.Sprint(zaphod, i)), run(c, entry, filler)))
	}
	assert.OK(t, errors.Join(run(c, "COMMIT"), run(c, "DELETE FROM audit WHERE changes LIKE 'zaphod%'"), c.Close()))
	n := timesIn(t, path, zaphod)
	assert.Must(t, n >= 100, "only %d copies are left behind: the test tries nothing", n)
}

func forgetOne(ctx context.Context, d *DB) error {
	return Exec(ctx, d, CLI("store"), func(tx *Tx) error {
		return errors.Join(tx.Forget([]string{"a@x.y"}, map[string]string{"a@x.y": "forgotten"}), tx.Audit("forgotten", "customer:1", nil))
	})
}

func leavesTraces(t *testing.T, d *DB) bool {
	t.Helper()
	left, err := conn(t, d).Traces()
	assert.OK(t, err)
	return left
}

// TestForgettingCleansTheFile: a write that forgets marks the file in its own commit, and cleans a small one at once; a
// trial marks nothing. A large file is reported until compact cleans it.
func TestForgettingCleansTheFile(t *testing.T) {
	for _, large := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "shop.db")
		leaveTraces(t, path, large)
		var told []string
		d, err := Open(path, Options{Migrate: true, Notice: func(s string) { told = append(told, s) }})
		assert.OK(t, err)
		_, err = d.Trial(ctx, func(d *DB) error { return forgetOne(ctx, d) })
		assert.OK(t, err)
		times, err := traces(conn(t, d).c)
		assert.That(t, err == nil && times == 0, "large %t: a trial marks the file (%v)", large, err)
		assert.OK(t, forgetOne(ctx, d))
		if left, stands := leavesTraces(t, d), timesIn(t, path, zaphod) > 0; left != large || stands != large {
			t.Errorf("large %t: says that traces are left: %t; are left: %t", large, left, stands)
		}
		assert.That(t, large == slices.Contains(told, TracesLeft) && len(told) <= 1, "large %t: told %q", large, told)
		release, err := Hold(path) // as a server does
		assert.OK(t, err)
		_, _, err = Compact(path)
		assert.That(t, errors.Is(err, ErrServed), "a file that is served: %v", err)
		assert.OK(t, release())
		assert.OK(t, d.Close())
		before, after, err := Compact(path)
		assert.OK(t, err)
		if n := timesIn(t, path, zaphod); n > 0 || after > before || after == 0 {
			t.Errorf("large %t: %d traces after compacting %d bytes to %d", large, n, before, after)
		}
		assert.OK(t, check(path))
		d, err = Open(path, Options{})
		assert.OK(t, err)
		assert.That(t, !leavesTraces(t, d), "large %t: the mark stays", large)
		assert.OK(t, d.Close())
	}
}

// TestInterruptedForgettingIsFinished: if a kill comes between the commit that forgets and the rewriting, the next
// start finishes it.
func TestInterruptedForgettingIsFinished(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	leaveTraces(t, path, false)
	c, err := connect(path, false)
	assert.OK(t, err)
	assert.OK(t, errors.Join(run(c, "PRAGMA user_version = 1718579815"), c.Close())) // an older version's mark
	d, err := Open(path, Options{Migrate: true})
	assert.OK(t, err)
	times, err := traces(conn(t, d).c)
	assert.That(t, err == nil && times == 0, "the mark stays (%v)", err)
	assert.OK(t, d.Close())
	n := timesIn(t, path, zaphod)
	assert.That(t, n <= 0, "it stands %d times in the file", n)
	assert.OK(t, check(path))
}

// TestDeletedDataIsOverwritten: deleted or shortened values are overwritten, also long ones, and a full-text index
// loses a forgotten person's words.
func TestDeletedDataIsOverwritten(t *testing.T) {
	d, _ := fresh(t)
	long := strings.Repeat("of "+zaphod+" ", 900)
	assert.OK(t, errors.Join(Exec(ctx, d, Bookkeeping(), func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO settings VALUES ('one', ?), ('two', ?)", long, zaphod)
		return err
	}), Exec(ctx, d, Bookkeeping(), func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO store_find_customers (rowid, words) VALUES (7, ?)", zaphod)
		return err
	}), Exec(ctx, d, Bookkeeping(), func(tx *Tx) error {
		_, err := tx.Exec("DELETE FROM settings WHERE name IN ('one', 'two')")
		return err
	})))
	assert.OK(t, Exec(ctx, d, CLI("store"), func(tx *Tx) error {
		_, err := tx.Exec("DELETE FROM store_find_customers WHERE rowid = 7")
		return errors.Join(err, tx.MarkForgotten(), tx.Audit("forgotten", "customer:1", nil))
	}))
	n := timesIn(t, d.path, zaphod) + timesIn(t, d.path, "zap")
	assert.That(t, n <= 0, "it stands %d times in the file", n)
}

// TestABackupHoldsNothingDeleted: a backup contains no deleted data, neither in free pages nor between used cells, and
// no mark.
func TestABackupHoldsNothingDeleted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	leaveTraces(t, path, true)
	c, err := connect(path, false)
	assert.OK(t, err)
	assert.OK(t, errors.Join(run(c, "INSERT INTO settings VALUES ('kept', ?)", zaphod), run(c, "PRAGMA user_version = 3"),
		c.Close()))
	target := path + ".copy"
	assert.OK(t, Backup(path, target))
	n := timesIn(t, target, zaphod)
	assert.That(t, n == 1, "it stands %d times in the copy, want 1", n)
	assert.OK(t, check(target))
	d, err := Open(target, Options{})
	assert.OK(t, err)
	times, err := traces(conn(t, d).c)
	assert.That(t, err == nil && times == 0, "the copy is marked (%v)", err)
	assert.OK(t, d.Close())
}
