//go:build linux || darwin || freebsd

package db

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// FreeDisk returns the bytes that are free, for this user, where the file stands.
func FreeDisk(path string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &st); err != nil {
		return 0, err
	}
	return blocks(st.Bavail, st.Bsize), nil
}

// blocks returns the bytes of so many blocks. The systems have the two figures in
// different types, and FreeBSD's falls below zero when only root has room.
func blocks[N int64 | uint64, S int32 | int64 | uint32 | uint64](n N, size S) uint64 {
	if n < 0 {
		return 0
	}
	return uint64(n) * uint64(size)
}
