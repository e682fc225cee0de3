package db

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"quartermaster/schema/exact"
)

// applicationID marks the file as ours in SQLite's own header ("QMTR").
const applicationID = 0x514D5452

// beside are the files that the engine keeps beside a database. The journal exists only while a copied or foreign file
// is opened for the first time.
var beside = []string{"-wal", "-shm", "-journal"}

// examine refuses foreign files without opening them as a database.
func examine(path string) error {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() { // opening a pipe would wait for its writer
		return fmt.Errorf("%w: %s is a %s and cannot hold a database; it was left untouched", ErrForeign, path,
			whatIs(st.Mode()))
	}
	f, err := os.Open(path) // #nosec G304 -- the operator names the file
	if errors.Is(err, os.ErrNotExist) {
		return missing(path)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var head [100]byte
	n, err := io.ReadFull(f, head[:])
	switch {
	case n == 0 && errors.Is(err, io.EOF):
		return fmt.Errorf("%w (the file is empty)", missing(path))
	case err != nil || string(head[:16]) != "SQLite format 3\x00":
		return fmt.Errorf("%w: %s is not an SQLite file, or it is damaged; it was left untouched", ErrForeign, path)
	case binary.BigEndian.Uint32(head[68:72]) != applicationID:
		return fmt.Errorf("%w: %s is an SQLite file of another program; it was left untouched", ErrForeign, path)
	}
	return nil
}

func whatIs(mode os.FileMode) string {
	switch {
	case mode.IsDir():
		return "folder"
	case mode&os.ModeNamedPipe != 0:
		return "pipe"
	}
	return "device or socket"
}

// Create makes a new database at path with the whole schema. It is built beside the path and moved there when complete,
// so that a crash leaves no partial one. An existing file is an error unless it is empty.
func Create(path string, o Options) (err error) {
	if st, err := os.Stat(path); err == nil && st.Size() > 0 {
		return fmt.Errorf("%s is there already", path)
	}
	if err := interrupted(path); err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.new-%d", path, os.Getpid())
	defer func() {
		_ = os.Remove(tmp)
		_ = removeLog(tmp)
	}()
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // #nosec G304 -- the operator names the file
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	c, err := connect(tmp, false)
	if err != nil {
		return err
	}
	err = func() error {
		if err := run(c, fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
			return err
		}
		if err := migrateAll(c, instant(o)); err != nil {
			return err
		}
		return run(c, "INSERT INTO settings VALUES (?, ?)", SettingTimezone, o.zoneToKeep())
	}()
	if err = errors.Join(err, c.Close()); err != nil {
		return err
	}
	if err := errors.Join(syncFile(tmp), adopt(tmp, path)); err != nil {
		return err
	}
	// An empty file may have left a log of another database behind.
	for _, suffix := range beside {
		_ = os.Remove(path + suffix)
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return syncDir(path)
}

func instant(o Options) exact.Instant {
	if o.Now == nil {
		return exact.InstantOf(time.Now())
	}
	return exact.InstantOf(o.Now())
}

func migrateAll(c *handle, now exact.Instant) error {
	all, err := applied(&Conn{c: c})
	if err != nil {
		return err
	}
	for _, m := range missingOf(all) {
		if err := apply(c, m, now); err != nil {
			return err
		}
	}
	return nil
}

// bringUp refuses foreign and newer files. It migrates an older one if it may, and leaves a copy beside it.
func bringUp(path string, o Options) error {
	// A writing connection would change some bytes of a backup's file, also of a newer one.
	all, err := Status(path)
	if err != nil || len(missingOf(all)) == 0 {
		return err
	}
	c, err := connect(path, false)
	if err != nil {
		return fmt.Errorf("%s cannot be opened: %w", path, failedAt(path, err))
	}
	err = func() error {
		missing := missingOf(all)
		if !o.Migrate {
			return fmt.Errorf("%s is of an older version (%s is missing): run `quartermaster migrate --db %s` first",
				path, missing[0].Name, path)
		}
		if have := len(all) - len(missing); have > 0 {
			aside := asideOf(fmt.Sprintf("%s.before-v%d", path, len(all)), have)
			if err := copyInto(c, path, aside); err != nil {
				return fmt.Errorf("copy before migrating: %w", err)
			}
			if o.Notice != nil {
				o.Notice(fmt.Sprintf(
					"before migrating, a copy was left at %s; to go back: stop the server, then run the older program's `restore %s "+
						"--db %s`",
					aside, aside, path))
			}
		}
		return migrateAll(c, instant(o))
	}()
	return errors.Join(err, c.Close())
}

// asideOf returns the name for the copy of a file with so many migrations: the given one, or the first numbered one
// that is free or holds an equally old copy. A copy with fewer migrations is the only one from before an interrupted
// migration, and stays.
func asideOf(name string, have int) string {
	free := name
	for n := 2; ; n++ {
		all, err := Status(free)
		if errors.Is(err, ErrMissing) || err == nil && len(all)-len(missingOf(all)) >= have {
			return free
		}
		free = fmt.Sprintf("%s-%d", name, n)
	}
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // #nosec G304 -- the operator names the file
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncDir makes a rename in path's folder survive a power cut. A system that cannot sync a folder does not need it.
func syncDir(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	_ = dir.Sync()
	return dir.Close()
}
