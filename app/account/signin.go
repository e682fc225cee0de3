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
	"quartermaster/schema/session"
)

// familiarFor is how long an address counts as familiar for a name, in seconds.
const familiarFor = 30 * 24 * 60 * 60

// candidate is an attempt to sign in by name, from an address.
type candidate struct {
	name     string
	key      [sha256.Size]byte // of the name, in the limiter
	network  limit.Address
	id       int64
	kept     string // the stored password; "" if sign-in is impossible: unknown, disabled, none
	familiar bool   // the name has signed in from there recently
}

// candidate reads the stored data of the name, in the same way for an unknown one.
func (s *Sessions) candidate(ctx context.Context, name string, from session.From) (candidate, error) {
	c := candidate{name: strings.TrimSpace(name), network: limit.AddressOf(from.Address)}
	c.key = sha256.Sum256([]byte(c.name))
	err := s.d.View(ctx, func(conn *db.Conn) (err error) {
		type row struct {
			id       int64
			kept     string
			familiar bool
		}
		r, _, err := db.One(conn, func(r *db.Row) row { return row{r.Int(), r.Text(), r.Bool()} },
			`SELECT u.id, CASE WHEN u.disabled = 0 AND u.removed_at IS NULL THEN u.password END,
			EXISTS (SELECT 1 FROM sign_ins i WHERE i.user_id = u.id AND i.network = ?2 AND i.at > ?3)
			FROM users u WHERE u.name = ?1`, c.name, c.network.String(), conn.Now()-familiarFor)
		c.id, c.kept, c.familiar = r.id, r.kept, r.familiar
		return err
	})
	return c, err
}

// asker is the owner of the attempt's hashing slot.
func (c candidate) asker() asker {
	if c.familiar {
		return asker{c.network, c.name}
	}
	return asker{network: c.network}
}

// slowed refuses an attempt too soon after wrong ones.
func (s *Sessions) slowed(c candidate) error {
	now := s.d.Now()
	wait := s.wrong.Wait(c.network, now)
	if !c.familiar {
		wait = max(wait, s.names.Wait(c.key, now))
	}
	if wait == 0 {
		return nil
	}
	e := fault.New(fault.Limited, "too many wrong passwords came from this address or for this name: wait %d seconds "+
		"and try again",
		(wait+time.Second-1)/time.Second)
	e.Retry = wait
	return e
}

// errWrong is check's error for a wrong password.
var errWrong = fault.New(fault.Unauthorized, "the name or the password is wrong; check capitals, or ask an admin "+
	"for an invitation to set a new password")

// check reports whether the password is the candidate's. It does the same work in the same time for every fault: the
// name, the password, or a disabled user.
func (s *Sessions) check(ctx context.Context, c candidate, password string) error {
	if err := s.slowed(c); err != nil {
		return err
	}
	return s.hash.do(ctx, c.asker(), func() error {
		if err := s.slowed(c); err != nil { // others were checked while this one waited
			return err
		}
		if samePassword(c.kept, password) {
			return nil
		}
		now := s.d.Now()
		s.wrong.Add(c.network, now)
		if !c.familiar {
			s.names.Fail(c.key, now)
		}
		return errWrong
	})
}

// SignIn signs a user in by name and password: the token is for the cookie. It refuses wrong ones (Unauthorized, the
// same for every reason), an attempt too soon after wrong ones (Limited) and too many at once (Unavailable).
func (s *Sessions) SignIn(ctx context.Context, name, password string, from session.From) (token string, v Session,
	err error) {
	c, err := s.candidate(ctx, name, from)
	if err != nil {
		return "", v, err
	}
	if err := s.check(ctx, c, password); err != nil {
		return "", v, err
	}
	v, err = db.Update(ctx, s.d, db.Bookkeeping(), func(tx *db.Tx) (v Session, err error) {
		kept, _, err := db.One(&tx.Conn, db.Text,
			"SELECT password FROM users WHERE id = ? AND disabled = 0 AND removed_at IS NULL", c.id)
		if err != nil {
			return v, err
		}
		if kept != c.kept { // it was changed, or the user disabled, meanwhile
			return v, errWrong
		}
		token, v, err = openStaff(tx, c.id, from, true)
		return v, err
	})
	if err != nil {
		return "", Session{}, err
	}
	s.names.Forget(c.key)
	return token, v, nil
}

// openStaff begins a staff session and notes its address.
func openStaff(tx *db.Tx, user int64, from session.From, password bool) (token string, v Session, err error) {
	token, opened, err := session.Open(tx, session.Staff, user, from, password)
	if err != nil {
		return "", v, err
	}
	if _, err := tx.Exec("UPDATE users SET signed_in_at = ? WHERE id = ?", tx.Now(), user); err != nil {
		return "", v, err
	}
	if _, err := tx.Exec("DELETE FROM sign_ins WHERE user_id = ? AND at <= ?", user,
		tx.Now()-exact.Instant(familiarFor)); err != nil {
		return "", v, err
	}
	if _, err := tx.Exec("INSERT OR REPLACE INTO sign_ins (user_id, network, at) VALUES (?, ?, ?)",
		user, limit.AddressOf(from.Address).String(), tx.Now()); err != nil {
		return "", v, err
	}
	v, ok, err := ofStaff(&tx.Conn, opened)
	if err == nil && !ok {
		err = errWrong
	}
	return token, v, err
}

// Confirm checks the password of a signed-in user before a credential is made or shown, and notes that it was typed. A
// wrong one is Invalid and counts as in SignIn.
func (s *Sessions) Confirm(ctx context.Context, v Session, password string, from session.From) error {
	c, err := s.candidate(ctx, v.User, from)
	if err != nil {
		return err
	}
	if err := s.check(ctx, c, password); err != nil {
		return own(err, "password")
	}
	return s.typed(ctx, v.ID)
}

// own turns the refusal of a wrong password into one of a field: the user is known.
func own(err error, field string) error {
	if err == errWrong { //nolint:errorlint // the very value
		return fault.Fieldf(field, "%s: this is not the password of this account", field)
	}
	return err
}

// typed notes that the password was typed in the session.
func (s *Sessions) typed(ctx context.Context, id int64) error {
	return db.Exec(ctx, s.d, db.Bookkeeping(), func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE sessions SET password_at = ? WHERE id = ?", tx.Now(), id)
		return err
	})
}
