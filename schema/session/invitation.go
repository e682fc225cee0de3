package session

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Invitation lets the holder of its link, or its code, sign in: once, within its lifetime.
type Invitation struct {
	Kind      Kind
	Subject   int64
	By        string // the inviting user
	ExpiresAt exact.Instant
	id        int64
}

// Invited is an invitation with its token and code, which are returned only here.
type Invited struct {
	Invitation
	Token string // the end of its link
	Code  string // 8 characters to type, "7GQ2-M4XD", valid until 400 days without use; "" for staff
}

// validFor is a link's lifetime, codeFor a tenant's code's lifetime without use, and keptFor how long afterwards a
// page says that it has ended, in seconds.
var validFor = map[Kind]exact.Instant{Staff: day, Tenant: 14 * day}

const codeFor = 400 * day

const keptFor = 365 * day

// Invite makes an invitation of the subject and ends an earlier one.
func Invite(tx *db.Tx, kind Kind, subject int64, by string) (Invited, error) {
	if _, err := tx.Exec("DELETE FROM invitations WHERE expires_at <= ?", tx.Now()-keptFor); err != nil {
		return Invited{}, err
	}
	if err := Withdraw(tx, kind, subject); err != nil {
		return Invited{}, err
	}
	v := Invited{
		Invitation: Invitation{Kind: kind, Subject: subject, By: by, ExpiresAt: tx.Now() + validFor[kind]},
		Token:      token(),
	}
	if err := insertInvitation(tx, v.Invitation, v.Token, ""); err != nil || kind != Tenant {
		return v, err
	}
	var err error
	v.Code, err = MakeCode(tx, subject, by)
	return v, err
}

// insertInvitation stores the hash of a link's token, and of a code if there is one. A code has its own row, with an
// unknown token: link and code end separately.
func insertInvitation(tx *db.Tx, v Invitation, token, plain string) error {
	var code any
	if plain != "" {
		hash := sha256.Sum256([]byte(plain))
		code = hash[:]
	}
	hash, _ := Hash(token)
	_, err := tx.Exec(
		"INSERT INTO invitations (hash, code, kind, subject, invited_by, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
		hash[:], code, string(v.Kind), v.Subject, v.By, tx.Now(), v.ExpiresAt)
	return err
}

// Withdraw ends the subject's open invitation, with its link and codes, if there is one, and mailed links.
func Withdraw(tx *db.Tx, kind Kind, subject int64) error {
	_, err := tx.Exec("UPDATE invitations SET ended_at = ? WHERE kind = ? AND subject = ? AND ended_at IS NULL", tx.Now(),
		string(kind), subject)
	return errors.Join(err, EndLinks(tx, kind, subject))
}

// FindInvitation returns the invitation of a link's token, including mailed links: NotFound if it never existed, Gone
// if it has ended.
func FindInvitation(c *db.Conn, kind Kind, token string) (Invitation, error) {
	hash, ok := Hash(token)
	if !ok {
		return Invitation{}, noInvitation()
	}
	return find(c, "hash", hash[:], kind)
}

// FindCode is FindInvitation for a typed code: in any case, with or without its dash, and with letters that look like
// digits.
func FindCode(c *db.Conn, kind Kind, typed string) (Invitation, error) {
	code, ok := readCode(typed)
	if !ok {
		return Invitation{}, noCode()
	}
	hash := sha256.Sum256([]byte(code))
	v, err := find(c, "code", hash[:], kind)
	switch {
	case fault.Is(err, fault.NotFound):
		err = noCode()
	case fault.Is(err, fault.Gone):
		err = fault.New(fault.Gone,
			"check the code: this one is of an older letter; use your latest letter, or ask for a new one")
	}
	return v, err
}

func noCode() error {
	return fault.NotFoundf("there is no such code: check the code in your letter, or ask for a new one")
}

func noInvitation() error {
	return fault.NotFoundf("there is no such invitation; ask for a new one")
}

func find(c *db.Conn, column string, hash []byte, kind Kind) (Invitation, error) {
	var ended *exact.Instant
	v, found, err := db.One(c, func(r *db.Row) Invitation {
		v := Invitation{id: r.Int(), Kind: Kind(r.Text()), Subject: r.Int(), By: r.Text(), ExpiresAt: r.Instant()}
		ended = r.InstantPtr()
		return v
	}, "SELECT id, kind, subject, invited_by, expires_at, ended_at FROM invitations WHERE "+column+` = ?1 AND kind = ?2
		UNION ALL SELECT 0, kind, subject, '', expires_at, ended_at FROM mail_links WHERE hash = ?1 AND kind = ?2`, hash,
		string(kind))
	switch {
	case err != nil:
		return v, err
	case !found:
		return v, noInvitation()
	case ended != nil:
		return v, fault.New(fault.Gone, "this invitation was used, or a later one took its place; ask for a new one")
	case c.Now() >= v.ExpiresAt:
		return v, fault.New(fault.Gone, "this invitation ended on %s; ask for a new one", v.ExpiresAt)
	}
	return v, nil
}

// Use ends a used invitation for good, and every other link of the same person.
func Use(tx *db.Tx, v Invitation) error {
	_, err := tx.Exec(
		"UPDATE invitations SET ended_at = ? WHERE kind = ? AND subject = ? AND code IS NULL AND ended_at IS NULL",
		tx.Now(), string(v.Kind), v.Subject)
	return errors.Join(err, EndLinks(tx, v.Kind, v.Subject))
}

// UseCode extends a used code by another 400 days.
func UseCode(tx *db.Tx, v Invitation) error {
	_, err := tx.Exec("UPDATE invitations SET expires_at = ? WHERE id = ?", tx.Now()+codeFor, v.id)
	return err
}

// crockford is the alphabet of codes: no characters that look alike.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

func newCode() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	for i := range b {
		b[i] = crockford[b[i]%32]
	}
	return string(b[:])
}

var readAs = strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1")

func readCode(typed string) (string, bool) {
	code := readAs.Replace(strings.ToUpper(strings.TrimSpace(typed)))
	if len(code) != 8 {
		return "", false
	}
	for _, r := range code {
		if !strings.ContainsRune(crockford, r) {
			return "", false
		}
	}
	return code, true
}
