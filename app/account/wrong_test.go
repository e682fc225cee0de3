package account

import (
	"context"
	"fmt"
	"testing"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

func TestWrongKeysFromOneAddressAreSlowed(t *testing.T) {
	h, ctx := newHouse(t), context.Background()
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
	for i := range maxWrong { // unknown, malformed and another service's do, on whichever listener
		wrong := []string{"Bearer " + mintKey(), "Bearer nonsense", "Bearer " + full}[i%3]
		refused(t, ask("rental", wrong, "192.0.2.1"), fault.Unauthorized)
		h.pass(time.Second)
	}
	// The first of the twenty was 20 s ago.
	err := ask("store", "Bearer "+mintKey(), "192.0.2.1:4711")
	refused(t, err, fault.Limited, "20 wrong", "this address")
	if e, _ := fault.As(err); e.Retry != 40*time.Second {
		t.Fatalf("told to wait %s, want 40s", e.Retry)
	}
	refused(t, ask("store", "", "192.0.2.1"), fault.Unauthorized)
	if err := ask("store", "Bearer "+full, "192.0.2.1"); err != nil {
		t.Fatalf("a right key is refused: %v", err)
	}
	refused(t, ask("store", "Bearer "+mintKey(), "192.0.2.2"), fault.Unauthorized)
	h.pass(40*time.Second - 1)
	err = ask("store", "Bearer nonsense", "192.0.2.1")
	refused(t, err, fault.Limited)
	if e, _ := fault.As(err); e.Retry != 1 {
		t.Fatalf("told to wait %s, want 1ns", e.Retry)
	}
	h.pass(1)
	refused(t, ask("store", "Bearer nonsense", "192.0.2.1"), fault.Unauthorized)
	refused(t, ask("store", "Bearer nonsense", "192.0.2.1"), fault.Limited) // the second oldest is a second younger
	if all, limited := k.Wrong(); all != maxWrong+5 || limited != 3 {
		t.Fatalf("counted %d wrong ones, %d of them too many", all, limited)
	}
}

func TestAWholeIPv6SubscriberIsOneAddress(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"2001:db8:1:2::1", "2001:db8:1:2:ffff::2", true},
		{"2001:db8:1:2::1", "[2001:db8:1:2::9]:443", true},
		{"2001:db8:1:2::1", "2001:db8:1:3::1", false},
		{"fe80::1%eth0", "fe80::2%eth1", true},
		{"::ffff:192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.1:80", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"::1", "127.0.0.1", false},
		{"nonsense", "", true},
		{"nonsense", "192.0.2.1", false},
	} {
		if same := addressOf(c.a) == addressOf(c.b); same != c.same {
			t.Errorf("%s and %s are one address: %v, want %v", c.a, c.b, same, c.same)
		}
	}
}

func TestManyAddressesDoNotFillTheMemory(t *testing.T) {
	w := wrongKeys{from: map[address][]int64{}}
	now := noon
	some := func(from, n int) (waits int) {
		for i := from; i < from+n; i++ {
			if w.add(fmt.Sprintf("2001:db8:%x:%x::1", i>>16, i&0xffff), now) > 0 {
				waits++
			}
		}
		return waits
	}
	if waits := some(0, maxAddresses); waits != 0 {
		t.Fatalf("%d addresses have to wait after one wrong key each", waits)
	}
	// There is no room: whoever comes now is counted together, which slows them.
	if waits := some(maxAddresses, 5000); waits != 5000-maxWrong {
		t.Fatalf("%d of 5000 had to wait, want all but %d", waits, maxWrong)
	}
	if n := len(w.from); n != maxAddresses+1 {
		t.Fatalf("%d addresses are kept, want %d", n, maxAddresses+1)
	}
	for i := range maxWrong - 1 { // those that have room are counted as before
		if w.add("2001:db8::1", now) > 0 {
			t.Fatalf("an address has to wait after %d wrong keys", i+2)
		}
	}
	if w.add("2001:db8::1", now) == 0 {
		t.Fatal("an address need not wait after 20 wrong keys")
	}
	now = now.Add(window) // all are past
	if waits := some(3*maxAddresses, maxAddresses); waits != 0 {
		t.Fatalf("%d addresses have to wait although there is room again", waits)
	}
	if n := len(w.from); n != maxAddresses {
		t.Fatalf("%d addresses are kept, want %d", n, maxAddresses)
	}
	for times := range maxWrong * 3 {
		w.add("192.0.2.1", now.Add(time.Duration(times)*time.Second))
	}
	for a, times := range w.from {
		if len(times) > maxWrong {
			t.Fatalf("%s: %d instants are kept", a, len(times))
		}
	}
}

// A Raspberry Pi's clock jumps; nobody waits for a minute that lies in the future.
func TestAClockSetBackLetsNobodyWait(t *testing.T) {
	h, ctx := newHouse(t), context.Background()
	k := NewKeys(h.d)
	ask := func() error {
		_, err := k.Authenticate(ctx, "store", "Bearer nonsense", "192.0.2.1")
		return err
	}
	for range maxWrong {
		refused(t, ask(), fault.Unauthorized)
	}
	refused(t, ask(), fault.Limited)
	h.pass(-24 * time.Hour)
	refused(t, ask(), fault.Unauthorized)
	var none db.Caller
	if who, _ := k.Authenticate(ctx, "store", "Bearer nonsense", "192.0.2.1"); who != none {
		t.Fatalf("a refused caller is %+v", who)
	}
}
