package account

import (
	"cmp"
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/mail"
	"quartermaster/schema/session"
)

// UserEmail is a user's address.
type UserEmail struct {
	Name  string  `json:"name"`
	Email *string `json:"email"`
}

// SetEmail sets a user's address; "" removes it. A user's own one needs the password, if there is one and the request
// is a page's; another user's needs the right to invite that user.
func (s *Sessions) SetEmail(ctx context.Context, who db.Caller, name, email, current string, from session.From) (
	UserEmail, error) {
	if email != "" {
		var err error
		if email, err = mail.CheckAddress("email", email); err != nil {
			return UserEmail{}, err
		}
	}
	if name == who.User && who.Via == "web" {
		c, err := s.candidate(ctx, name, from)
		if err != nil {
			return UserEmail{}, err
		}
		if c.kept != "" {
			if err := s.check(ctx, c, current); err != nil {
				return UserEmail{}, own(err, "current")
			}
		}
	}
	return changeUser(ctx, s.d, who, name, func(tx *db.Tx, u User) (UserEmail, error) {
		v := UserEmail{Name: u.Name, Email: db.NullText(email)}
		if _, err := tx.Exec("UPDATE users SET email = ? WHERE id = ?", v.Email, u.id); err != nil {
			return v, err
		}
		return v, tx.Audit("user.email", u.subject(), v)
	})
}

// changeUser changes a user's own settings: by that user, with any role, or by a caller who may invite the user.
func changeUser[T any](ctx context.Context, d *db.DB, who db.Caller, name string, fn func(*db.Tx, User) (T, error)) (T,
	error) {
	var none T
	own := name == who.User
	if own {
		who = asSelf(who)
	}
	return update(ctx, d, who, func(tx *db.Tx) (T, error) {
		u, err := findUser(&tx.Conn, name)
		if err != nil {
			return none, err
		}
		if !own {
			if err := keepsPerson(&tx.Conn, who, u, "changes"); err != nil {
				return none, err
			}
		}
		return fn(tx, u)
	})
}

// UserNotices are a user's choices of notices.
type UserNotices struct {
	Name string `json:"name"`
	mail.Notices
}

// SetNotices changes a user's choices of notices: the fields of change that are not "".
func SetNotices(ctx context.Context, d *db.DB, who db.Caller, name string, change mail.Notices) (UserNotices, error) {
	return changeUser(ctx, d, who, name, func(tx *db.Tx, u User) (UserNotices, error) {
		v := UserNotices{Name: u.Name}
		if err := mail.CheckSetUp(&tx.Conn); err != nil {
			return v, err
		}
		n, err := noticesOf(&tx.Conn, u.Name)
		if err != nil {
			return v, err
		}
		given := change.Each()
		for i, now := range n.Each() {
			*now.How = cmp.Or(*given[i].How, *now.How)
		}
		v.Notices = n
		kept, err := n.Kept()
		if err != nil {
			return v, err
		}
		if _, err := tx.Exec("UPDATE users SET notices = ? WHERE id = ?", kept, u.id); err != nil {
			return v, err
		}
		return v, tx.Audit("user.notices", u.subject(), v)
	})
}

// noticesOf reads a user's choices of notices.
func noticesOf(c *db.Conn, name string) (mail.Notices, error) {
	kept, _, err := db.One(c, db.Text, "SELECT notices FROM users WHERE name = ? AND removed_at IS NULL", name)
	if err != nil {
		return mail.Notices{}, err
	}
	if kept == "" {
		kept = "{}"
	}
	return mail.ParseNotices(kept)
}

// NoticesOf returns a user's choices, by notice.
func NoticesOf(ctx context.Context, d *db.DB, name string) (map[string]string, error) {
	n, err := db.Read(ctx, d, func(c *db.Conn) (mail.Notices, error) { return noticesOf(c, name) })
	all := map[string]string{}
	for _, w := range n.Each() {
		all[w.Name] = *w.How
	}
	return all, err
}

// whose binds the user of an operation on an account; on pages everyone may choose their own, admins also others'.
func (o ops) whose(f *schema.Form, p *string) {
	f.Text(p, "name", "the user's name", schema.Most(most+1), schema.Positional("NAME"), needed(f),
		schema.ChoicesFor(func(c *db.Conn, who db.Caller, q schema.Find) ([]schema.Choice, error) {
			if who.Role != "admin" {
				return schema.People(who.User, nil, nil)(c, q)
			}
			return userChoices(c, who, q)
		}))
}

func (o ops) setUserEmail() schema.Op {
	example := "bob@example.com"
	return schema.Op{
		Name: "set_user_email", Personal: true, Idempotent: true,
		About:   "Set a user's e-mail address; an empty one removes it.",
		Command: "user email NAME", Example: "user email bob --email bob@example.com",
		Response: UserEmail{Name: "bob", Email: &example},
		Bind: func(f *schema.Form) schema.Handler {
			var name, email, current, remote string
			o.whose(f, &name)
			f.Text(&email, "email", "the address; empty for none", schema.Most(254), schema.Label("E-mail"),
				schema.Example(example), schema.Clear(new(bool)))
			if f.Surface() == schema.Page {
				f.Text(&current, "current", "your password, to change your own address", schema.Secret,
					schema.Label("Your password"))
			}
			f.Remote(&remote)
			return func(ctx context.Context, who db.Caller) (any, error) {
				return schema.Answer(o.sessions.SetEmail(ctx, who, name, email, current, session.From{Address: remote}))
			}
		},
		Did: schema.Said(func(v UserEmail) string {
			if v.Email == nil {
				return v.Name + " has no e-mail address now."
			}
			return v.Name + " is mailed to " + *v.Email + "."
		}),
		Leads: toAccount,
	}
}

func (o ops) setNotices() schema.Op {
	first, _ := mail.ParseNotices("{}") // never fails
	return schema.Op{
		Name: "set_notices", Personal: true, Idempotent: true,
		About:   "Set which notices a user gets: at once, in the next digest, or never. What you leave out stays as it is.",
		Command: "user notices NAME", Example: "user notices bob --tickets now --alarms digest",
		Response: UserNotices{Name: "bob", Notices: first},
		Bind: schema.Does2(func(f *schema.Form, name *string, change *mail.Notices) {
			o.whose(f, name)
			for _, w := range change.Each() {
				f.Enum(w.How, w.Name, w.About, mail.Hearing)
			}
		}, func(ctx context.Context, who db.Caller, name string, change mail.Notices) (UserNotices, error) {
			return SetNotices(ctx, o.d, who, name, change)
		}),
		Did:   schema.Said(func(v UserNotices) string { return "Notices of " + v.Name + " are saved." }),
		Leads: toAccount,
	}
}
