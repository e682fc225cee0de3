package account

import (
	"context"
	"slices"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/limit"
	"quartermaster/schema/session"
)

// Invitation is shown to a visitor who follows its link.
type Invitation struct {
	User      string        `json:"name"`
	By        string        `json:"invited_by"` // a user's name; "cli" is the operator
	ExpiresAt exact.Instant `json:"expires_at"`
	Demo      bool          `json:"-"` // it signs in by a button, without a password
}

// Invite makes an invitation by which a user sets a first password, or replaces a lost one; an earlier one ends. The
// token is the end of its link.
func Invite(ctx context.Context, d *db.DB, who db.Caller, name string) (token string, v Invitation, err error) {
	l, err := invite(ctx, d, who, name)
	return l.token, Invitation{User: l.Name, By: l.by, ExpiresAt: l.ExpiresAt}, err
}

// invite is Invite with the whole link, at the first service's public address that is set, of those where the user has
// a role.
func invite(ctx context.Context, d *db.DB, who db.Caller, name string, services ...string) (Link, error) {
	return update(ctx, d, who, func(tx *db.Tx) (m Link, err error) {
		u, err := invitable(&tx.Conn, who, name)
		if err != nil {
			return m, err
		}
		i, err := session.Invite(tx, session.Staff, u.id, who.User)
		if err != nil {
			return m, err
		}
		roles, err := rolesOf(&tx.Conn, u.id)
		if err != nil {
			return m, err
		}
		theirs := slices.DeleteFunc(slices.Clone(services), func(s string) bool { return roles[s] == "" })
		base, err := addressOf(&tx.Conn, append(theirs, services...))
		if err != nil {
			return m, err
		}
		m = Link{Name: u.Name, Link: base + "/welcome/" + i.Token, ExpiresAt: i.ExpiresAt, token: i.Token, by: i.By}
		return m, tx.Audit("user.invited", u.subject(), map[string]any{"name": u.Name, "expires_at": i.ExpiresAt})
	})
}

// Invited returns the invitation of staff for a token and consumes nothing: NotFound if it never existed, Gone if it
// has ended.
func (s *Sessions) Invited(ctx context.Context, token string) (Invitation, error) {
	if user, ok := s.demoUser(token); ok {
		return Invitation{User: user, By: "cli", Demo: true}, nil
	}
	return db.Read(ctx, s.d, func(c *db.Conn) (Invitation, error) {
		v, _, _, err := invited(c, token)
		return v, err
	})
}

func invited(c *db.Conn, token string) (v Invitation, i session.Invitation, user int64, err error) {
	if i, err = session.FindInvitation(c, session.Staff, token); err != nil {
		return v, i, 0, err
	}
	name, ok, err := db.One(c, db.Text, "SELECT name FROM users WHERE id = ? AND disabled = 0 AND removed_at IS NULL",
		i.Subject)
	if err == nil && !ok {
		err = fault.New(fault.Gone, "this invitation has ended; ask for a new one")
	}
	return Invitation{User: name, By: i.By, ExpiresAt: i.ExpiresAt}, i, i.Subject, err
}

// Accept uses an invitation of staff: it sets the password, ends every session of the user, and signs in. The demo's
// needs no password and is not used up.
func (s *Sessions) Accept(ctx context.Context, token, password string, from session.From) (cookie string, v Session,
	err error) {
	if user, ok := s.demoUser(token); ok {
		return s.openDemo(ctx, user, from)
	}
	if _, err := s.Invited(ctx, token); err != nil {
		return "", v, err
	}
	if err := CheckPassword("password", password); err != nil {
		return "", v, err
	}
	var kept string
	err = s.hash.do(ctx, asker{limit.AddressOf(from.Address), "invited " + token},
		func() error { kept = hashPassword(password); return nil })
	if err != nil {
		return "", v, err
	}
	staff, err := s.Invited(ctx, token)
	who := db.Caller{User: staff.User, Role: "admin", Scope: "full", Via: "web"}
	if err != nil {
		return "", v, err
	}
	v, err = db.Update(ctx, s.d, who, func(tx *db.Tx) (v Session, err error) {
		_, i, user, err := invited(&tx.Conn, token)
		if err != nil {
			return v, err
		}
		if err := session.Use(tx, i); err != nil {
			return v, err
		}
		if _, err := setPassword(tx, user, kept, 0); err != nil {
			return v, err
		}
		cookie, v, err = openStaff(tx, user, from, true)
		return v, err
	})
	return cookie, v, err
}

