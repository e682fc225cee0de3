//go:build linux || darwin || freebsd

package db

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// FreeDisk returns the bytes free for this user on the file's disk.
func FreeDisk(path string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &st); err != nil {
		return 0, err
	}
	return blocks(st.Bavail, st.Bsize), nil
}

// blocks returns the bytes of so many blocks. The two figures' types differ by system, and FreeBSD's is negative when
// only root has space left.
func blocks[N int64 | uint64, S int32 | int64 | uint32 | uint64](n N, size S) uint64 {
	if n < 0 {
		return 0
	}
	return uint64(n) * uint64(size)
}
