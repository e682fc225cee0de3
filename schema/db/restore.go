package db

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Restore replaces the database at path with the checked copy at source. It is refused while a server holds the file,
// and if source is the database itself or one in use. The old file is kept under another name, aside, "" if there was
// none. If path is a symbolic link, its target is replaced.
func Restore(source, path string) (aside string, err error) {
	source, path = resolved(source), resolved(path) // a log is beside the file, not beside a link to it
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
		if _, gone := os.Stat(path); gone == nil && aside != "" { // then aside is the same file again
			err = errors.Join(err, os.Remove(aside))
			aside = ""
		}
		return aside,
			fmt.Errorf("put the copy in the place of %s (where the file alone is mounted, restore to the file that is "+
				"mounted): %w", path, err)
	}
	_, _ = Tidy(path) // leftovers of an interrupted restore
	return aside, syncDir(path)
}

// putAside keeps the present file under another name, with every answered write, and leaves no log that would be
// replayed into the new file.
//
// It checkpoints the log first. If that is impossible in full (no space, an older reader, a damaged file), the log is
// kept beside the kept file, where the engine finds it, and the present name is free for a moment.
func putAside(path string) (aside string, err error) {
	if st, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || err == nil && st.Size() == 0 {
		return "", removeLog(path)
	}
	if examine(path) == nil {
		if c, err := connect(path, false); err == nil {
			_ = run(c, "PRAGMA wal_checkpoint(TRUNCATE)") // the log's size shows whether it succeeded
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
	// In this order a complete pair of file and log exists at any moment.
	if err := keepAs(path+"-wal", aside+"-wal"); err != nil {
		return "", fmt.Errorf("keep the present file's log: %w", err)
	}
	if err := os.Rename(path, aside); err != nil {
		return "", errors.Join(fmt.Errorf("keep the present file: %w", err), os.Remove(aside+"-wal"))
	}
	return aside, errors.Join(syncDir(path), removeLog(path))
}

// logged reports whether a file has a log or a journal that is not checkpointed.
func logged(path string) bool {
	st, err := os.Stat(path + "-wal")
	return err == nil && st.Size() > 0
}

// keepAs links a file under a second name, or copies it if links are impossible.
func keepAs(path, name string) error {
	if os.Link(path, name) == nil {
		return nil
	}
	return errors.Join(copyFile(path, name), syncDir(name))
}

// freeName returns the name, or the first unused numbered one, so that a later restore does not overwrite what an
// earlier one kept.
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

// removeLog removes files that would be replayed into another file at path.
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
		err = errors.Join(err, os.Remove(to)) // remove a partial file
	}
	return err
}
