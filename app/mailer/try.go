package mailer

import (
	"cmp"
	"context"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// Tested is the result of a test message.
type Tested struct {
	OK    bool   `json:"ok"`
	Stage string `json:"stage" enum:"connect,tls,auth,from,to,data"`
	Code  *int64 `json:"code"`
	Reply string `json:"reply"`
	To    string `json:"-"`
}

// Refusals make the command fail if the test failed.
func (t Tested) Refusals() (refused []string, err error) {
	if t.OK {
		return nil, nil
	}
	return nil, fault.Conflictf("the test message was not sent: %s", t.Reply)
}

// testKind is the kind of test messages, which have no changeable text and are not retried.
const testKind = "test"

// test sends a message at once, before all waiting ones, and returns the server's reply.
func (b *Book) test(ctx context.Context, who db.Caller, to string) (t Tested, err error) {
	var o *outgoing
	caller := who
	caller.Service = ""
	err = db.Exec(ctx, b.d, caller, func(tx *db.Tx) (err error) {
		if to, err = b.testTo(tx, who, to); err != nil {
			return err
		}
		if o, err = b.testMessage(tx, to); err != nil {
			return err
		}
		return tx.Audit("mail.tested", db.Subject("mail", o.ID), map[string]string{"kind": testKind})
	})
	if err != nil || b.d.Trying() {
		return Tested{OK: true, Stage: string(mail.Data), To: to}, err
	}
	var r mail.Reply
	deliver(ctx, o.settings, o.envelope, o.body, func(last mail.Reply) { r = last })
	t = Tested{Stage: string(r.Stage), Reply: r.Kept(to), To: to}
	if r.Code != 0 {
		code := int64(r.Code)
		t.Code = &code
	}
	return t, db.Exec(context.WithoutCancel(ctx), b.d, db.Bookkeeping(), func(tx *db.Tx) error {
		state, err := b.record(tx, o, r)
		t.OK = state == mail.Done
		return err
	})
}

// testTo is the address of a test, by default the user's own. It refuses an impossible test.
func (b *Book) testTo(tx *db.Tx, who db.Caller, to string) (string, error) {
	if err := mail.CheckSetUp(&tx.Conn); err != nil {
		return to, err
	}
	if demo, err := tx.Setting(settingDemo); err != nil || demo != "" {
		return to, either(err, fault.Conflictf("this is a demo shop, which sends no mail"))
	}
	var err error
	if to == "" {
		if to, _, err = db.One(&tx.Conn, db.Text, "SELECT email FROM users WHERE name = ? AND removed_at IS NULL",
			who.User); err != nil {
			return to, err
		}
		if to == "" {
			return to, fault.Fieldf("to", "to is missing: give an address, since you have none of your own")
		}
	}
	if to, err = mail.CheckAddress("to", to); err != nil {
		return to, err
	}
	if why, err := mail.Unsendable(&tx.Conn, to); err != nil || why != "" {
		return to, either(err, fault.Conflictf("no test is sent to %s: %s", to, why))
	}
	return to, nil
}

// testMessage writes the message and its row, in state sending.
func (b *Book) testMessage(tx *db.Tx, to string) (*outgoing, error) {
	id, err := tx.Insert(`INSERT INTO mails (service, kind, subject, record, address, state, link, message_id, created_at,
		tried_at) VALUES ('', ?, '', '', ?, 'sending', 0, ?, ?, ?)`, testKind, to, mail.NewID(), tx.Now(), tx.Now())
	if err != nil {
		return nil, err
	}
	m, err := mail.Find(&tx.Conn, id)
	if err != nil {
		return nil, err
	}
	o := &outgoing{Listed: m, row: m.Row()}
	if o.settings, err = b.server(&tx.Conn); err != nil {
		return nil, err
	}
	shop, err := tx.Setting(db.SettingShopName)
	if err != nil {
		return nil, err
	}
	parsed, err := mail.Parse(mail.Kind{}, "Test of mail from {shop}", "Mail from {shop} arrives.\n\n"+
		"It tests the mail settings. You need not do anything.")
	if err != nil {
		return nil, err
	}
	return o, o.seal(tx, "", false, parsed.Write(map[string]mail.Value{"shop": mail.Text(cmp.Or(shop, "Quartermaster"))}))
}

func either(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
