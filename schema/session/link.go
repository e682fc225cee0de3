package session

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

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
