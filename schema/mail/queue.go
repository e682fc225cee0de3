package mail

import (
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Names of settings. Those of kinds are settingKind and the kind's name: "on" or "off".
const (
	SettingHost   = "mail.host" // without it mail is not set up
	SettingLocale = "locale"
	settingKind   = "mail.kind."
)

// SetUp reports whether there is a mail server to send by.
func SetUp(c *db.Conn) (bool, error) {
	host, err := c.Setting(SettingHost)
	return host != "", err
}

// CheckSetUp refuses what needs a mail server while there is none.
func CheckSetUp(c *db.Conn) error {
	is, err := SetUp(c)
	if err == nil && !is {
		err = fault.Conflictf(
			"mail is not set up; an admin enters the mail server under Settings, Mail, or with `quartermaster mail set`")
	}
	return err
}

// On reports whether messages of the kind are made.
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
	Queued    = "queued"  // waits for its next try
	Sending   = "sending" // a try is under way, or was cut off with the program
	Done      = "sent"
	Declined  = "refused" // by the server or by a rule here; never tried again
	Failed    = "failed"  // its time is over
	Cancelled = "cancelled"
)

// Queue makes a row of a message in the transaction of the act that causes it, and gives its id; 0
// when there is nothing to make: mail is not set up, the kind is off, there is no address, the act is an import's. A
// row whose address is blocked or ill-formed is refused at once. It fails only where the database does.
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

// insert makes a row, queued or held; why it is refused at once, if it is.
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

// Ask is Queue for a message that a person asked for: it is refused where Queue makes no row, or one
// that is refused. who is the person as people call them.
func (k Kind) Ask(tx *db.Tx, r Row, who string) (id int64, err error) {
	if err := k.MayAsk(&tx.Conn, r.To, who); err != nil {
		return 0, err
	}
	return k.Queue(tx, r)
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

// Unsendable says why nothing goes to the address; "" when it may.
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

// Block lets nothing go to the address from now on. The caller audits it, if a person asked.
func Block(tx *db.Tx, address, reason string) error {
	_, err := tx.Exec(`INSERT INTO blocked_addresses VALUES (?, ?, ?) ON CONFLICT (address) DO UPDATE
		SET reason = excluded.reason`,
		Fold(address), reason, tx.Now())
	return err
}

// about finds the messages about a subject and those to a person, by the name that the audit trail has.
const about = "(subject = ?1 OR person = ?1 AND person <> '')"

// Forget takes a person's address from the messages about the subject, or to the person of that name,
// ends those that wait, and drops the block of the address. record is what the subject is called from
// now on; what a message to the person is about keeps its name.
func Forget(tx *db.Tx, subject, record string) error {
	_, err := tx.Exec(`DELETE FROM blocked_addresses WHERE address IN (SELECT lower(address) FROM mails WHERE `+about+`)`,
		subject)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE mails SET address = '', record = iif(subject = ?1, ?2, record),
		reply = CASE WHEN state IN ('held', 'queued') THEN 'the person was forgotten' END,
		next_try_at = NULL, state = CASE WHEN state IN ('held', 'queued') THEN 'cancelled' ELSE state END
		WHERE `+about, subject, record)
	return err
}
