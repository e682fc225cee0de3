package db

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

var ctx = context.Background()

// blank is an empty database in UTC, since running every migration takes longer than most tests.
var blank = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "blank")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "blank.db")
	if err := Create(path, Options{Zone: time.UTC}); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// blankAt makes an empty database at path. All of them belong to one installation.
func blankAt(t testing.TB, path string) {
	t.Helper()
	file, err := blank()
	assert.OK(t, err)
	assert.OK(t, os.WriteFile(path, file, 0o600))
}

// fresh makes and opens the test's own database, with a clock that the test moves.
func fresh(t testing.TB) (*DB, *clock) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "q.db")
	c := &clock{now: time.Date(2026, 11, 20, 21, 5, 0, 0, time.UTC)}
	o := Options{Now: c.Now, Zone: time.UTC}
	blankAt(t, path)
	d, err := Open(path, o)
	assert.OK(t, err)
	t.Cleanup(func() {
		assert.NoError(t, d.Close())
	})
	return d, c
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func addUser(tx *Tx, name string) error {
	id, err := tx.Insert("INSERT INTO users (name, created_at) VALUES (?, ?)", name, tx.Now())
	if err != nil {
		return err
	}
	return tx.Audit("user.added", fmt.Sprintf("user:%d", id), map[string]string{"name": name})
}

func count(t testing.TB, d *DB, query string, args ...any) (n int64) {
	t.Helper()
	err := d.View(ctx, func(c *Conn) (err error) {
		n, _, err = One(c, Int, query, args...)
		return err
	})
	assert.OK(t, err)
	return n
}

func TestEngineIsNewEnough(t *testing.T) {
	v, err := EngineVersion()
	assert.OK(t, err)
	var major, minor, patch int
	_, err = fmt.Sscanf(v, "%d.%d.%d", &major, &minor, &patch)
	assert.OK(t, err)
	got := major*1_000_000 + minor*1000 + patch
	assert.That(t, got >= 3_051_003, "SQLite %s is older than 3.51.3, whose WAL can lose data", v)
}

func TestEveryConnectionHasItsPragmas(t *testing.T) {
	d, _ := fresh(t)
	for _, readOnly := range []bool{false, true} {
		c, err := connect(d.path, readOnly)
		assert.OK(t, err)
		for pragma, want := range map[string]string{
			"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "trusted_schema": "0",
			"query_only": map[bool]string{true: "1", false: "0"}[readOnly],
		} {
			got, _, err := One(&Conn{c: c}, Text, "PRAGMA "+pragma)
			assert.That(t, err == nil && got == want, "readOnly %v: %s is %q (%v), want %q", readOnly, pragma, got, err, want)
		}
		assert.NoError(t, c.Close())
	}
	st, err := os.Stat(d.path)
	assert.That(t, err == nil && st.Mode().Perm() == 0o600, "mode %v (%v), want 0600", st.Mode(), err)
}

// conn is a bare connection for reading.
func conn(t testing.TB, d *DB) *Conn {
	t.Helper()
	c, err := connect(d.path, true)
	assert.OK(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return &Conn{c: c, loc: d.Zone()}
}

func TestViewIsOneReadOnlySnapshot(t *testing.T) {
	d, _ := fresh(t)
	err := d.View(ctx, func(c *Conn) error {
		before, _, _ := One(c, Int, "SELECT count(*) FROM users")
		if err := Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "a") }); err != nil {
			return err
		}
		after, _, _ := One(c, Int, "SELECT count(*) FROM users")
		assert.That(t, before == 0 && after == 0, "a view saw %d, then %d users", before, after)
		assert.That(t, c.Today() == exact.DateOf(2026, 11, 20), "today is %v", c.Today())
		return run(c.c, "INSERT INTO users (name, created_at) VALUES ('r', 1)")
	})
	assert.That(t, err != nil && count(t, d, "SELECT count(*) FROM users") == 1, "a reader wrote: %v", err)
}

