package db

import (
	"testing"
	"time"

	"quartermaster/schema/assert"
)

// TestLongTransactionsLetOthersIn: beside a process with one long transaction after another, such as an import, another
// process gets its turns.
func TestLongTransactionsLetOthersIn(t *testing.T) {
	long, clock := fresh(t)
	other, err := Open(long.Path(), Options{Now: clock.Now})
	assert.OK(t, err)
	defer func() {
		assert.NoError(t, other.Close())
	}()
	const writes, turns = 5, 100
	done := make(chan error, 1)
	go func() {
		for range writes {
			if err := Exec(ctx, other, CLI(""), func(tx *Tx) error { return tx.Audit("a", "b", 1) }); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range turns {
		select {
		case err := <-done:
			assert.NoError(t, err)
			return
		default:
		}
		if err := Exec(ctx, long, CLI(""), func(tx *Tx) error {
			for began := time.Now(); time.Since(began) < longTurn; { //nolint:revive // it holds the database
			}
			return tx.Audit("a", "b", 1)
		}); err != nil {
			t.Fatal(err)
		}
	}
	t.Errorf("%d writes had no turn among %d long ones", writes, turns)
	assert.NoError(t, <-done)
}
