package db

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// ofAKill is the rest of the name, behind the database's own, of what is made beside a
// database by whoever holds it, and taken away again: a copy that is being restored, a new
// database, the copy before a migration, a copy that is sent to a browser.
var ofAKill = regexp.MustCompile(
	`^\.(restore-\d+|new-\d+(-wal|-shm|-journal)?|before-v\d+(-\d+)?\.part-\d+|download-\d+)$`)

// oldPart is after how long without a write an unfinished backup, for which nothing is
// held, is one that a kill left.
const oldPart = 24 * time.Hour

// DownloadPattern names, for os.MkdirTemp, a folder beside the database at path for a copy
// that the process which holds the database makes and takes away again.
func DownloadPattern(path string) string { return filepath.Base(resolved(path)) + ".download-*" }

// Tidy removes what kills left beside the database at path. The caller holds the
// database: whoever else made such a file held it too, and is gone.
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

// removeFolder removes a folder of a copy, and nothing else that lies in it.
func removeFolder(dir string) error {
	copies, err := filepath.Glob(filepath.Join(dir, "copy.db*"))
	for _, c := range copies {
		err = errors.Join(err, os.Remove(c))
	}
	return errors.Join(err, os.Remove(dir))
}

var partOf = regexp.MustCompile(`^(.+)\.part-\d+$`)

// RemoveOldParts removes from a folder what backups that were killed left of the targets,
// by name, that of accepts.
func RemoveOldParts(folder string, of func(target string) bool, now time.Time) {
	entries, _ := os.ReadDir(folder) // the backup itself says what is wrong with the folder
	for _, e := range entries {
		name := partOf.FindStringSubmatch(e.Name())
		if st, err := e.Info(); err == nil && name != nil && of(name[1]) && st.Mode().IsRegular() &&
			now.Sub(st.ModTime()) > oldPart {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}

// interrupted refuses to make a new database where a restore was cut off between taking the
// old file out of its place and putting the copy there.
func interrupted(path string) error {
	left, err := filepath.Glob(path + ".restore-[0-9]*")
	if err != nil || len(left) == 0 {
		return nil //nolint:nilerr // a path that is no pattern
	}
	return fmt.Errorf(
		"a restore of %s was cut off: run it again, or give %s.before-restore (and its -wal, if there is one) the old name "+
			"back; then remove %s", path, path, left[0])
}
