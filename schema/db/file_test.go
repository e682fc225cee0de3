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
)

func TestOpenRefusesForeignFiles(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.db")
	c, err := sqlite.OpenConn(foreign, sqlite.OpenReadWrite|sqlite.OpenCreate)
	must(t, err)
	must(t, errors.Join(run(&handle{Conn: c}, "CREATE TABLE t (a)"), c.Close()))
	for name, content := range map[string][]byte{
		"empty.db": {}, "text.db": []byte("hello, this is no database at all"),
		"cut.db": []byte("SQLite format 3\x00 and then nothing"),
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	for name, want := range map[string]error{
		"none.db": ErrMissing, "empty.db": ErrMissing, "text.db": ErrForeign, "cut.db": ErrForeign, "foreign.db": ErrForeign,
	} {
		path := filepath.Join(dir, name)
		before, _ := os.ReadFile(path)
		_, err := Open(path, Options{Migrate: true})
		if !errors.Is(err, want) || !bytes.Contains([]byte(err.Error()), []byte(path)) {
			t.Errorf("%s: %v, want %v with its path", name, err, want)
		}
		if _, err := Status(path); !errors.Is(err, want) {
			t.Errorf("%s: its status: %v, want %v", name, err, want)
		}
		after, _ := os.ReadFile(path)
		if !bytes.Equal(before, after) {
			t.Errorf("%s was touched", name)
		}
	}
}

func TestNewerFileIsRefusedUnchanged(t *testing.T) {
	d, _ := fresh(t)
	c, err := connect(d.path, false)
	must(t, err)
	err = errors.Join(run(c, "INSERT INTO schema_migrations VALUES ('9999_future', 1)"), run(c, "PRAGMA wal_checkpoint(TRUNCATE)"), c.Close())
	must(t, err)
	before, _ := os.ReadFile(d.path)
	if _, err := Open(d.path, Options{Migrate: true}); !errors.Is(err, ErrNewer) {
		t.Errorf("%v, want ErrNewer", err)
	}
	if _, err := Status(d.path); !errors.Is(err, ErrNewer) {
		t.Errorf("its status: %v, want ErrNewer", err)
	}
	after, _ := os.ReadFile(d.path)
	if !bytes.Equal(before, after) {
		t.Error("the file was touched")
	}
}

func TestOlderFileIsMigratedWithACopyAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	all, err := known()
	must(t, err)
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	must(t, err)
	err = errors.Join(run(&handle{Conn: c}, fmt.Sprintf("PRAGMA application_id = %d", applicationID)), apply(&handle{Conn: c}, all[0], 1), c.Close())
	must(t, err)
	if len(all) > 1 {
		if _, err := Open(path, Options{}); err == nil {
			t.Error("an older file was opened without migrating")
		}
	}
	before, _ := os.ReadFile(path)
	status, err := Status(path)
	if err != nil || len(status) != len(all) || len(missingOf(status)) != len(all)-1 || *status[0].AppliedAt != 1 {
		t.Errorf("its status is %v (%v)", status, err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("asking for the status changed the file")
	}
	var told string
	d, err := Open(path, Options{Migrate: true, Notice: func(s string) { told = s }})
	must(t, err)
	defer d.Close()
	have, err := Status(path)
	if err != nil || len(missingOf(have)) != 0 {
		t.Errorf("missing afterwards: %v (%v)", missingOf(have), err)
	}
	if len(all) > 1 {
		aside := fmt.Sprintf("%s.before-v%d", path, len(all))
		if err := check(aside); err != nil || !bytes.Contains([]byte(told), []byte(aside)) {
			t.Errorf("copy aside: %v, told %q", err, told)
		}
	}
}

func TestMigrationIsOldOrNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.db")
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	must(t, err)
	defer c.Close()
	bad := Migration{Name: "0001_bad", script: "CREATE TABLE a (x); CREATE TABLE b (y); INSERT INTO nowhere VALUES (1);"}
	if err := apply(&handle{Conn: c}, bad, 1); err == nil {
		t.Fatal("no error")
	}
	n, _, err := One(&Conn{c: &handle{Conn: c}}, Int, "SELECT count(*) FROM sqlite_schema")
	if err != nil || n != 0 {
		t.Errorf("%d objects are left of a failed migration (%v)", n, err)
	}
}

func TestBackupAndRestore(t *testing.T) {
	d, _ := fresh(t)
	dir := t.TempDir()
	copyPath, target := filepath.Join(dir, "copy.db"), filepath.Join(dir, "live.db")
	must := func(err error) {
		t.Helper()
		must(t, err)
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
	if err := check(aside); err != nil {
		t.Errorf("what was there before: %v", err)
	}
	back, err := Open(target, Options{})
	must(err)
	defer back.Close()
	names, err := All(conn(t, back), Text, "SELECT name FROM users ORDER BY name")
	must(err)
	if fmt.Sprint(names) != "[kept]" {
		t.Errorf("restored users %v, want only kept", names)
	}

	release, err := Hold(target)
	must(err)
	if _, err := Restore(copyPath, target); !errors.Is(err, ErrServed) {
		t.Errorf("restore under a server: %v", err)
	}
	must(release())
	broken, err := os.ReadFile(copyPath)
	must(err)
	for i := 4096; i < len(broken) && i < 40960; i++ {
		broken[i] ^= 0x5a
	}
	must(os.WriteFile(copyPath, broken, 0o600))
	if _, err := Restore(copyPath, target); err == nil {
		t.Error("a damaged copy was restored")
	}
}

func TestCopiesNeverReplaceAnotherFile(t *testing.T) {
	d, _ := fresh(t)
	dir := t.TempDir()
	copyPath, link := filepath.Join(dir, "copy.db"), filepath.Join(dir, "link.db")
	must := func(err error) {
		t.Helper()
		must(t, err)
	}
	must(Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "kept") }))
	must(os.Symlink(d.path, link))
	must(Backup(d.path, copyPath))
	must(Backup(d.path, copyPath)) // over an earlier copy
	for _, target := range []string{d.path, link} {
		if err := Backup(d.path, target); err == nil {
			t.Errorf("a backup went over the database by %s", target)
		}
		if _, err := Restore(target, d.path); err == nil {
			t.Errorf("the database was restored from itself by %s", target)
		}
	}
	if n := count(t, d, "SELECT count(*) FROM users"); n != 1 {
		t.Errorf("%d users are left", n)
	}

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
	if aside != "" {
		t.Errorf("nothing was there, yet %s is kept", aside)
	}
	for _, want := range []string{target + ".before-restore", target + ".before-restore-2", target + ".before-restore-3"} {
		if aside, err = Restore(copyPath, target); err != nil || aside != want || check(aside) != nil {
			t.Errorf("kept at %s (%v), want %s", aside, err, want)
		}
	}
}

func TestHoldIsExclusive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	release, err := Hold(path)
	must(t, err)
	if _, err := Hold(path); !errors.Is(err, ErrServed) {
		t.Errorf("a second holder: %v", err)
	}
	must(t, release())
	release, err = Hold(path)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	_ = release()
}
