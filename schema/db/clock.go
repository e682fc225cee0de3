package db

import (
	"context"
	"fmt"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// A machine without a battery, such as a Raspberry Pi, starts with a past date until it has reached a time server. Data
// that depends on the date (rent due, a sales window, a restarted plan) would be wrong permanently.
const (
	clockGrace = 60                 // seconds that the clock may be earlier than the newest stored instant
	clockLeap  = 400 * 24 * 60 * 60 // seconds that it may be later
	recent     = 1000               // audit entries searched for the newest instant
)

// CheckClock refuses, as unavailable, a change that depends on the date while the clock is implausible: more than a
// minute before the newest stored instant, or more than 400 days after it.
func (tx *Tx) CheckClock() error {
	verdict, err := tx.judgeClock()
	newest := exact.Instant(tx.d.newest.Load())
	if doubt := clockWords(verdict, tx.Now(), newest); err == nil && doubt != "" {
		return fault.Unavailablef(nil, "%s", doubt)
	}
	return err
}

// ClockDoubt says what is wrong with the clock compared with the newest stored instant, and what to do; "" if nothing
// is.
func (d *DB) ClockDoubt() string {
	now := exact.InstantOf(d.now())
	return clockWords(d.judge(now), now, exact.Instant(d.newest.Load()))
}

func clockWords(verdict int, now, newest exact.Instant) string {
	const remedy = "set the clock, or start once with --accept-clock if it is right"
	switch verdict {
	case clockBehind:
		return fmt.Sprintf("the system clock says %s, but the newest record is from %s: %s", now, newest, remedy)
	case clockAhead:
		return fmt.Sprintf("the system clock says %s, more than 400 days after the newest record (%s): %s", now, newest,
			remedy)
	}
	return ""
}

// The result of comparing a clock with the newest stored instant.
const (
	clockFits = iota
	clockBehind
	clockAhead
)

func (d *DB) judge(now exact.Instant) int {
	switch newest := exact.Instant(d.newest.Load()); {
	case newest != 0 && now < newest-clockGrace:
		return clockBehind
	case newest != 0 && now > newest+clockLeap:
		return clockAhead
	}
	return clockFits
}

// judgeClock is judge after checking whether another process has recorded the operator's acceptance meanwhile.
func (tx *Tx) judgeClock() (verdict int, err error) {
	if verdict = tx.d.judge(tx.Now()); verdict == clockFits || tx.past {
		return clockFits, nil
	}
	last, err := lastMark(&tx.Conn)
	if err != nil || last.action != markAccepted || last.id <= tx.d.marked.Load() {
		return verdict, err
	}
	if err := tx.d.takeClock(&tx.Conn, last); err != nil {
		return verdict, err
	}
	return tx.d.judge(tx.Now()), nil
}

// The marks in the audit trail: from here on the operator accepted the clock, or it was found wrong, or right again.
const (
	markAccepted = "clock.accepted"
	markDoubted  = "clock.doubted"
	markBelieved = "clock.believed"
)

// mark is the last of them.
type mark struct {
	id     int64
	action string
	newest exact.Instant // stored when the clock was doubted
}

const selectMark = `SELECT id, action, ifnull(unixepoch(changes ->> '$.newest'), 0) FROM audit
	WHERE action IN ('clock.accepted', 'clock.doubted', 'clock.believed') ORDER BY id DESC LIMIT 1`

func lastMark(c *Conn) (mark, error) {
	m, _, err := One(c, func(r *Row) mark { return mark{id: r.Int(), action: r.Text(), newest: r.Instant()} }, selectMark)
	return m, err
}

// readClock finds the newest stored instant among the last audit entries, in order of writing, back to the last mark.
// Entries under a doubted clock do not count, since a wrong clock must not confirm itself.
func (d *DB) readClock(ctx context.Context) error {
	return d.View(ctx, func(c *Conn) error {
		m, err := lastMark(c)
		if err != nil {
			return err
		}
		return d.takeClock(c, m)
	})
}

// takeClock reads the newest instant from the entries since the last mark, or from a mark of doubt.
func (d *DB) takeClock(c *Conn, last mark) (err error) {
	newest := int64(last.newest)
	if last.action == markDoubted {
		d.doubted.Store(true)
	} else {
		newest, _, err = One(c, Int,
			"SELECT ifnull(max(at), 0) FROM (SELECT at FROM audit WHERE id >= ? ORDER BY id DESC LIMIT ?)", last.id, recent)
	}
	if err == nil {
		d.newest.Store(newest)
		d.marked.Store(last.id)
	}
	return err
}

// acceptClock stores the operator's acceptance of the clock, for this run and later ones.
func (d *DB) acceptClock(ctx context.Context) error {
	d.newest.Store(0)
	err := Exec(ctx, d, CLI(""), func(tx *Tx) error {
		return tx.Audit(markAccepted, "clock", map[string]exact.Instant{"now": tx.Now()})
	})
	if err != nil {
		return err
	}
	return d.readClock(ctx)
}

// markClock marks, before an audit entry is written, that from here on the clock is doubted or trusted again.
func (tx *Tx) markClock() error {
	verdict, err := tx.judgeClock()
	wrong := verdict != clockFits
	if err != nil || !wrong && !tx.d.doubted.Load() {
		return err
	}
	tx.d.doubted.Store(true) // searched while this process runs
	last, err := lastMark(&tx.Conn)
	if err != nil || wrong == (last.action == markDoubted) {
		return err
	}
	action, about := markBelieved, map[string]exact.Instant{}
	if wrong {
		action, about = markDoubted, map[string]exact.Instant{"newest": exact.Instant(tx.d.newest.Load())}
	}
	return tx.insertAudit("", systemUser, "system", action, "clock", about)
}

// sawClock remembers the instant of a commit with an audit entry, unless the clock is doubted.
func (d *DB) sawClock(now exact.Instant) {
	if d.judge(now) == clockFits && int64(now) > d.newest.Load() {
		d.newest.Store(int64(now))
	}
}
