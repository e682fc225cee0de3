package account

import (
	"cmp"
	"context"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
	"quartermaster/schema/session"
)

// Mails are the messages to users about their accounts.
func Mails() []mail.Kind { return []mail.Kind{staffLink} }

// staffLink lets a user choose a password. Its row's note is the inviting user; "" for a requested link.
var staffLink = mail.Kind{
	Name: "staff-link", Asked: true, About: "To a user who is invited or asked for a new password: the link to choose " +
		"one.",
	Fields:  []mail.Field{{Name: "link", Must: true}, {Name: "by"}, {Name: "until"}},
	Subject: "Your account at {shop}",
	Body: "Hello {name},\n\nYou were invited by {by}.\n\nChoose a password here: {link}\n\nThis link works once, until " +
		"{until}.\n\n" +
		"If you did not expect this message, ignore it.\n\n{shop}",
	Fill: fillStaffLink, Newest: newestUser, Persons: usersNamed,
	Find: func(c *db.Conn, name string) (mail.Row, error) {
		u, err := findUser(c, name)
		return u.mailed(), err
	},
}

// mailed is the row of a message to the user.
func (u User) mailed() mail.Row { return mail.Row{Subject: u.subject(), Record: u.Name, To: u.Email} }

func newestUser(c *db.Conn) (mail.Row, bool, error) {
	u, found, err := db.One(c, scanUser, "SELECT "+userColumns+
		" FROM users WHERE removed_at IS NULL AND disabled = 0 ORDER BY id DESC LIMIT 1")
	return u.mailed(), found, err
}

// usersNamed are the users of the name or the address who can sign in.
func usersNamed(c *db.Conn, typed string) (rows []mail.Row, err error) {
	all, err := db.All(c, scanUser, "SELECT "+userColumns+` FROM users WHERE removed_at IS NULL AND disabled = 0
		AND email IS NOT NULL AND (name = ?1 OR folded(email) = folded(?1)) ORDER BY id`, strings.TrimSpace(typed))
	for _, u := range all {
		if u.Name == strings.TrimSpace(typed) || mail.Fold(u.Email) == mail.Fold(typed) { // what is folded lacks accents
			rows = append(rows, u.mailed())
		}
	}
	return rows, err
}

func fillStaffLink(c *db.Conn, w *mail.Writer, r mail.Row) (v mail.Content, err error) {
	u, is, err := db.One(c, scanUser, "SELECT "+userColumns+
		" FROM users WHERE id = ? AND disabled = 0 AND removed_at IS NULL", r.Number())
	if err != nil {
		return v, err
	}
	v = mail.Content{To: u.Email, Name: u.Name}
	if !is {
		v.Untrue = "the user is disabled or removed"
		return v, nil
	}
	if w.Base, err = HomeOf(c, u.id); err != nil {
		return v, err
	}
	link, until, err := w.Link(session.Staff, u.id, "/welcome/", r.Link)
	v.Values = map[string]mail.Value{"link": link, "by": mail.Text(inviter(r.Note)), "until": mail.Text(w.Until(until))}
	return v, err
}

// inviter is the inviting user, in words; "cli" is the operator.
func inviter(by string) string {
	if by == "cli" {
		return "the operator"
	}
	return by
}

// HomeOf is the public address of the first service with pages in which the user has a role; else of the first with
// pages.
func HomeOf(c *db.Conn, user int64) (string, error) {
	roles, err := rolesOf(c, user)
	if err != nil {
		return "", err
	}
	first := ""
	for _, s := range schema.ServiceNames {
		address, err := c.Setting(db.SettingAddress + "." + s)
		if err != nil {
			return "", err
		}
		if address = strings.TrimSuffix(address, "/"); address != "" && roles[s] != "" {
			return address, nil
		}
		first = cmp.Or(first, address)
	}
	return first, nil
}

// MailInvitation mails a user an invitation; earlier ones end.
func MailInvitation(ctx context.Context, d *db.DB, who db.Caller, name string) (mail.Listed, error) {
	return update(ctx, d, who, func(tx *db.Tx) (m mail.Listed, err error) {
		if err := mail.CheckSetUp(&tx.Conn); err != nil {
			return m, err
		}
		u, err := invitable(&tx.Conn, who, name)
		if err != nil {
			return m, err
		}
		r := u.mailed()
		r.Note = who.User
		if err := session.Withdraw(tx, session.Staff, u.id); err != nil {
			return m, err
		}
		return staffLink.Mail(tx, r, u.Name, "user.invited", map[string]any{"name": u.Name})
	})
}

// invitable finds a user whom the caller may invite.
func invitable(c *db.Conn, who db.Caller, name string) (User, error) {
	u, err := findUser(c, name)
	if err != nil {
		return u, err
	}
	if err := keepsPerson(c, who, u, "invites"); err != nil {
		return u, err
	}
	if u.Disabled {
		err = fault.Conflictf("the user %s is disabled; run `quartermaster user enable` first", schema.Quote(u.Name))
	}
	return u, err
}

func (o ops) mailInvitation() schema.Op {
	return schema.Op{
		Name: "mail_invitation", Writes: true, Admin: true, Destructive: true,
		About:   "Mail a user a link to set a first or a new password. It works once within 24 hours. An earlier link ends.",
		Command: "user mail-invitation NAME", Example: "user mail-invitation bob",
		Response: mail.ExampleListed("", "staff-link", "bob"),
		Refuses:  []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Does(bindName, func(ctx context.Context, who db.Caller, name string) (mail.Listed, error) {
			return MailInvitation(ctx, o.d, who, name)
		}),
		Will:  mail.Says("Mail %s an invitation, to %s. An earlier one ends."),
		Did:   mail.Says("An invitation for %s is mailed to %s."),
		Leads: toUsers,
	}
}
