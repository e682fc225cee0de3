package db

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"zombiezen.com/go/sqlite"

	"quartermaster/schema/fault"
)

// lookEvery is the interval at which an open database checks that its file is still in place.
const lookEvery = time.Second

// identity identifies the open file, by device and inode. The engine keeps it open whatever happens to its name.
// Without this check, writes would continue into a file without a name, or beside a replacement.
type identity struct {
	mu      sync.Mutex
	file    os.FileInfo
	logPath string      // where the engine keeps the log: behind symbolic links
	log     os.FileInfo // nil until it exists
	gone    atomic.Bool // strange is not ""
	strange string      // what happened to the file; "" if nothing did
}

// remember records the file at path as the database's.
func (id *identity) remember(path string) (err error) {
	id.logPath = resolved(path) + "-wal"
	id.file, err = os.Stat(path)
	return err
}

// look reports what happened to the file and its log, "" if they are unchanged. changed is true if the answer differs
// from the last one.
func (id *identity) look(path string) (strange string, changed bool) {
	id.mu.Lock()
	defer id.mu.Unlock()
	was := id.strange
	id.strange = ""
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		id.strange = "was moved or removed"
	case err != nil:
		id.strange = "cannot be looked at (" + err.Error() + ")"
	case !os.SameFile(st, id.file):
		id.strange = "was replaced by another file"
	}
	switch st, err := os.Stat(id.logPath); {
	case err == nil && id.log == nil:
		id.log = st
	case id.strange != "" || id.log == nil:
	case errors.Is(err, os.ErrNotExist):
		id.strange = "has lost its log " + id.logPath + ", which was moved or removed"
	case err == nil && !os.SameFile(st, id.log):
		id.strange = "has another log: " + id.logPath + " was replaced"
	}
	id.gone.Store(id.strange != "")
	return id.strange, id.strange != was
}

// lost returns the last result of look.
func (id *identity) lost() bool { return id.gone.Load() }

// sameFile refuses, as unavailable, if the file at the path is no longer the open one. The operator is notified once
// per change.
func (d *DB) sameFile() error {
	strange, changed := d.identity.look(d.path)
	if changed && strange != "" {
		d.notice(fmt.Sprintf(
			"the database %s %s while it was in use; nothing is written any more. To go on: stop this process, put the right "+
				"file back (what was answered last may be in %s-wal, which belongs to it), and start again",
			d.path, strange, d.path))
	} else if changed {
		d.notice(fmt.Sprintf("the database %s is in its place again; writing goes on", d.path))
	}
	if strange == "" {
		return nil
	}
	return fault.Unavailablef(nil,
		"the database file %s under the running program: nothing was written; an operator must put it back and start the "+
			"program again", strange)
}

// lookAfter checks the file's place until the database closes.
func (d *DB) lookAfter() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = d.sameFile()
		case <-d.closing:
			return
		}
	}
}

// abandoned are connections to files that are no longer in place. Closing one would make the engine remove the log of
// their replacement; they end with the process.
var abandoned struct {
	mu   sync.Mutex
	held []*handle
}

// closeOr closes a connection, or abandons it if another file is in place.
func (d *DB) closeOr(c *handle, strange bool) error {
	if !strange {
		return c.Close()
	}
	abandoned.mu.Lock()
	defer abandoned.mu.Unlock()
	abandoned.held = append(abandoned.held, c)
	return nil
}

// endWriter closes the writer's connection. A file that was moved away is checkpointed first, through the connection
// that still has it open.
func (d *DB) endWriter(c *handle) error {
	strange := d.sameFile() != nil
	if strange {
		err := run(c, "PRAGMA wal_checkpoint(TRUNCATE)")
		if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy {
			err = nil
		}
		return errors.Join(err, d.closeOr(c, true))
	}
	return c.Close()
}
