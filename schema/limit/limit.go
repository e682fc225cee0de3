// Package limit counts failures, so that guessing credentials is slowed: wrong
// API keys, sign-ins, license keys and codes. What it remembers lives in memory and is
// bounded; a restart forgives.
package limit

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// kept bounds how many keys are counted one by one. Those that come when there is no
// more room are counted together as one, under the zero key: an attacker with many
// addresses can neither fill the memory nor push others out.
const kept = 4096

// Counter allows a number of failures within a window, for each key by itself. All of
// its methods may be called at once.
type Counter[K comparable] struct {
	most        int
	window      time.Duration
	all, denied atomic.Int64

	mu    sync.Mutex
	from  map[K][]int64 // instants in nanoseconds, the oldest first, at most most
	swept int64
}

// New returns a counter that allows most failures within the window.
func New[K comparable](most int, window time.Duration) *Counter[K] {
	return &Counter[K]{most: most, window: window, from: map[K][]int64{}}
}

// Most is how many failures are allowed within the window.
func (c *Counter[K]) Most() int { return c.most }

// Add counts a failure of k, and returns how long k has to wait: 0 while the failure is
// one of those that are allowed. One that has to wait is not counted, so that the wait
// is as long as it was said to be.
func (c *Counter[K]) Add(k K, now time.Time) (wait time.Duration) {
	c.all.Add(1)
	at := now.UnixNano()
	c.mu.Lock()
	defer c.mu.Unlock()
	k = c.place(k, at)
	times := c.counted(k, at)
	if len(times) >= c.most {
		c.from[k] = times
		c.denied.Add(1)
		return time.Duration(times[0] + int64(c.window) - at)
	}
	c.from[k] = append(times, at)
	return 0
}

// Wait reports how long k has to wait before it may fail again, and counts nothing.
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

// Counts reports how many failures there were since the start, and how many of them were
// too many.
func (c *Counter[K]) Counts() (all, denied int64) { return c.all.Load(), c.denied.Load() }

// counted is what counts against k at the instant. It is called with mu held.
func (c *Counter[K]) counted(k K, at int64) []int64 {
	return slices.DeleteFunc(c.from[k], func(t int64) bool { return c.past(t, at) })
}

// past reports whether t counts no more at the instant now: it is out of the window, or
// the clock was set back behind it.
func (c *Counter[K]) past(t, now int64) bool { return t > now || t <= now-int64(c.window) }

// place returns the key under which k is counted. When there is no room for another,
// those whose last failure is past are dropped, at most once a second: going through
// all of them must not be what an attacker can ask for at will.
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

// Address is what is counted as one: an IPv4 address, or the 64 bits that an IPv6
// subscriber has all of. The zero Address stands for all that are not distinguished.
type Address = netip.Addr

// AddressOf reads a client's address, without or with a port.
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
