package session

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Customer is of whom a mailed link of the store is: all licenses of a customer.
const Customer Kind = "customer"

// MakeLink makes a mailed link's token for the person, good for life seconds. Earlier links go on
// working: a message that is tried again brings another one.
func MakeLink(tx *db.Tx, kind Kind, person int64, life exact.Instant) (made string, until exact.Instant, err error) {
	if _, err := tx.Exec("DELETE FROM mail_links WHERE expires_at <= ?", tx.Now()-keptFor); err != nil {
		return "", 0, err
	}
	made, until = token(), tx.Now()+life
	hash, _ := Hash(made)
	_, err = tx.Exec("INSERT INTO mail_links (hash, kind, subject, created_at, expires_at) VALUES (?, ?, ?, ?, ?)",
		hash[:], string(kind), person, tx.Now(), until)
	return made, until, err
}

// FindLink returns whose link it is: NotFound for one that there never was, Gone for one that has ended.
func FindLink(c *db.Conn, kind Kind, token string) (person int64, err error) {
	type link struct {
		person  int64
		expires exact.Instant
		ended   bool
	}
	hash, ok := Hash(token)
	if !ok {
		return 0, noLink()
	}
	l, found, err := db.One(c, func(r *db.Row) link { return link{r.Int(), r.Instant(), r.Bool()} },
		"SELECT subject, expires_at, ended_at IS NOT NULL FROM mail_links WHERE hash = ? AND kind = ?", hash[:], string(kind))
	switch {
	case err != nil:
		return 0, err
	case !found:
		return 0, noLink()
	case l.ended || c.Now() >= l.expires:
		return 0, fault.New(fault.Gone, "this link was used or is over; ask for a new one")
	}
	return l.person, nil
}

func noLink() error { return fault.NotFoundf("there is no such link; ask for a new one") }

// EndLinks ends all mailed links of the person, since one was used or the person was forgotten.
func EndLinks(tx *db.Tx, kind Kind, person int64) error {
	_, err := tx.Exec("UPDATE mail_links SET ended_at = ? WHERE kind = ? AND subject = ? AND ended_at IS NULL", tx.Now(), string(kind), person)
	return err
}
