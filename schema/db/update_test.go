package db

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
)

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
				err := Exec(ctx, d, CLI(""), fn)
				assert.That(t, err != nil, "no error")
			}()
			assert.Equal(t, count(t, d, "SELECT count(*) FROM users"), 0, "users written")
			assert.Equal(t, count(t, d, "SELECT count(*) FROM audit"), 0, "audit entries written")
		})
	}
	assert.OK(t, Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "d") }))
	assert.Equal(t, count(t, d, "SELECT count(*) FROM users"), 1, "users")
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
		assert.That(t, fault.Is(err, fault.Forbidden), "%+v: %v, want forbidden", who, err)
	}
	assert.Equal(t, count(t, d, "SELECT count(*) FROM users"), 0, "users written")
}

// TestSharedCommit makes many writers wait at once. Each has its own outcome, whether its neighbours in the commit
// fail, panic or not.
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
		bad := i%5 == 1 || i%5 == 2
		assert.That(t, bad != (err == nil) && bad != (n == 1), "writer %d: %v, %d rows", i, err, n)
	}
	a, u := count(t, d, "SELECT count(*) FROM audit"), count(t, d, "SELECT count(*) FROM users")
	assert.That(t, a == u, "%d audit entries for %d users", a, u)
}

// TestDoFailsItsTransaction: after a Do that failed nothing more is written, and neither the function's own result nor
// a later statement hides that. Try undoes the failure with its row.
func TestDoFailsItsTransaction(t *testing.T) {
	d, _ := fresh(t)
	const wrong = "INSERT INTO users (name, created_at) VALUES (NULL, 1)"
	err := Exec(ctx, d, CLI(""), func(tx *Tx) error {
		assert.OK(t, addUser(tx, "a"))
		loop, err := tx.Change("INSERT INTO users (name, created_at) VALUES (?, 1)")
		assert.OK(t, err)
		tx.Do(wrong)
		tx.Do("INSERT INTO users (name, created_at) VALUES ('b', 1)")
		assert.OK(t, loop.Args("c"))
		for what, err := range map[string]error{"Exec": addUser(tx, "d"), "Run": loop.Run(),
			"Audit": tx.Audit("a.b", "c:1", nil), "Emit": tx.Emit("a.b", nil), "Try": tx.Try(func() error { return nil })} {
			assert.That(t, err != nil, "%s went on", what)
		}
		return fault.Invalidf("a refusal")
	})
	assert.That(t, err != nil && !fault.Is(err, fault.Invalid), "Update returned %v", err)
	err = Exec(ctx, d, CLI(""), func(tx *Tx) error {
		err := tx.Try(func() error { tx.Do(wrong); return nil })
		assert.That(t, err != nil, "Try hid the failure")
		return addUser(tx, "e")
	})
	assert.OK(t, err)
	assert.Equal(t, count(t, d, "SELECT count(*) FROM users"), 1, "users")
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
			assert.That(t, (err != nil) == (i%2 == 1), "row %d: %v", i, err)
		}
		return nil
	})
	assert.OK(t, err)
	assert.Equal(t, count(t, d, "SELECT count(*) FROM users"), 2, "users")
	err = Exec(ctx, d, CLI(""), func(tx *Tx) error {
		_ = tx.Try(func() error { _ = addUser(tx, "gone"); return fault.Invalidf("no") })
		return nil
	})
	assert.NoError(t, err, "a transaction whose every row was refused")
}

// onceBy is the caller of a request with the API key.
func onceBy(keyID int64, user, key, body string) Caller {
	who := CLI("reorder")
	who.KeyID, who.User = keyID, user
	r := &Request{Key: key, Route: "POST /x", Render: func(answer any) (int, []byte, error) {
		return 201, []byte(fmt.Sprint(answer)), nil
	}}
	copy(r.Body[:], body)
	return who.Asking(r)
}

