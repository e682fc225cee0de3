package db

import (
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
)

// TestWritesDoNotConfirmAWrongClock: writes under a doubted clock, which do not depend on the date, leave it
// doubted, in this process and the next, however many there are. A corrected clock is accepted again.
func TestWritesDoNotConfirmAWrongClock(t *testing.T) {
	const day = 24 * time.Hour
	for name, wrong := range map[string]time.Duration{"ahead": 500 * day, "behind": -3 * day} {
		t.Run(name, func(t *testing.T) {
			d, clock := fresh(t)
			write := func(d *DB, check bool) error {
				return Exec(ctx, d, CLI(""), func(tx *Tx) error {
					if check {
						if err := tx.CheckClock(); err != nil {
							return err
						}
					}
					return tx.Audit("x", "y", nil)
				})
			}
			expect := func(what string, doubted bool) {
				t.Helper()
				next, err := Open(d.path, Options{Now: clock.Now, Zone: time.UTC})
				assert.OK(t, err)
				for process, d := range map[string]*DB{"this": d, "the next": next} {
					if err := write(d, true); doubted != fault.Is(err, fault.Unavailable) {
						t.Errorf("%s, %s process: %v, want it doubted: %v", what, process, err, doubted)
					}
				}
				assert.NoError(t, next.Close())
			}
			unchecked := func(n int) {
				t.Helper()
				for range n {
					assert.OK(t, write(d, false))
				}
			}
			unchecked(1)
			expect("right", false)
			clock.add(wrong)
			expect("wrong", true)
			unchecked(1)
			expect("wrong, and something was written", true)
			unchecked(recent + 1)
			expect("wrong, and much was written", true)
			clock.add(-wrong)
			expect("right again", false)
			assert.Equal(t, count(t, d, "SELECT count(*) FROM audit WHERE action = 'clock.doubted'"), 1, "marks of doubt")
			assert.Equal(t, count(t, d, "SELECT count(*) FROM audit WHERE action = 'clock.believed'"), 1, "marks of belief")
			for range 3 {
				clock.add(399 * day)
				expect("years later", false)
			}
			clock.add(wrong)
			unchecked(1)
			expect("wrong once more", true)
			clock.add(-wrong)
			expect("right once more", false)
		})
	}
}

// TestClockIsAcceptedBesideAServer: an acceptance by a command beside a running server applies there at once and
// stays. An old acceptance does not cover a clock that goes wrong later.
func TestClockIsAcceptedBesideAServer(t *testing.T) {
	d, clock := fresh(t)
	check := func(d *DB) error {
		return Exec(ctx, d, CLI(""), func(tx *Tx) error {
			if err := tx.CheckClock(); err != nil {
				return err
			}
			return tx.Audit("x", "y", nil)
		})
	}
	note := func() {
		t.Helper()
		assert.OK(t, Exec(ctx, d, CLI(""), func(tx *Tx) error { return tx.Audit("x", "y", nil) }))
	}
	other := func(accept bool) *DB {
		t.Helper()
		o, err := Open(d.path, Options{Now: clock.Now, Zone: time.UTC, Accept: accept})
		assert.OK(t, err)
		t.Cleanup(func() { _ = o.Close() })
		return o
	}
	note()
	for range 2 { // the second time there is an old acceptance
		clock.add(401 * 24 * time.Hour)
		note()
		err := check(d)
		assert.Must(t, fault.Is(err, fault.Unavailable), "a wrong clock: %v", err)
		other(true)
		note()
		assert.NoError(t, check(d), "accepted beside it")
		assert.NoError(t, check(other(false)), "the next process")
	}
}

// TestMarksHaveAnIndex: the marks are found without a scan of the audit trail.
func TestMarksHaveAnIndex(t *testing.T) {
	d, _ := fresh(t)
	steps, err := All(conn(t, d), func(r *Row) string { r.i = 3; return r.Text() }, "EXPLAIN QUERY PLAN "+selectMark)
	assert.That(t, err == nil && strings.Contains(strings.Join(steps, ";"), "USING INDEX audit_clock"),
		"%q (%v)", steps, err)
}
