package account

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/limit"
)

// Keys turns the Authorization header of a request into its Caller. It caches keys, so that a known one needs no
// database read, and clears the cache as soon as any credential may have been revoked, in this process or another.
type Keys struct {
	*memory
	wrong *limit.Counter[limit.Address]
	used  map[int64]exact.Instant // by key id, to the minute; not written yet; guarded by mu
}

type seenKey struct {
	who  db.Caller
	used exact.Instant // the newest minute in Keys.used
}

// NewKeys makes the one Keys of a process: wrong keys are counted over all listeners together.
func NewKeys(d *db.DB) *Keys {
	return &Keys{
		memory: newMemory(d), wrong: limit.New[limit.Address](20, time.Minute), used: map[int64]exact.Instant{},
	}
}

// Authenticate returns the caller of the key in the header's value, with Via empty: the surface sets it. remote is the
// client's address, with or without a port.
//
// A missing or malformed header, and a key that is unknown, revoked, of another service, of a disabled user or of a
// user without a role in the service, is refused as Unauthorized, with the same detail. After 20 wrong keys in a minute
// from one address, further wrong ones are refused as Limited.
func (k *Keys) Authenticate(ctx context.Context, service, authorization, remote string) (db.Caller, error) {
	if authorization == "" {
		return db.Caller{}, fault.New(fault.Unauthorized,
			"an API key is needed: send the header `Authorization: Bearer KEY` with a key of the service %s (apk_ and 40 "+
				"hexadecimal digits)", service)
	}
	if hash, ok := bearer(authorization); ok {
		who, found, err := k.find(ctx, hash)
		if err != nil {
			return db.Caller{}, err
		}
		if found && who.Service == service {
			return who, nil
		}
	}
	if wait := k.wrong.Add(limit.AddressOf(remote), k.d.Now()); wait > 0 {
		e := fault.New(fault.Limited,
			"more than %d wrong API keys in a minute came from this address: wait, or send a valid one, which still works",
			k.wrong.Most())
		e.Retry = wait
		return db.Caller{}, e
	}
	return db.Caller{}, fault.New(fault.Unauthorized,
		"this API key does not open the service %s: send the header `Authorization: Bearer KEY` with a key of this service "+
			"(apk_ and 40 hexadecimal digits) that is not revoked and whose owner is enabled", service)
}

// bearer parses "Bearer KEY", the scheme in any case and one or more spaces between, and returns the key's hash.
func bearer(authorization string) (hash [sha256.Size]byte, ok bool) {
	const scheme = "Bearer "
	if len(authorization) < len(scheme) || !strings.EqualFold(authorization[:len(scheme)], scheme) {
		return hash, false
	}
	key := strings.TrimLeft(authorization[len(scheme):], " ")
	if len(key) != keyLength || key[:len(keyStart)] != keyStart {
		return hash, false
	}
	for _, c := range []byte(key[len(keyStart):]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return hash, false
		}
	}
	var b [keyLength]byte
	copy(b[:], key)
	return sha256.Sum256(b[:]), true
}

// find returns the caller of a valid key.
func (k *Keys) find(ctx context.Context, hash [sha256.Size]byte) (who db.Caller, found bool, err error) {
	if err := k.look(); err != nil {
		return who, false, err
	}
	now := minute(exact.InstantOf(k.d.Now()))
	k.mu.Lock()
	s := k.seen[hash]
	if s != nil {
		who = s.who
		k.use(s, now)
	}
	k.mu.Unlock()
	if s == nil {
		who, found, err = k.read(ctx, hash, now)
	}
	return who, s != nil || found, err
}

// selectCaller finds the owner of a valid key.
const selectCaller = `SELECT k.id, k.service, u.name, r.role, k.scope
	FROM keys k JOIN users u ON u.id = k.user_id JOIN roles r ON r.user_id = k.user_id AND r.service = k.service
	WHERE k.hash = ? AND k.revoked_at IS NULL AND u.disabled = 0`

func scanCaller(r *db.Row) db.Caller {
	return db.Caller{KeyID: r.Int(), Service: r.Text(), User: r.Text(), Role: r.Text(), Scope: r.Text()}
}

// read looks a key up and caches it if it is valid. An invalid one is not cached: trying many must not fill the memory.
func (k *Keys) read(ctx context.Context, hash [sha256.Size]byte, now exact.Instant) (who db.Caller, found bool,
	err error) {
	var stamp int64
	err = k.d.View(ctx, func(c *db.Conn) error {
		if stamp, _, err = db.One(c, db.Int, selectStamp); err != nil {
			return err
		}
		who, found, err = db.One(c, scanCaller, selectCaller, hash[:])
		return err
	})
	if err != nil || !found {
		return db.Caller{}, false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s := &seenKey{who: who}
	k.use(s, now)
	k.remember(hash, s, stamp)
	return who, true, nil
}
