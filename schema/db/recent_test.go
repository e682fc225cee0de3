package db

import (
	"context"
	"strings"
	"testing"
	"time"
)

// desk asks one question as a surface does: recall, or work it out and keep it.
type desk struct {
	t      *testing.T
	d      *DB
	a      *Recent
	worked int
}

func newDesk(t *testing.T) (*desk, *clock) {
	d, c := fresh(t)
	return &desk{t: t, d: d, a: NewRecent(d)}, c
}

// who is the caller of a key that was just found good.
func (k *desk) who(key int64) Caller {
	k.t.Helper()
	v, err := k.d.Version()
	if err != nil {
		k.t.Fatal(err)
	}
	return Caller{Service: "store", User: "ana", Role: "admin", Scope: "full", KeyID: key, Seen: v}
}

func (k *desk) ask(who Caller, what, with string, work func(context.Context) error) {
	k.t.Helper()
	if body, kept := k.a.Recall(who, what, with); kept {
		if string(body) != what+with {
			k.t.Fatalf("%s%s was answered with %q", what, with, body)
		}
		return
	}
	k.worked++
	ctx, basis := Founding(ctx)
	if err := work(ctx); err != nil {
		k.t.Fatal(err)
	}
	k.a.Keep(who, what, with, basis, []byte(what+with))
}

// expect fails unless the answer was worked out so many times since it was last asked.
func (k *desk) expect(n int, when string) {
	k.t.Helper()
	if k.worked != n {
		k.t.Errorf("%s: worked out %d times, want %d", when, k.worked, n)
	}
	k.worked = 0
}

func (k *desk) looks(at func(*Conn)) func(context.Context) error {
	return func(ctx context.Context) error {
		return k.d.View(ctx, func(c *Conn) error {
			if at != nil {
				at(c)
			}
			_, _, err := One(c, Int, "SELECT count(*) FROM users")
			return err
		})
	}
}

func addAna(ctx context.Context, d *DB) error {
	return Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, time.Now().String()) })
}

func TestAnAnswerIsKeptUntilACommit(t *testing.T) {
	k, _ := newDesk(t)
	twice := func() {
		for range 2 {
			k.ask(k.who(1), "/api/x", "a=1", k.looks(nil))
		}
	}
	twice()
	k.expect(1, "asked twice")
	if err := addAna(ctx, k.d); err != nil {
		t.Fatal(err)
	}
	twice()
	k.expect(1, "after a commit")
	other, err := Open(k.d.path, Options{Zone: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	twice()
	k.expect(0, "another process looks on")
	if err := addAna(ctx, other); err != nil {
		t.Fatal(err)
	}
	twice()
	k.expect(1, "after a commit of another process")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAnAnswerIsItsQuestionsAndItsKeysOwn(t *testing.T) {
	k, _ := newDesk(t)
	who := k.who(1)
	for range 2 {
		k.ask(who, "/api/x", "", k.looks(nil))
		k.ask(who, "/api/x", "a=1", k.looks(nil))
		k.ask(who, "/api/y", "", k.looks(nil))
		k.ask(k.who(2), "/api/x", "", k.looks(nil))
	}
	k.expect(4, "four questions, asked twice")
	who.Seen = 0
	k.ask(who, "/api/x", "", k.looks(nil))
	k.expect(1, "a caller whose key nobody looked at")
}

func TestAnAnswerIsNotKeptPastItsDay(t *testing.T) {
	k, c := newDesk(t)
	daily, timeless := k.looks(func(c *Conn) { c.Today() }), k.looks(nil)
	both := func() {
		k.ask(k.who(1), "daily", "", daily)
		k.ask(k.who(1), "timeless", "", timeless)
	}
	both()
	c.add(2*time.Hour + 54*time.Minute + 59*time.Second) // 23:59:59
	both()
	k.expect(2, "to the end of the day")
	c.add(time.Second)
	both()
	k.expect(1, "at midnight")
	c.add(-time.Second)
	both()
	k.expect(1, "when the clock was put back")
}

func TestWhatDoesNotLastIsNotKept(t *testing.T) {
	k, c := newDesk(t)
	for what, work := range map[string]func(context.Context) error{
		"looks at the clock":            k.looks(func(c *Conn) { c.Now() }),
		"reads nothing":                 func(context.Context) error { return nil },
		"writes":                        func(ctx context.Context) error { return addAna(ctx, k.d) },
		"knows what no database does":   func(ctx context.Context) error { Passing(ctx); return k.looks(nil)(ctx) },
		"spans two days":                func(ctx context.Context) error { return k.overMidnight(ctx, c) },
		strings.Repeat("x", mostAnswer): k.looks(nil),
	} {
		for range 2 {
			k.ask(k.who(1), what, "", work)
		}
		k.expect(2, what[:min(20, len(what))])
	}
	var none *Recent
	_, basis := Founding(ctx)
	none.Keep(k.who(1), "", "", basis, nil)
	if _, kept := none.Recall(k.who(1), "", ""); kept {
		t.Error("no Recent kept something")
	}
}

func (k *desk) overMidnight(ctx context.Context, c *clock) error {
	if err := k.looks(nil)(ctx); err != nil {
		return err
	}
	c.add(24 * time.Hour)
	return k.looks(nil)(ctx)
}

func TestAnswersAreBounded(t *testing.T) {
	k, _ := newDesk(t)
	who := k.who(1)
	for i := range 100 {
		k.ask(who, strings.Repeat(string(rune('a'+i%26)), 100_000+i), "", k.looks(nil))
		held := 0
		for q, v := range k.a.held {
			held += len(q.what) + len(v.body)
		}
		if held > mostAnswers || k.a.size > mostAnswers || held > k.a.size {
			t.Fatalf("%d bytes are held, %d counted, %d allowed", held, k.a.size, mostAnswers)
		}
	}
	k.expect(100, "a hundred questions")
	for i := range 10 { // the answer to one question grows from day to day
		_, basis := Founding(ctx)
		basis.viewed = true
		k.a.Keep(who, "one", "", basis, make([]byte, 1000*i))
		if got := len(k.a.held[question{1, "one", ""}].body); got != 1000*i {
			t.Fatalf("%d bytes are kept, want %d", got, 1000*i)
		}
	}
	counted := 0
	for q, v := range k.a.held {
		counted += len(q.what) + len(q.with) + len(v.body) + answerBeside
	}
	if counted != k.a.size {
		t.Errorf("%d bytes are held and %d counted", counted, k.a.size)
	}
	k.ask(who, strings.Repeat("v", 100_099), "", k.looks(nil))
	k.expect(0, "the last one again")
}
