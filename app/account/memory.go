package account

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"

	"quartermaster/schema/db"
)

// memory is what was found good of the credentials that came, by their hashes, so that
// one costs no read of the database. It forgets everything as soon as any credential
// may have lost its power, in this process or another.
type memory[T any] struct {
	d *db.DB

	begun    atomic.Uint64 // how many looks at the database's version have begun
	looking  sync.Mutex
	version  int64  // at the newest look
	answered uint64 // the newest look that ended well

	mu    sync.Mutex
	stamp int64 // the credential stamp at which everything in seen was read
	seen  map[[sha256.Size]byte]*T
}

// maxSeen bounds how many credentials are remembered.
const maxSeen = 4096

func newMemory[T any](d *db.DB) *memory[T] {
	return &memory[T]{d: d, version: -1, stamp: -1, seen: map[[sha256.Size]byte]*T{}}
}

// look makes sure that what is remembered was true when the request came in, or
// later. It asks for the database's version, which no commit leaves as it was; only when that has moved does it read
// the stamp of the credentials, and only when that has moved too is everything forgotten.
//
// Requests that come while one looks wait for the next look together: one that began
// after a request came in serves it too.
func (m *memory[T]) look() error { return m.lookSince(m.begun.Load()) }

// lookSince is look for a request that came when that many looks had begun.
func (m *memory[T]) lookSince(came uint64) error {
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
		// Read after the version: what is committed in between moves the version again.
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

// trust forgets every credential if it was read at another stamp.
func (m *memory[T]) trust(stamp int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stamp != m.stamp {
		m.stamp = stamp
		clear(m.seen)
	}
}

// remember keeps what was read at the stamp, unless what is remembered was read at
// another. It is called with mu held.
func (m *memory[T]) remember(hash [sha256.Size]byte, v *T, stamp int64) {
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
