package db

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

var ctx = context.Background()

// fresh makes and opens a database of its own for the test, with a clock that the
// test moves.
func fresh(t testing.TB) (*DB, *clock) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "q.db")
	c := &clock{now: time.Date(2026, 11, 20, 21, 5, 0, 0, time.UTC)}
	o := Options{Now: c.Now, Zone: time.UTC}
	if err := Create(path, o); err != nil {
		t.Fatal(err)
	}
	d, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEngineIsNewEnough(t *testing.T) {
	v, err := EngineVersion()
	if err != nil {
		t.Fatal(err)
	}
	var major, minor, patch int
	if _, err := fmt.Sscanf(v, "%d.%d.%d", &major, &minor, &patch); err != nil {
		t.Fatal(err)
	}
	if got := major*1_000_000 + minor*1000 + patch; got < 3_051_003 {
		t.Errorf("SQLite %s is older than 3.51.3, whose WAL can lose data", v)
	}
}

func TestEveryConnectionHasItsPragmas(t *testing.T) {
	d, _ := fresh(t)
	for _, readOnly := range []bool{false, true} {
		c, err := connect(d.path, readOnly)
		if err != nil {
			t.Fatal(err)
		}
		for pragma, want := range map[string]string{
			"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "trusted_schema": "0",
			"query_only": map[bool]string{true: "1", false: "0"}[readOnly],
		} {
			got, _, err := One(&Conn{c: c}, Text, "PRAGMA "+pragma)
			if err != nil || got != want {
				t.Errorf("readOnly %v: %s is %q (%v), want %q", readOnly, pragma, got, err, want)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if st, err := os.Stat(d.path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v), want 0600", st.Mode(), err)
	}
}

func TestUpdateIsAllOrNothing(t *testing.T) {
	d, _ := fresh(t)
	boom := errors.New("boom")
	for name, fn := range map[string]func(*Tx) error{
		"error": func(tx *Tx) error { return errors.Join(addUser(tx, "a"), boom) },
		"unaudited": func(tx *Tx) error {
			_, err := tx.Exec("INSERT INTO users (name, created_at) VALUES ('b', 1)")
			return err
		},
		"panic": func(tx *Tx) error { _ = addUser(tx, "c"); panic("out") },
	} {
		t.Run(name, func(t *testing.T) {
			func() {
				defer func() { _ = recover() }()
				if err := Exec(ctx, d, CLI(""), fn); err == nil {
					t.Error("no error")
				}
			}()
			if n := count(t, d, "SELECT count(*) FROM users"); n != 0 {
				t.Errorf("%d users written", n)
			}
			if n := count(t, d, "SELECT count(*) FROM audit"); n != 0 {
				t.Errorf("%d audit entries written", n)
			}
		})
	}
	if err := Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "d") }); err != nil {
		t.Fatal(err)
	}
	if n := count(t, d, "SELECT count(*) FROM users"); n != 1 {
		t.Errorf("%d users, want 1", n)
	}
}

func TestOnlyMembersAndAdminsWithFullKeysWrite(t *testing.T) {
	d, _ := fresh(t)
	for _, who := range []Caller{
		{User: "v", Role: "viewer", Scope: "full"},
		{User: "m", Role: "member", Scope: "read"},
		{User: "a", Role: "admin", Scope: "read"},
		{},
	} {
		err := Exec(ctx, d, who, func(tx *Tx) error { return addUser(tx, "x") })
		if !fault.Is(err, fault.Forbidden) {
			t.Errorf("%+v: %v, want forbidden", who, err)
		}
	}
	if n := count(t, d, "SELECT count(*) FROM users"); n != 0 {
		t.Errorf("%d users written", n)
	}
}

// TestSharedCommit lets many writers wait at once: each has its own outcome, whether
// its neighbours in the commit fail, panic or not.
func TestSharedCommit(t *testing.T) {
	d, _ := fresh(t)
	const writers = 200
	var wg sync.WaitGroup
	outcomes := make([]error, writers)
	for i := range writers {
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					outcomes[i] = fmt.Errorf("panic %v", r)
				}
			}()
			outcomes[i] = Exec(ctx, d, CLI(""), func(tx *Tx) error {
				if err := addUser(tx, fmt.Sprint("u", i)); err != nil {
					return err
				}
				switch i % 5 {
				case 1:
					return fault.Invalidf("refused %d", i)
				case 2:
					panic(i)
				}
				return nil
			})
		})
	}
	wg.Wait()
	for i, err := range outcomes {
		n := count(t, d, "SELECT count(*) FROM users WHERE name = ?", fmt.Sprint("u", i))
		if bad := i%5 == 1 || i%5 == 2; bad == (err == nil) || bad == (n == 1) {
			t.Errorf("writer %d: %v, %d rows", i, err, n)
		}
	}
	if a, u := count(t, d, "SELECT count(*) FROM audit"), count(t, d, "SELECT count(*) FROM users"); a != u {
		t.Errorf("%d audit entries for %d users", a, u)
	}
}

