package mail

import (
	"encoding/json"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/strict"
)

// Notice is an event of a service of which its users may be mailed.
type Notice struct {
	Name    string // "jobs"
	Service string // "maintenance"
	Title   string // "Assigned to you"

	// Tell reads the record's row and the path of its page; is is false if the notice no longer applies.
	Tell func(c *db.Conn, w *Writer, r Row, user string) (cells []string, path string, is bool, err error)
	// Due reads what waits for the user today or is overdue, for the digest; nil: nothing does.
	Due func(c *db.Conn, w *Writer, user string) (rows [][]string, err error)
}

// Told is a notice that happened.
type Told struct {
	Notice  string        // its name
	Subject string        // the record, in the audit trail's form
	Record  string        // the same as people name it
	Service string        // "" is that of the transaction
	Role    string        // who is notified: "" everybody with a role in the service, "member" those who write, "admin"
	User    string        // only this user, in any case; "" is all
	Every   exact.Instant // seconds within which a user is notified once; 0: each time
}

// Notify mails the users who subscribed to the notice, have an address and the role, except the author of the change:
// at once, or with their next digest. It fails only if the database does.
func Notify(tx *db.Tx, t Told) error {
	if is, err := SetUp(&tx.Conn); err != nil || !is || tx.Who().Unmailed {
		return err
	}
	if t.Service == "" {
		t.Service = tx.Who().Service
	}
	type user struct {
		id                         int64
		name, email, notices, role string
	}
	all, err := db.All(&tx.Conn, func(r *db.Row) user { return user{r.Int(), r.Text(), r.Text(), r.Text(), r.Text()} },
		`SELECT u.id, u.name, u.email, u.notices, r.role FROM users u JOIN roles r ON r.user_id = u.id AND r.service = ?
		WHERE u.email IS NOT NULL AND u.disabled = 0 AND u.removed_at IS NULL ORDER BY u.id`, t.Service)
	if err != nil {
		return err
	}
	for _, u := range all {
		if u.name == tx.Who().User || t.User != "" && !strings.EqualFold(t.User, u.name) || !t.hears(u.role) {
			continue
		}
		wishes, err := ParseNotices(u.notices)
		if err != nil {
			return err
		}
		r := Row{Kind: "notice", Subject: t.Subject, Record: t.Record, To: u.email, Person: db.Subject("user", u.id),
			Note: t.Notice + " " + t.Service}
		if err := t.tell(tx, r, wishes.of(t.Notice)); err != nil {
			return err
		}
	}
	return nil
}

func (t Told) hears(role string) bool {
	return t.Role == "" || role == "admin" || role == t.Role
}

func (t Told) tell(tx *db.Tx, r Row, how string) error {
	if how == Never {
		return nil
	}
	if t.Every > 0 {
		_, told, err := db.One(&tx.Conn, db.Int,
			"SELECT 1 FROM mails WHERE person = ? AND kind = 'notice' AND note = ? AND created_at > ? LIMIT 1",
			r.Person, r.Note, tx.Now()-t.Every)
		if err != nil || told {
			return err
		}
	}
	state := Queued
	if how == Digest {
		state = Held
	}
	why, err := Unsendable(&tx.Conn, r.To)
	if err != nil {
		return err
	}
	_, err = insert(tx, r, state, why)
	return err
}

// Wish is how a user hears of one notice.
type Wish struct {
	Name, About string
	How         *string
}

// Each are the notices one by one.
func (n *Notices) Each() []Wish {
	return []Wish{
		{"jobs", "a work order is assigned to you; the digest also lists what is due", &n.Jobs},
		{"requests", "somebody asks for work on the request page", &n.Requests},
		{"tickets", "a tenant makes a ticket or adds a note", &n.Tickets},
		{"alarms", "stock falls to its reorder point", &n.Alarms},
		{"payments", "a payment could not be booked", &n.Payments},
		{"deliveries", "a webhook delivery or a message fails", &n.Deliveries},
	}
}

// of is how a user hears of the notice.
func (n *Notices) of(name string) string {
	for _, w := range n.Each() {
		if w.Name == name {
			return *w.How
		}
	}
	return Never
}

// The choices of a user for a notice.
const (
	Never  = "off"
	Now    = "now"
	Digest = "digest" // in the next digest
)

// Hearing are a user's choices for a notice.
var Hearing = []string{Never, Now, Digest}

// Notices are a user's choices by notice, each one of Hearing.
type Notices struct {
	Jobs       string `json:"jobs"`
	Requests   string `json:"requests"`
	Tickets    string `json:"tickets"`
	Alarms     string `json:"alarms"`
	Payments   string `json:"payments"`
	Deliveries string `json:"deliveries"`
}

// ParseNotices parses a user's stored choices; defaults: jobs at once, the rest never.
func ParseNotices(kept string) (n Notices, err error) {
	n = Notices{Now, Never, Never, Never, Never, Never}
	err = json.Unmarshal([]byte(kept), &n)
	return n, err
}

// Kept is the stored form of the notices.
func (n Notices) Kept() (string, error) {
	b, err := strict.Marshal(n)
	return string(b), err
}