func (s *Sessions) openDemo(ctx context.Context, name string, from session.From) (cookie string, v Session, err error) {
	v, err = db.Update(ctx, s.d, db.Bookkeeping(), func(tx *db.Tx) (v Session, err error) {
		u, err := findUser(&tx.Conn, name)
		if err != nil {
			return v, err
		}
		cookie, v, err = openStaff(tx, u.id, from, true)
		return v, err
	})
	return cookie, v, err
}

// setPassword sets a user's password, ends their sessions except one and returns the number.
func setPassword(tx *db.Tx, user int64, kept string, except int64) (ended int, err error) {
	if _, err := tx.Exec("UPDATE users SET password = ? WHERE id = ?", kept, user); err != nil {
		return 0, err
	}
	if ended, err = endAccess(tx, user, except); err != nil {
		return 0, err
	}
	return ended, tx.Audit("user.password", User{id: user}.subject(), struct{}{})
}

// AcceptTenant signs a tenant in by the token of an invitation's link, once, or by a typed code, repeatedly. Wrong
// codes slow down only codes from that address.
func (s *Sessions) AcceptTenant(ctx context.Context, token, code string, from session.From) (cookie string, v Session,
	err error) {
	find, use := session.FindInvitation, session.Use
	network, typed := limit.AddressOf(from.Address), token
	if token == "" {
		find, use, typed = session.FindCode, session.UseCode, code
		if err := s.slowedCode(network); err != nil {
			return "", v, err
		}
	}
	v.Session, err = db.Update(ctx, s.d, db.Bookkeeping(), func(tx *db.Tx) (opened session.Session, err error) {
		if token == "" { // again, one by one: many may have come at once
			if err := s.slowedCode(network); err != nil {
				return opened, err
			}
		}
		i, err := find(&tx.Conn, session.Tenant, typed)
		if token == "" && fault.Is(err, fault.NotFound) {
			s.codes.Add(network, s.d.Now())
		}
		if err != nil {
			return opened, err
		}
		if err := use(tx, i); err != nil {
			return opened, err
		}
		cookie, opened, err = session.Open(tx, session.Tenant, i.Subject, from, false)
		return opened, err
	})
	return cookie, v, err
}

// slowedCode refuses a code from an address that sent too many wrong ones.
func (s *Sessions) slowedCode(network limit.Address) error {
	wait := s.codes.Wait(network, s.d.Now())
	if wait == 0 {
		return nil
	}
	e := fault.New(fault.Limited,
		"more than %d wrong codes came from this address within an hour; wait %d minutes and try again",
		s.codes.Most(), (wait+time.Minute-1)/time.Minute)
	e.Retry = wait
	return e
}

// AcceptLink opens a buyer's session for all licenses of the customer of a mailed link. All of the customer's links
// end.
func (s *Sessions) AcceptLink(ctx context.Context, token string, from session.From) (cookie string, v Session,
	err error) {
	v.Session, err = db.Update(ctx, s.d, db.Bookkeeping(), func(tx *db.Tx) (opened session.Session, err error) {
		i, err := session.FindInvitation(&tx.Conn, session.Customer, token)
		if err != nil {
			return opened, err
		}
		if err := session.Use(tx, i); err != nil {
			return opened, err
		}
		cookie, opened, err = session.Open(tx, session.Buyer, session.OfCustomer(i.Subject), from, false)
		return opened, err
	})
	return cookie, v, err
}

// InvitedTo returns the tenant or customer of a link's token and consumes nothing.
func (s *Sessions) InvitedTo(ctx context.Context, kind session.Kind, token string) (session.Invitation, error) {
	return db.Read(ctx, s.d, func(c *db.Conn) (session.Invitation, error) {
		return session.FindInvitation(c, kind, token)
	})
}
