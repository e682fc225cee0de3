package db

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// FreeDisk returns the bytes that are free, for this user, where the file stands.
func FreeDisk(path string) (free uint64, err error) {
	dir, err := windows.UTF16PtrFromString(filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	err = windows.GetDiskFreeSpaceEx(dir, &free, nil, nil)
	return free, err
}
