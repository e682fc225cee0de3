package db

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"
)

// Hold locks the file for a server. A second holder gets ErrServed, under any name of the file: a symbolic or hard
// link, or another mount. The lock ends with the process. Nothing is left beside a path without a file.
func Hold(path string) (release func() error, err error) {
	path = resolved(path)
	taken := func(got bool, err error) error {
		if err != nil {
			return fmt.Errorf("lock %s: %w", path, err)
		}
		if !got {
			return fmt.Errorf("%w: %s is served by another process; stop that one first", ErrServed, path)
		}
		return nil
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0) // #nosec G304 -- the operator names the file
	if errors.Is(err, os.ErrNotExist) {
		return holdName(path, taken, func() error { // it may have been made meanwhile
			if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
				return os.Remove(path + ".lock")
			}
			return nil
		})
	}
	if err != nil {
		return nil, taken(false, err)
	}
	// The name first: if the file is locked and its name is not, the holder uses another name.
	let := func() error { return errors.Join(unlockFile(file), file.Close()) }
	if release, err = holdName(path, taken, let); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := taken(lockFile(file)); err != nil {
		return nil, errors.Join(err, release())
	}
	return release, nil
}

// Served reports whether a server holds the file. On Linux it takes no lock, so that none is kept from starting.
func Served(path string) bool {
	file, err := os.Open(resolved(path)) // #nosec G304 -- the operator names the file
	if err != nil {
		return false
	}
	defer file.Close()
	if runtime.GOOS == "linux" {
		return lockedFile(file)
	}
	lock := flock.New(resolved(path) + ".lock")
	got, err := lock.TryRLock()
	if got {
		_ = lock.Unlock()
	}
	return err == nil && !got
}

// servedByAnotherName refuses a file that a server holds under another name, a hard link or another mount: its log is
// beside that name, so that a user of this name would neither see the log's data nor avoid conflicts with the server.
func servedByAnotherName(path string) error {
	path = resolved(path)
	file, err := os.Open(path) // #nosec G304 -- the operator names the file
	if err != nil {
		return err
	}
	defer file.Close()
	if !lockedFile(file) {
		return nil
	}
	if _, err := os.Stat(path + ".lock"); err == nil {
		lock := flock.New(path + ".lock")
		got, err := lock.TryRLock()
		if err != nil || !got {
			return nil //nolint:nilerr // a lock that cannot be tried is no reason to refuse
		}
		_ = lock.Unlock()
	}
	return fmt.Errorf(
		"%w: %s is served under another name (a hard link or another mount of it), beside which its newest records are; "+
			"use the name that the server was given", ErrServed, path)
}

// holdName takes the lock beside the file, which excludes older versions, and is the only lock on systems that cannot
// lock the file itself. then is called at its release.
func holdName(path string, taken func(bool, error) error, then func() error) (release func() error, err error) {
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if err := taken(lock.TryLock()); err != nil {
		return nil, err
	}
	if err := adopt(path+".lock", path); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return func() error { return errors.Join(then(), lock.Unlock()) }, nil
}

// resolved is the target of a path, through symbolic links.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
