package store

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"quartermaster/schema/fault"
)

const (
	missesAllowed = 20
	missesWithin  = 10 * time.Minute
	missesKnown   = 4096 // addresses remembered at once; the one that missed longest ago makes room
)

// misses counts, by address, keys and codes that nobody has. It lives in memory: a
// restart forgives.
type misses struct {
	mu     sync.Mutex
	by     map[string]*list.Element // of *misser
	recent *list.List               // of *misser, the latest first
}

// misser is an address with the times of its last misses that were told, in a ring.
type misser struct {
	address string
	at      [missesAllowed]time.Time
	next    int
}

// note counts a miss from the address. After 20 within 10 minutes it refuses with 429
// in place of telling that it was one; a refused one does not count.
func (m *misses) note(remote string, now time.Time) error {
	address := network(remote)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil {
		m.by, m.recent = map[string]*list.Element{}, list.New()
	}
	e, known := m.by[address]
	if !known {
		if m.recent.Len() >= missesKnown {
			oldest := m.recent.Remove(m.recent.Back()).(*misser)
			delete(m.by, oldest.address)
		}
		e = m.recent.PushFront(&misser{address: address})
		m.by[address] = e
	}
	m.recent.MoveToFront(e)
	who := e.Value.(*misser)
	if first := who.at[who.next]; !first.IsZero() {
		if wait := missesWithin - now.Sub(first); wait > 0 {
			return &fault.Error{
				Kind: fault.Limited, Retry: min(wait, missesWithin),
				Detail: "too many unknown license keys and codes from this address; wait as long as Retry-After says",
			}
		}
	}
	who.at[who.next] = now
	who.next = (who.next + 1) % missesAllowed
	return nil
}

// network is whom an address is counted as: an IPv4 address by itself, an IPv6 one
// by its /64, all of which one customer line has.
func network(remote string) string {
	a, err := netip.ParseAddr(remote)
	if err != nil {
		return remote
	}
	a = a.Unmap().WithZone("")
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}
