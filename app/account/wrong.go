package account

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// maxWrong is how many wrong keys an address may send within the window before it has
// to wait.
const (
	maxWrong = 20
	window   = time.Minute
)

// maxAddresses bounds how many addresses are counted one by one. Those that come
// when there is no more room are counted together as one.
const maxAddresses = 4096

// address is what is counted as one: an IPv4 address, or the 64 bits that an IPv6
// subscriber has all of. The zero address stands for all that are not told apart.
type address = netip.Addr

// wrongKeys counts the wrong keys of the last minute by address.
type wrongKeys struct {
	all, limited atomic.Int64

	mu    sync.Mutex
	from  map[address][]int64 // instants in nanoseconds, the oldest first, at most maxWrong
	swept int64
}

// add counts a wrong key, and tells how long its address has to wait: 0 for the first
// 20 in a minute. Those that have to wait are not counted against the address, so
// that the wait is as long as it was said to be.
func (w *wrongKeys) add(remote string, now time.Time) (wait time.Duration) {
	w.all.Add(1)
	at := now.UnixNano()
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.room(addressOf(remote), at)
	times := slices.DeleteFunc(w.from[a], func(t int64) bool { return past(t, at) })
	if len(times) >= maxWrong {
		w.from[a] = times
		w.limited.Add(1)
		return time.Duration(times[0] + int64(window) - at)
	}
	w.from[a] = append(times, at)
	return 0
}

// past tells whether t counts no more at the instant now: it is a minute old, or the
// clock was set back behind it.
func past(t, now int64) bool { return t > now || t <= now-int64(window) }

// room gives the address under which a is counted. When there is no room for another,
// those whose last wrong key is past are dropped, at most once a second: going through
// all of them must not be what an attacker can ask for at will.
func (w *wrongKeys) room(a address, now int64) address {
	if _, ok := w.from[a]; ok || len(w.from) < maxAddresses {
		return a
	}
	if s := w.swept; s > now || s <= now-int64(time.Second) {
		w.swept = now
		for other, times := range w.from {
			if past(times[len(times)-1], now) {
				delete(w.from, other)
			}
		}
	}
	if len(w.from) < maxAddresses {
		return a
	}
	return address{}
}

func addressOf(remote string) address {
	a, err := netip.ParseAddr(remote)
	if err != nil {
		withPort, err := netip.ParseAddrPort(remote)
		if err != nil {
			return address{}
		}
		a = withPort.Addr()
	}
	if a = a.Unmap(); a.Is4() {
		return a
	}
	half, err := a.Prefix(64) // drops the zone too
	if err != nil {
		return address{}
	}
	return half.Addr()
}
