package db

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"

	"quartermaster/schema/assert"
)

func TestOpenRefusesForeignFiles(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.db")
	c, err := sqlite.OpenConn(foreign, sqlite.OpenReadWrite|sqlite.OpenCreate)
	assert.OK(t, err)
	assert.OK(t, errors.Join(run(&handle{Conn: c}, "CREATE TABLE t (a)"), c.Close()))
	for name, content := range map[string][]byte{
		"empty.db": {}, "text.db": []byte("hello, this is no database at all"),
		"cut.db": []byte("SQLite format 3\x00 and then nothing"),
	} {
		assert.OK(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	for name, want := range map[string]error{
		"none.db": ErrMissing, "empty.db": ErrMissing, "text.db": ErrForeign, "cut.db": ErrForeign, "foreign.db": ErrForeign,
	} {
		path := filepath.Join(dir, name)
		before, _ := os.ReadFile(path)
		_, err := Open(path, Options{Migrate: true})
		assert.That(t, errors.Is(err, want) && bytes.Contains([]byte(err.Error()), []byte(path)),
			"%s: %v, want %v with its path", name, err, want)
		_, err = Status(path)
		assert.That(t, errors.Is(err, want), "%s: its status: %v, want %v", name, err, want)
		after, _ := os.ReadFile(path)
		assert.That(t, bytes.Equal(before, after), "%s was touched", name)
	}
}

func TestNewerFileIsRefusedUnchanged(t *testing.T) {
	d, _ := fresh(t)
	c, err := connect(d.path, false)
	assert.OK(t, err)
	err = errors.Join(run(c, "INSERT INTO schema_migrations VALUES ('9999_future', 1)"), run(c, "PRAGMA wal_checkpoint(TRUNCATE)"), c.Close())
	assert.OK(t, err)
	before, _ := os.ReadFile(d.path)
	_, err = Open(d.path, Options{Migrate: true})
	assert.That(t, errors.Is(err, ErrNewer), "%v, want ErrNewer", err)
	_, err = Status(d.path)
	assert.That(t, errors.Is(err, ErrNewer), "its status: %v, want ErrNewer", err)
	after, _ := os.ReadFile(d.path)
	assert.That(t, bytes.Equal(before, after), "the file was touched")
}

func TestOlderFileIsMigratedWithACopyAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	all, err := known()
	assert.OK(t, err)
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	assert.OK(t, err)
	err = errors.Join(run(&handle{Conn: c}, fmt.Sprintf("PRAGMA application_id = %d", applicationID)), apply(&handle{Conn: c}, all[0], 1), c.Close())
	assert.OK(t, err)
	if len(all) > 1 {
		_, err := Open(path, Options{})
		assert.That(t, err != nil, "an older file was opened without migrating")
	}
	before, _ := os.ReadFile(path)
	status, err := Status(path)
	assert.That(t, err == nil && len(status) == len(all) && len(missingOf(status)) == len(all)-1 &&
		*status[0].AppliedAt == 1, "its status is %v (%v)", status, err)
	after, _ := os.ReadFile(path)
	assert.That(t, bytes.Equal(before, after), "asking for the status changed the file")
	var told string
	d, err := Open(path, Options{Migrate: true, Notice: func(s string) { told = s }})
	assert.OK(t, err)
	defer d.Close()
	have, err := Status(path)
	assert.That(t, err == nil && len(missingOf(have)) == 0, "missing afterwards: %v (%v)", missingOf(have), err)
	if len(all) > 1 {
		aside := fmt.Sprintf("%s.before-v%d", path, len(all))
		err := check(aside)
		assert.That(t, err == nil && bytes.Contains([]byte(told), []byte(aside)), "copy aside: %v, told %q", err, told)
	}
}

func TestMigrationIsOldOrNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.db")
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	assert.OK(t, err)
	defer c.Close()
	bad := Migration{Name: "0001_bad", script: "CREATE TABLE a (x); CREATE TABLE b (y); INSERT INTO nowhere VALUES (1);"}
	err = apply(&handle{Conn: c}, bad, 1)
	assert.Must(t, err != nil, "no error")
	n, _, err := One(&Conn{c: &handle{Conn: c}}, Int, "SELECT count(*) FROM sqlite_schema")
	assert.That(t, err == nil && n == 0, "%d objects are left of a failed migration (%v)", n, err)
}

