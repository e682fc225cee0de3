package db

import (
	"context"

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
	newest := exact.Instant(tx.d.newest.Load())
	switch {
	case newest == 0:
		return nil
	case tx.Now() < newest-clockGrace:
		return fault.Unavailablef(nil, "the machine's clock says %s, but something was written at %s already: set the clock right, or start once with --accept-clock if it is", tx.Now(), newest)
	case tx.Now() > newest+clockLeap:
		return fault.Unavailablef(nil, "the machine's clock says %s, more than 400 days after the newest entry (%s): set the clock right, or start once with --accept-clock if it is", tx.Now(), newest)
	}
	return nil
}

// readClock finds the newest instant on file: of the last audit entries, which are in
// the order in which they were written, back to where the operator accepted a clock.
func (d *DB) readClock(ctx context.Context) error {
	return d.View(ctx, func(c *Conn) error {
		newest, _, err := One(c, Int, `SELECT ifnull(max(at), 0) FROM (SELECT at FROM audit
			WHERE id >= ifnull((SELECT max(id) FROM audit WHERE action = 'clock.accepted'), 0) ORDER BY id DESC LIMIT ?)`, recent)
		d.newest.Store(newest)
		return err
	})
}

// acceptClock notes the operator's word that the clock is right, for this run and the
// next ones.
func (d *DB) acceptClock(ctx context.Context) error {
	d.newest.Store(0)
	return Exec(ctx, d, CLI(""), func(tx *Tx) error {
		return tx.Audit("clock.accepted", "clock", map[string]exact.Instant{"now": tx.Now()})
	})
}

// sawClock remembers the instant of a commit that wrote an audit entry.
func (d *DB) sawClock(now exact.Instant) {
	if int64(now) > d.newest.Load() {
		d.newest.Store(int64(now))
	}
}
