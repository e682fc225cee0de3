package db

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"quartermaster/schema/assert"
)

// shopOf makes a database with one user whose row is in its log alone. A reader with an older snapshot keeps it open,
// so that the log cannot be checkpointed.
func shopOf(t *testing.T) (path string, release func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "shop.db")
	blankAt(t, path)
	reader, err := connect(path, true)
	assert.OK(t, err)
	assert.OK(t, errors.Join(run(reader, "BEGIN"), run(reader, "SELECT count(*) FROM users")))
	d, err := Open(path, Options{})
	assert.OK(t, err)
	assert.OK(t, errors.Join(Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "answered") }), d.Close()))
	return path, func() { _ = run(reader, "COMMIT"); _ = reader.Close() }
}

func users(t *testing.T, path string) int64 {
	t.Helper()
	assert.OK(t, check(path))
	d, err := Open(path, Options{})
	assert.OK(t, err)
	defer d.Close()
	return count(t, d, "SELECT count(*) FROM users")
}

// TestRestoreKeepsAnsweredWrites: answered writes are in .before-restore, also if the log could not be checkpointed,
// and the restored file equals the copy.
func TestRestoreKeepsAnsweredWrites(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, path string)
		usual bool
	}{
		"an older reader": {spoil: func(*testing.T, string) {}},
		"a damaged header": {spoil: func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			assert.OK(t, err)
			_, err = f.WriteAt([]byte("spoilt"), 0)
			assert.OK(t, errors.Join(err, f.Close()))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "copy.db")
			blankAt(t, copied)
			path, release := shopOf(t)
			c.spoil(t, path)
			aside, err := Restore(copied, path)
			assert.OK(t, err)
			release()
			st, err := os.Stat(aside + "-wal")
			assert.That(t, err == nil && st.Size() != 0, "the log beside the kept file: %v", err)
			if name == "a damaged header" { // as its repair does
				f, err := os.OpenFile(aside, os.O_RDWR, 0)
				assert.OK(t, err)
				_, err = f.WriteAt([]byte("SQLite format 3\x00"), 0)
				assert.OK(t, errors.Join(err, f.Close()))
			}
			assert.Equal(t, users(t, aside), 1, "users in the kept file")
			assert.Equal(t, users(t, path), 0, "users in the restored file")
		})
	}
}

func TestRestoreThroughALink(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "copy.db")
	path := filepath.Join(t.TempDir(), "shop.db")
	blankAt(t, copied)
	blankAt(t, path)
	link := filepath.Join(t.TempDir(), "link.db")
	assert.OK(t, os.Symlink(path, link))
	aside, err := Restore(copied, link)
	assert.OK(t, err)
	assert.That(t, filepath.Dir(aside) == filepath.Dir(path), "kept at %s", aside)
	st, err := os.Lstat(link)
	assert.That(t, err == nil && st.Mode()&os.ModeSymlink != 0, "the link is %v (%v)", st.Mode(), err)
	assert.OK(t, check(path))
}

// TestRestoreFromALinkToAFileInUse: the data are in the link's target and its log.
func TestRestoreFromALinkToAFileInUse(t *testing.T) {
	path, release := shopOf(t)
	defer release()
	link := filepath.Join(t.TempDir(), "latest.db")
	assert.OK(t, os.Symlink(path, link))
	for _, source := range []string{path, link} {
		if _, err := Restore(source, filepath.Join(t.TempDir(), "new.db")); err == nil || !strings.Contains(err.Error(), "is a database in use") {
			t.Errorf("%s: %v, want a refusal", source, err)
		}
	}
}

