//go:build unix

package db

import (
	"os"
	"path/filepath"
	"syscall"
)

// adopt gives a file that root made to the owner of the database at path, or of its folder if there is no database, so
// that the service's user can open it. The engine does the same with the log.
func adopt(name, path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	st, err := os.Stat(path)
	if err != nil {
		st, err = os.Stat(filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	owner, ok := st.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	return os.Lchown(name, int(owner.Uid), int(owner.Gid))
}
