//go:build !(linux || darwin || freebsd || windows)

package cli

import "errors"

// freeDisk cannot tell on this system.
func freeDisk(string) (uint64, error) { return 0, errors.ErrUnsupported }