// TestHoldIsOfTheFile: and not of its name.
func TestHoldIsOfTheFile(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "shop.db")
	blankAt(t, path)
	assert.OK(t, errors.Join(os.Symlink(path, filepath.Join(other, "symbolic.db")), os.Link(path, filepath.Join(other,
		"hard.db"))))
	copied := filepath.Join(other, "copy.db")
	blankAt(t, copied)
	release, err := Hold(path)
	assert.OK(t, err)
	for _, name := range []string{"symbolic.db", "hard.db"} {
		_, err := Hold(filepath.Join(other, name))
		assert.That(t, errors.Is(err, ErrServed), "%s: %v, want a refusal", name, err)
		if _, err := Restore(copied, filepath.Join(other, name)); !errors.Is(err, ErrServed) {
			t.Errorf("restore to %s: %v, want a refusal", name, err)
		}
	}
	// A command finds the log by the file's name: by another name it would read and write past the server.
	for name, served := range map[string]bool{path: false, filepath.Join(other, "symbolic.db"): false, filepath.Join(other, "hard.db"): true} {
		_, err := Status(name)
		assert.That(t, errors.Is(err, ErrServed) == served && (err == nil || served), "a command by the name %s: %v", name,
			err)
		if err := Backup(name, filepath.Join(other, "of.db")); errors.Is(err, ErrServed) != served || err != nil && !served {
			t.Errorf("a backup by the name %s: %v", name, err)
		}
	}
	for _, target := range []string{path + ".lock", path + "-wal", path + "-shm"} {
		if err := Backup(path, target); err == nil || !strings.Contains(err.Error(), "belongs to the database") {
			t.Errorf("a copy at %s: %v, want a refusal", target, err)
		}
	}
	assert.OK(t, release())
	release, err = Hold(filepath.Join(other, "hard.db"))
	assert.OK(t, err)
	assert.OK(t, release())
	absent := filepath.Join(dir, "absent.db")
	release, err = Hold(absent)
	assert.OK(t, err)
	assert.OK(t, release())
	_, err = os.Stat(absent + ".lock")
	assert.That(t, errors.Is(err, os.ErrNotExist), "a lock is left beside a file that is not there: %v", err)
}

// TestCheckCoversTheSchema: objects that a copy lost or gained are named.
func TestCheckCoversTheSchema(t *testing.T) {
	for statement, want := range map[string]string{
		"DROP TRIGGER stamp_user": "the trigger stamp_user is missing",
		"DROP TABLE part_uses":    "the table part_uses is missing",
		"CREATE TABLE extra (a)":  "the table extra (of extra) is not the program's",
		"CREATE TRIGGER evil AFTER INSERT ON audit BEGIN DELETE FROM audit; END": "the trigger evil (of audit) is not the program's",
		"DROP INDEX keys_user; CREATE INDEX keys_user ON keys (user_id, scope)":  "the index keys_user is not as the program made it",
		"": "",
	} {
		t.Run(want, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "shop.db")
			blankAt(t, path)
			c, err := connect(path, false)
			assert.OK(t, err)
			assert.OK(t, sqlitex.ExecuteScript(c.Conn, statement, nil))
			assert.OK(t, c.Close())
			d, err := Open(path, Options{})
			assert.OK(t, err)
			all := Joined(d.CheckAll(ctx, IntegrityChecks(), nil))
			found, err := all.Problems, all.Err
			assert.OK(t, errors.Join(err, d.Close()))
			assert.That(t, (want != "" || len(found) == 0) && (want == "" || slices.Contains(found, want)), "found %q, want %q",
				found, want)
			err = Backup(path, path+".copy")
			assert.That(t, (err != nil) == (want != ""), "backup: %v", err)
			if _, err := Restore(path, path+".new"); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), found[0]) {
				t.Errorf("restore: %v", err)
			}
		})
	}
}

