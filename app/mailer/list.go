package mailer

import (
	"context"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
	"quartermaster/schema/strict"
)

// Mail is a listed message.
type Mail = mail.Listed

// States are the states of a message.
var States = []string{mail.Held, mail.Queued, mail.Sending, mail.Done, mail.Declined, mail.Failed, mail.Cancelled}

// List is messages, newest first.
type List struct {
	Mails []Mail `json:"mails"`
	Next  *int64 `json:"next"`
	Total int64  `json:"total"`
}

// Filter restricts the list.
type Filter struct {
	State, Kind, Record, Q string
	Page                   schema.Cursor[int64]
}

// where is the filter's conditions, including what the caller may see: a service's own messages, for admins also those
// of the appliance.
func (f Filter) where(who db.Caller) (w db.Where) {
	admin := who.Role == "admin"
	w.And(who.Service != "" && admin, "service IN (?, '')", who.Service)
	w.And(who.Service != "" && !admin, "service = ?", who.Service)
	w.And(f.State != "", "state = ?", f.State)
	w.And(f.Kind != "", "kind = ?", f.Kind)
	w.And(f.Record != "", "record = ?", f.Record)
	w.And(f.Q != "", "instr(folded(address), folded(?)) > 0", f.Q)
	return w
}

// List lists messages, newest first.
func (b *Book) List(ctx context.Context, who db.Caller, f Filter) (List, error) {
	return db.Read(ctx, b.d, func(c *db.Conn) (v List, err error) {
		if err := mail.CheckSetUp(c); err != nil {
			return v, err
		}
		return list(c, who, f)
	})
}

func list(c *db.Conn, who db.Caller, f Filter) (v List, err error) {
	w := f.where(who)
	if v.Total, _, err = db.One(c, db.Int, "SELECT count(*) FROM mails"+w.SQL(), w.Args...); err != nil {
		return v, err
	}
	w.And(f.Page.After > 0, "id < ?", f.Page.After)
	v.Mails, err = db.All(c, mail.ScanListed, "SELECT "+mail.ListedColumns+w.SQL()+" ORDER BY id DESC LIMIT ?",
		append(w.Args, f.Page.Fetch())...)
	if v.Mails == nil {
		v.Mails = []Mail{}
	}
	v.Mails, v.Next = schema.Cut(v.Mails, f.Page.Limit, func(m Mail) int64 { return m.ID })
	return v, err
}

// mostAbout is the number of messages on a record's page.
const mostAbout = 20

// About lists the newest messages about records, or to people, by their names in the audit trail.
func (b *Book) About(ctx context.Context, who db.Caller, subjects []string) ([]Mail, error) {
	list, err := strict.Marshal(subjects)
	if err != nil {
		return nil, err
	}
	w := Filter{}.where(who)
	return db.Read(ctx, b.d, func(c *db.Conn) ([]Mail, error) {
		return db.All(c, mail.ScanListed, "SELECT "+mail.ListedColumns+` WHERE id IN (
			SELECT id FROM mails WHERE subject IN (SELECT value FROM json_each(?))
			UNION SELECT id FROM mails WHERE person IN (SELECT value FROM json_each(?)) AND person <> '')
			`+w.Text+" ORDER BY id DESC LIMIT ?", append([]any{string(list), string(list)}, append(w.Args, mostAbout)...)...)
	})
}

// one finds a message that the caller may see.
func one(c *db.Conn, who db.Caller, id int64) (m Mail, err error) {
	m, err = mail.Find(c, id)
	if err == nil && who.Service != "" && m.Service != who.Service && (m.Service != "" || who.Role != "admin") {
		err = fault.NotFoundf("there is no message %d", id)
	}
	return m, err
}

// Reads is a message with its present text, keys and links masked.
type Reads struct {
	Mail
	Now mail.Written
	Why string // why it would not be sent now
}

// Read reads a message with its present text.
func (b *Book) Read(ctx context.Context, who db.Caller, id int64) (Reads, error) {
	return db.Read(ctx, b.d, func(c *db.Conn) (v Reads, err error) {
		if err := mail.CheckSetUp(c); err != nil {
			return v, err
		}
		if v.Mail, err = one(c, who, id); err != nil {
			return v, err
		}
		v.Now, v.Why, err = b.reads(c, v.Mail)
		return v, err
	})
}

// reads is a message's present text, or why it would not be sent.
func (b *Book) reads(c *db.Conn, m Mail) (now mail.Written, why string, err error) {
	k, is := b.names[m.Kind]
	if !is {
		return now, "a " + m.Kind + " message has no text", nil
	}
	t, err := b.text(c, k.Name)
	if err != nil {
		return now, "", err
	}
	f, err := b.fill(c, k, m.Row(), t, nil)
	switch {
	case fault.Is(err, fault.Invalid), fault.Is(err, fault.NotFound):
		return now, err.Error(), nil
	case err != nil || f.Untrue != "":
		return now, f.Untrue, err
	case f.To == "":
		return f.Written, "the address was removed", nil
	}
	why, err = mail.Unsendable(c, f.To)
	return f.Written, why, err
}

