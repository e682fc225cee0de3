package db

import (
	"errors"
	"fmt"
	"os"
)

// CompactedAtOnce is the largest size, in bytes, of a file that is rewritten at once when somebody is forgotten, while
// writers wait. A larger one needs Compact.
const CompactedAtOnce = 64 << 20

// Connections that write overwrite deleted data (secure_delete). Data that was moved before may remain in unused parts
// of pages until the file is rewritten. The header's user version counts the commits that forget since then; the next
// start finishes what a kill or a full disk interrupted.

// traces counts the commits that forget since the file was rewritten.
func traces(c *handle) (times int64, err error) {
	times, _, err = One(&Conn{c: c}, Int, "PRAGMA user_version")
	return times, err
}

// Traces reports whether unused parts of the file may still contain forgotten data; then `quartermaster compact`
// removes it. In a transaction that forgets it is the state after its commit.
func (c *Conn) Traces() (bool, error) {
	times, err := traces(c.c)
	if err != nil || times == 0 {
		return false, failed(err)
	}
	size, _, err := One(c, Int, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
	return size > CompactedAtOnce, err
}

// MarkForgotten says that the transaction removes a person: after its commit the file must contain nothing of them.
func (tx *Tx) MarkForgotten() error {
	times, err := traces(tx.c)
	if err == nil && !tx.forgot {
		err = run(tx.c, fmt.Sprintf("PRAGMA user_version = %d", times%(1<<30)+1))
	}
	tx.forgot = true
	return failed(err)
}

// forgetWords removes the words of changed or deleted rows from the full-text indexes (every virtual table), which
// otherwise keep them until a merge.
func (tx *Tx) forgetWords() error {
	indexes, err := All(&tx.Conn, Text, "SELECT name FROM pragma_table_list WHERE type = 'virtual'")
	for _, name := range indexes {
		err = errors.Join(err, run(tx.c, fmt.Sprintf("INSERT INTO %[1]s (%[1]s) VALUES ('optimize')", name)))
	}
	return failed(err)
}

// TracesLeft is the message for an operator if Traces is true.
const TracesLeft = "what was forgotten may still be in unused parts of the file, which is too large to rewrite " +
	"while it is served: " +
	"stop the server and run `quartermaster compact`"

// afterForgetting rewrites a small file and empties the log. It runs on the writer's goroutine; new writes wait in the
// queue.
func (d *DB) afterForgetting() {
	switch left, err := compact(d.path, CompactedAtOnce); {
	case err == nil && left:
		d.notice(TracesLeft)
	case err != nil:
		d.notice("what was forgotten may still be in unused parts of the file until the next start, or until " +
			"`quartermaster compact`: " + err.Error())
	}
}

// Compact rewrites the database at path, which must not be served, so that no unused part contains deleted data, and
// returns free space to the disk. It needs as much additional space as the file, and returns the sizes before and after
// in bytes.
func Compact(path string) (before, after int64, err error) {
	if _, err := Status(path); err != nil {
		return 0, 0, err
	}
	release, err := Hold(path)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if before, err = size(path); err != nil {
		return 0, 0, err
	}
	if _, err := compact(path, before); err != nil {
		return before, before, failedAt(path, err)
	}
	after, err = size(path)
	return before, after, err
}

func size(path string) (int64, error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// compact empties the log, rewrites a file of up to most bytes and clears its mark, unless somebody was forgotten
// meanwhile. A larger file stays unchanged.
func compact(path string, most int64) (left bool, err error) {
	c, err := connect(path, false)
	if err != nil {
		return true, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := emptyLog(c); err != nil {
		return true, err
	}
	if bytes, err := size(path); err != nil || bytes > most {
		return true, err
	}
	return false, rewrite(c)
}

func rewrite(c *handle) error {
	times, err := traces(c)
	if err != nil {
		return err
	}
	// in memory it would take as much as the file
	if err := errors.Join(run(c, "PRAGMA temp_store = FILE"), run(c, "VACUUM")); err != nil {
		return err
	}
	if err := emptyLog(c); err != nil {
		return err
	}
	if err := run(c, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	switch now, err := traces(c); {
	case err != nil || now != times:
		return errors.Join(err, run(c, "ROLLBACK"))
	case now != 0:
		err = run(c, "PRAGMA user_version = 0")
		return errors.Join(err, run(c, "COMMIT"))
	}
	return run(c, "ROLLBACK")
}

// emptyLog checkpoints the log and truncates it.
func emptyLog(c *handle) error {
	busy, _, err := One(&Conn{c: c}, Int, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err == nil && busy != 0 {
		err = errors.New("a reader needs the log")
	}
	return err
}

// forgetOn finishes what was interrupted.
func (d *DB) forgetOn() error {
	c, err := connect(d.path, false)
	if err != nil {
		return err
	}
	times, err := traces(c)
	if err := errors.Join(err, c.Close()); err != nil || times == 0 {
		return err
	}
	d.afterForgetting()
	return nil
}
