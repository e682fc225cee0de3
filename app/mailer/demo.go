package mailer

import (
	"context"

	"quartermaster/schema/db"
	"quartermaster/schema/mail"
)

// Restored pauses mail in a restored file, since messages may have been sent after the backup. held reports whether
// there is mail to pause.
func Restored(ctx context.Context, d *db.DB) (held bool, err error) {
	if held, err = db.Read(ctx, d, mail.SetUp); err != nil || !held {
		return held, err
	}
	return true, db.Exec(ctx, d, db.Bookkeeping(), func(tx *db.Tx) error { return tx.SetSetting(settingPaused, "1") })
}

// FillDemo sets mail up in a demo, which shows messages in every state and sends nothing. user is the user with a
// waiting digest.
func (b *Book) FillDemo(ctx context.Context, user string) error {
	return db.Exec(ctx, b.d, db.CLI(""), func(tx *db.Tx) error {
		s, err := Change{Host: text("smtp.example.com"), From: text("shop@example.com")}.apply(Settings{})
		if err != nil {
			return err
		}
		if err := s.keep(tx); err != nil {
			return err
		}
		if err := tx.SetSetting(settingDemo, "1"); err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE users SET email = ? WHERE name = ?", user+"@example.com", user); err != nil {
			return err
		}
		if err := b.demoMails(tx, user); err != nil {
			return err
		}
		return tx.Audit("mail.settings", "settings", s)
	})
}

// demoStates are the demo messages' states, in turn.
var demoStates = []struct {
	state, reply string
	code, tries  int64
}{
	{mail.Done, "2.0.0 Ok: queued as 4CzB7q1xLd", 250, 1}, {mail.Queued, "4.7.1 <recipient>: greylisted, try again later",
		451, 1},
	{mail.Done, "2.0.0 Ok: queued as 4CzB9w0vTn", 250, 2}, {mail.Cancelled, "cancelled by demo", 0, 0},
	{mail.Sending, "", 0, 0},
	{mail.Declined, "5.1.1 <recipient>: no such mailbox", 550, 1}, {mail.Failed, "4.2.2 <recipient>: mailbox full", 452,
		18},
}

// demoMails makes a message of each kind with a fitting record, in the states in turn, and a held one.
func (b *Book) demoMails(tx *db.Tx, user string) error {
	n := 0
	for _, k := range b.kinds {
		r, found, err := k.Newest(&tx.Conn)
		if err != nil {
			return err
		}
		if !found || r.To == "" {
			continue
		}
		k.Asked = true
		id, err := k.Queue(tx, r)
		if err != nil || id == 0 {
			return err
		}
		at := demoStates[n%len(demoStates)]
		var code, reply any
		if at.reply != "" {
			reply = at.reply
		}
		if at.code != 0 {
			code = at.code
		}
		_, err = tx.Exec(`UPDATE mails SET state = ?1, code = ?2, reply = ?3, tries = ?4, tried_at = iif(?4 > 0
			OR ?1 = 'sending', created_at, NULL),
			next_try_at = iif(?1 = 'queued', created_at + 60, NULL) WHERE id = ?5`, at.state, code, reply, at.tries, id)
		if err != nil {
			return err
		}
		n++
	}
	id, _, err := db.One(&tx.Conn, db.Int, "SELECT id FROM users WHERE name = ?", user)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO mails (service, kind, subject, record, person, note, address, state, link, message_id,
		created_at)
		SELECT '', 'notice', 'mails', 'Mail', ?, 'deliveries store', ?, 'held', 0, ?, ?`, db.Subject("user", id),
		user+"@example.com", mail.NewID(), tx.Now())
	return err
}

func text(s string) *string { return &s }
