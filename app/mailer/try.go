package mailer

import (
	"context"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// Tested is what came of a test message.
type Tested struct {
	OK    bool   `json:"ok"`
	Stage string `json:"stage" enum:"connect,tls,auth,from,to,data"`
	Code  *int64 `json:"code"`
	Reply string `json:"reply"`
	To    string `json:"-"`
}

// Refusals let the command fail when the test was not well.
func (t Tested) Refusals() (refused []string, err error) {
	if t.OK {
		return nil, nil
	}
	return nil, fault.Conflictf("the test message was not sent: %s", t.Reply)
}

// testKind is of test messages, which have no text of their own and are not tried again.
const testKind = "test"

// test sends a message now, past everything that waits, and says what the server answered.
func (b *Book) test(ctx context.Context, who db.Caller, to string) (t Tested, err error) {
	var o outgoing
	begin := func(tx *db.Tx) (err error) {
		if to, err = b.testTo(tx, who, to); err != nil {
			return err
		}
		o, err = b.testMessage(tx, to)
		return err
	}
	if err := db.Exec(ctx, b.d, bookkeeping(who), begin); err != nil || b.d.Trying() {
		return Tested{OK: true, Stage: string(mail.Data), To: to}, err
	}
	var r mail.Reply
	deliver(ctx, o.settings, o.envelope, o.body, func(last mail.Reply) { r = last })
	err = db.Exec(context.WithoutCancel(ctx), b.d, bookkeeping(who), func(tx *db.Tx) error {
		means, _ := r.Means()
		state := map[mail.Outcome]string{mail.Sent: mail.Done, mail.Refused: mail.Declined}[means]
		t = Tested{OK: means == mail.Sent, Stage: string(r.Stage), Reply: r.Kept(to), To: to}
		if r.Code != 0 {
			code := int64(r.Code)
			t.Code = &code
		}
		if t.OK {
			if err := tx.SetSetting(settingTrouble, ""); err != nil {
				return err
			}
		}
		_, err := tx.Exec("UPDATE mails SET state = ?, tries = 1, code = ?, reply = ? WHERE id = ?", or(state, mail.Failed),
			t.Code, t.Reply, o.row.ID)
		return err
	})
	return t, err
}

// testTo is the address that a test goes to, by default the user's own. It refuses what cannot be tested.
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
func (b *Book) testMessage(tx *db.Tx, to string) (o outgoing, err error) {
	if o.settings, err = b.server(&tx.Conn); err != nil {
		return o, err
	}
	shop, err := tx.Setting(db.SettingShopName)
	if err != nil {
		return o, err
	}
	o.envelope = mail.Envelope{From: o.settings.From, FromName: or(o.settings.FromName, shop), ReplyTo: o.settings.ReplyTo,
		To: to,
		ID: mail.NewID(), Date: tx.Now().Time().In(tx.Zone())}
	parsed, err := mail.Parse(mail.Kind{}, "Test of mail from {shop}", "Mail from {shop} arrives.\n\n"+
		"It tests the mail settings. You need not do anything.")
	if err != nil {
		return o, err
	}
	o.body = o.envelope.Bytes(parsed.Write(map[string]mail.Value{"shop": mail.Text(or(shop, "Quartermaster"))}))
	o.row.ID, err = tx.Insert(`INSERT INTO mails (service, kind, subject, record, address, state, link, message_id,
		created_at, tried_at)
		VALUES ('', ?, '', '', ?, 'sending', 0, ?, ?, ?)`, testKind, to, o.envelope.ID, tx.Now(), tx.Now())
	return o, err
}

// bookkeeping is the caller's write that leaves no audit entry: the row of the message tells of it.
func bookkeeping(who db.Caller) db.Caller {
	own := db.Bookkeeping()
	own.Request = who.Request
	return own
}

func either(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

func or(s, other string) string {
	if s != "" {
		return s
	}
	return other
}
