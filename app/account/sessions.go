package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"sync"
	"sync/atomic"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/limit"
	"quartermaster/schema/session"
)

// Session is a signed-in browser. The fields below the session's own are for staff only.
type Session struct {
	session.Session
	User        string
	Roles       map[string]string // service -> role
	HasPassword bool
	Theme       string // auto, light or dark
	Shortcuts   bool   // keyboard shortcuts are on
	Email       string // read only for the page of the own account

	userID int64
}

// askAgain is the age in seconds at which a password must be typed again before a credential is made or shown.
const askAgain = 15 * 60

// Fresh reports whether the password was typed recently enough to make or show a credential. A user without a password
// need not type one.
func (s Session) Fresh(now exact.Instant) bool {
	return !s.HasPassword || s.PasswordAt != nil && now < *s.PasswordAt+askAgain
}

// Sessions signs users in with their passwords or invitations, and turns a cookie's token into its session. There is
// one in a process.
type Sessions struct {
	d     *db.DB
	hash  *hasher
	wrong *limit.Counter[limit.Address]
	names *limit.Backoff[[sha256.Size]byte]
	codes *limit.Counter[limit.Address] // wrong codes of tenants, which block nobody else
	mu    sync.Mutex
	used  map[int64]exact.Instant // by session id, to the minute; not written yet; guarded by mu
	demo  atomic.Pointer[demoLink]
}

type demoLink struct{ token, user string }

// NewSessions makes the one Sessions of a process.
func NewSessions(d *db.DB) *Sessions {
	return &Sessions{
		d: d, hash: newHasher(),
		wrong: limit.New[limit.Address](20, time.Minute), names: limit.NewBackoff[[sha256.Size]byte](5),
		codes: limit.New[limit.Address](20, time.Hour),
		used:  map[int64]exact.Instant{},
	}
}

// InstallationID is 8 hexadecimal digits of the database file, for the names of cookies: two installations on one host
// must not sign each other out.
func InstallationID(ctx context.Context, d *db.DB) (string, error) {
	return db.Read(ctx, d, func(c *db.Conn) (string, error) { return c.Setting(db.SettingInstallation) })
}

// Authenticate returns the caller of a page of the service, and the session, for the token of a staff cookie. Without a
// valid session it is Unauthorized; for a user without a role in the service it is Forbidden, but the session is
// returned.
func (s *Sessions) Authenticate(ctx context.Context, token, service string) (db.Caller, Session, error) {
	v, err := s.Find(ctx, session.Staff, token)
	if err != nil {
		return db.Caller{}, Session{}, err
	}
	role := v.Roles[service]
	if role == "" {
		return db.Caller{}, v,
			fault.Forbiddenf("the user %s has no role in the %s service; an admin of that service gives one", v.User, service)
	}
	return db.Caller{
		Service: service, User: v.User, Role: role, Scope: "full", Via: "web", Session: v.ID,
	}, v, nil
}

// Find returns the session of the kind for the token, or Unauthorized if none is valid. The Subject of a tenant's or
// buyer's session is its owner: every query of theirs starts from it.
func (s *Sessions) Find(ctx context.Context, kind session.Kind, token string) (Session, error) {
	good := false
	v, err := db.Read(ctx, s.d, func(c *db.Conn) (v Session, err error) {
		found, is, err := session.Find(c, kind, token)
		if err != nil || !is {
			return v, err
		}
		if found.SeenAt = s.seenAt(found); !found.Good(c.Now()) {
			return v, nil
		}
		v, good, err = ofStaff(c, found)
		return v, err
	})
	if err == nil && !good {
		err = fault.New(fault.Unauthorized, "nobody is signed in here, or the session has ended: sign in")
	}
	if err != nil {
		return Session{}, err
	}
	if now := minute(exact.InstantOf(s.d.Now())); now > v.SeenAt {
		v.SeenAt = now
		s.mu.Lock()
		defer s.mu.Unlock()
		s.used[v.ID] = now
	}
	return v, nil
}

// seenAt is when the session was last seen, written or not.
func (s *Sessions) seenAt(v session.Session) exact.Instant {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(v.SeenAt, s.used[v.ID])
}

// selectStaff finds the user of a staff session.
const selectStaff = `SELECT id, name, password IS NOT NULL, theme, shortcuts FROM users
	WHERE id = ? AND disabled = 0 AND removed_at IS NULL`

// ofStaff adds the user to a staff session; false if that user may not sign in.
func ofStaff(c *db.Conn, found session.Session) (Session, bool, error) {
	v := Session{Session: found}
	if found.Kind != session.Staff {
		return v, true, nil
	}
	v, ok, err := db.One(c, func(r *db.Row) Session {
		return Session{Session: found, userID: r.Int(), User: r.Text(), HasPassword: r.Bool(), Theme: r.Text(),
			Shortcuts: r.Bool()}
	}, selectStaff, found.Subject)
	if err != nil || !ok {
		return v, false, err
	}
	v.Roles, err = rolesOf(c, v.userID)
	return v, true, err
}

// Open signs in a tenant or a buyer whose credential the caller has checked.
func (s *Sessions) Open(ctx context.Context, kind session.Kind, subject int64, from session.From) (token string,
	v Session, err error) {
	v.Session, err = db.Update(ctx, s.d, db.Bookkeeping(), func(tx *db.Tx) (opened session.Session, err error) {
		token, opened, err = session.Open(tx, kind, subject, from, false)
		return opened, err
	})
	return token, v, err
}

// End ends the session of a token, if there is one: the browser signs out.
func (s *Sessions) End(ctx context.Context, kind session.Kind, token string) error {
	hash, ok := session.Hash(token)
	if !ok {
		return nil
	}
	return db.Exec(ctx, s.d, db.Bookkeeping(), func(tx *db.Tx) error {
		_, err := tx.Exec("DELETE FROM sessions WHERE hash = ? AND kind = ?", hash[:], string(kind))
		return err
	})
}

// Demo returns the token of a link that signs in as the user without a password, any number of times while this process
// runs. An earlier one ends.
func (s *Sessions) Demo(user string) (token string) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	token = base64.RawURLEncoding.EncodeToString(b[:])
	s.demo.Store(&demoLink{token: token, user: user})
	return token
}

// demoUser is the user of the demo's link.
func (s *Sessions) demoUser(token string) (string, bool) {
	l := s.demo.Load()
	if l == nil || subtle.ConstantTimeCompare([]byte(l.token), []byte(token)) == 0 {
		return "", false
	}
	return l.user, true
}

const setSeen = "UPDATE sessions SET seen_at = ?1 WHERE id = ?2 AND seen_at < ?1"

// Flush writes when the sessions were last seen. The server calls it every minute and when it stops; failed writes are
// kept for the next time.
func (s *Sessions) Flush(ctx context.Context) error {
	return flush(ctx, s.d, &s.mu, &s.used, setSeen)
}
