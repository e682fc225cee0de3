package mail

import (
	"encoding/json"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/strict"
)

// Notice is something that happens in a service and that its users may be mailed of.
type Notice struct {
	Name    string // "jobs"
	Service string // "maintenance"
	Title   string // "Assigned to you"

	// Tell reads the row that stands for the record, and the path of its page; is is false when it is not so any
	// more.
	Tell func(c *db.Conn, w *Writer, r Row, user string) (cells []string, path string, is bool, err error)
	// Due reads what waits for the user today or is overdue, for the digest; nil: nothing does.
	Due func(c *db.Conn, w *Writer, user string) (rows [][]string, err error)
}

// Told is what happened.
type Told struct {
	Notice  string        // its name
	Subject string        // the record, as the audit trail names it
	Record  string        // the same as people call it
	Service string        // "" is that of the act
	Role    string        // who hears of it: "" everybody with a role in the service, "member" those who write, "admin"
	User    string        // the one user who does, in any case; "" is all
	Every   exact.Instant // seconds in which a user hears of it once; 0: each time
}

// Notify mails the users who want to hear of it, have an address and the role, but not the one whose act it is:
// at once, or with their next digest. It fails only where the database does.
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
	if how == Never || how == "" {
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

// of is how a user hears of the notice.
func (n Notices) of(name string) string {
	return map[string]string{"jobs": n.Jobs, "requests": n.Requests, "tickets": n.Tickets, "alarms": n.Alarms,
		"payments": n.Payments, "deliveries": n.Deliveries}[name]
}

// How a user hears of a notice.
const (
	Never  = "off"
	Now    = "now"
	Digest = "digest" // in the next digest
)

// Hearing are the ways a user can hear of a notice.
var Hearing = []string{Never, Now, Digest}

// Notices are how a user hears of what happens, each one of Hearing.
type Notices struct {
	Jobs       string `json:"jobs"`       // a work order is assigned to them
	Requests   string `json:"requests"`   // a work order came in by the request page
	Tickets    string `json:"tickets"`    // a tenant made a ticket or added a note
	Alarms     string `json:"alarms"`     // stock fell to its reorder point
	Payments   string `json:"payments"`   // a payment could not be booked
	Deliveries string `json:"deliveries"` // a delivery or a message failed
}

// ParseNotices reads what is kept of a user; what is not kept is as at first: jobs at once, the rest not.
func ParseNotices(kept string) (n Notices, err error) {
	n = Notices{Now, Never, Never, Never, Never, Never}
	err = json.Unmarshal([]byte(kept), &n)
	return n, err
}

// Kept is the notices as they are kept.
func (n Notices) Kept() (string, error) {
	b, err := strict.Marshal(n)
	return string(b), err
}
