package account

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"

	"quartermaster/schema/db"
)

// memory caches valid API keys by hash, so that a known one needs no database read. It is cleared as soon as any
// credential may have been revoked, in this process or another.
type memory struct {
	d *db.DB

	begun    atomic.Uint64 // number of version checks begun
	looking  sync.Mutex
	version  int64  // at the newest check
	answered uint64 // the newest check that succeeded

	mu    sync.Mutex
	stamp int64 // the credential stamp at which everything in seen was read
	seen  map[[sha256.Size]byte]*seenKey
}

// maxSeen bounds the number of cached keys.
const maxSeen = 4096

func newMemory(d *db.DB) *memory {
	return &memory{d: d, version: -1, stamp: -1, seen: map[[sha256.Size]byte]*seenKey{}}
}

// look makes sure that the cache was valid when the request came in, or later. It asks for the database's version,
// which every commit changes. If that has changed, it reads the stamp of the credentials; if that has changed too, the
// cache is cleared.
//
// Requests that come during a check share the next one: a check that began after a request came in serves it too.
func (m *memory) look() error { return m.lookSince(m.begun.Load()) }

// lookSince is look for a request that came when so many checks had begun.
func (m *memory) lookSince(came uint64) error {
	m.looking.Lock()
	defer m.looking.Unlock()
	if m.answered > came {
		return nil
	}
	mine := m.begun.Add(1)
	version, err := m.d.Version()
	if err != nil {
		return err
	}
	if version != m.version {
		// Read after the version: a commit in between changes the version again.
		stamp, err := m.d.QueryInt(selectStamp)
		if err != nil {
			return err
		}
		m.trust(stamp)
		m.version = version
	}
	m.answered = mine
	return nil
}

const selectStamp = "SELECT stamp FROM credential_stamp"

// trust clears the cache if it was read at another stamp.
func (m *memory) trust(stamp int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stamp != m.stamp {
		m.stamp = stamp
		clear(m.seen)
	}
}

// remember caches what was read at the stamp, unless the cache was read at another one. It is called with mu held.
func (m *memory) remember(hash [sha256.Size]byte, v *seenKey, stamp int64) {
	if stamp != m.stamp {
		return
	}
	if len(m.seen) >= maxSeen {
		for other := range m.seen {
			delete(m.seen, other)
			break
		}
	}
	m.seen[hash] = v
}
