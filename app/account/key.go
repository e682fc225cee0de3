package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// A key is apk_ and 40 lower-case hexadecimal digits: 20 random bytes. Only its SHA-256 is stored, and its first
// characters, by which people recognise it.
const (
	keyStart  = "apk_"
	keyLength = len(keyStart) + 40
	shown     = len(keyStart) + 4
)

// Key is a listed API key: everything but the key itself.
type Key struct {
	ID         int64          `json:"id"`
	Prefix     string         `json:"prefix"`
	Label      string         `json:"label"`
	Service    string         `json:"service"`
	User       string         `json:"user"`
	Scope      string         `json:"scope"`
	CreatedAt  exact.Instant  `json:"created_at"`
	LastUsedAt *exact.Instant `json:"last_used_at"` // to the minute
	RevokedAt  *exact.Instant `json:"revoked_at"`
}

const selectKeys = `SELECT k.id, k.prefix, k.label, k.service, u.name, k.scope, k.created_at, k.last_used_at,
	k.revoked_at
	FROM keys k JOIN users u ON u.id = k.user_id `

func scanKey(r *db.Row) Key {
	return Key{
		ID: r.Int(), Prefix: r.Text(), Label: r.Text(), Service: r.Text(), User: r.Text(), Scope: r.Text(),
		CreatedAt: r.Instant(), LastUsedAt: r.InstantPtr(), RevokedAt: r.InstantPtr(),
	}
}

// keyChoices lists the keys that are not revoked, the newest first.
var keyChoices = schema.Among(func(c *db.Conn) ([]schema.Choice, error) {
	return db.All(c, func(r *db.Row) schema.Choice {
		k := scanKey(r)
		return schema.Choice{Value: strconv.FormatInt(k.ID, 10), Text: k.Prefix + ", " + k.Service + " of " + k.User,
			More: k.Label}
	}, selectKeys+"WHERE k.revoked_at IS NULL ORDER BY k.id DESC")
})

func (k Key) subject() string { return fmt.Sprintf("key:%d", k.ID) }

// NewKey describes a key to make.
type NewKey struct {
	Service, User, Scope string
	Label                string // its purpose, in a person's words; may be empty
}

// CreateKey makes a key for one service. The full key is returned only here. A disabled user, or one without a role in
// the service, gets none.
func CreateKey(ctx context.Context, d *db.DB, who db.Caller, n NewKey) (Key, string, error) {
	m, err := makeKey(ctx, d, who, n)
	return m.of, m.Key, err
}

func makeKey(ctx context.Context, d *db.DB, who db.Caller, n NewKey) (CreatedKey, error) {
	return update(ctx, d, who, func(tx *db.Tx) (m CreatedKey, err error) {
		u, err := findUser(&tx.Conn, n.User)
		if err != nil {
			return m, err
		}
		m.of, m.Key, err = createKey(tx, u, n)
		m.ID = m.of.ID
		return m, err
	})
}

func createKey(tx *db.Tx, u User, n NewKey) (k Key, full string, err error) {
	if err := keepsServices(&tx.Conn, tx.Who(), []string{n.Service}); err != nil {
		return k, "", err
	}
	if u.Name != tx.Who().User { // a key acts as its user, wherever the user has a role
		if err := keepsPerson(&tx.Conn, tx.Who(), u, "makes keys for"); err != nil {
			return k, "", err
		}
	}
	label := strings.TrimSpace(n.Label)
	if err := line("label", "the label", label); err != nil {
		return k, "", err
	}
	if !slices.Contains(Scopes, n.Scope) {
		return k, "", fault.Fieldf("scope", "scope: %s is not one of %s", schema.Quote(n.Scope), strings.Join(Scopes, ", "))
	}
	if u.Disabled {
		return k, "", fault.Conflictf("the user %s is disabled; run `quartermaster user enable` first", schema.Quote(u.Name))
	}
	if u.Roles[n.Service] == "" {
		return k, "",
			fault.Conflictf("the user %s has no role in the service %s; give one with `quartermaster user role` first",
				schema.Quote(u.Name), schema.Quote(n.Service))
	}
	full = mintKey()
	hash := sha256.Sum256([]byte(full))
	k = Key{
		Prefix: full[:shown], Label: label, Service: n.Service, User: u.Name, Scope: n.Scope, CreatedAt: tx.Now(),
	}
	k.ID, err = tx.Insert(
		"INSERT INTO keys (hash, prefix, label, service, user_id, scope, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
		hash[:], k.Prefix, k.Label, k.Service, u.id, k.Scope, k.CreatedAt)
	if err != nil {
		return k, "", err
	}
	return k, full, tx.AuditIn(k.Service, "key.created", k.subject(),
		map[string]any{"prefix": k.Prefix, "label": k.Label, "user": k.User, "scope": k.Scope})
}

func mintKey() string {
	var b [20]byte
	_, _ = rand.Read(b[:]) // never fails
	return keyStart + hex.EncodeToString(b[:])
}

// RevokeKey ends a key for good, from the next request on. A revoked key is refused.
func RevokeKey(ctx context.Context, d *db.DB, who db.Caller, id int64) (Key, error) {
	return update(ctx, d, who, func(tx *db.Tx) (Key, error) {
		k, found, err := db.One(&tx.Conn, scanKey, selectKeys+"WHERE k.id = ?", id)
		switch {
		case err != nil:
			return k, err
		case !found:
			return k, fault.NotFoundf("there is no key %d; `quartermaster key list` lists the keys", id)
		case k.RevokedAt != nil:
			return k, fault.Conflictf("the key %d (%s) is revoked already, since %s", id, k.Prefix, *k.RevokedAt)
		}
		if err := keepsServices(&tx.Conn, tx.Who(), []string{k.Service}); err != nil {
			return k, err
		}
		err = k.revoke(tx)
		return k, err
	})
}

func (k *Key) revoke(tx *db.Tx) error {
	now := tx.Now()
	k.RevokedAt = &now
	if _, err := tx.Exec("UPDATE keys SET revoked_at = ? WHERE id = ?", now, k.ID); err != nil {
		return err
	}
	return tx.AuditIn(k.Service, "key.revoked", k.subject(), map[string]any{"prefix": k.Prefix, "user": k.User})
}

// KeysOf lists the keys of one service, or of all for "", in order of creation, including revoked ones. An admin gets
// those of their own services.
func KeysOf(ctx context.Context, d *db.DB, who db.Caller, service string) ([]Key, error) {
	if err := guard(who); err != nil {
		return nil, err
	}
	return db.Read(ctx, d, func(c *db.Conn) ([]Key, error) {
		in, all, err := adminOf(c, who)
		if err != nil {
			return nil, err
		}
		keys, err := db.All(c, scanKey, selectKeys+"WHERE k.service = ?1 OR ?1 = '' ORDER BY k.id", service)
		if !all {
			keys = slices.DeleteFunc(keys, func(k Key) bool { return !in[k.Service] })
		}
		return keys, err
	})
}
