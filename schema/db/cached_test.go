package db

import (
	"context"
	"testing"
	"time"
)

// TestCached asks for a value again: it is worked out once, until another question is asked,
// anything is committed, or the day ends on which it depends. What looks at the time, and
// what a trial sees, is never kept.
func TestCached(t *testing.T) {
	d, clock := fresh(t)
	var cached Cached[int64]
	read, look := 0, func(c *Conn) { c.Today() }
	get := func(ctx context.Context, question string) int64 {
		t.Helper()
		n, err := cached.Read(ctx, d, question, func(ctx context.Context) (n int64, err error) {
			read++
			err = d.View(ctx, func(c *Conn) (err error) {
				look(c)
				n, _, err = One(c, Int, "SELECT count(*) FROM audit")
				return err
			})
			return n, err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	expect := func(what string, want int) {
		t.Helper()
		if read != want {
			t.Errorf("%s: it was worked out %d times, want %d", what, read, want)
		}
		read = 0
	}
	write := func() {
		t.Helper()
		if err := Exec(ctx, d, CLI(""), func(tx *Tx) error { return tx.Audit("x", "y", nil) }); err != nil {
			t.Fatal(err)
		}
	}
	first := get(ctx, "a")
	if get(ctx, "a") != first {
		t.Error("another value")
	}
	expect("asked twice", 1)
	get(ctx, "b")
	expect("another question", 1)
	write()
	if n := get(ctx, "b"); n != first+1 {
		t.Errorf("after a commit there are %d entries, want %d", n, first+1)
	}
	expect("after a commit", 1)
	clock.add(24 * time.Hour)
	get(ctx, "b")
	get(ctx, "b")
	expect("on the next day", 1)
	if _, err := d.Trial(ctx, func(ctx context.Context) error {
		if err := Exec(ctx, d, CLI(""), func(tx *Tx) error { return tx.Audit("x", "y", nil) }); err != nil {
			return err
		}
		if n := get(ctx, "b"); n != first+2 {
			t.Errorf("a trial sees %d entries, want %d", n, first+2)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	expect("in a trial", 1)
	if n := get(ctx, "b"); n != first+1 {
		t.Errorf("after a trial there are %d entries, want %d", n, first+1)
	}
	expect("after a trial", 0)
	write()
	look = func(c *Conn) { c.Now() }
	get(ctx, "b")
	get(ctx, "b")
	expect("of this moment", 2)
}
