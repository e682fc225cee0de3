package cli

import (
	"os"
	"syscall"
)

// unread reports whether standard output was closed when the process began. Go's runtime opens the null device, read
// and write, in place of a closed one, so that writing never fails; a shell's > /dev/null is open for writing only. If
// standard error is the same, silence was requested.
func unread(f *os.File) bool { return isNull(int(f.Fd())) && !isNull(syscall.Stderr) }

func isNull(fd int) bool {
	var at, null syscall.Stat_t
	if syscall.Fstat(fd, &at) != nil || syscall.Stat(os.DevNull, &null) != nil || at.Rdev != null.Rdev ||
		at.Mode&syscall.S_IFMT != syscall.S_IFCHR {
		return false
	}
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0) // #nosec G115 -- a descriptor
	return errno == 0 && flags&syscall.O_ACCMODE == syscall.O_RDWR
}
