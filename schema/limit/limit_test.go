package limit

import (
	"fmt"
	"testing"
	"time"

	"quartermaster/schema/assert"
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
		assert.Equal(t, c.Add(step.key, now), step.wait, "step %d: told to wait", i)
		assert.Equal(t, c.Wait(step.key, now), step.then, "step %d: Wait tells", i)
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
	assert.MustEqual(t, some(0, kept), 0, "addresses have to wait after one failure each")
	// The table is full: new addresses are counted together, which slows them.
	assert.MustEqual(t, some(kept, 5000), 5000-most, "of 5000 had to wait, want all but %d", most)
	assert.MustEqual(t, c.Wait(AddressOf("2001:db9::1"), now), time.Minute, "who comes now is told to wait")
	assert.MustEqual(t, len(c.from), kept+1, "keys are kept")
	for i := range most - 1 { // those in the table are counted as before
		assert.Must(t, c.Add(AddressOf("2001:db8::1"), now) <= 0, "an address has to wait after %d failures", i+2)
	}
	assert.Must(t, c.Add(AddressOf("2001:db8::1"), now) != 0, "an address need not wait after 20 failures")
	now = now.Add(time.Minute) // all have expired
	assert.MustEqual(t, some(3*kept, kept), 0, "addresses have to wait although there is room again")
	assert.MustEqual(t, len(c.from), kept, "keys are kept")
	for times := range most * 3 {
		c.Add(AddressOf("192.0.2.1"), now.Add(time.Duration(times)*time.Second))
	}
	for a, times := range c.from {
		assert.Must(t, len(times) <= most, "%s: %d instants are kept", a, len(times))
	}
}

func TestWaitsGrowToAMinute(t *testing.T) {
	b := NewBackoff[string](5)
	now := noon
	for range 5 {
		wait := b.Wait("ann", now)
		assert.Must(t, wait == 0, "told to wait %s before five failures", wait)
		b.Fail("ann", now)
	}
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		wait := b.Wait("ann", now)
		assert.Must(t, wait == want*time.Second, "told to wait %s, want %ds", wait, want)
		assert.MustEqual(t, b.Wait("ben", now), 0, "another key is told to wait")
		now = now.Add(want * time.Second)
		wait = b.Wait("ann", now)
		assert.Must(t, wait == 0, "told to wait %s although it has waited", wait)
		b.Fail("ann", now)
	}
	assert.Equal(t, b.Wait("ann", now.Add(-time.Hour)), 0, "the clock was set back, and it is told to wait")
	assert.Equal(t, b.Wait("ann", now.Add(forgotten)), 0, "an hour later it is told to wait")
	b.Forget("ann")
	assert.Equal(t, b.Wait("ann", now), 0, "a forgiven key is told to wait")
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
	assert.That(t, len(b.of) == kept && b.Wait(1, now) == 0 && b.Wait(0, now) != 0 && b.Wait(kept, now) != 0,
		"%d keys are kept; the waits are %s, %s and %s", len(b.of), b.Wait(0, now), b.Wait(1, now), b.Wait(kept, now))
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
		assert.Equal(t, AddressOf(c.a) == AddressOf(c.b), c.same, "%s and %s are one address", c.a, c.b)
	}
}