func TestTryUndoesOneRow(t *testing.T) {
	d, _ := fresh(t)
	err := Exec(ctx, d, CLI(""), func(tx *Tx) error {
		for i := range 4 {
			err := tx.Try(func() error {
				if err := addUser(tx, fmt.Sprint(i)); err != nil {
					return err
				}
				if i%2 == 1 {
					return fault.Invalidf("odd")
				}
				return nil
			})
			if (err != nil) != (i%2 == 1) {
				t.Errorf("row %d: %v", i, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, d, "SELECT count(*) FROM users"); n != 2 {
		t.Errorf("%d users, want 2", n)
	}
	err = Exec(ctx, d, CLI(""), func(tx *Tx) error {
		_ = tx.Try(func() error { _ = addUser(tx, "gone"); return fault.Invalidf("no") })
		return nil
	})
	if err != nil {
		t.Errorf("a transaction whose every row was refused: %v", err)
	}
}

func keeping(key, body string) Caller {
	c := CLI("reorder")
	c.KeyID = 7
	c.Keep = &Keep{Key: key, Route: "POST /x", Render: func(answer any) (int, []byte, error) {
		return 201, []byte(fmt.Sprint(answer)), nil
	}}
	copy(c.Keep.Body[:], body)
	return c
}

func TestAnswersAreKeptForADay(t *testing.T) {
	d, clock := fresh(t)
	runs := 0
	ask := func(who Caller) error {
		_, err := Update(ctx, d, who, func(tx *Tx) (string, error) {
			runs++
			return fmt.Sprint("run ", runs), addUser(tx, fmt.Sprint(runs))
		})
		return err
	}
	if err := ask(keeping("k", "body")); err != nil {
		t.Fatal(err)
	}
	var again *Replay
	if err := ask(keeping("k", "body")); !errors.As(err, &again) || again.Status != 201 || string(again.Body) != "run 1" {
		t.Errorf("the same request again: %v", err)
	}
	if err := ask(keeping("k", "other")); !fault.Is(err, fault.Conflict) {
		t.Errorf("another body: %v, want a conflict", err)
	}
	other := keeping("k", "body")
	other.KeyID = 8
	if err := ask(other); err != nil {
		t.Errorf("another API key: %v", err)
	}
	clock.add(24*time.Hour - time.Second)
	if err := ask(keeping("k", "body")); !errors.As(err, &again) {
		t.Errorf("a second before the day is over: %v", err)
	}
	clock.add(time.Second)
	if err := ask(keeping("k", "body")); err != nil {
		t.Errorf("after a day: %v", err)
	}
	refused := keeping("r", "body")
	for range 2 {
		_, err := Update(ctx, d, refused, func(*Tx) (int, error) { return 0, fault.Invalidf("no") })
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("refused answers are not kept: %v", err)
		}
	}
	if runs != 3 {
		t.Errorf("%d runs, want 3", runs)
	}
}

func TestRacingRequestsOfOneKeyRunOnce(t *testing.T) {
	d, _ := fresh(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done, replayed := 0, 0
	for range 20 {
		wg.Go(func() {
			_, err := Update(ctx, d, keeping("k", "b"), func(tx *Tx) (string, error) { return "x", addUser(tx, "once") })
			mu.Lock()
			defer mu.Unlock()
			var again *Replay
			switch {
			case err == nil:
				done++
			case errors.As(err, &again):
				replayed++
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if done != 1 || replayed != 19 {
		t.Errorf("%d done, %d replayed", done, replayed)
	}
}

func TestEmitWritesOneDeliveryForEachThatWantsIt(t *testing.T) {
	d, _ := fresh(t)
	woken := make(chan struct{}, 1)
	d.OnEmit(func() { woken <- struct{}{} })
	err := Exec(ctx, d, CLI("reorder"), func(tx *Tx) error {
		for _, e := range []struct {
			service, events string
			enabled         bool
		}{{"reorder", "", true}, {"reorder", "a,sku.reorder_point,b", true}, {"reorder", "sku.reorder", true}, {"reorder", "", false}, {"rental", "", true}} {
			if _, err := tx.Insert("INSERT INTO endpoints (service, url, events, secret, enabled, created_at) VALUES (?, 'http://x', ?, 's', ?, 1)",
				e.service, e.events, e.enabled); err != nil {
				return err
			}
		}
		return errors.Join(tx.Audit("x", "y:1", nil), tx.Emit("sku.reorder_point", map[string]string{"sku": "<A&B>"}))
	})
	if err != nil {
		t.Fatal(err)
	}
	<-woken
	got, err := All(conn(t, d), Int, "SELECT endpoint_id FROM deliveries WHERE state = 'pending' ORDER BY id")
	if err != nil || fmt.Sprint(got) != "[1 2]" {
		t.Errorf("deliveries for %v (%v), want 1 and 2", got, err)
	}
	body, _, err := One(conn(t, d), func(r *Row) string { return string(r.Bytes()) }, "SELECT body FROM events")
	if err != nil || !strings.Contains(body, `"data":{"sku":"<A&B>"}`) || !strings.Contains(body, `"created_at":"2026-11-20T21:05:00Z"`) {
		t.Errorf("body %s (%v)", body, err)
	}
}

// conn is a bare connection for looking.
func conn(t testing.TB, d *DB) *Conn {
	t.Helper()
	c, err := connect(d.path, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &Conn{c: c, loc: d.zone}
}

func TestViewIsOneInstantAndReadsOnly(t *testing.T) {
	d, _ := fresh(t)
	err := d.View(ctx, func(c *Conn) error {
		before, _, _ := One(c, Int, "SELECT count(*) FROM users")
		if err := Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "a") }); err != nil {
			return err
		}
		after, _, _ := One(c, Int, "SELECT count(*) FROM users")
		if before != 0 || after != 0 {
			t.Errorf("a view saw %d, then %d users", before, after)
		}
		if c.Today() != exact.DateOf(2026, 11, 20) {
			t.Errorf("today is %v", c.Today())
		}
		return run(c.c, "INSERT INTO users (name, created_at) VALUES ('r', 1)")
	})
	if err == nil || count(t, d, "SELECT count(*) FROM users") != 1 {
		t.Errorf("a reader wrote: %v", err)
	}
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
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v, want unavailable", err)
	}
	if n := count(t, d, "SELECT count(*) FROM users"); n != 0 {
		t.Error("the reader is not usable afterwards")
	}
}

func TestVersionMovesWithEveryCommit(t *testing.T) {
	d, _ := fresh(t)
	v1, err := d.Version()
	if err != nil {
		t.Fatal(err)
	}
	v2, _ := d.Version()
	if err := Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "a") }); err != nil {
		t.Fatal(err)
	}
	v3, _ := d.Version()
	if v1 != v2 || v2 == v3 {
		t.Errorf("versions %d %d %d", v1, v2, v3)
	}
}

func BenchmarkViewPoint(b *testing.B) {
	d, _ := fresh(b)
	request, cancel := context.WithCancel(ctx)
	defer cancel()
	for b.Loop() {
		err := d.View(request, func(c *Conn) error {
			_, _, err := One(c, Int, "SELECT stamp FROM credential_stamp WHERE only = ?", 1)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	d, _ := fresh(b)
	i := 0
	for b.Loop() {
		i++
		if err := Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, fmt.Sprint(i)) }); err != nil {
			b.Fatal(err)
		}
	}
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
	if err != nil {
		t.Fatal(err)
	}
	if n := count(t, d, `SELECT count(*) FROM audit WHERE service = 'rental' AND actor = 'system' AND via = 'rest'
		AND action = 'lease.posted' AND subject = 'lease:1' AND changes = '{"charges":2}'`); n != 1 {
		t.Errorf("%d entries by the system, want 1", n)
	}
}

// TestCheckClock holds a clock against the newest instant on file: a minute before it
// passes, a second more does not; 400 days after it pass, a second more do not.
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
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = again.Close() })
		return again
	}
	if err := write(d); err != nil {
		t.Fatalf("an empty file: %v", err)
	}
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
			if c.ok != (err == nil) || !c.ok && !fault.Is(err, fault.Unavailable) {
				t.Errorf("%v, %s: %v", c.by, name, err)
			}
		}
		if c.by != leap {
			clock.add(-c.by)
		}
	}
	clock.add(-10 * 365 * 24 * time.Hour)
	if err := write(reopen(false)); !fault.Is(err, fault.Unavailable) {
		t.Errorf("ten years back: %v", err)
	}
	if err := write(reopen(true)); err != nil {
		t.Errorf("accepted: %v", err)
	}
	if err := write(reopen(false)); err != nil {
		t.Errorf("after it was accepted once: %v", err)
	}
}

// TestAStatementIsPlannedOnce: the values of its last use stay bound until others take
// their place, since clearing them would make the engine plan it anew; and yet none is
// taken for a value that is not given.
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
		if err != nil || got != step.want {
			t.Errorf("%v gives %q (%v), want %q", step.args, got, err, step.want)
		}
	}
	if _, _, err := One(c, pair, query, "g", "h"); err != nil {
		t.Fatal(err)
	}
	s, err := c.Prepare(query)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Step()
	if err != nil || r == nil || pair(r) != "g,h" {
		t.Error("preparing a statement again has cleared its values")
	}
	s.Reset()
}