// TestDamageIsReported: damaged pages are a finding, not an error, and prevent backup and restore.
func TestDamageIsReported(t *testing.T) {
	const emptyTable, emptyIndex = "\x0d\x00\x00\x00\x00\x10\x00", "\x0a\x00\x00\x00\x00\x10\x00"
	page := func(start string) []byte { return append([]byte(start), make([]byte, 4096-len(start))...) }
	overwrite := func(root string, start string) func(*testing.T, *handle) {
		return func(t *testing.T, c *handle) {
			assert.OK(t, run(c,
				"UPDATE sqlite_dbpage SET data = ? WHERE pgno = (SELECT rootpage FROM sqlite_schema WHERE name = ?)",
				page(start), root))
		}
	}
	schema := func(statement string) func(*testing.T, *handle) {
		return func(t *testing.T, c *handle) {
			assert.OK(t, errors.Join(run(c, "PRAGMA writable_schema = ON"), run(c, statement)))
		}
	}
	for name, x := range map[string]struct {
		spoil func(*testing.T, *handle)
		want  string
	}{
		"a page of nothing that is known": {overwrite("work_orders", strings.Repeat("\xff", 4096)), "work_orders"},
		"an index that lacks rows":        {overwrite("sqlite_autoindex_users_1", emptyIndex), "row 1 missing from index sqlite_autoindex_users_1"},
		"pages that nothing leads to":     {overwrite("big", emptyTable), "never used"},
		"a page in two tables": {
			schema("UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'part_uses') WHERE name = 'photos'"), "2nd reference to page",
		},
		"a list of free pages that is cut": {func(t *testing.T, c *handle) {
			assert.OK(t, run(c, "DROP TABLE big"))
			first, _, err := One(&Conn{c: c}, (*Row).Bytes, "SELECT data FROM sqlite_dbpage WHERE pgno = 1")
			assert.OK(t, err)
			copy(first[32:36], []byte{0, 0, 0, 0})
			assert.OK(t, run(c, "UPDATE sqlite_dbpage SET data = ? WHERE pgno = 1", first))
		}, "never used"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "shop.db")
			blankAt(t, path)
			d, err := Open(path, Options{})
			assert.OK(t, err)
			assert.OK(t, errors.Join(Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "somebody") }), d.Close()))
			c, err := connect(path, false)
			assert.OK(t, err)
			assert.OK(t, errors.Join(run(c, "CREATE TABLE big (a TEXT)"), run(c,
				"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) "+
					"INSERT INTO big SELECT hex(zeroblob(900)) FROM n")))
			x.spoil(t, c)
			assert.OK(t, c.Close())
			d, err = Open(path, Options{})
			assert.OK(t, err)
			all := Joined(d.CheckAll(ctx, IntegrityChecks(), nil))
			found, err := all.Problems, all.Err
			assert.That(t, err == nil && slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, x.want) }),
				"found %q (%v), want %q", found, err, x.want)
			_ = d.Close()
			for what, err := range map[string]error{"backup": Backup(path, path+".copy"), "restore": func() error { _, err := Restore(path, path+".new"); return err }()} {
				assert.That(t, err != nil, "%s was made of it", what)
			}
		})
	}
}

// TestMigrationCopyIsKept: a migration interrupted after its first step continues, and keeps the copy from before
// it.
func TestMigrationCopyIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	all, err := known()
	assert.OK(t, err)
	opened, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	assert.OK(t, err)
	c := &handle{Conn: opened}
	assert.OK(t, errors.Join(run(c, fmt.Sprintf("PRAGMA application_id = %d", applicationID)), apply(c, all[0], 1),
		apply(c, all[1], 1)))
	aside := fmt.Sprintf("%s.before-v%d", path, len(all))
	assert.OK(t, copyInto(c, path, aside))
	assert.OK(t, errors.Join(apply(c, all[2], 1), c.Close())) // interrupted here
	told := ""
	d, err := Open(path, Options{Migrate: true, Notice: func(s string) { told += s }})
	assert.OK(t, err)
	assert.OK(t, d.Close())
	for name, want := range map[string]int{aside: 2, aside + "-2": 3} {
		status, err := Status(name)
		have := len(status) - len(missingOf(status))
		assert.That(t, err == nil && have == want, "%s has %d migrations, want %d (%v)", name, have, want, err)
	}
	assert.Contains(t, told, aside+"-2", "told")
}
