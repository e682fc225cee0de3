package store

import (
	"context"
	"sync"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// seen remembers when licenses were checked and seats were heard of, so that a check
// costs no write. Flush moves it into the database; what it has moved is remembered until
// the next one, for those who read the records before it was there.
type seen struct {
	mu       sync.Mutex
	licenses map[int64]exact.Instant
	seats    map[int64]exact.Instant
	moved    struct{ licenses, seats map[int64]exact.Instant }
}

// seenMost bounds what is remembered between two flushes. Past it the times of
// further records stay as they were, until they are heard of again.
const seenMost = 1 << 16

func (s *seen) license(id int64, at exact.Instant) {
	s.mu.Lock()
	s.licenses = later(s.licenses, id, at)
	s.mu.Unlock()
}

func (s *seen) seat(id int64, at exact.Instant) {
	s.mu.Lock()
	s.seats = later(s.seats, id, at)
	s.mu.Unlock()
}

func later(m map[int64]exact.Instant, id int64, at exact.Instant) map[int64]exact.Instant {
	if m == nil {
		m = map[int64]exact.Instant{}
	}
	if old, known := m[id]; known && old < at || !known && len(m) < seenMost {
		m[id] = at
	}
	return m
}

// onLicenses brings the times of records that were read up to what is not flushed yet.
func (s *seen) onLicenses(ctx context.Context, list []License) {
	db.NoCache(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range list {
		id := list[i].ID
		at := max(s.licenses[id], s.moved.licenses[id])
		if at != 0 && (list[i].LastCheckedAt == nil || *list[i].LastCheckedAt < at) {
			list[i].LastCheckedAt = &at
		}
	}
}

func (s *seen) onLicense(ctx context.Context, l License) License {
	one := []License{l}
	s.onLicenses(ctx, one)
	return one[0]
}

func (s *seen) onSeats(ctx context.Context, list []Activation) {
	db.NoCache(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range list {
		id := list[i].ID
		list[i].LastSeenAt = max(list[i].LastSeenAt, s.seats[id], s.moved.seats[id])
	}
}

// take hands over what is to be stored.
func (s *seen) take() (licenses, seats map[int64]exact.Instant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	licenses, seats = s.licenses, s.seats
	s.licenses, s.seats = nil, nil
	s.moved.licenses, s.moved.seats = licenses, seats
	return licenses, seats
}

// giveBack remembers again what could not be stored.
func (s *seen) giveBack(licenses, seats map[int64]exact.Instant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, at := range licenses {
		s.licenses = later(s.licenses, id, at)
	}
	for id, at := range seats {
		s.seats = later(s.seats, id, at)
	}
}

// Flush stores when licenses were last checked and seats last heard of. The server
// calls it once a minute and when it stops; what a crash loses is a minute of these
// times and nothing else.
func (s *Service) Flush(ctx context.Context) error {
	licenses, seats := s.seen.take()
	if len(licenses)+len(seats) == 0 {
		return nil
	}
	err := db.Exec(ctx, s.db, db.Bookkeeping(), func(tx *db.Tx) error {
		if err := stamp(tx, "UPDATE store_licenses SET last_checked_at = ?1 WHERE id = ?2 AND ifnull(last_checked_at, 0) < ?1", licenses); err != nil {
			return err
		}
		return stamp(tx, "UPDATE store_activations SET last_seen_at = ?1 WHERE id = ?2 AND last_seen_at < ?1", seats)
	})
	if err != nil {
		s.seen.giveBack(licenses, seats)
	}
	return err
}

func stamp(tx *db.Tx, query string, times map[int64]exact.Instant) error {
	if len(times) == 0 {
		return nil
	}
	q, err := tx.Change(query)
	if err != nil {
		return err
	}
	for id, at := range times {
		if err := q.Ints(int64(at), id); err != nil {
			return err
		}
		if err := q.Run(); err != nil {
			return err
		}
	}
	return nil
}
