package db

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
)

// connect opens one connection with every pragma set.
func connect(path string, readOnly bool) (*handle, error) {
	opened, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	opened.SetBusyTimeout(busyTimeout)
	c := &handle{Conn: opened}
	if err := teachWords(opened); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	pragmas := []string{
		"PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON", "PRAGMA trusted_schema = OFF",
		"PRAGMA temp_store = MEMORY", "PRAGMA journal_size_limit = 67108864",
	}
	if readOnly {
		pragmas = append(pragmas, "PRAGMA query_only = ON", fmt.Sprintf("PRAGMA cache_size = -%d", readerCache))
	} else {
		pragmas = append([]string{"PRAGMA journal_mode = WAL", "PRAGMA secure_delete = ON",
			fmt.Sprintf("PRAGMA cache_size = -%d", writerCache)}, pragmas...)
	}
	for _, p := range pragmas {
		if err := run(c, p); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %s: %w", path, p, err), c.Close())
		}
	}
	return c, nil
}
