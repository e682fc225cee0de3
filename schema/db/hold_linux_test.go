package db

import (
	"os"
	"path/filepath"
	"testing"

	"quartermaster/schema/assert"
)

// TestABackupKeepsTheEnginesLocks: when a process closes any descriptor of a file, it loses its locks on it. The next
// program to close the database would then consider itself the last and delete the log.
func TestABackupKeepsTheEnginesLocks(t *testing.T) {
	d, _ := fresh(t)
	assert.OK(t, Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "a") }))
	const lockedByReaders = 1<<30 + 2 // SQLite's SHARED_FIRST
	look, err := os.Open(d.path)      // for as long as the database is open
	assert.OK(t, err)
	t.Cleanup(func() { _ = look.Close() })
	held := func() bool { return ownedLockAt(look, lockedByReaders) }
	assert.Must(t, held(), "the engine holds no lock on the file: the test looks at the wrong one")
	assert.OK(t, d.Backup(filepath.Join(t.TempDir(), "copy.db")))
	assert.That(t, held(), "after a backup the engine's lock on the file is gone")
}
