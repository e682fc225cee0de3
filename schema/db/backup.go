package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"zombiezen.com/go/sqlite"
)

// copyInto writes a consistent, checked copy of c's database to target, while others read and write. target appears
// only when the copy is complete. The engine writes it again, so that it contains no deleted data.
func copyInto(c *handle, path, target string) (err error) {
	tmp := fmt.Sprintf("%s.part-%d", target, os.Getpid())
	defer func() { _ = os.Remove(tmp) }()
	_ = os.Remove(tmp)
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // #nosec G304 -- the operator names the file
	if err != nil {
		return err
	}
	if err = passes(path, c, checkUse); err == nil { // a rewritten file looks intact even if it lacks a table's rows
		synced := syncBeside(f)
		err = errors.Join(failed(run(c, "VACUUM INTO ?", tmp)), synced())
	}
	if err == nil {
		err = errors.Join(check(tmp), withoutTraces(tmp))
	}
	switch err = errors.Join(err, f.Sync(), f.Close()); {
	case errors.Is(err, syscall.ENOSPC):
		return full(err)
	case err != nil:
		return err
	}
	if err := os.Rename(tmp, target); err != nil {
		return err
	}
	return syncDir(target)
}

// syncEvery is the interval of syncs while a copy is written: one sync at the end would take long, and delay every
// commit meanwhile.
const syncEvery = 100 * time.Millisecond

// syncBeside syncs a file repeatedly until the returned function is called, which returns the first error.
func syncBeside(f *os.File) (end func() error) {
	written, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		var err error
		for {
			select {
			case <-time.After(syncEvery):
				err = cmp.Or(err, f.Sync())
			case <-written:
				ended <- err
				return
			}
		}
	}()
	return func() error {
		close(written)
		return <-ended
	}
}

// withoutTraces removes the mark of a forgetting file from a copy, which contains nothing of it.
func withoutTraces(path string) error {
	c, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	h := &handle{Conn: c}
	times, err := traces(h)
	if err == nil && times != 0 {
		err = run(h, "PRAGMA user_version = 0")
	}
	return errors.Join(err, c.Close())
}

// Backup writes a consistent, checked copy of the database at path to target. Servers and commands may write meanwhile.
// A file at target is replaced when the copy is complete, unless it is the database itself or another one in use.
func Backup(path, target string) error {
	if _, err := Status(path); err != nil {
		return err
	}
	return backup(path, target)
}

// Backup is Backup of the open database. Only the engine opens the file: closing any other descriptor would release the
// process's locks (POSIX), and the next process to close the database would delete the log.
func (d *DB) Backup(target string) error {
	if err := d.sameFile(); err != nil {
		return err
	}
	return failedAt(target, backup(d.path, target))
}

// settingBackup is the setting with the time of the last copy, in seconds since 1970.
const settingBackup = "backed_up_at"

// NoteBackup stores the present as the time of the last copy.
func (tx *Tx) NoteBackup() error {
	return tx.SetSetting(settingBackup, strconv.FormatInt(int64(tx.Now()), 10))
}

// BackupAge is the time since the last copy; before the first there is an error.
func (d *DB) BackupAge(ctx context.Context) (time.Duration, error) {
	return Read(ctx, d, func(c *Conn) (time.Duration, error) {
		text, err := c.Setting(settingBackup)
		if err != nil {
			return 0, err
		}
		at, err := strconv.ParseInt(text, 10, 64)
		return time.Duration(int64(c.Now())-at) * time.Second, err
	})
}

func backup(path, target string) error {
	if same(path, target) {
		return fmt.Errorf("%s is the database itself; name another file for the copy", target)
	}
	for _, suffix := range append([]string{".lock"}, beside...) {
		if of, cut := strings.CutSuffix(target, suffix); cut && (same(of, path) || examine(of) == nil) {
			return fmt.Errorf("%s belongs to the database %s; name another file for the copy", target, of)
		}
	}
	if err := unused(target); err != nil {
		return err
	}
	if err := examine(target); errors.Is(err, ErrForeign) {
		return fmt.Errorf("%s is there already and is no copy of a database: name another file", target)
	}
	RemoveOldParts(filepath.Dir(target), func(name string) bool { return name == filepath.Base(target) }, time.Now())
	c, err := connect(path, false)
	if err != nil {
		return err
	}
	return errors.Join(copyInto(c, path, target), c.Close())
}

// check refuses a file with damaged pages, references or schema.
func check(path string) error {
	if err := examine(path); err != nil {
		return err
	}
	c, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
	if err != nil {
		return err
	}
	h := &handle{Conn: c}
	err = run(h, fmt.Sprintf("PRAGMA cache_size = -%d", readerCache)) // each page is read once
	if err == nil {
		err = passes(path, h, IntegrityChecks()...)
	} else if Damaged(err) {
		err = fmt.Errorf("%s is damaged: %w", path, err)
	}
	return errors.Join(err, c.Close())
}

// passes refuses the open file at path if a check finds something.
func passes(path string, c *handle, checks ...Check) error {
	view := func(look func(*Conn) error) error { return look(&Conn{c: c}) }
	switch found := Joined(checkAll(view, checks, nil)); {
	case found.Err != nil:
		return fmt.Errorf("%s: %w", path, found.Err)
	case len(found.Problems) > 0:
		return fmt.Errorf("%s is damaged: %s", path, found.Problems[0])
	}
	return nil
}

// same reports whether both names lead to one file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// unused refuses a database with a log beside it, since its data are in both files.
func unused(path string) error {
	if st, err := os.Stat(path + "-wal"); err == nil && st.Size() > 0 {
		return fmt.Errorf("%s is a database in use, with changes in %s-wal; a copy is made of it by `quartermaster backup`",
			path, path)
	}
	return nil
}
