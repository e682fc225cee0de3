package db

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// Replaceable refuses a target that a table, photo or list may not overwrite: a database, this program's or another's,
// and its files. path is the database of this process.
func Replaceable(path, target string) error {
	if same(path, target) {
		return fmt.Errorf("%s is the database itself; name another file", target)
	}
	for _, suffix := range append([]string{".lock"}, beside...) {
		if of, cut := strings.CutSuffix(target, suffix); cut && (same(of, path) || isDatabase(of)) {
			return fmt.Errorf("%s belongs to the database %s; name another file", target, of)
		}
	}
	if isDatabase(target) {
		return fmt.Errorf("%s is a database; remove it first, or name another file", target)
	}
	return nil
}

// isDatabase reports whether a file begins like SQLite's. It opens the file: never call it for an open database of this
// process.
func isDatabase(path string) bool {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path) // #nosec G304 -- the operator names the file
	if err != nil {
		return false
	}
	defer f.Close()
	var head [16]byte
	_, err = io.ReadFull(f, head[:])
	return err == nil && string(head[:]) == "SQLite format 3\x00"
}
