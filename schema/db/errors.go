package db

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"

	"quartermaster/schema/fault"
)

// failed turns an engine's error that is the machine's fault into a refusal that says so. Any other error stays
// internal.
func failed(err error) error {
	if err == nil {
		return nil
	}
	if _, is := fault.As(err); is {
		return err
	}
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull:
		return full(err)
	case sqlite.ResultBusy, sqlite.ResultLocked:
		return fault.Unavailablef(err, "another program has locked the database: nothing was written; try again")
	case sqlite.ResultIOErr, sqlite.ResultReadOnly, sqlite.ResultCantOpen:
		return fault.Unavailablef(err, "the disk cannot be read or written: nothing was written; try again")
	case sqlite.ResultCorrupt, sqlite.ResultNotADB: // also the engine's error for a failed read
		return fault.Unavailablef(err,
			"the database cannot be read: the disk fails or the file is damaged; run `quartermaster doctor` to find out")
	case sqlite.ResultInterrupt:
		return fault.Unavailablef(err, "the request ended before its answer was ready")
	}
	return err
}

func full(err error) error {
	return fault.Unavailablef(err, "the disk is full: nothing was written; try again when there is room")
}

// failedAt is failed for opening a file, where the engine reports a full disk only as a file that could not be made or
// extended.
func failedAt(path string, err error) error {
	const least = 64 << 10 // the first size of a log and its index
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultIOErr, sqlite.ResultCantOpen:
		if free, unknown := FreeDisk(path); unknown == nil && free < least {
			return full(err)
		}
	}
	return failed(err)
}

// Damaged reports whether err is the engine's error for a damaged file.
func Damaged(err error) bool {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		return true
	}
	return false
}

// EngineWords is the engine's own text of an error that became a refusal.
func EngineWords(err error) string {
	if refusal, is := fault.As(err); is && refusal.Cause != nil {
		err = refusal.Cause
	}
	return err.Error()
}

// Unwritable reports whether err means a disk that accepts no writes, with a short reason. Reading may still work.
func Unwritable(err error) (why string, is bool) {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultFull:
		return "the disk is full", true
	case sqlite.ResultIOErr, sqlite.ResultReadOnly, sqlite.ResultCantOpen:
		return "the disk cannot be written", true
	}
	return "", false
}

// ErrMissing and the others are errors of Open, each with the path in its text.
var (
	ErrMissing = errors.New("no database")
	ErrForeign = errors.New("not a Quartermaster database")
	ErrNewer   = errors.New("made by a newer Quartermaster")
	ErrServed  = errors.New("a server holds the database")
)

func missing(path string) error {
	if err := interrupted(path); err != nil {
		return fmt.Errorf("%w at %s: %w", ErrMissing, path, err)
	}
	return fmt.Errorf(
		"%w at %s: make one with `quartermaster init --db %s`, or name the right file with --db or QUARTERMASTER_DB",
		ErrMissing, path, path)
}