func TestBackupAndRestore(t *testing.T) {
	d, _ := fresh(t)
	dir := t.TempDir()
	copyPath, target := filepath.Join(dir, "copy.db"), filepath.Join(dir, "live.db")
	must := func(err error) {
		t.Helper()
		assert.OK(t, err)
	}
	must(Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "kept") }))
	must(Backup(d.path, copyPath))
	must(Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "later") }))

	// A live file whose log must not be replayed into the restored one.
	must(Create(target, Options{}))
	live, err := Open(target, Options{})
	must(err)
	must(Exec(ctx, live, CLI(""), func(tx *Tx) error { return addUser(tx, "stale") }))
	wal, err := os.ReadFile(target + "-wal")
	must(err)
	must(live.Close())
	must(os.WriteFile(target+"-wal", wal, 0o600))

	aside, err := Restore(copyPath, target)
	must(err)
	assert.NoError(t, check(aside), "what was there before")
	back, err := Open(target, Options{})
	must(err)
	defer back.Close()
	names, err := All(conn(t, back), Text, "SELECT name FROM users ORDER BY name")
	must(err)
	assert.That(t, fmt.Sprint(names) == "[kept]", "restored users %v, want only kept", names)

	release, err := Hold(target)
	must(err)
	_, err = Restore(copyPath, target)
	assert.That(t, errors.Is(err, ErrServed), "restore under a server: %v", err)
	must(release())
	broken, err := os.ReadFile(copyPath)
	must(err)
	for i := 4096; i < len(broken) && i < 40960; i++ {
		broken[i] ^= 0x5a
	}
	must(os.WriteFile(copyPath, broken, 0o600))
	_, err = Restore(copyPath, target)
	assert.That(t, err != nil, "a damaged copy was restored")
}

func TestCopiesNeverReplaceAnotherFile(t *testing.T) {
	d, _ := fresh(t)
	dir := t.TempDir()
	copyPath, link := filepath.Join(dir, "copy.db"), filepath.Join(dir, "link.db")
	must := func(err error) {
		t.Helper()
		assert.OK(t, err)
	}
	must(Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "kept") }))
	must(os.Symlink(d.path, link))
	must(Backup(d.path, copyPath))
	must(Backup(d.path, copyPath)) // over an earlier copy
	for _, target := range []string{d.path, link} {
		err := Backup(d.path, target)
		assert.That(t, err != nil, "a backup went over the database by %s", target)
		if _, err := Restore(target, d.path); err == nil {
			t.Errorf("the database was restored from itself by %s", target)
		}
	}
	assert.Equal(t, count(t, d, "SELECT count(*) FROM users"), 1, "users are left")

	// Another database in use, whose log would be replayed into the copy, or be missing.
	other, _ := fresh(t)
	must(Exec(ctx, other, CLI(""), func(tx *Tx) error { return addUser(tx, "other") }))
	if err := Backup(d.path, other.path); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a backup over a database in use: %v", err)
	}
	target := filepath.Join(dir, "live.db")
	if _, err := Restore(other.path, target); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a restore from a database in use: %v", err)
	}

	aside, err := Restore(copyPath, target)
	must(err)
	assert.That(t, aside == "", "nothing was there, yet %s is kept", aside)
	for _, want := range []string{target + ".before-restore", target + ".before-restore-2", target + ".before-restore-3"} {
		aside, err = Restore(copyPath, target)
		assert.That(t, err == nil && aside == want && check(aside) == nil, "kept at %s (%v), want %s", aside, err, want)
	}
}

func TestHoldIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	release, err := Hold(path)
	assert.OK(t, err)
	_, err = Hold(path)
	assert.That(t, errors.Is(err, ErrServed), "a second holder: %v", err)
	assert.OK(t, release())
	release, err = Hold(path)
	assert.OK(t, err, "after release")
	_ = release()
}
