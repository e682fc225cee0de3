package account

import (
	"context"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// use notes when a key was used. It is called with mu held.
func (k *Keys) use(s *seenKey, now exact.Instant) {
	if s.used != now {
		s.used = now
		k.used[s.who.KeyID] = now
	}
}

const setLastUse = "UPDATE keys SET last_used_at = ?1 WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at < ?1)"

// Flush writes when the keys were last used. The server calls it every minute and
// when it stops; what could not be written is kept for the next time.
func (k *Keys) Flush(ctx context.Context) error {
	k.mu.Lock()
	used := k.used
	k.used = map[int64]exact.Instant{}
	k.mu.Unlock()
	if len(used) == 0 {
		return nil
	}
	err := db.Exec(ctx, k.d, db.Bookkeeping(), func(tx *db.Tx) error {
		set, err := tx.Change(setLastUse)
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
		k.mu.Lock()
		defer k.mu.Unlock()
		for id, at := range used {
			k.used[id] = max(at, k.used[id])
		}
	}
	return err
}
