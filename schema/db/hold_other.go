//go:build !linux

package db

import "os"

// lockFile locks nothing here: these systems' file locks disturb the engine, or are lost when any descriptor of the
// file is closed. The lock beside the file remains, by the resolved name.
func lockFile(*os.File) (got bool, err error) { return true, nil }

func unlockFile(*os.File) error { return nil }

func lockedFile(*os.File) bool { return false }
