//go:build !linux

package db

import "os"

// lockFile locks nothing here: the systems' locks of a file itself get into the engine's
// way, or are lost when any descriptor of the file is closed. The lock beside the file,
// by the name that symbolic links lead to, remains.
func lockFile(*os.File) (got bool, err error) { return true, nil }

func unlockFile(*os.File) error { return nil }

func lockedFile(*os.File) bool { return false }
