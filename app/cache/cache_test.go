package cache

import (
	"context"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/db/dbtest"
)

var ctx = context.Background()

// fixture is a cache over a database. It makes requests as a surface does: get the answer, or compute and put it.
type fixture struct {
	*dbtest.Fixture
	t      *testing.T
	c      *ResponseCache
	worked int
}

func newFixture(t *testing.T) *fixture {
	h := dbtest.Open(t, time.UTC, time.Date(2026, 11, 20, 21, 5, 0, 0, time.UTC))
	return &fixture{Fixture: h, t: t, c: New(h.DB)}
}

// ana is the caller of one of ana's keys.
func ana(key int64) db.Caller {
	return db.Caller{Service: "store", User: "ana", Role: "admin", Scope: "full", Via: "rest", KeyID: key}
}

func (k *fixture) ask(who db.Caller, what, with string, work func(context.Context) error) {
	k.t.Helper()
	if _, err := k.DB.Version(); err != nil { // as the authentication of a caller does
		k.t.Fatal(err)
	}
	body, at, found := k.c.Get(who, what, with)
	if found {
		assert.Must(k.t, string(body) == what+with, "%s%s was answered with %q", what, with, body)
		return
	}
	k.worked++
	assert.OK(k.t, work(ctx))
	k.c.Put(who, what, with, at, []byte(what+with))
}

// expect fails unless the answer was computed so many times since the last call.
func (k *fixture) expect(n int, when string) {
	k.t.Helper()
	assert.That(k.t, k.worked == n, "%s: worked out %d times, want %d", when, k.worked, n)
	k.worked = 0
}

func (k *fixture) looks(at func(*db.Conn)) func(context.Context) error {
	return func(ctx context.Context) error {
		return k.DB.View(ctx, func(c *db.Conn) error {
			if at != nil {
				at(c)
			}
			_, _, err := db.One(c, db.Int, "SELECT count(*) FROM users")
			return err
		})
	}
}

func commit(ctx context.Context, d *db.DB) error {
	return db.Exec(ctx, d, db.CLI(""), func(tx *db.Tx) error { return tx.Audit("x", "y:1", nil) })
}

func TestCachedAnswerIsPerRequestAndCaller(t *testing.T) {
	k := newFixture(t)
	for range 2 {
		k.ask(ana(1), "/api/x", "", k.looks(nil))
		k.ask(ana(1), "/api/x", "a=1", k.looks(nil))
		k.ask(ana(1), "/api/y", "", k.looks(nil))
	}
	k.expect(3, "three questions, asked twice")
	other := ana(2)
	other.Via = "mcp"
	k.ask(other, "/api/x", "", k.looks(nil))
	k.expect(0, "another key of the same user, role and scope")
	for name, change := range map[string]func(*db.Caller){
		"service": func(w *db.Caller) { w.Service = "rental" },
		"user":    func(w *db.Caller) { w.User = "bob" },
		"role":    func(w *db.Caller) { w.Role = "viewer" },
		"scope":   func(w *db.Caller) { w.Scope = "read" },
		"nobody":  func(w *db.Caller) { *w = db.Caller{} },
		"no key":  func(w *db.Caller) { w.User, w.KeyID = "", 0 },
	} {
		who := ana(1)
		change(&who)
		k.ask(who, "/api/x", "", k.looks(nil))
		k.expect(1, "another "+name)
	}
}

func TestCachedAnswerLastsOneSecond(t *testing.T) {
	k := newFixture(t)
	twice := func() {
		for range 2 {
			k.ask(ana(1), "/api/x", "", k.looks(func(c *db.Conn) { c.Now() }))
		}
	}
	twice()
	k.expect(1, "in one second")
	k.pass(time.Second)
	twice()
	k.expect(1, "in the next")
	k.pass(-time.Second)
	twice()
	k.expect(1, "when the clock was put back")
}

func TestShortLivedAnswersAreNotCached(t *testing.T) {
	k := newFixture(t)
	for what, work := range map[string]func(context.Context) error{
		"writes":                        func(ctx context.Context) error { return commit(ctx, k.DB) },
		"knows what no database does":   func(ctx context.Context) error { k.DB.Touch(); return k.looks(nil)(ctx) },
		"spans two seconds":             func(ctx context.Context) error { return k.overSecond(ctx) },
		strings.Repeat("x", mostAnswer): k.looks(nil),
	} {
		for range 2 {
			k.ask(ana(1), what, "", work)
		}
		k.expect(2, what[:min(20, len(what))])
	}
}

func (k *fixture) pass(d time.Duration) { k.At(k.Now().Add(d)) }

func (k *fixture) overSecond(ctx context.Context) error {
	if err := k.looks(nil)(ctx); err != nil {
		return err
	}
	k.pass(time.Second)
	return k.looks(nil)(ctx)
}

func TestAnswersAreBounded(t *testing.T) {
	k := newFixture(t)
	who := ana(1)
	for i := range 100 {
		k.ask(who, strings.Repeat(string(rune('a'+i%26)), 100_000+i), "", k.looks(nil))
		held := 0
		for q, v := range k.c.held {
			held += len(q.what) + len(v)
		}
		assert.Must(t, held <= mostAnswers && k.c.size <= mostAnswers && held <= k.c.size,
			"%d bytes are held, %d counted, %d allowed", held, k.c.size, mostAnswers)
	}
	k.expect(100, "a hundred questions")
	for i := range 10 { // one request's answer grows from day to day
		k.Must(k.looks(nil)(ctx))
		_, at, _ := k.c.Get(who, "one", "")
		k.c.Put(who, "one", "", at, make([]byte, 1000*i))
		assert.MustEqual(t, len(k.c.held[asked(who, "one", "")]), 1000*i, "bytes are kept")
	}
	counted := 0
	for q, v := range k.c.held {
		counted += len(q.what) + len(q.with) + len(v) + answerBeside
	}
	assert.That(t, counted == k.c.size, "%d bytes are held and %d counted", counted, k.c.size)
	k.ask(who, strings.Repeat("v", 100_099), "", k.looks(nil))
	k.expect(0, "the last one again")
}
