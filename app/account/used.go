package account

import (
	"context"
	"sync"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// use notes when a key was last used. It is called with mu held.
func (k *Keys) use(s *seenKey, now exact.Instant) {
	if s.used != now {
		s.used = now
		k.used[s.who.KeyID] = now
	}
}

const setLastUse = "UPDATE keys SET last_used_at = ?1 WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at < ?1)"

// Flush writes when the keys were last used. The server calls it every minute and when it stops; failed writes are kept
// for the next time.
func (k *Keys) Flush(ctx context.Context) error {
	return flush(ctx, k.d, &k.mu, &k.used, setLastUse)
}

// flush runs the statement, with an instant and an id, for everything in used, which mu guards.
func flush(ctx context.Context, d *db.DB, mu *sync.Mutex, all *map[int64]exact.Instant, statement string) error {
	mu.Lock()
	used := *all
	*all = map[int64]exact.Instant{}
	mu.Unlock()
	if len(used) == 0 {
		return nil
	}
	err := db.Exec(ctx, d, db.Bookkeeping(), func(tx *db.Tx) error {
		set, err := tx.Change(statement)
		if err != nil {
			return err
		}
		for id, at := range used {
			if err := set.Ints(int64(at), id); err != nil {
				return err
			}
			if err := set.Run(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		mu.Lock()
		defer mu.Unlock()
		for id, at := range used {
			(*all)[id] = max(at, (*all)[id])
		}
	}
	return err
}
