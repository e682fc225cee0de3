package db

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"quartermaster/schema/exact"
)

//go:embed sql/*.sql
var migrations embed.FS

// Migration is one step of the schema; AppliedAt is nil if it is missing.
type Migration struct {
	Name      string         `json:"name"`
	AppliedAt *exact.Instant `json:"applied_at"`
	script    string
}

// known lists the program's own migrations in order.
func known() ([]Migration, error) {
	names, err := fs.Glob(migrations, "sql/*.sql")
	if err != nil {
		return nil, err
	}
	all := make([]Migration, 0, len(names))
	for _, name := range names { // Glob sorts
		script, err := migrations.ReadFile(name)
		if err != nil {
			return nil, err
		}
		short := strings.TrimSuffix(strings.TrimPrefix(name, "sql/"), ".sql")
		all = append(all, Migration{Name: short, script: string(script)})
	}
	return all, nil
}

// NewestMigration is the name of the last known migration.
func NewestMigration() (string, error) {
	all, err := known()
	if err != nil {
		return "", err
	}
	return all[len(all)-1].Name, nil
}

// applied marks the known migrations that the file has. A file with an unknown one was made by a newer version:
// ErrNewer.
func applied(c *Conn) ([]Migration, error) {
	all, err := known()
	if err != nil {
		return nil, err
	}
	_, made, err := One(c, Int, "SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations'")
	if err != nil || !made {
		return all, err
	}
	have := map[string]exact.Instant{}
	err = Each(c, func(r *Row) error {
		have[r.Text()] = r.Instant()
		return nil
	}, "SELECT name, applied_at FROM schema_migrations ORDER BY name")
	if err != nil {
		return nil, err
	}
	for i := range all {
		if at, ok := have[all[i].Name]; ok {
			all[i].AppliedAt = &at
			delete(have, all[i].Name)
		}
	}
	for name := range have {
		return nil, fmt.Errorf(
			"%w: the file has the migration %s, which this program does not know; run the newer program, or go back with "+
				"`restore` and the copy that it left beside the file before it migrated (its name ends in .before-v and a number)",
			ErrNewer, name)
	}
	return all, nil
}

func missingOf(all []Migration) (missing []Migration) {
	for _, m := range all {
		if m.AppliedAt == nil {
			missing = append(missing, m)
		}
	}
	return missing
}

// apply runs one migration with its entry in one transaction: the file is old or new, never between. A migration may
// rebuild a referenced table (make a new one, copy, drop, rename): references are checked once before the commit, not
// per statement.
func apply(c *handle, m Migration, now exact.Instant) (err error) {
	if err := errors.Join(teachWords(c.Conn), run(c, "PRAGMA foreign_keys = OFF")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run(c, "PRAGMA foreign_keys = ON")) }()
	if err := run(c, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = run(c, "ROLLBACK")
			err = fmt.Errorf("migration %s: %w", m.Name, err)
		}
	}()
	if err := sqlitex.ExecuteScript(c.Conn, m.script, nil); err != nil {
		return err
	}
	if err := run(c,
		"CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT"); err != nil {
		return err
	}
	if err := run(c, "INSERT INTO schema_migrations VALUES (?, ?)", m.Name, now); err != nil {
		return err
	}
	if err := checkReferences(c); err != nil {
		return err
	}
	return run(c, "COMMIT")
}

// checkReferences refuses rows whose referenced row is missing.
func checkReferences(c *handle) error {
	broken, found, err := One(&Conn{c: c}, func(r *Row) string {
		table, row, to := r.Text(), r.Int(), r.Text()
		return fmt.Sprintf("row %d of %s refers to a row of %s that is not there", row, table, to)
	}, "PRAGMA foreign_key_check")
	if err == nil && found {
		err = errors.New(broken)
	}
	return err
}

// Status reports the migrations of the file at path without changing it, also of an older file, which Open refuses. A
// newer one is ErrNewer.
func Status(path string) (all []Migration, err error) {
	if err := examine(path); err != nil {
		return nil, err
	}
	if err := servedByAnotherName(path); err != nil {
		return nil, err
	}
	all, err = status(path, sqlite.OpenReadOnly)
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultReadOnly { // a crash left a journal that must be rolled back first
		all, err = status(path, sqlite.OpenReadWrite)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return all, err
}

func status(path string, how sqlite.OpenFlags) (all []Migration, err error) {
	c, err := sqlite.OpenConn(path, how)
	if err != nil {
		return nil, failedAt(path, err)
	}
	c.SetBusyTimeout(busyTimeout)
	all, err = applied(&Conn{c: &handle{Conn: c}})
	return all, errors.Join(failedAt(path, err), c.Close())
}

// run executes one statement on a bare connection.
func run(c *handle, query string, args ...any) error {
	s, err := c.Prepare(query)
	if err != nil {
		return err
	}
	if err := bind(s, args); err != nil {
		return err
	}
	for {
		more, err := s.Step()
		if err != nil || !more {
			return err
		}
	}
}
