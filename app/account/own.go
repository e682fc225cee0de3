package account

import (
	"context"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/session"
)

// Themes are the pages' themes: the system's, light or dark.
var Themes = []string{"auto", "light", "dark"}

// asSelf lets a user with any role change their own account: a viewer has a password too.
func asSelf(who db.Caller) db.Caller {
	who.Service, who.Role, who.Scope = "", "admin", "full"
	return who
}

// ChangePassword sets the caller's own password, ends the caller's other sessions and returns their number. A caller
// without a password need not give the old one.
func (s *Sessions) ChangePassword(ctx context.Context, who db.Caller, current, password string, from session.From) (
	ended int, err error) {
	c, err := s.candidate(ctx, who.User, from)
	if err != nil {
		return 0, err
	}
	if c.id == 0 {
		return 0, noUser(who.User)
	}
	if err := CheckPassword("password", password); err != nil {
		return 0, err
	}
	if c.kept != "" {
		if err := s.check(ctx, c, current); err != nil {
			return 0, own(err, "current")
		}
	}
	var kept string
	if err := s.hash.do(ctx, asker{c.network, c.name}, func() error {
		kept = hashPassword(password)
		return nil
	}); err != nil {
		return 0, err
	}
	done, err := db.Update(ctx, s.d, asSelf(who), func(tx *db.Tx) (e Ended, err error) {
		now, _, err := db.One(&tx.Conn, db.Text,
			"SELECT password FROM users WHERE id = ? AND disabled = 0 AND removed_at IS NULL", c.id)
		if err != nil {
			return e, err
		}
		if now != c.kept {
			return e, fault.Conflictf("the password was just changed elsewhere; nothing was changed here")
		}
		if _, err := tx.Exec("UPDATE sessions SET password_at = ? WHERE id = ?", tx.Now(), who.Session); err != nil {
			return e, err
		}
		e.Ended, err = setPassword(tx, c.id, kept, who.Session)
		return e, err
	})
	return done.Ended, err
}

// OwnSession is one of the caller's sessions in a list.
type OwnSession struct {
	session.Session
	Current bool `json:"current"` // the calling one
}

// OwnSessions lists the caller's sessions, the last seen first.
func (s *Sessions) OwnSessions(ctx context.Context, who db.Caller) (all []OwnSession, err error) {
	of, err := db.Read(ctx, s.d, func(c *db.Conn) ([]session.Session, error) {
		u, err := findUser(c, who.User)
		if err != nil {
			return nil, err
		}
		return session.Of(c, session.Staff, u.id)
	})
	all = []OwnSession{}
	for _, v := range of {
		v.SeenAt = s.seenAt(v)
		all = append(all, OwnSession{Session: v, Current: v.ID == who.Session})
	}
	slices.SortStableFunc(all, func(a, b OwnSession) int { return int(b.SeenAt - a.SeenAt) })
	return all, err
}

// EndSession ends one of the caller's own sessions.
func EndSession(ctx context.Context, d *db.DB, who db.Caller, id int64) (Ended, error) {
	return db.Update(ctx, d, asSelf(who), func(tx *db.Tx) (e Ended, err error) {
		u, err := findUser(&tx.Conn, who.User)
		if err != nil {
			return e, err
		}
		ended, err := session.End(tx, session.Staff, u.id, id)
		if err != nil {
			return e, err
		}
		if !ended {
			return e, fault.NotFoundf("there is no session %d of %s", id, schema.Quote(u.Name))
		}
		e.Ended = 1
		return e, tx.Audit("session.ended", u.subject(), map[string]any{"sessions": 1})
	})
}

// EndOtherSessions ends the caller's other sessions.
func EndOtherSessions(ctx context.Context, d *db.DB, who db.Caller) (Ended, error) {
	return db.Update(ctx, d, asSelf(who), func(tx *db.Tx) (e Ended, err error) {
		u, err := findUser(&tx.Conn, who.User)
		if err != nil {
			return e, err
		}
		e.Ended, err = session.EndAll(tx, session.Staff, u.id, who.Session)
		if err != nil || e.Ended == 0 {
			return e, err
		}
		return e, tx.Audit("session.ended", u.subject(), map[string]any{"sessions": e.Ended})
	})
}

// Preferences are a user's settings of the pages.
type Preferences struct {
	Theme string `json:"theme" enum:"auto,light,dark"`
	Keys  bool   `json:"keys"` // keyboard shortcuts are on
}

// SetPreferences changes the given ones of the caller's preferences; nil leaves one unchanged.
func SetPreferences(ctx context.Context, d *db.DB, who db.Caller, theme *string, keys *bool) (Preferences, error) {
	return db.Update(ctx, d, asSelf(who), func(tx *db.Tx) (Preferences, error) {
		u, err := findUser(&tx.Conn, who.User)
		if err != nil {
			return Preferences{}, err
		}
		before, _, err := db.One(&tx.Conn, func(r *db.Row) Preferences {
			return Preferences{Theme: r.Text(), Keys: r.Bool()}
		}, "SELECT theme, shortcuts FROM users WHERE id = ?", u.id)
		if err != nil {
			return before, err
		}
		after := before
		if theme != nil {
			if !slices.Contains(Themes, *theme) {
				return before, fault.Fieldf("theme", "theme: %s is not one of %s", schema.Quote(*theme), strings.Join(Themes, ", "))
			}
			after.Theme = *theme
		}
		after.Keys = schema.Or(keys, after.Keys)
		if after == before {
			return after, nil
		}
		if _, err := tx.Exec("UPDATE users SET theme = ?, shortcuts = ? WHERE id = ?", after.Theme, after.Keys,
			u.id); err != nil {
			return before, err
		}
		return after, tx.Audit("user.preferences", u.subject(), after)
	})
}
