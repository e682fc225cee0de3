package db

import (
	"context"
	"fmt"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// A machine without a battery, such as a Raspberry Pi, starts in the past until it has
// reached a time server. What is written by such a clock and depends on the day (rent
// that falls due, a window of sales, a plan that restarts) would be wrong for good.
const (
	clockGrace = 60                 // seconds that the clock may lie before the newest instant on file
	clockLeap  = 400 * 24 * 60 * 60 // seconds that it may lie after it
	recent     = 1000               // audit entries among which the newest instant is looked for
)

// CheckClock refuses, as unavailable, a change that depends on what day it is while the
// clock cannot be right: more than a minute before the newest instant on file, or more
// than 400 days after it.
func (tx *Tx) CheckClock() error {
	verdict, err := tx.judgeClock()
	newest := exact.Instant(tx.d.newest.Load())
	if doubt := clockWords(verdict, tx.Now(), newest); err == nil && doubt != "" {
		return fault.Unavailablef(nil, "%s", doubt)
	}
	return err
}

// ClockDoubt says what is wrong with the machine's clock beside the newest instant on file,
// and what to do; "" when nothing is.
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

// What a clock is found to be beside the newest instant on file.
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

// judgeClock is judge, after a look whether the operator has accepted the clock meanwhile,
// by another process.
func (tx *Tx) judgeClock() (verdict int, err error) {
	if verdict = tx.d.judge(tx.Now()); verdict == clockFits {
		return verdict, nil
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

// The marks in the audit trail: from where on the clock was accepted by the operator,
// was found to be wrong, or was found to be right again.
const (
	markAccepted = "clock.accepted"
	markDoubted  = "clock.doubted"
	markBelieved = "clock.believed"
)

// mark is the last of them.
type mark struct {
	id     int64
	action string
	newest exact.Instant // on file when the clock was doubted
}

const selectMark = `SELECT id, action, ifnull(unixepoch(changes ->> '$.newest'), 0) FROM audit
	WHERE action IN ('clock.accepted', 'clock.doubted', 'clock.believed') ORDER BY id DESC LIMIT 1`

func lastMark(c *Conn) (mark, error) {
	m, _, err := One(c, func(r *Row) mark { return mark{id: r.Int(), action: r.Text(), newest: r.Instant()} }, selectMark)
	return m, err
}

// readClock finds the newest instant on file: of the last audit entries, which are in
// the order in which they were written, back to the last mark. What was written while
// the clock was doubted does not count, for a wrong clock must not vouch for itself.
func (d *DB) readClock(ctx context.Context) error {
	return d.View(ctx, func(c *Conn) error {
		m, err := lastMark(c)
		if err != nil {
			return err
		}
		return d.takeClock(c, m)
	})
}

// takeClock takes the newest instant from what was written since the last mark, or from
// a mark of doubt.
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

// acceptClock notes the operator's word that the clock is right, for this run and the
// next ones.
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

// markClock notes, before an audit entry is written, that from here on the clock is
// doubted, or is believed again.
func (tx *Tx) markClock() error {
	verdict, err := tx.judgeClock()
	wrong := verdict != clockFits
	if err != nil || !wrong && !tx.d.doubted.Load() {
		return err
	}
	tx.d.doubted.Store(true) // to be looked for as long as this process runs
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

// sawClock remembers the instant of a commit that wrote an audit entry, unless the clock
// is doubted.
func (d *DB) sawClock(now exact.Instant) {
	if d.judge(now) == clockFits && int64(now) > d.newest.Load() {
		d.newest.Store(int64(now))
	}
}
