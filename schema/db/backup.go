package db

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
)

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
	// The engine has read every record and made every index anew, so that there are no old
	// pages to be checked; a page that cannot be read has ended it.
	if err := checkWith(tmp, meaning); err != nil {
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
	return errors.Join(copyInto(c, target), c.Close())
}

// check refuses a file whose pages, references or schema are not whole.
func check(path string) error { return checkWith(path, integrity) }

func checkWith(path string, look func(*Conn) ([]string, error)) error {
	if err := examine(path); err != nil {
		return err
	}
	c, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
	if err != nil {
		return err
	}
	problems, err := look(&Conn{c: &handle{Conn: c}})
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("%s is damaged: %s", path, problems[0])
	}
	return errors.Join(err, c.Close())
}

// integrity lists what is wrong with the pages, the references and the schema. What the
// engine cannot read is a finding too.
func integrity(c *Conn) ([]string, error) {
	_, _ = declaredNow() // before the pages are looked at, which takes its memory again; its error is meaning's
	found, err := All(c, Text, "PRAGMA integrity_check")
	if err == nil && len(found) == 1 && found[0] == "ok" {
		found = nil
	}
	var more []string
	if err == nil {
		more, err = meaning(c)
	}
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		found, err = append(found, fmt.Sprintf("the file cannot be read to its end: %v", errors.Unwrap(err))), nil
	}
	return append(found, more...), failed(err)
}

// meaning lists what is wrong with the references and the schema.
func meaning(c *Conn) ([]string, error) {
	loose, err := All(c, func(r *Row) string {
		table, row, parent := r.Text(), r.Int(), r.Text()
		return fmt.Sprintf("row %d of %s points at a row of %s that is not there", row, table, parent)
	}, "PRAGMA foreign_key_check")
	if err != nil {
		return nil, err
	}
	schema, err := schemaProblems(c)
	return append(loose, schema...), err
}

// Integrity lists what the engine's own checks of pages and references find wrong.
//
// It reads the schema as well: see schemaProblems.
func (d *DB) Integrity(ctx context.Context) (problems []string, err error) {
	err = d.View(ctx, func(c *Conn) error {
		problems, err = integrity(c)
		return err
	})
	if len(problems) > 0 {
		err = nil // the end of a look at a damaged file fails, too
	}
	return problems, err
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

// Restore puts the checked copy at source in the place of the database at path. It is
// refused while a server holds the file, and when source is the database itself or
// one that is in use. What was there is kept under a name of its own; aside is where,
// "" when there was nothing.
// Where path is a symbolic link, the file that it leads to is replaced.
func Restore(source, path string) (aside string, err error) {
	source, path = resolved(source), resolved(path) // a log lies beside the file, not beside a link to it
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
	if st, err := os.Stat(path); err == nil {
		if err := os.Chmod(tmp, st.Mode().Perm()); err != nil {
			return "", err
		}
	}
	if err := adopt(tmp, path); err != nil {
		return "", err
	}
	if aside, err = putAside(path); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, path); err != nil {
		if _, gone := os.Stat(path); gone == nil && aside != "" { // then what is aside is the same once more
			err = errors.Join(err, os.Remove(aside))
			aside = ""
		}
		return aside, fmt.Errorf("put the copy in the place of %s (where the file alone is mounted, restore to the file that is mounted): %w", path, err)
	}
	_, _ = Tidy(path) // what an earlier restore left that was cut off
	return aside, syncDir(path)
}

// putAside keeps the present file under another name, with every write that was answered,
// and leaves no log behind that would be played into the file that comes.
//
// Its log is moved into it first. Where that cannot be done wholly (no room, an older
// reader, a file that is damaged) the log is kept beside the kept file, where the engine
// finds it, and the present name is free for a moment.
func putAside(path string) (aside string, err error) {
	if st, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || err == nil && st.Size() == 0 {
		return "", removeLog(path)
	}
	if examine(path) == nil {
		if c, err := connect(path, false); err == nil {
			_ = run(c, "PRAGMA wal_checkpoint(TRUNCATE)") // the log's size shows whether it was done
			_ = c.Close()
		}
	}
	aside = freeName(path + ".before-restore")
	if !logged(path) {
		if err := keepAs(path, aside); err != nil {
			return "", fmt.Errorf("keep the present file: %w", err)
		}
		return aside, removeLog(path)
	}
	// In this order, so that there is a whole pair of file and log at any moment.
	if err := keepAs(path+"-wal", aside+"-wal"); err != nil {
		return "", fmt.Errorf("keep the present file's log: %w", err)
	}
	if err := os.Rename(path, aside); err != nil {
		return "", errors.Join(fmt.Errorf("keep the present file: %w", err), os.Remove(aside+"-wal"))
	}
	return aside, errors.Join(syncDir(path), removeLog(path))
}

// logged reports whether a file has a log or a journal that is not moved into it.
func logged(path string) bool {
	st, err := os.Stat(path + "-wal")
	return err == nil && st.Size() > 0
}

// keepAs links a file under a second name, or makes a copy where that cannot be.
func keepAs(path, name string) error {
	if os.Link(path, name) == nil {
		return nil
	}
	return errors.Join(copyFile(path, name), syncDir(name))
}

// freeName returns the name, or the first of it with a number that nothing has: what an
// earlier restore kept is not lost to a later one.
func freeName(name string) string {
	free := name
	for n := 2; ; n++ {
		_, err := os.Lstat(free)
		_, logErr := os.Lstat(free + "-wal")
		if err != nil && logErr != nil {
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
	_ = os.Remove(to)
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // #nosec G304 -- the operator names the file
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		err = errors.Join(err, os.Remove(to)) // half of a file is none
	}
	return err
}
