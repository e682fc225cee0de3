package apptest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// snapshot is the content of the database at a moment.
type snapshot struct {
	t       testing.TB
	s       *Fixture
	version int64
	digest  string
}

// SnapshotOf takes a snapshot of the database.
func SnapshotOf(t testing.TB, s *Fixture) snapshot {
	t.Helper()
	return snapshot{t: t, s: s, version: version(t, s), digest: Digest(t, s)}
}

// Check fails if a row has changed. Without a commit it reads nothing.
func (b snapshot) Check(what string) {
	b.t.Helper()
	assert.That(b.t, version(b.t, b.s) == b.version || Digest(b.t, b.s) == b.digest, "%s changed rows", what)
}

func version(t testing.TB, s *Fixture) int64 {
	t.Helper()
	v, err := s.Server.DB().Version()
	assert.OK(t, err)
	return v
}

// digests are kept by version: reading every row takes longer than a request.
var digests = map[string]string{}

// Digest is a hash over every row of every table, except a key's last use and a delivery's outcome, which are written
// asynchronously.
func Digest(t testing.TB, s *Fixture) string {
	t.Helper()
	at := fmt.Sprint(s.Path, version(t, s))
	if d, ok := digests[at]; ok {
		return d
	}
	sum := sha256.New()
	err := s.Server.DB().View(context.Background(), func(c *db.Conn) error {
		tables, err := db.All(c, db.Text, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
		if err != nil {
			return err
		}
		for _, table := range tables {
			if err := digestTable(c, sum, table); err != nil {
				return err
			}
		}
		return nil
	})
	assert.OK(t, err)
	digests[at] = fmt.Sprintf("%x", sum.Sum(nil))
	return digests[at]
}

func digestTable(c *db.Conn, w io.Writer, table string) error {
	columns, err := db.All(c, db.Text, `SELECT name FROM pragma_table_info(?1) WHERE name <> 'last_used_at'
		AND NOT (?1 = 'deliveries' AND name IN ('state', 'response_code', 'error', 'duration_ms', 'attempted_at'))`, table)
	if err != nil || len(columns) == 0 {
		return err
	}
	for i, name := range columns {
		columns[i] = `quote("` + name + `")`
	}
	fmt.Fprintln(w, table, columns)
	return db.Each(c, func(r *db.Row) error {
		_, err := fmt.Fprintln(w, r.Text())
		return err
	}, "SELECT "+strings.Join(columns, " || ',' || ")+` FROM "`+table+`"`)
}