func TestTheEndOfTheRequestInterruptsItsQuery(t *testing.T) {
	d, _ := fresh(t)
	short, cancel := context.WithCancel(ctx)
	started := make(chan struct{})
	go func() { <-started; cancel() }()
	err := d.View(short, func(c *Conn) error {
		return Each(c, func(*Row) error {
			select {
			case <-started:
			default:
				close(started)
			}
			return nil
		}, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
	})
	assert.That(t, fault.Is(err, fault.Unavailable), "%v, want unavailable", err)
	assert.Equal(t, count(t, d, "SELECT count(*) FROM users"), 0, "the reader")
}

func TestVersionMovesWithEveryCommit(t *testing.T) {
	d, _ := fresh(t)
	v1, err := d.Version()
	assert.OK(t, err)
	v2, _ := d.Version()
	assert.OK(t, Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "a") }))
	v3, _ := d.Version()
	assert.That(t, v1 == v2 && v2 != v3, "versions %d %d %d", v1, v2, v3)
}

func TestAuditSystemNamesTheApplianceAndTheWay(t *testing.T) {
	d, _ := fresh(t)
	who := Caller{Service: "rental", User: "ann", Role: "member", Scope: "full", Via: "rest"}
	err := Exec(ctx, d, who, func(tx *Tx) error {
		if err := addUser(tx, "ben"); err != nil {
			return err
		}
		return tx.AuditSystem("lease.posted", "lease:1", map[string]int{"charges": 2})
	})
	assert.OK(t, err)
	n := count(t, d, `SELECT count(*) FROM audit WHERE service = 'rental' AND actor = 'system' AND via = 'rest'
		AND action = 'lease.posted' AND subject = 'lease:1' AND changes = '{"charges":2}'`)
	assert.That(t, n == 1, "%d entries by the system, want 1", n)
}

// TestCheckClock compares a clock with the newest stored instant: a minute before it passes, a second more does not;
// 400 days after it pass, a second more do not.
func TestCheckClock(t *testing.T) {
	d, clock := fresh(t)
	write := func(d *DB) error {
		return Exec(ctx, d, CLI(""), func(tx *Tx) error {
			if err := tx.CheckClock(); err != nil {
				return err
			}
			return tx.Audit("x", "y", nil)
		})
	}
	reopen := func(accept bool) *DB {
		t.Helper()
		again, err := Open(d.path, Options{Now: clock.Now, Zone: time.UTC, Accept: accept})
		assert.OK(t, err)
		t.Cleanup(func() { _ = again.Close() })
		return again
	}
	assert.OK(t, write(d), "an empty file")
	const leap = 400 * 24 * time.Hour
	for _, c := range []struct {
		by time.Duration
		ok bool
	}{{-time.Minute, true}, {-time.Minute - time.Second, false}, {leap + time.Second, false}, {leap, true}} {
		clock.add(c.by)
		for name, d := range map[string]*DB{"same process": d, "next process": reopen(false)} {
			if c.by == leap && name == "next process" {
				continue // the first of the two has moved the newest instant
			}
			err := write(d)
			assert.That(t, c.ok == (err == nil) && (c.ok || fault.Is(err, fault.Unavailable)), "%v, %s: %v", c.by, name, err)
		}
		if c.by != leap {
			clock.add(-c.by)
		}
	}
	clock.add(-10 * 365 * 24 * time.Hour)
	err := write(reopen(false))
	assert.That(t, fault.Is(err, fault.Unavailable), "ten years back: %v", err)
	assert.NoError(t, write(reopen(true)), "accepted")
	assert.NoError(t, write(reopen(false)), "after it was accepted once")
}

// TestAStatementIsPlannedOnce: a statement's values stay bound until replaced, since clearing them would make the
// engine plan it again. No old value is used for a missing one.
func TestAStatementIsPlannedOnce(t *testing.T) {
	d, _ := fresh(t)
	c := conn(t, d)
	pair := func(r *Row) string { return r.Text() + "," + r.Text() }
	const query = "SELECT ?, ?"
	for _, step := range []struct {
		args []any
		want string
	}{{[]any{"a", "b"}, "a,b"}, {[]any{"c", "d"}, "c,d"}, {[]any{"e"}, "e,"}, {nil, ","}, {[]any{"f", nil}, "f,"}} {
		got, _, err := One(c, pair, query, step.args...)
		assert.That(t, err == nil && got == step.want, "%v gives %q (%v), want %q", step.args, got, err, step.want)
	}
	if _, _, err := One(c, pair, query, "g", "h"); err != nil {
		t.Fatal(err)
	}
	s, err := c.Prepare(query)
	assert.OK(t, err)
	r, err := s.Step()
	assert.That(t, err == nil && r != nil && pair(r) == "g,h", "preparing a statement again has cleared its values")
	s.Reset()
}
