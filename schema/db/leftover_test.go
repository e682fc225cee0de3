package db

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
)

// TestLeftoversOfAKill: temporary files beside the database are deleted by the next holder, other names never; a
// backup's part after a day.
func TestLeftoversOfAKill(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "shop.db")
	blankAt(t, path)
	yesterday := time.Now().Add(-25 * time.Hour)
	write := func(name string, at time.Time) {
		t.Helper()
		name = filepath.Join(dir, name)
		assert.OK(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte("x"), 0o600),
			os.Chtimes(name, at, at)))
	}
	stay := []string{
		"shop.db.before-v3", "shop.db.before-v3-2", "shop.db.before-restore", "shop.db.before-restore-2-wal", "shop.db.restore-notes",
		"shop.db.restore-1.txt", "other.db.restore-1", "shop.db.part-1", "shop.db.new-1x", "my-shop.db.new-1",
		"copy.db.part-2", "copy.db.part-x", "other.db.part-3",
	}
	for _, name := range stay {
		write(name, yesterday)
	}
	write("copy.db.part-2", time.Now()) // is being written
	gone := []string{
		"shop.db.restore-17", "shop.db.new-17", "shop.db.new-17-wal", "shop.db.new-17-shm", "shop.db.new-17-journal",
		"shop.db.before-v3.part-17", "shop.db.before-v3-2.part-17", "shop.db.download-17/copy.db", "shop.db.download-17/copy.db.part-17",
	}
	for _, name := range append(gone, "copy.db.part-1") {
		write(name, time.Now())
	}
	assert.OK(t, os.Chtimes(filepath.Join(dir, "copy.db.part-1"), yesterday, yesterday))
	removed, err := Tidy(path)
	assert.OK(t, err)
	assert.That(t, len(removed) == 8, "removed %q", removed)
	assert.OK(t, Backup(path, filepath.Join(dir, "copy.db")))
	for _, name := range append(gone, "shop.db.download-17", "copy.db.part-1") {
		_, err := os.Lstat(filepath.Join(dir, name))
		assert.That(t, errors.Is(err, os.ErrNotExist), "%s is left (%v)", name, err)
	}
	for _, name := range append(stay, "shop.db", "copy.db") {
		_, err := os.Lstat(filepath.Join(dir, name))
		assert.NoError(t, err, "%s is gone", name)
	}
}

// TestInterruptedRestore: if the old file was moved aside and the copy is not in place yet, no new database is made
// there, and the error names what is missing.
func TestInterruptedRestore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.db")
	blankAt(t, path+".restore-1")
	blankAt(t, path+".before-restore")
	for name, err := range map[string]error{"create": Create(path, Options{}), "open": func() error { _, err := Open(path, Options{}); return err }()} {
		assert.That(t, err != nil && strings.Contains(err.Error(), "a restore of "+path+" was cut off"), "%s: %v", name, err)
	}
	if removed, err := Tidy(path); err != nil || len(removed) > 0 {
		t.Errorf("removed %q (%v): it may be all that there is", removed, err)
	}
	_, err := Restore(path+".before-restore", path)
	assert.OK(t, errors.Join(err, check(path)))
	_, err = os.Stat(path + ".restore-1")
	assert.That(t, errors.Is(err, os.ErrNotExist), "the first one's copy is left: %v", err)
}

// TestRestoredFileKeepsItsOwner: the service's user can open a file that root restored.
func TestRestoredFileKeepsItsOwner(t *testing.T) {
	dir := t.TempDir()
	path, copied := filepath.Join(dir, "shop.db"), filepath.Join(t.TempDir(), "copy.db")
	blankAt(t, path)
	blankAt(t, copied)
	assert.OK(t, os.Chmod(path, 0o640))
	root := os.Geteuid() == 0
	if root {
		assert.OK(t, errors.Join(os.Chown(dir, 65532, 65533), os.Chown(path, 65532, 65533)))
	}
	_, err := Restore(copied, path)
	assert.OK(t, err)
	st, err := os.Stat(path)
	assert.OK(t, err)
	assert.That(t, st.Mode().Perm() == 0o640, "restored with %v", st.Mode())
	for _, name := range []string{path, path + ".lock"} {
		if root && !strings.Contains(ownerOf(t, name), "65532 65533") {
			t.Errorf("%s is %s", name, ownerOf(t, name))
		}
	}
}

func ownerOf(t *testing.T, name string) string {
	t.Helper()
	st, err := os.Stat(name)
	assert.OK(t, err)
	sys := reflect.ValueOf(st.Sys()).Elem() // of unix; the test needs root
	return fmt.Sprintf("%v %v", sys.FieldByName("Uid"), sys.FieldByName("Gid"))
}
