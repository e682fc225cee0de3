// Package session stores the rows of signed-in browsers and of invitations, for staff, tenants and buyers alike. It
// works inside the caller's transaction; the caller decides permissions.
package session

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"unicode"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Kind is the kind of a session's owner. A token of one kind is invalid for another.
type Kind string

// The kinds, with the meaning of Subject.
const (
	Staff  Kind = "staff"  // a user
	Tenant Kind = "tenant" // a tenant
	Buyer  Kind = "buyer"  // a license; an order, negative; a customer: see OfCustomer

	Customer Kind = "customer" // of mailed links only: a customer, whose session is a buyer's
)

// customers is above every license's id.
const customers = 1 << 40

// OfCustomer is the subject of a buyer's session for all of a customer's licenses.
func OfCustomer(id int64) int64 { return customers + id }

// CustomerOf is the customer of such a subject; false for a session of one license or order.
func CustomerOf(subject int64) (id int64, is bool) { return subject - customers, subject > customers }

const (
	minute = 60
	day    = 24 * 60 * minute
)

// lifetimes are a session's lifetime in seconds without use, and in total.
var lifetimes = map[Kind]struct{ idle, most exact.Instant }{
	Staff:  {14 * day, 90 * day},
	Tenant: {180 * day, 180 * day},
	Buyer:  {30 * minute, 30 * minute},
}

// Session is a signed-in browser.
type Session struct {
	ID         int64          `json:"id"`
	Kind       Kind           `json:"-"`
	Subject    int64          `json:"-"`
	Device     string         `json:"device"`
	Address    string         `json:"address"`
	CreatedAt  exact.Instant  `json:"created_at"`
	SeenAt     exact.Instant  `json:"seen_at"` // to the minute
	PasswordAt *exact.Instant `json:"-"`       // when the password was last typed; nil: never in this session
}

// From is the origin of a browser's request.
type From struct {
	Address string // the client's address, behind trusted proxies
	Agent   string // its User-Agent header
}

// MaxAge is a session's longest lifetime in seconds, for the cookie.
func (k Kind) MaxAge() int { return int(lifetimes[k].most) }

// Good reports whether the session is still valid at the instant.
func (s Session) Good(now exact.Instant) bool {
	l := lifetimes[s.Kind]
	return now < s.SeenAt+l.idle && now < s.CreatedAt+l.most
}

// token is 32 random bytes in the format of a cookie or a link.
func token() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Hash is the stored form of a token; ok is false for a text that is none.
func Hash(token string) (hash [sha256.Size]byte, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) != 32 {
		return hash, false
	}
	return sha256.Sum256(b), true
}

const columns = "id, kind, subject, device, address, created_at, seen_at, password_at"

func scan(r *db.Row) Session {
	return Session{
		ID: r.Int(), Kind: Kind(r.Text()), Subject: r.Int(), Device: r.Text(), Address: r.Text(),
		CreatedAt: r.Instant(), SeenAt: r.Instant(), PasswordAt: r.InstantPtr(),
	}
}

// Open signs the subject in. The token goes into the cookie and nowhere else. password: the password was just typed.
func Open(tx *db.Tx, kind Kind, subject int64, from From, password bool) (string, Session, error) {
	if err := prune(tx, kind); err != nil {
		return "", Session{}, err
	}
	s := Session{
		Kind: kind, Subject: subject, Device: Device(from.Agent), Address: cut(from.Address, 64),
		CreatedAt: tx.Now(), SeenAt: tx.Now(),
	}
	if password {
		at := tx.Now()
		s.PasswordAt = &at
	}
	t := token()
	hash, _ := Hash(t)
	var err error
	s.ID, err = tx.Insert(
		"INSERT INTO sessions (hash, kind, subject, device, address, created_at, seen_at, password_at) VALUES (?, ?, ?, ?, "+
			"?, ?, ?, ?)",
		hash[:], string(kind), subject, s.Device, s.Address, s.CreatedAt, s.SeenAt, s.PasswordAt)
	return t, s, err
}

// prune deletes sessions beyond their age. Idle ones of another subject are refused anyway, and deleted when they reach
// their age.
func prune(tx *db.Tx, kind Kind) error {
	_, err := tx.Exec("DELETE FROM sessions WHERE kind = ? AND created_at <= ?", string(kind),
		tx.Now()-lifetimes[kind].most)
	return err
}

// Find returns the session of a token; whether it is still Good depends on when it was last seen, which may not be
// written yet.
func Find(c *db.Conn, kind Kind, token string) (s Session, found bool, err error) {
	hash, ok := Hash(token)
	if !ok {
		return s, false, nil
	}
	return db.One(c, scan, "SELECT "+columns+" FROM sessions WHERE hash = ? AND kind = ?", hash[:], string(kind))
}

// Of lists the subject's valid sessions, last seen first.
func Of(c *db.Conn, kind Kind, subject int64) ([]Session, error) {
	all, err := db.All(c, scan, "SELECT "+columns+
		" FROM sessions WHERE kind = ? AND subject = ? ORDER BY seen_at DESC, id DESC", string(kind), subject)
	good := all[:0]
	for _, s := range all {
		if s.Good(c.Now()) {
			good = append(good, s)
		}
	}
	return good, err
}

// End ends one session of the subject, and reports whether there was one.
func End(tx *db.Tx, kind Kind, subject, id int64) (bool, error) {
	n, err := tx.Exec("DELETE FROM sessions WHERE id = ? AND kind = ? AND subject = ?", id, string(kind), subject)
	return n > 0, err
}

// EndAll ends the subject's sessions except the one with the id, 0 for none, and returns their number.
func EndAll(tx *db.Tx, kind Kind, subject, except int64) (int, error) {
	return tx.Exec("DELETE FROM sessions WHERE kind = ? AND subject = ? AND id <> ?", string(kind), subject, except)
}

func cut(s string, most int) string {
	out := make([]rune, 0, min(len(s), most))
	for _, r := range s {
		if len(out) == most {
			break
		}
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			r = '?'
		}
		out = append(out, r)
	}
	return string(out)
}
