// Package limit counts failures, to slow down guessing of credentials: wrong API keys, sign-ins, license keys and
// codes. The counts are in memory, bounded, and lost at a restart.
package limit

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// kept bounds the number of keys that are counted separately. Beyond it, new keys are counted together under the zero
// key: an attacker with many addresses can neither fill the memory nor displace others.
const kept = 4096

// Counter allows a number of failures within a window, separately for each key. Its methods are safe for concurrent
// use.
type Counter[K comparable] struct {
	most   int
	window time.Duration

	mu    sync.Mutex
	from  map[K][]int64 // instants in nanoseconds, oldest first, at most most
	swept int64
}

// New returns a counter that allows most failures within the window.
func New[K comparable](most int, window time.Duration) *Counter[K] {
	return &Counter[K]{most: most, window: window, from: map[K][]int64{}}
}

// Most is the number of failures allowed within the window.
func (c *Counter[K]) Most() int { return c.most }

// Add counts a failure of k and returns how long k must wait: 0 for an allowed failure. A failure that must wait is not
// counted, so that the announced wait stays true.
func (c *Counter[K]) Add(k K, now time.Time) (wait time.Duration) {
	at := now.UnixNano()
	c.mu.Lock()
	defer c.mu.Unlock()
	k = c.place(k, at)
	times := c.counted(k, at)
	if len(times) >= c.most {
		c.from[k] = times
		return time.Duration(times[0] + int64(c.window) - at)
	}
	c.from[k] = append(times, at)
	return 0
}

// Wait returns how long k must wait before it may fail again, and counts nothing.
func (c *Counter[K]) Wait(k K, now time.Time) time.Duration {
	at := now.UnixNano()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.from[k]; !known && len(c.from) >= kept {
		var together K
		k = together
	}
	times := slices.Clone(c.from[k])
	times = slices.DeleteFunc(times, func(t int64) bool { return c.past(t, at) })
	if len(times) < c.most {
		return 0
	}
	return time.Duration(times[0] + int64(c.window) - at)
}

// counted returns the failures of k that count at the instant. It is called with mu held.
func (c *Counter[K]) counted(k K, at int64) []int64 {
	return slices.DeleteFunc(c.from[k], func(t int64) bool { return c.past(t, at) })
}

// past reports whether t no longer counts at now: it is out of the window, or the clock was set back before it.
func (c *Counter[K]) past(t, now int64) bool { return t > now || t <= now-int64(c.window) }

// place returns the key under which k is counted. If the table is full, keys whose last failure is past are dropped, at
// most once a second, since an attacker must not be able to trigger the scan at will.
func (c *Counter[K]) place(k K, now int64) K {
	if _, ok := c.from[k]; ok || len(c.from) < kept {
		return k
	}
	if s := c.swept; s > now || s <= now-int64(time.Second) {
		c.swept = now
		for other, times := range c.from {
			if len(times) == 0 || c.past(times[len(times)-1], now) {
				delete(c.from, other)
			}
		}
	}
	if len(c.from) < kept {
		return k
	}
	var together K
	return together
}

// Address is counted as one: an IPv4 address, or the 64-bit prefix of an IPv6 subscriber. The zero Address stands for
// all that are not distinguished.
type Address = netip.Addr

// AddressOf parses a client's address, with or without a port.
func AddressOf(remote string) Address {
	a, err := netip.ParseAddr(remote)
	if err != nil {
		withPort, err := netip.ParseAddrPort(remote)
		if err != nil {
			return Address{}
		}
		a = withPort.Addr()
	}
	if a = a.Unmap(); a.Is4() {
		return a
	}
	half, err := a.Prefix(64) // drops the zone too
	if err != nil {
		return Address{}
	}
	return half.Addr()
}
