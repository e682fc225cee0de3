package store

import (
	"context"
	"sync"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/limit"
)

// memory is the state that the services over one file keep between requests and lose at a restart: counts of guessed
// keys and of uses of licenses, and the times of checks and seats that Flush has not stored yet.
type memory struct {
	misses  *limit.Counter[limit.Address] // unknown keys and codes
	moves   *limit.Counter[int64]         // seats taken and released, by license
	checks  *limit.Counter[int64]         // by license
	pairs   *limit.Counter[limit.Address] // attempts with order references and addresses
	guesses *limit.Counter[int64]         // the same, by order
	uses    lastUses
	tills   lastEvents
}

func newMemory() *memory {
	return &memory{
		misses:  limit.New[limit.Address](20, 10*time.Minute),
		pairs:   limit.New[limit.Address](20, 10*time.Minute),
		guesses: limit.New[int64](20, 10*time.Minute),
		moves:   limit.New[int64](120, 10*time.Minute),
		checks:  limit.New[int64](60_000, time.Minute),
	}
}

// missed counts an unknown key or code against the address. After 20 within 10 minutes it refuses with 429 instead of
// saying that it is unknown.
func (s *Service) missed(remote string) error {
	wait := s.memory.misses.Add(limit.AddressOf(remote), s.db.Now())
	if wait == 0 {
		return nil
	}
	return &fault.Error{
		Kind: fault.Limited, Retry: wait,
		Detail: "too many unknown license keys and codes from this address; wait as long as Retry-After says",
	}
}

// paced counts a use of an existing license. Above the counter's limit it refuses: a valid key in the wrong hands must
// not fill the audit trail or use up the machine's time.
func (s *Service) paced(uses *limit.Counter[int64], license int64, what string) error {
	wait := uses.Add(license, s.db.Now())
	if wait == 0 {
		return nil
	}
	return &fault.Error{
		Kind: fault.Limited, Retry: wait,
		Detail: "too many " + what + " of this license; wait as long as Retry-After says",
	}
}

// lastUses are the times of the last checks of licenses and uses of seats, so that a check costs no write. Flush stores
// them; stored ones are kept until the next flush, for readers that read the records before.
type lastUses struct {
	mu       sync.Mutex
	licenses map[int64]exact.Instant
	seats    map[int64]exact.Instant
	moved    struct{ licenses, seats map[int64]exact.Instant }
}

// mostUses bounds the entries between two flushes. Above it the times of further records stay old until their next use.
const mostUses = 1 << 16

// checked reports whether a license has an unstored check.
func (u *lastUses) checked(id int64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, soon := u.licenses[id]
	return soon
}

func (u *lastUses) license(id int64, at exact.Instant) {
	u.mu.Lock()
	u.licenses = later(u.licenses, id, at)
	u.mu.Unlock()
}

func (u *lastUses) seat(id int64, at exact.Instant) {
	u.mu.Lock()
	u.seats = later(u.seats, id, at)
	u.mu.Unlock()
}

func later(m map[int64]exact.Instant, id int64, at exact.Instant) map[int64]exact.Instant {
	if m == nil {
		m = map[int64]exact.Instant{}
	}
	if old, known := m[id]; known && old < at || !known && len(m) < mostUses {
		m[id] = at
	}
	return m
}

// onLicenses updates the times of records that were read with unstored ones.
func (u *lastUses) onLicenses(list []License) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range list {
		id := list[i].ID
		at := max(u.licenses[id], u.moved.licenses[id])
		if at != 0 && (list[i].LastCheckedAt == nil || *list[i].LastCheckedAt < at) {
			list[i].LastCheckedAt = &at
		}
	}
}

func (u *lastUses) onLicense(l License) License {
	one := []License{l}
	u.onLicenses(one)
	return one[0]
}

func (u *lastUses) onSeats(list []Activation) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range list {
		id := list[i].ID
		list[i].LastSeenAt = max(list[i].LastSeenAt, u.seats[id], u.moved.seats[id])
	}
}

// take hands over what is to be stored.
func (u *lastUses) take() (licenses, seats map[int64]exact.Instant) {
	u.mu.Lock()
	defer u.mu.Unlock()
	licenses, seats = u.licenses, u.seats
	u.licenses, u.seats = nil, nil
	u.moved.licenses, u.moved.seats = licenses, seats
	return licenses, seats
}

// giveBack remembers again what could not be stored.
func (u *lastUses) giveBack(licenses, seats map[int64]exact.Instant) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id, at := range licenses {
		u.licenses = later(u.licenses, id, at)
	}
	for id, at := range seats {
		u.seats = later(u.seats, id, at)
	}
}

// Flush stores the times of the last checks and uses. The server calls it once a minute and when it stops; a crash
// loses a minute of these times and nothing else.
func (s *Service) Flush(ctx context.Context) error {
	licenses, seats := s.memory.uses.take()
	if len(licenses)+len(seats) == 0 {
		return nil
	}
	err := db.Exec(ctx, s.db, db.Bookkeeping(), func(tx *db.Tx) error {
		for id, at := range licenses {
			tx.Do("UPDATE store_licenses SET last_checked_at = ?1 WHERE id = ?2 AND ifnull(last_checked_at, 0) < ?1", at, id)
		}
		for id, at := range seats {
			tx.Do("UPDATE store_activations SET last_seen_at = ?1 WHERE id = ?2 AND last_seen_at < ?1", at, id)
		}
		return nil
	})
	if err != nil {
		s.memory.uses.giveBack(licenses, seats)
	}
	return err
}