// Again is messages that were queued again, or cancelled: one as its row, several as a list.
type Again = mail.Several

// resend queues finished messages again.
func (b *Book) resend(ctx context.Context, who db.Caller, ids []int64) (Again, error) {
	return b.each(ctx, who, ids, func(tx *db.Tx, m Mail) (Mail, error) {
		again, err := b.requeue(tx, m)
		if err != nil {
			return m, err
		}
		return again, tx.AuditIn(m.Service, "mail.resent", db.Subject("mail", again.ID),
			map[string]any{"of": m.ID, "kind": m.Kind, "record": m.Record})
	})
}

// each changes the messages, all or none.
func (b *Book) each(ctx context.Context, who db.Caller, ids []int64, change func(*db.Tx, Mail) (Mail, error)) (Again,
	error) {
	return db.Update(ctx, b.d, who, func(tx *db.Tx) (all Again, err error) {
		if err := mail.CheckSetUp(&tx.Conn); err != nil {
			return all, err
		}
		for _, id := range ids {
			m, err := one(&tx.Conn, who, id)
			if err == nil {
				m, err = change(tx, m)
			}
			if err != nil {
				return all, err
			}
			all.Mails = append(all.Mails, m)
		}
		return all, nil
	})
}

func (b *Book) requeue(tx *db.Tx, m Mail) (Mail, error) {
	_, is := b.names[m.Kind]
	switch {
	case m.State == mail.Queued || m.State == mail.Sending || m.State == mail.Held:
		return m, fault.Conflictf("message %d is %s; only a finished message can be sent again", m.ID, m.State)
	case !is || m.Row().Link:
		return m, fault.Conflictf("message %d is of the kind %s and cannot be sent again; request a new one", m.ID, m.Kind)
	}
	_, why, err := b.reads(&tx.Conn, m)
	if err != nil {
		return m, err
	}
	if why != "" {
		return m, fault.Conflictf("message %d about %s cannot be sent again: %s", m.ID, m.Record, why)
	}
	id, err := tx.Insert(`INSERT INTO mails (service, kind, subject, record, person, note, address, state, link,
		message_id, created_at, next_try_at)
		SELECT service, kind, subject, record, person, note, address, 'queued', link, ?, ?, ? FROM mails WHERE id = ?`,
		mail.NewID(), tx.Now(), tx.Now(), m.ID)
	if err != nil {
		return m, err
	}
	return one(&tx.Conn, db.CLI(""), id)
}

// cancel cancels waiting messages.
func (b *Book) cancel(ctx context.Context, who db.Caller, ids []int64) (Again, error) {
	return b.each(ctx, who, ids, func(tx *db.Tx, m Mail) (Mail, error) {
		if m.State != mail.Queued && m.State != mail.Held {
			return m, fault.Conflictf("message %d is %s; only a waiting message can be cancelled", m.ID, m.State)
		}
		if _, err := tx.Exec("UPDATE mails SET state = 'cancelled', next_try_at = NULL, reply = ? WHERE id = ?",
			"cancelled by "+who.User, m.ID); err != nil {
			return m, err
		}
		err := tx.AuditIn(m.Service, "mail.cancelled", db.Subject("mail", m.ID),
			map[string]any{"kind": m.Kind, "record": m.Record})
		if err != nil {
			return m, err
		}
		return one(&tx.Conn, who, m.ID)
	})
}

// Blocked is an address to which nothing is sent.
type Blocked struct {
	Email  string        `json:"email"`
	Reason string        `json:"reason"`
	At     exact.Instant `json:"created_at"`
}

// Blocks lists the addresses to which nothing is sent.
func Blocks(c *db.Conn) ([]Blocked, error) {
	return db.All(c, func(r *db.Row) Blocked { return Blocked{r.Text(), r.Text(), r.Instant()} },
		"SELECT address, reason, created_at FROM blocked_addresses ORDER BY address")
}

func (b *Book) block(ctx context.Context, who db.Caller, email, reason string) (Address, error) {
	service := who.Service
	return update(ctx, b, who, func(tx *db.Tx) (v Address, err error) {
		if v.Email, err = mail.CheckAddress("email", email); err != nil {
			return v, err
		}
		if err := mail.Block(tx, v.Email, reason); err != nil {
			return v, err
		}
		return v, tx.AuditIn(service, "address.blocked", "address:"+mail.Fold(v.Email), map[string]string{"reason": reason})
	})
}

func (b *Book) unblock(ctx context.Context, who db.Caller, email string) (Address, error) {
	service := who.Service
	return update(ctx, b, who, func(tx *db.Tx) (Address, error) {
		v := Address{Email: strings.TrimSpace(email)}
		n, err := tx.Exec("DELETE FROM blocked_addresses WHERE address = ?", mail.Fold(email))
		if err == nil && n == 0 {
			err = fault.NotFoundf("the address %s is not blocked", schema.Quote(v.Email))
		}
		if err != nil {
			return v, err
		}
		return v, tx.AuditIn(service, "address.unblocked", "address:"+mail.Fold(email), v)
	})
}

// Address is an e-mail address that was blocked or unblocked.
type Address struct {
	Email string `json:"email"`
}
