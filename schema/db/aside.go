package db

import (
	"context"
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// TrialAside is Trial for long actions, such as the dry run of an import. It runs in a private copy of the database, so
// that neither waits for the other's writes; later commits of others are not visible. The copy needs as much temporary
// disk space as the database. There is one copy at a time, and the next trial waits for it.
func (d *DB) TrialAside(ctx context.Context, act func(*DB) error) (changes []Change, err error) {
	if d.in != nil {
		return nil, errors.New("db: a trial in a trial")
	}
	select {
	case d.aside <- struct{}{}:
		defer func() { <-d.aside }()
	case <-ctx.Done():
		return nil, failed(sqlite.ResultInterrupt.ToError())
	}
	c, err := d.privateCopy(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	defer interruptible(ctx, c)()
	tx := &Tx{Conn: Conn{now: exact.InstantOf(d.now()), c: c, loc: d.Zone()}, d: d, who: Bookkeeping()}
	return tx.rehearse(act)
}

// copyPages is the number of pages copied between two checks for cancellation.
const copyPages = 4096

// privateCopy copies the database into a temporary file of the engine, which only the connection can reach and which
// disappears with it. On Unix the file has no name, so that a killed process leaves nothing.
func (d *DB) privateCopy(ctx context.Context) (_ *handle, err error) {
	from, err := d.connectReader()
	if err != nil {
		return nil, failedAt(d.path, err)
	}
	defer func() { err = errors.Join(err, d.closeOr(from, d.sameFile() != nil)) }()
	opened, err := sqlite.OpenConn("", sqlite.OpenReadWrite|sqlite.OpenCreate) // no name: temporary and private
	if err != nil {
		return nil, d.noCopy(err)
	}
	to := &handle{Conn: opened, trace: d.trace}
	defer func() {
		if err != nil {
			err = errors.Join(err, to.Close())
		}
	}()
	if err := teachWords(opened); err != nil {
		return nil, failed(err)
	}
	if err := copyAll(ctx, to, from); err != nil {
		return nil, d.noCopy(err)
	}
	for _, p := range []string{"PRAGMA foreign_keys = ON", "PRAGMA trusted_schema = OFF",
		fmt.Sprintf("PRAGMA cache_size = -%d", writerCache)} {
		if err := run(to, p); err != nil {
			return nil, d.noCopy(err)
		}
	}
	return to, nil
}

// copyAll copies one snapshot of from.
func copyAll(ctx context.Context, to, from *handle) (err error) {
	if err := run(from, "BEGIN"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run(from, "COMMIT")) }()
	// takes the snapshot that all steps copy
	if _, _, err := One(&Conn{c: from}, Int, "SELECT count(*) FROM settings"); err != nil {
		return err
	}
	pages, err := sqlite.NewBackup(to.Conn, "main", from.Conn, "main")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pages.Close()) }()
	for more := true; more; {
		if ctx.Err() != nil {
			return sqlite.ResultInterrupt.ToError()
		}
		if more, err = pages.Step(copyPages); err != nil {
			return err
		}
	}
	return nil
}

// noCopy adds to an error what the machine lacks for a copy.
func (d *DB) noCopy(err error) error {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull, sqlite.ResultIOErr, sqlite.ResultCantOpen, sqlite.ResultReadOnly:
		return fault.Unavailablef(err, "a trial run needs a copy of the database, and the folder for temporary files "+
			"cannot hold its %d MiB: "+
			"make room there, or name another folder with TMPDIR", d.Size()>>20+1)
	}
	return failed(err)
}
