package mail

import (
	"context"
	"maps"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Names of settings. Those of kinds are settingKind and the kind's name: "on" or "off".
const (
	SettingHost   = "mail.host" // without it mail is not set up
	SettingLocale = "locale"
	settingKind   = "mail.kind."
)

// SetUp reports whether a mail server is configured.
func SetUp(c *db.Conn) (bool, error) {
	host, err := c.Setting(SettingHost)
	return host != "", err
}

// Offered reports whether a service's pages and forms offer to mail.
func Offered(d *db.DB) bool {
	if d == nil {
		return false
	}
	is, err := db.Read(context.Background(), d, SetUp)
	return err == nil && is
}

// CheckSetUp refuses an action that needs a mail server if there is none.
func CheckSetUp(c *db.Conn) error {
	is, err := SetUp(c)
	if err == nil && !is {
		err = fault.Conflictf(
			"mail is not set up; an admin enters the mail server under Settings, Mail, or with `quartermaster mail set`")
	}
	return err
}

// On reports whether messages of the kind are turned on.
func (k Kind) On(c *db.Conn) (bool, error) {
	if k.Asked {
		return true, nil
	}
	kept, err := c.Setting(settingKind + k.Name)
	return kept == "on" || kept == "" && !k.Off, err
}

// Switch turns the kind on or off. The caller audits it.
func (k Kind) Switch(tx *db.Tx, on bool) error {
	return tx.SetSetting(settingKind+k.Name, map[bool]string{true: "on", false: "off"}[on])
}

// The states of a message.
const (
	Held      = "held"    // for the next digest
	Queued    = "queued"  // waits for its next attempt
	Sending   = "sending" // an attempt is under way, or was interrupted with the program
	Done      = "sent"
	Declined  = "refused" // by the server or by a rule here; never retried
	Failed    = "failed"  // its time is over
	Cancelled = "cancelled"
)

// Queue adds a message to the queue in the transaction that causes it and returns its id. It is 0 if none is needed:
// mail is not set up, the kind is off, there is no address, or the rows are imported. A row whose address is blocked or
// ill-formed is refused at once. Queue fails only if the database does.
func (k Kind) Queue(tx *db.Tx, r Row) (id int64, err error) {
	if is, err := SetUp(&tx.Conn); err != nil || !is || r.To == "" || tx.Who().Unmailed {
		return 0, err
	}
	if on, err := k.On(&tx.Conn); err != nil || !on {
		return 0, err
	}
	r.Service, r.Kind = k.Service, k.Name
	why, err := Unsendable(&tx.Conn, r.To)
	if err != nil {
		return 0, err
	}
	return insert(tx, r, Queued, why)
}

// insert adds a row, queued or held; why: the reason for refusing it at once.
func insert(tx *db.Tx, r Row, state, why string) (id int64, err error) {
	next, reply := any(tx.Now()), any(nil)
	if state == Held {
		next = nil
	}
	if why != "" {
		state, next, reply = Declined, nil, why
	}
	return tx.Insert(`INSERT INTO mails (service, kind, subject, record, person, note, address, state, link, message_id,
		reply, created_at, next_try_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.Service, r.Kind, r.Subject, r.Record, r.Person, r.Note, r.To, state, r.Link, NewID(), reply, tx.Now(), next)
}

// Newest is the number of the newest message; 0 when there is none.
func Newest(c *db.Conn) (id int64, err error) {
	id, _, err = db.One(c, db.Int, "SELECT ifnull(max(id), 0) FROM mails")
	return id, err
}

// WaitingAfter is how many messages with higher numbers wait to be sent.
func WaitingAfter(c *db.Conn, id int64) (n int64, err error) {
	n, _, err = db.One(c, db.Int, "SELECT count(*) FROM mails WHERE id > ? AND state = 'queued'", id)
	return n, err
}

// Ask is Queue for a message that a person requested: it returns a refusal where Queue adds no row, or a refused one.
// who is the person's name. The kind's switch does not matter.
func (k Kind) Ask(tx *db.Tx, r Row, who string) (id int64, err error) {
	if err := k.MayAsk(&tx.Conn, r.To, who); err != nil {
		return 0, err
	}
	k.Asked = true
	return k.Queue(tx, r)
}

// Mail is Ask with an entry of the trail about the row's subject: the action, with more beside the message's number.
func (k Kind) Mail(tx *db.Tx, r Row, who, action string, more map[string]any) (m Listed, err error) {
	id, err := k.Ask(tx, r, who)
	if err != nil {
		return m, err
	}
	if m, err = Find(&tx.Conn, id); err != nil {
		return m, err
	}
	entry := map[string]any{"mail": id}
	maps.Copy(entry, more)
	return m, tx.Audit(action, r.Subject, entry)
}

// MayAsk refuses a message that cannot be sent to the address, naming the person.
func (k Kind) MayAsk(c *db.Conn, to, who string) error {
	if err := CheckSetUp(c); err != nil {
		return err
	}
	if to == "" {
		return fault.Conflictf("%s has no e-mail address; enter one first", who)
	}
	why, err := Unsendable(c, to)
	if err == nil && why != "" {
		err = fault.Conflictf("nothing can be mailed to %s: %s", who, why)
	}
	return err
}

// Unsendable says why nothing can be sent to the address; "" if it can.
func Unsendable(c *db.Conn, to string) (why string, err error) {
	if !Plain(to) {
		return "the address is not a plain e-mail address", nil
	}
	reason, is, err := db.One(c, db.Text, "SELECT reason FROM blocked_addresses WHERE address = ?", Fold(to))
	if err != nil || !is {
		return "", err
	}
	if reason != "" {
		reason = ": " + reason
	}
	return "the address is blocked" + reason, nil
}

// Block prevents all further messages to the address. The caller audits a person's request.
func Block(tx *db.Tx, address, reason string) error {
	_, err := tx.Exec(`INSERT INTO blocked_addresses VALUES (?, ?, ?) ON CONFLICT (address) DO UPDATE
		SET reason = excluded.reason`,
		Fold(address), reason, tx.Now())
	return err
}

// about finds the messages about a subject and those to a person, by the audit trail's name.
const about = "(subject = ?1 OR person = ?1 AND person <> '')"

// Forget removes a person's address from the messages about the subject, or to that person, cancels waiting ones, and
// removes the address's block. record becomes the subject's name; the subject of a message to the person keeps its
// name.
// addresses are the person's, whose blocks are removed too.
func Forget(tx *db.Tx, subject, record string, addresses ...string) error {
	written, err := db.All(&tx.Conn, db.Text, "SELECT address FROM mails WHERE "+about, subject)
	if err != nil {
		return err
	}
	for _, a := range append(written, addresses...) {
		if _, err := tx.Exec("DELETE FROM blocked_addresses WHERE address = ?", Fold(a)); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE audit SET subject = 'address:forgotten', changes = '{}'
			WHERE subject = 'address:' || ?`, Fold(a)); err != nil {
			return err
		}
	}
	_, err = tx.Exec(`UPDATE mails SET address = '', record = iif(subject = ?1, ?2, record),
		reply = CASE WHEN state IN ('held', 'queued') THEN 'the person was forgotten' END,
		next_try_at = NULL, state = CASE WHEN state IN ('held', 'queued') THEN 'cancelled' ELSE state END
		WHERE `+about, subject, record)
	return err
}
