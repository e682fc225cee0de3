package db

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// FreeDisk returns the bytes free for this user on the file's disk.
func FreeDisk(path string) (free uint64, err error) {
	dir, err := windows.UTF16PtrFromString(filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	err = windows.GetDiskFreeSpaceEx(dir, &free, nil, nil)
	return free, err
}
