package db

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"zombiezen.com/go/sqlite"
)

// copyInto writes a consistent, checked copy of c's database to target, while others
// read and write. The copy appears at target only when it is complete and whole.
func copyInto(c *handle, target string) (err error) {
	tmp := fmt.Sprintf("%s.part-%d", target, os.Getpid())
	defer func() { _ = os.Remove(tmp) }()
	_ = os.Remove(tmp)
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // #nosec G304 -- the operator names the file
	if err != nil {
		return err
	}
	sync, synced := syncBeside(f)
	if canOverwrite(c) == nil { // else the engine has to write what is in use
		err = writePages(c, f, sync)
	} else {
		err = failed(run(c, "VACUUM INTO ?", tmp))
	}
	close(sync)
	if err == nil {
		err = check(tmp)
	}
	switch err = errors.Join(err, <-synced, f.Close()); {
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

// syncBeside syncs a file on a goroutine of its own whenever sync is sent to, and a last time
// when it is closed, after which synced gives the outcome.
func syncBeside(f *os.File) (sync chan<- struct{}, synced <-chan error) {
	asked, ended := make(chan struct{}, 1), make(chan error, 1)
	go func() {
		var err error
		for range asked {
			err = cmp.Or(err, f.Sync())
		}
		ended <- cmp.Or(err, f.Sync())
	}()
	return asked, ended
}

// syncEvery is after how many bytes of a copy a sync is asked for. One sync of all of it
// would take long, and a commit's sync beside it as long.
const syncEvery = 8 << 20

// writePages writes the pages of c's database, as they are at one moment, to f. What is in no
// use, free pages and what is between the cells of others, it overwrites: what was deleted
// may stand there.
func writePages(c *handle, f *os.File, sync chan<- struct{}) (err error) {
	if err := run(c, "BEGIN"); err != nil {
		return failed(err)
	}
	defer func() { err = errors.Join(err, failed(run(c, "COMMIT"))) }()
	conn := &Conn{c: c}
	free, err := freePages(c)
	if err != nil {
		return err
	}
	size, _, err := One(conn, Int, "PRAGMA page_size")
	if err != nil {
		return err
	}
	page, w := make([]byte, size), bufio.NewWriterSize(f, 1<<16)
	err = Each(conn, func(r *Row) error {
		number := r.Int()
		if n := r.s.ColumnBytes(r.i, page); n < len(page) {
			return fmt.Errorf("page %d cannot be read: %w", number, sqlite.ResultCorrupt.ToError())
		}
		free.blank(page, number)
		if number == 1 {
			page[18], page[19] = 1, 1 // the copy has no log
		}
		if number*size%syncEvery == 0 {
			select {
			case sync <- struct{}{}:
			default: // the last one has not begun yet
			}
		}
		_, err := w.Write(page)
		return err
	}, "SELECT pgno, data FROM sqlite_dbpage")
	return cmp.Or(err, w.Flush())
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
	// Each page is read once: a cache would only take memory.
	err = run(c, fmt.Sprintf("PRAGMA cache_size = -%d", readerCache))
	if err == nil {
		err = copyInto(c, target)
	}
	return errors.Join(err, c.Close())
}

// check refuses a file whose pages, references or schema are not whole.
func check(path string) error {
	if err := examine(path); err != nil {
		return err
	}
	view := func(look func(*Conn) error) error {
		c, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
		if err != nil {
			return err
		}
		h := &handle{Conn: c}
		if err = run(h, fmt.Sprintf("PRAGMA cache_size = -%d", readerCache)); err == nil {
			err = look(&Conn{c: h})
		}
		return errors.Join(err, c.Close())
	}
	switch found := Joined(checkAll(view, checkWorkers, integrityChecks(view), nil)); {
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
		return fmt.Errorf("%s is a database in use, with changes in %s-wal; a copy is made of it by `quartermaster backup`", path, path)
	}
	return nil
}
