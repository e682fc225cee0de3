package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gofrs/flock"
	"zombiezen.com/go/sqlite"
)

// Hold takes the file for a server. A second holder gets ErrServed; the lock goes
// with the process, however it ends.
func Hold(path string) (release func() error, err error) {
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !got {
		return nil, fmt.Errorf("%w: %s is served by another process; stop that one first", ErrServed, path)
	}
	return lock.Unlock, nil
}

// copyInto writes a consistent, checked copy of c's database to target, while others
// read and write. The copy appears at target only when it is complete and whole.
func copyInto(c *handle, target string) error {
	tmp := fmt.Sprintf("%s.part-%d", target, os.Getpid())
	defer func() { _ = os.Remove(tmp) }()
	_ = os.Remove(tmp)
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // #nosec G304 -- the operator names the file
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := run(c, "VACUUM INTO ?", tmp); err != nil {
		return failed(err)
	}
	if err := check(tmp); err != nil {
		return err
	}
	if err := syncFile(tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, target); err != nil {
		return err
	}
	return syncDir(target)
}

// Backup writes a consistent, checked copy of the database at path to target.
// Servers and commands may go on writing meanwhile. A file at target is replaced when
// the copy is complete, unless it is the database itself or another one in use.
func Backup(path, target string) error {
	if _, err := Status(path); err != nil {
		return err
	}
	if same(path, target) {
		return fmt.Errorf("%s is the database itself; name another file for the copy", target)
	}
	if err := unused(target); err != nil {
		return err
	}
	if err := examine(target); errors.Is(err, ErrForeign) {
		return fmt.Errorf("%s is there already and is no copy of a database: name another file", target)
	}
	c, err := connect(path, false)
	if err != nil {
		return err
	}
	return errors.Join(copyInto(c, target), c.Close())
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
	problems, err := integrity(&Conn{c: &handle{Conn: c}})
	if err == nil {
		_, err = applied(&Conn{c: &handle{Conn: c}})
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("%s is damaged: %s", path, problems[0])
	}
	return errors.Join(err, c.Close())
}

// integrity lists what the engine's own checks find wrong.
func integrity(c *Conn) ([]string, error) {
	found, err := All(c, Text, "PRAGMA integrity_check")
	if err != nil {
		return nil, failed(err)
	}
	if len(found) == 1 && found[0] == "ok" {
		found = nil
	}
	loose, err := All(c, func(r *Row) string {
		table, row, parent := r.Text(), r.Int(), r.Text()
		return fmt.Sprintf("row %d of %s points at a row of %s that is not there", row, table, parent)
	}, "PRAGMA foreign_key_check")
	return append(found, loose...), err
}

// Integrity lists what the engine's own checks of pages and references find wrong.
func (d *DB) Integrity(ctx context.Context) (problems []string, err error) {
	err = d.View(ctx, func(c *Conn) error {
		problems, err = integrity(c)
		return err
	})
	return problems, err
}

// same tells whether both names are of one file.
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
		return fmt.Errorf("%s is a database in use, with changes in %s-wal; a copy is made of it by `quartermaster backup`", path, path)
	}
	return nil
}

// Restore puts the checked copy at source in the place of the database at path. It is
// refused while a server holds the file, and when source is the database itself or
// one that is in use. What was there is kept under a name of its own; aside is where,
// "" when there was nothing.
func Restore(source, path string) (aside string, err error) {
	if same(source, path) {
		return "", fmt.Errorf("%s is the database itself; name the copy that is to be restored", source)
	}
	if err := unused(source); err != nil {
		return "", err
	}
	if _, err := os.Stat(source); errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("there is no copy at %s to be restored", source)
	}
	if err := check(source); err != nil {
		return "", err
	}
	release, err := Hold(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, release()) }()
	tmp := fmt.Sprintf("%s.restore-%d", path, os.Getpid())
	defer func() { _ = os.Remove(tmp) }()
	if err := copyFile(source, tmp); err != nil {
		return "", err
	}
	if aside, err = putAside(path); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, path); err != nil {
		return aside, err
	}
	return aside, syncDir(path)
}

// putAside moves the present file's log into it, so that no stale log is left to be
// played into the file that comes, and links it under another name.
func putAside(path string) (aside string, err error) {
	if st, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || err == nil && st.Size() == 0 {
		return "", removeLog(path)
	}
	if examine(path) == nil {
		if c, err := connect(path, false); err == nil {
			_ = run(c, "PRAGMA wal_checkpoint(TRUNCATE)") // a damaged file may refuse; it is kept as it is
			_ = c.Close()
		}
	}
	aside = freeName(path + ".before-restore")
	if err := os.Link(path, aside); err != nil {
		if err := copyFile(path, aside); err != nil {
			return "", fmt.Errorf("keep the present file: %w", err)
		}
	}
	return aside, removeLog(path)
}

// freeName gives the name, or the first of it with a number that nothing has: what an
// earlier restore kept is not lost to a later one.
func freeName(name string) string {
	free := name
	for n := 2; ; n++ {
		if _, err := os.Lstat(free); err != nil {
			return free
		}
		free = fmt.Sprintf("%s-%d", name, n)
	}
}

// removeLog removes what would be played into another file at path.
func removeLog(path string) error {
	for _, suffix := range beside {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from) // #nosec G304 -- the operator names the file
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) // #nosec G304 -- the operator names the file
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