func TestAnswersAreKeptForADay(t *testing.T) {
	d, clock := fresh(t)
	runs := 0
	ask := func(keyID int64, user, key, body string) error {
		who := onceBy(keyID, user, key, body)
		// The appliance's own writes meanwhile are not an answer.
		if err := Exec(ctx, d, System(who), func(tx *Tx) error { return tx.AuditSystem("x", "y:1", nil) }); err != nil {
			return err
		}
		_, err := Update(ctx, d, who, func(tx *Tx) (string, error) {
			runs++
			return fmt.Sprint("run ", runs), addUser(tx, fmt.Sprint(runs))
		})
		return err
	}
	assert.OK(t, ask(7, "ann", "k", "body"))
	var again *Replay
	if err := ask(7, "ann", "k", "body"); !errors.As(err, &again) || again.Status != 201 || string(again.Body) != "run 1" {
		t.Errorf("the same request again: %v", err)
	}
	err := ask(7, "ann", "k", "other")
	assert.That(t, fault.Is(err, fault.Conflict), "another body: %v, want a conflict", err)
	assert.NoError(t, ask(8, "ann", "k", "body"), "another API key")
	for _, user := range []string{"bob", "eve"} {
		assert.NoError(t, ask(0, user, "k", "body"), "%s, who has no API key", user)
	}
	err = ask(0, "bob", "k", "body")
	assert.That(t, errors.As(err, &again), "somebody without an API key again: %v", err)
	clock.add(24*time.Hour - time.Second)
	err = ask(7, "ann", "k", "body")
	assert.That(t, errors.As(err, &again), "a second before the day is over: %v", err)
	clock.add(time.Second)
	assert.NoError(t, ask(7, "ann", "k", "body"), "after a day")
	for range 2 {
		who := onceBy(7, "ann", "r", "body")
		_, err := Update(ctx, d, who, func(*Tx) (int, error) { return 0, fault.Invalidf("no") })
		assert.That(t, fault.Is(err, fault.Invalid), "refused answers are not kept: %v", err)
	}
	assert.That(t, runs == 5, "%d runs, want 5", runs)
}

// TestARequestIsOneTransaction: its key is stored although the caller acts in another service. A second Update under it
// is an error that names the caller, and a refused one can be tried again.
func TestARequestIsOneTransaction(t *testing.T) {
	d, _ := fresh(t)
	who := onceBy(7, "ann", "k", "body")
	elsewhere := who
	elsewhere.Service = "store"
	if _, err := Update(ctx, d, elsewhere, func(*Tx) (int, error) { return 0, fault.Invalidf("no") }); !fault.Is(err, fault.Invalid) {
		t.Fatal(err)
	}
	if _, err := Update(ctx, d, elsewhere, func(tx *Tx) (string, error) { return "first", addUser(tx, "a") }); err != nil {
		t.Fatal(err)
	}
	var again *Replay
	if err := who.Request.Answered(ctx, d); !errors.As(err, &again) || string(again.Body) != "first" {
		t.Errorf("the answer of a caller whose service was changed: %v", err)
	}
	if _, err := Update(ctx, d, onceBy(7, "ann", "k", "body"), func(tx *Tx) (string, error) { return "second", addUser(tx, "b") }); !errors.As(err, &again) {
		t.Errorf("the request again: %v", err)
	}
	err := Exec(ctx, d, who, func(tx *Tx) error { return addUser(tx, "c") })
	assert.That(t, err != nil && strings.Contains(err.Error(), "TestARequestIsOneTransaction") &&
		strings.Contains(err.Error(), "second Update"), "a second Update: %v", err)
	typed := CLI("").Asking(&Request{Answer: reflect.TypeFor[string]()})
	_, err = Update(ctx, d, typed, func(tx *Tx) (int, error) { return 1, addUser(tx, "c") })
	assert.That(t, err != nil && strings.Contains(err.Error(), "answers with a int") &&
		count(t, d, "SELECT count(*) FROM users") == 1, "an answer of another type than the operation's: %v", err)
	_, err = Update(ctx, d, typed, func(*Tx) (string, error) { return "c", nil })
	assert.NoError(t, err, "the same with an answer of its type")
	several := CLI("").Asking(&Request{Several: true})
	for _, name := range []string{"d", "e"} {
		assert.NoError(t, Exec(ctx, d, several, func(tx *Tx) error { return addUser(tx, name) }))
	}
	assert.Equal(t, count(t, d, "SELECT count(*) FROM users"), 3, "users")
}

func TestRacingRequestsOfOneKeyRunOnce(t *testing.T) {
	d, _ := fresh(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done, replayed := 0, 0
	for range 20 {
		wg.Go(func() {
			who := onceBy(7, "ann", "k", "b")
			_, err := Update(ctx, d, who, func(tx *Tx) (string, error) { return "x", addUser(tx, "once") })
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
	assert.That(t, done == 1 && replayed == 19, "%d done, %d replayed", done, replayed)
}

func TestEmitWritesOneDeliveryPerSubscriber(t *testing.T) {
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
	assert.OK(t, err)
	<-woken
	got, err := All(conn(t, d), Int, "SELECT endpoint_id FROM deliveries WHERE state = 'pending' ORDER BY id")
	assert.That(t, err == nil && fmt.Sprint(got) == "[1 2]", "deliveries for %v (%v), want 1 and 2", got, err)
	body, _, err := One(conn(t, d), func(r *Row) string { return string(r.Bytes()) }, "SELECT body FROM events")
	assert.That(t, err == nil && strings.Contains(body, `"data":{"sku":"<A&B>"}`) &&
		strings.Contains(body, `"created_at":"2026-11-20T21:05:00Z"`), "body %s (%v)", body, err)
}
