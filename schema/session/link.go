package session

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// askedFor is the lifetime of a link that a visitor requested, in seconds.
const askedFor = 60 * minute

// LinkLife is the lifetime in seconds of a mailed link of the kind: requested by a visitor, or an invitation.
func (k Kind) LinkLife(asked bool) exact.Instant {
	if life := validFor[k]; !asked && life != 0 {
		return life
	}
	return askedFor
}

// MakeLink makes a mailed link's token for the person, valid for life seconds. Earlier links stay valid, since a
// message that is retried has another one.
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

// MakeCode makes another code for the tenant to type.
func MakeCode(tx *db.Tx, tenant int64, by string) (string, error) {
	plain := newCode()
	v := Invitation{Kind: Tenant, Subject: tenant, By: by, ExpiresAt: tx.Now() + codeFor}
	return plain[:4] + "-" + plain[4:], insertInvitation(tx, v, token(), plain)
}

// EndLinks ends all mailed links of the person.
func EndLinks(tx *db.Tx, kind Kind, person int64) error {
	_, err := tx.Exec("UPDATE mail_links SET ended_at = ? WHERE kind = ? AND subject = ? AND ended_at IS NULL", tx.Now(),
		string(kind), person)
	return err
}
