package account

import (
	"context"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// wrongAllowed is the number of wrong keys that an address may send per minute.
const wrongAllowed = 20

func TestWrongKeysFromOneAddressAreSlowed(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("alice")
	_, full := h.key(NewKey{Service: "store", User: "alice", Scope: "full"})
	k := NewKeys(h.d)
	ask := func(service, authorization, remote string) error {
		_, err := k.Authenticate(ctx, service, authorization, remote)
		return err
	}
	for range 100 { // missing ones do not count
		refused(t, ask("store", "", "192.0.2.1"), fault.Unauthorized)
	}
	for i := range wrongAllowed { // unknown, malformed and another service's keys count, on any listener
		wrong := []string{"Bearer " + mintKey(), "Bearer nonsense", "Bearer " + full}[i%3]
		refused(t, ask("rental", wrong, "192.0.2.1"), fault.Unauthorized)
		h.pass(time.Second)
	}
	// The first of the twenty was 20 s ago.
	err := ask("store", "Bearer "+mintKey(), "192.0.2.1:4711")
	refused(t, err, fault.Limited, "20 wrong", "this address")
	e, _ := fault.As(err)
	assert.Must(t, e.Retry == 40*time.Second, "told to wait %s, want 40s", e.Retry)
	refused(t, ask("store", "", "192.0.2.1"), fault.Unauthorized)
	assert.OK(t, ask("store", "Bearer "+full, "192.0.2.1"), "a right key is refused")
	refused(t, ask("store", "Bearer "+mintKey(), "192.0.2.2"), fault.Unauthorized)
	h.pass(40*time.Second - 1)
	err = ask("store", "Bearer nonsense", "192.0.2.1")
	refused(t, err, fault.Limited)
	e, _ = fault.As(err)
	assert.Must(t, e.Retry == 1, "told to wait %s, want 1ns", e.Retry)
	h.pass(1)
	refused(t, ask("store", "Bearer nonsense", "192.0.2.1"), fault.Unauthorized)
	refused(t, ask("store", "Bearer nonsense", "192.0.2.1"), fault.Limited) // the second oldest is a second younger
}

// TestClockSetBackDelaysNobody: a Raspberry Pi's clock may jump back; wrong keys from the future delay nobody.
func TestClockSetBackDelaysNobody(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	k := NewKeys(h.d)
	ask := func() error {
		_, err := k.Authenticate(ctx, "store", "Bearer nonsense", "192.0.2.1")
		return err
	}
	for range wrongAllowed {
		refused(t, ask(), fault.Unauthorized)
	}
	refused(t, ask(), fault.Limited)
	h.pass(-24 * time.Hour)
	refused(t, ask(), fault.Unauthorized)
	var none db.Caller
	who, _ := k.Authenticate(ctx, "store", "Bearer nonsense", "192.0.2.1")
	assert.Must(t, who == none, "a refused caller is %+v", who)
}
