package rental

import (
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// TestUniqueKeyPreventsDoublePosting bypasses the service's own check.
func TestUniqueKeyPreventsDoublePosting(t *testing.T) {
	h := open(t, "2026-03-01")
	id := h.lease("start_date=2026-03-01")
	h.owes(id, "2026-03-01 100000 1-31 March 2026")
	err := db.Exec(ctx, h.DB, cli, func(tx *db.Tx) error {
		if _, err := tx.Exec("UPDATE leases SET next_post_day = start_date, next_event_day = start_date"); err != nil {
			return err
		}
		return post(tx, id)
	})
	assert.That(t, err != nil && strings.Contains(err.Error(), "UNIQUE"), "posting a period twice gave %v", err)
	h.owes(id, "2026-03-01 100000 1-31 March 2026")
	h.sound()
}

// TestNothingToPostTakesNoLock: while another writes, ledgers, arrears and lists without due charges can be read.
func TestNothingToPostTakesNoLock(t *testing.T) {
	h := open(t, "2026-03-01")
	id := h.lease("start_date=2026-03-01")
	h.owes(id, "2026-03-01 100000 1-31 March 2026")
	writing, read, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- db.Exec(ctx, h.DB, cli, func(tx *db.Tx) error {
			if _, err := tx.Exec("UPDATE leases SET deposit_cents = 1"); err != nil {
				return err
			}
			close(writing)
			<-read
			return tx.Audit("lease.changed", "lease:1", nil)
		})
	}()
	<-writing
	h.owes(id, "2026-03-01 100000 1-31 March 2026")
	for _, look := range []func() error{
		func() error { _, err := h.Arrears(ctx, viewer); return err },
		func() error { _, err := h.RentRoll(ctx, viewer, nil); return err },
		func() error { _, err := h.Leases(ctx, viewer, LeaseFilter{}); return err },
	} {
		h.Must(look())
	}
	close(read)
	h.Must(<-done)
}
