package db

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// ofAKill matches the rest of the names, after the database's own, of temporary files that the database's holder makes
// beside it: a copy being restored, a new database, the copy before a migration, a copy for a download.
var ofAKill = regexp.MustCompile(
	`^\.(restore-\d+|new-\d+(-wal|-shm|-journal)?|before-v\d+(-\d+)?\.part-\d+|download-\d+)$`)

// oldPart is the time without a write after which an unfinished backup, which holds no lock, is a leftover of a kill.
const oldPart = 24 * time.Hour

// DownloadPattern is a pattern for os.MkdirTemp: a folder beside the database at path, for a copy that the holder of
// the database makes and removes.
func DownloadPattern(path string) string { return filepath.Base(resolved(path)) + ".download-*" }

// Tidy removes leftovers of kills beside the database at path. The caller holds the database, so their makers are gone.
func Tidy(path string) (removed []string, err error) {
	path = resolved(path)
	if st, err := os.Stat(path); err != nil || st.Size() == 0 {
		return nil, nil //nolint:nilerr // what is left may be all that there is
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	base := filepath.Base(path)
	for _, e := range entries {
		name := e.Name()
		if len(name) <= len(base) || name[:len(base)] != base || !ofAKill.MatchString(name[len(base):]) {
			continue
		}
		left := filepath.Join(filepath.Dir(path), name)
		remove := os.Remove
		if e.IsDir() {
			remove = removeFolder
		}
		if failure := remove(left); failure != nil {
			err = errors.Join(err, failure)
		} else {
			removed = append(removed, left)
		}
	}
	return removed, err
}

// removeFolder removes a copy's folder, and nothing else in it.
func removeFolder(dir string) error {
	copies, err := filepath.Glob(filepath.Join(dir, "copy.db*"))
	for _, c := range copies {
		err = errors.Join(err, os.Remove(c))
	}
	return errors.Join(err, os.Remove(dir))
}

var partOf = regexp.MustCompile(`^(.+)\.part-\d+$`)

// RemoveOldParts removes from a folder the leftovers of killed backups of the targets whose names accepts accepts.
func RemoveOldParts(folder string, of func(target string) bool, now time.Time) {
	entries, _ := os.ReadDir(folder) // the backup itself reports problems of the folder
	for _, e := range entries {
		name := partOf.FindStringSubmatch(e.Name())
		if st, err := e.Info(); err == nil && name != nil && of(name[1]) && st.Mode().IsRegular() &&
			now.Sub(st.ModTime()) > oldPart {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}

// interrupted refuses to make a new database where a restore was interrupted after moving the old file aside.
func interrupted(path string) error {
	left, err := filepath.Glob(path + ".restore-[0-9]*")
	if err != nil || len(left) == 0 {
		return nil //nolint:nilerr // a path that is no pattern
	}
	return fmt.Errorf(
		"a restore of %s was cut off: run it again, or give %s.before-restore (and its -wal, if there is one) the old name "+
			"back; then remove %s", path, path, left[0])
}
