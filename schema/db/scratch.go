package db

import (
	"errors"

	"zombiezen.com/go/sqlite"
)

// Scratch is a private temporary database for sorting rows. Rows beyond its cache are in a file that nobody else can
// reach and that disappears with it; on Unix it has no name. It serves one goroutine at a time.
type Scratch struct{ Tx }

// NewScratch makes one with a table.
func NewScratch(table string) (*Scratch, error) {
	opened, err := sqlite.OpenConn("", sqlite.OpenReadWrite|sqlite.OpenCreate) // no name: temporary and private
	if err != nil {
		return nil, failed(err)
	}
	s := &Scratch{Tx{Conn: Conn{c: &handle{Conn: opened}}}}
	for _, query := range []string{"PRAGMA journal_mode = OFF", "BEGIN", table} {
		if err := run(s.c, query); err != nil {
			return nil, errors.Join(failed(err), s.Close())
		}
	}
	return s, nil
}

// Close removes it.
func (s *Scratch) Close() error { return s.c.Close() }
