package db

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lockOffset is the byte that a server locks: far behind what the engine locks, and
// behind the end of every file.
const lockOffset = 1 << 62

const setOwnedLock = 37 // F_OFD_SETLK: the lock belongs to this opening of the file, not to the process

// lockFile locks the file itself, whatever its name is. Unlike a lock of the process it
// stays when the engine, or a look at the file, closes another descriptor of it.
func lockFile(f *os.File) (got bool, err error) {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: lockOffset, Len: 1}
	err = syscall.FcntlFlock(f.Fd(), setOwnedLock, &lock)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EACCES):
		return false, nil
	case errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EOPNOTSUPP):
		return true, nil // a file system without such locks: the lock beside the file remains
	}
	return false, err
}
