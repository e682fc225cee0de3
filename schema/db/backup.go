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

// copyInto writes a consistent, checked copy of c's database at path to target, while others
// read and write. The copy appears at target only when it is complete and whole. The
// engine writes it anew: what was removed from the database is nowhere in it.
func copyInto(c *handle, path, target string) (err error) {
	tmp := fmt.Sprintf("%s.part-%d", target, os.Getpid())
	defer func() { _ = os.Remove(tmp) }()
	_ = os.Remove(tmp)
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // #nosec G304 -- the operator names the file
	if err != nil {
		return err
	}
	if err = passes(path, c, checkUse); err == nil { // what is written anew looks whole, also when it lacks a table's rows
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

// syncEvery is how often a copy that is being written is synced: one sync of all of it
// would take long, and a commit's sync beside it as long.
const syncEvery = 100 * time.Millisecond

// syncBeside syncs a file again and again until the function that it gives is called,
// which returns the first error.
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

// withoutTraces takes the mark of a forgetting file from a copy, which holds nothing of it.
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

// Backup writes a consistent, checked copy of the database at path to target.
// Servers and commands may go on writing meanwhile. A file at target is replaced when
// the copy is complete, unless it is the database itself or another one in use.
func Backup(path, target string) error {
	if _, err := Status(path); err != nil {
		return err
	}
	return backup(path, target)
}

// Backup is Backup of the open database. It opens the file by the engine alone: when a
// process closes any other descriptor of a file, its locks on the file are gone (POSIX),
// and whoever closes the database next takes itself for the last and removes the log.
func (d *DB) Backup(target string) error {
	if err := d.sameFile(); err != nil {
		return err
	}
	return failedAt(target, backup(d.path, target))
}

// settingBackup is the setting that says when the last copy was made, in seconds since 1970.
const settingBackup = "backed_up_at"

// NoteBackup keeps that a copy was made now.
func (tx *Tx) NoteBackup() error {
	return tx.SetSetting(settingBackup, strconv.FormatInt(int64(tx.Now()), 10))
}

// BackupAge is how long ago the last copy was made; found is false when none was yet.
func (d *DB) BackupAge(ctx context.Context) (age time.Duration, found bool, err error) {
	err = d.View(ctx, func(c *Conn) error {
		text, err := c.Setting(settingBackup)
		if err != nil || text == "" {
			return err
		}
		at, err := strconv.ParseInt(text, 10, 64)
		age, found = time.Duration(int64(c.Now())-at)*time.Second, err == nil
		return err
	})
	return age, found, err
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

// check refuses a file whose pages, references or schema are not whole.
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

// passes refuses the open file at path when a check finds something.
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

// same reports whether both names are of one file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// unused refuses a database with a log beside it: what it holds is in both.
func unused(path string) error {
	if st, err := os.Stat(path + "-wal"); err == nil && st.Size() > 0 {
		return fmt.Errorf("%s is a database in use, with changes in %s-wal; a copy is made of it by `quartermaster backup`",
			path, path)
	}
	return nil
}
