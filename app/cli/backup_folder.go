package cli

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"quartermaster/schema/db"
)

// stamp is the format of the time in a backup's name in a folder.
const stamp = "20060102T150405Z"

// backupInto writes a checked copy of the database into a folder, named by the database and the time, and then deletes
// its oldest copies so that keep remain; 0 keeps all.
func backupInto(database, folder string, keep int, now time.Time) (made string, err error) {
	st, err := os.Stat(folder)
	if err != nil {
		return "", err
	}
	if !st.IsDir() {
		return "", errors.New(folder + " is no folder; name the folder that the backups go to")
	}
	name := strings.TrimSuffix(filepath.Base(database), filepath.Ext(database))
	db.RemoveOldParts(folder, func(file string) bool { return isBackupOf(file, name) }, now)
	made = filepath.Join(folder, name+"-"+now.UTC().Format(stamp)+".db")
	if err := db.Backup(database, made); err != nil {
		return "", err
	}
	if keep == 0 {
		return made, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return made, err
	}
	var all []string
	for _, e := range entries {
		if isBackupOf(e.Name(), name) {
			all = append(all, e.Name())
		}
	}
	slices.SortFunc(all, func(a, b string) int { return byAge(a, b, filepath.Base(made)) })
	for _, old := range all[:max(0, len(all)-keep)] {
		err = errors.Join(err, os.Remove(filepath.Join(folder, old)))
	}
	return made, err
}

// byAge sorts the backups by the times in their names. One with a future time was made before the clock was corrected,
// or is newer than the clock: in both cases it precedes the newest one.
func byAge(a, b, made string) int {
	age := func(name string) int {
		switch {
		case name == made:
			return 2
		case name < made:
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(age(a), age(b)), cmp.Compare(a, b))
}

func isBackupOf(file, database string) bool {
	rest, ok := strings.CutPrefix(file, database+"-")
	if !ok {
		return false
	}
	when, ok := strings.CutSuffix(rest, ".db")
	if !ok {
		return false
	}
	_, err := time.Parse(stamp, when)
	return err == nil
}
