//go:build !(linux || darwin || freebsd || windows)

package db

import "errors"

// FreeDisk is unknown on this system.
func FreeDisk(string) (uint64, error) { return 0, errors.ErrUnsupported }
