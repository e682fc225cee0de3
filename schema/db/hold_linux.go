package db

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lockOffset is the byte that a server locks: far beyond the engine's locks and the end of every file.
const lockOffset = 1 << 62

// Locks that belong to this opening of the file, not to the process.
const (
	getOwnedLock = 36 // F_OFD_GETLK
	setOwnedLock = 37 // F_OFD_SETLK
)

// lockFile locks the file itself, under any name. Unlike a lock of the process it survives closing another descriptor
// of the file.
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

// unlockFile releases the lock at once. Otherwise programs that are being started inherit the opening and keep the lock
// until they run.
func unlockFile(f *os.File) error {
	lock := syscall.Flock_t{Type: syscall.F_UNLCK, Whence: io.SeekStart, Start: lockOffset, Len: 1}
	err := syscall.FcntlFlock(f.Fd(), setOwnedLock, &lock)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.EOPNOTSUPP) {
		return nil // there was none
	}
	return err
}

// lockedFile reports whether a server has locked the file, under any name.
func lockedFile(f *os.File) bool { return ownedLockAt(f, lockOffset) }

// ownedLockAt reports whether another opening of the file has locked the byte.
func ownedLockAt(f *os.File, at int64) bool {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: at, Len: 1}
	return syscall.FcntlFlock(f.Fd(), getOwnedLock, &lock) == nil && lock.Type != syscall.F_UNLCK
}
