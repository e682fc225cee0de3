package limit

import (
	"fmt"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 20, 12, 0, 30, 0, time.UTC)

func TestFailuresOfTheLastWindowCount(t *testing.T) {
	c := New[string](3, time.Minute)
	for i, step := range []struct {
		key        string
		after      time.Duration
		add        bool
		wait, then time.Duration // of Add, and of Wait after it
	}{
		{"a", 0, true, 0, 0},
		{"a", 10 * time.Second, true, 0, 0},
		{"a", 20 * time.Second, true, 0, 40 * time.Second},
		{"a", 30 * time.Second, true, 30 * time.Second, 30 * time.Second},
		{"b", 30 * time.Second, true, 0, 0},
		{"a", 60*time.Second - 1, true, 1, 1},
		{"a", 60 * time.Second, true, 0, 10 * time.Second},
		{"a", -time.Hour, true, 0, 0}, // the clock was set back
	} {
		now := noon.Add(step.after)
		if wait := c.Add(step.key, now); wait != step.wait {
			t.Errorf("step %d: told to wait %s, want %s", i, wait, step.wait)
		}
		if wait := c.Wait(step.key, now); wait != step.then {
			t.Errorf("step %d: Wait tells %s, want %s", i, wait, step.then)
		}
	}
}

func TestManyKeysDoNotFillTheMemory(t *testing.T) {
	const most = 20
	c := New[Address](most, time.Minute)
	now := noon
	some := func(from, n int) (waits int) {
		for i := from; i < from+n; i++ {
			if c.Add(AddressOf(fmt.Sprintf("2001:db8:%x:%x::1", i>>16, i&0xffff)), now) > 0 {
				waits++
			}
		}
		return waits
	}
	if waits := some(0, kept); waits != 0 {
		t.Fatalf("%d addresses have to wait after one failure each", waits)
	}
	// The table is full: new addresses are counted together, which slows them.
	if waits := some(kept, 5000); waits != 5000-most {
		t.Fatalf("%d of 5000 had to wait, want all but %d", waits, most)
	}
	if wait := c.Wait(AddressOf("2001:db9::1"), now); wait != time.Minute {
		t.Fatalf("who comes now is told to wait %s, want a minute", wait)
	}
	if n := len(c.from); n != kept+1 {
		t.Fatalf("%d keys are kept, want %d", n, kept+1)
	}
	for i := range most - 1 { // those in the table are counted as before
		if c.Add(AddressOf("2001:db8::1"), now) > 0 {
			t.Fatalf("an address has to wait after %d failures", i+2)
		}
	}
	if c.Add(AddressOf("2001:db8::1"), now) == 0 {
		t.Fatal("an address need not wait after 20 failures")
	}
	now = now.Add(time.Minute) // all have expired
	if waits := some(3*kept, kept); waits != 0 {
		t.Fatalf("%d addresses have to wait although there is room again", waits)
	}
	if n := len(c.from); n != kept {
		t.Fatalf("%d keys are kept, want %d", n, kept)
	}
	for times := range most * 3 {
		c.Add(AddressOf("192.0.2.1"), now.Add(time.Duration(times)*time.Second))
	}
	for a, times := range c.from {
		if len(times) > most {
			t.Fatalf("%s: %d instants are kept", a, len(times))
		}
	}
}

func TestWaitsGrowToAMinute(t *testing.T) {
	b := NewBackoff[string](5)
	now := noon
	for range 5 {
		if wait := b.Wait("ann", now); wait != 0 {
			t.Fatalf("told to wait %s before five failures", wait)
		}
		b.Fail("ann", now)
	}
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		if wait := b.Wait("ann", now); wait != want*time.Second {
			t.Fatalf("told to wait %s, want %ds", wait, want)
		}
		if wait := b.Wait("ben", now); wait != 0 {
			t.Fatalf("another key is told to wait %s", wait)
		}
		now = now.Add(want * time.Second)
		if wait := b.Wait("ann", now); wait != 0 {
			t.Fatalf("told to wait %s although it has waited", wait)
		}
		b.Fail("ann", now)
	}
	if wait := b.Wait("ann", now.Add(-time.Hour)); wait != 0 {
		t.Errorf("the clock was set back, and it is told to wait %s", wait)
	}
	if wait := b.Wait("ann", now.Add(forgotten)); wait != 0 {
		t.Errorf("an hour later it is told to wait %s", wait)
	}
	b.Forget("ann")
	if wait := b.Wait("ann", now); wait != 0 {
		t.Errorf("a forgiven key is told to wait %s", wait)
	}
}

func TestTheOldestKeyIsForgotten(t *testing.T) {
	b := NewBackoff[int](1)
	now := noon
	fail := func(k int) {
		now = now.Add(time.Nanosecond)
		b.Fail(k, now)
	}
	for k := range kept {
		fail(k)
	}
	fail(0) // no longer the oldest
	fail(kept)
	if len(b.of) != kept || b.Wait(1, now) != 0 || b.Wait(0, now) == 0 || b.Wait(kept, now) == 0 {
		t.Errorf("%d keys are kept; the waits are %s, %s and %s", len(b.of), b.Wait(0, now), b.Wait(1, now), b.Wait(kept, now))
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
		if same := AddressOf(c.a) == AddressOf(c.b); same != c.same {
			t.Errorf("%s and %s are one address: %v, want %v", c.a, c.b, same, c.same)
		}
	}
}
