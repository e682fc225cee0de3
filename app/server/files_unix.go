//go:build unix

package server

import "syscall"

// openFiles is the number of files that the process may open; Go has raised the limit to its maximum.
func openFiles() int64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int64(min(uint64(limit.Cur), 1<<30)) //nolint:unconvert // some systems have it signed // #nosec G115 -- bounded
}
