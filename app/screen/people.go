package screen

import (
	"context"

	"quartermaster/app/account"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// peopleView is the page of users and roles.
type peopleView struct {
	users    []account.User
	services []Place
	me       string
	mailed   bool // mail is set up
}

// mailInvitation mails a user an invitation if possible; else it sets the address.
func (v peopleView) mailInvitation(u account.User) page.Action {
	if !v.mailed || u.Email == "" {
		return page.Open("E-mail", "set_user_email", "name", u.Name).Quiet().Named(u.Name).Then("/users")
	}
	return page.Do("Mail invitation", "mail_invitation", "name", u.Name).Quiet().Named(u.Name).Then("/users")
}

// entry are the acts with which a user comes in: the invitation first for another one without a password.
func (v peopleView) entry(u account.User) []page.Action {
	role := page.Open("Role", "set_role", "name", u.Name).Named(u.Name).Then("/users")
	invite := page.Do("Invite", "invite_user", "name", u.Name).Quiet().Named(u.Name)
	if u.HasPassword || u.Name == v.me {
		return []page.Action{role, v.mailInvitation(u), invite}
	}
	return []page.Action{invite, role.Quiet(), v.mailInvitation(u)}
}

func (v peopleView) signedIn() (n int) {
	for _, u := range v.users {
		if u.SignedInAt != nil {
			n++
		}
	}
	return n
}

func (s *Screens) usersPage() page.Page {
	return page.New(page.Spec[peopleView]{
		Path: "/users", Title: "Users", Menu: "Users", Role: page.Admin,
		Load: page.Always(func(ctx context.Context, who db.Caller) (peopleView, error) {
			users, err := account.Users(ctx, s.DB, who)
			return peopleView{users: users, services: s.Places, me: who.User, mailed: s.Mail.Asks(ctx) == nil}, err
		}),
		View: usersPage,
	})
}

func (s *Screens) keysPage() page.Page {
	return page.New(page.Spec[[]account.Key]{
		Path: "/keys", Title: "API keys", Menu: "API keys", Role: page.Admin,
		Load: page.Always(func(ctx context.Context, who db.Caller) ([]account.Key, error) {
			return account.KeysOf(ctx, s.DB, who, who.Service)
		}),
		View: keysPage,
	})
}

func goodKeys(keys []account.Key) (n int) {
	for _, k := range keys {
		if k.RevokedAt == nil {
			n++
		}
	}
	return n
}

// accountView is the own account.
type accountView struct {
	who      db.Caller
	sessions []account.OwnSession
	has      account.Session
	mailed   bool              // mail is set up
	notices  map[string]string // their notices by mail
}

func (s *Screens) accountPage() page.Page {
	return page.New(page.Spec[accountView]{
		Path: "/account", Title: "Account", Menu: "Account",
		Load: page.Always(func(ctx context.Context, who db.Caller) (accountView, error) {
			all, err := s.Sessions.OwnSessions(ctx, who)
			v := accountView{who: who, sessions: all, mailed: s.Mail.Asks(ctx) == nil}
			if err == nil {
				v.has, err = s.preferences(ctx, who)
			}
			if err == nil && v.mailed {
				v.notices, err = account.NoticesOf(ctx, s.DB, who.User)
			}
			return v, err
		}),
		View: accountPage,
	})
}

// preferences are the visitor's settings of the pages.
func (s *Screens) preferences(ctx context.Context, who db.Caller) (account.Session, error) {
	return db.Read(ctx, s.DB, func(c *db.Conn) (account.Session, error) {
		v, _, err := db.One(c, func(r *db.Row) account.Session {
			return account.Session{HasPassword: r.Bool(), Theme: r.Text(), Shortcuts: r.Bool(), Email: r.Text()}
		}, "SELECT password IS NOT NULL, theme, shortcuts, email FROM users WHERE name = ?", who.User)
		return v, err
	})
}
