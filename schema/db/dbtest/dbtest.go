// Package dbtest is a database for tests: a real file in the test's folder, and a clock that the test sets.
package dbtest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Noon is the first time of most tests' clocks: Friday, 20 November 2026, at noon UTC.
var Noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Fixture is an open database.
type Fixture struct {
	T  testing.TB
	DB *db.DB

	path string
	o    db.Options
	mu   sync.Mutex
	now  time.Time
}

// blank is the file of a new database, made once for all tests.
var blank = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "dbtest")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "blank.db")
	if err := db.Create(path, db.Options{Zone: time.UTC, Now: func() time.Time { return founded }}); err != nil {
		return nil, err
	}
	return os.ReadFile(path) // #nosec G304 -- just made
})

// founded is when the blank file was made: before the clock of any test.
var founded = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// installation is the row of settings that identifies the installation.
var installation = regexp.MustCompile(db.SettingInstallation + "[0-9a-f]{8}")

// Create makes an empty database in UTC at path from a copy, since running every migration takes longer than most
// tests. Each is its own installation.
func Create(t testing.TB, path string) {
	t.Helper()
	file, err := blank()
	assert.OK(t, err)
	own := fmt.Appendf(nil, "%s%08x", db.SettingInstallation, rand.Uint32())
	file = installation.ReplaceAll(file, own)
	assert.Must(t, bytes.Contains(file, own), "the blank file tells no installation")
	assert.OK(t, os.WriteFile(path, file, 0o600))
}

// Open makes an empty database, in the time zone, with the clock at now. It is closed when the test ends.
func Open(t testing.TB, zone *time.Location, now time.Time) *Fixture {
	t.Helper()
	h := &Fixture{T: t, path: filepath.Join(t.TempDir(), "shop.db"), now: now}
	h.o = db.Options{Zone: zone, Trace: trace, Now: func() time.Time {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.now
	}}
	Create(t, h.path)
	h.open(h.o)
	t.Cleanup(func() { h.Must(h.DB.Close()) })
	return h
}

func (h *Fixture) open(o db.Options) {
	h.T.Helper()
	d, err := db.Open(h.path, o)
	h.Must(err)
	h.DB = d
}

// Accept reopens the database with the operator's acceptance of the clock, which was set back; otherwise nothing that
// depends on the date is written.
func (h *Fixture) Accept() {
	h.T.Helper()
	h.Must(h.DB.Close())
	o := h.o
	o.Accept = true
	h.open(o)
}

// Now returns the clock's time.
func (h *Fixture) Now() time.Time { return h.o.Now() }

// At sets the clock.
func (h *Fixture) At(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = now
}

// On sets the clock to noon of the day, UTC.
func (h *Fixture) On(day string) {
	h.T.Helper()
	d, ok := exact.ParseDay(day)
	assert.Must(h.T, ok, "%q is not a day", day)
	h.At(d.Time(time.UTC).Add(12 * time.Hour))
}

// Must ends the test unless err is nil.
func (h *Fixture) Must(err error) {
	h.T.Helper()
	assert.OK(h.T, err)
}

// Refused ends the test unless err is a refusal of the kind, and fails it unless the refusal contains every part.
func (h *Fixture) Refused(err error, kind fault.Kind, parts ...string) {
	h.T.Helper()
	assert.Must(h.T, fault.Is(err, kind), "got %v, want a refusal of kind %s", err, kind)
	for _, p := range parts {
		assert.That(h.T, strings.Contains(err.Error(), p), "the refusal %q does not say %q", err, p)
	}
}

// Number returns the whole number that a query finds.
func (h *Fixture) Number(query string, args ...any) (n int64) {
	h.T.Helper()
	h.Must(h.DB.View(context.Background(), func(c *db.Conn) (err error) {
		n, _, err = db.One(c, db.Int, query, args...)
		return err
	}))
	return n
}

// Texts lists the rows of a query of one column.
func (h *Fixture) Texts(query string, args ...any) (all []string) {
	h.T.Helper()
	h.Must(h.DB.View(context.Background(), func(c *db.Conn) (err error) {
		all, err = db.All(c, db.Text, query, args...)
		return err
	}))
	return all
}

// steps is the engine's plan of a statement, one step per line, from EXPLAIN QUERY PLAN.
func (h *Fixture) steps(query string) (steps []string, err error) {
	err = h.DB.View(context.Background(), func(c *db.Conn) error {
		s, err := c.Prepare("EXPLAIN QUERY PLAN " + query)
		if err != nil {
			return err
		}
		defer s.Reset() // an explained write counts as running until then
		for {
			r, err := s.Step()
			if err != nil || r == nil {
				return err
			}
			_, _, _ = r.Int(), r.Int(), r.Int()
			steps = append(steps, r.Text())
		}
	})
	return steps, err
}

// Steps is the engine's plan of the statement.
func (h *Fixture) Steps(query string) []string {
	h.T.Helper()
	steps, err := h.steps(query)
	h.Must(err)
	return steps
}
