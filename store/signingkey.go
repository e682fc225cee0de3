package store

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// SigningKey is the public half of a key that license files are signed with. The private half is
// never told.
type SigningKey struct {
	KeyID     string        `json:"key_id" about:"the first 16 hexadecimal digits of SHA-256 of the public key; kid in a file's header"`
	Signs     bool          `json:"signs" about:"new files are signed with it; only one key signs"`
	Public    string        `json:"public_key" about:"32 bytes in base64url without padding"`
	PEM       string        `json:"pem" about:"the same as a PEM block"`
	CreatedAt exact.Instant `json:"created_at"`
}

const signingKeyColumns = "key_id, signs, public, created_at"

func scanSigningKey(r *db.Row) SigningKey {
	k := SigningKey{KeyID: r.Text(), Signs: r.Bool()}
	public := ed25519.PublicKey(r.Bytes())
	k.Public, k.CreatedAt = base64.RawURLEncoding.EncodeToString(public), r.Instant()
	der, _ := x509.MarshalPKIXPublicKey(public) // fails for other types only
	k.PEM = string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	return k
}

// SigningKeys lists the keys that are there, oldest first.
type SigningKeys struct {
	Keys []SigningKey `json:"signing_keys"`
}

// SigningKeys lists the keys that license files are signed with, oldest first.
func (s *Service) SigningKeys(ctx context.Context) (SigningKeys, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (k SigningKeys, err error) {
		k.Keys, err = db.All(c, scanSigningKey, "SELECT "+signingKeyColumns+" FROM store_signing_keys ORDER BY id")
		return k, err
	})
}

// makeSigningKey makes a key. The first one signs at once; a later one waits for UseSigningKey, so
// that programs get its public half before they meet a file that it signed.
func makeSigningKey(tx *db.Tx) (k SigningKey, err error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return k, err
	}
	sum := sha256.Sum256(public)
	id := hex.EncodeToString(sum[:8])
	_, err = tx.Insert(`INSERT INTO store_signing_keys (key_id, seed, public, signs, created_at)
		VALUES (?, ?, ?, NOT EXISTS (SELECT 1 FROM store_signing_keys WHERE signs = 1), ?)`, id, private.Seed(),
		[]byte(public), tx.Now())
	if err != nil {
		return k, err
	}
	if k, err = findSigningKey(&tx.Conn, id); err != nil {
		return k, err
	}
	return k, tx.Audit("signing_key.made", "signing_key:"+id, map[string]bool{"signs": k.Signs})
}

// useSigningKey lets a key sign from now on. Refused: a key that is not there, one that signs.
func useSigningKey(tx *db.Tx, id string) (SigningKey, error) {
	k, err := findSigningKey(&tx.Conn, id)
	if err == nil && k.Signs {
		err = fault.Conflictf("the key %s signs already", k.KeyID)
	}
	if err != nil {
		return k, err
	}
	tx.Do("UPDATE store_signing_keys SET signs = 0 WHERE signs = 1")
	tx.Do("UPDATE store_signing_keys SET signs = 1 WHERE key_id = ?", k.KeyID)
	k.Signs = true
	return k, tx.Audit("signing_key.used", "signing_key:"+k.KeyID, struct{}{})
}

// removeSigningKey removes a key for good: programs that ask for the keys no longer know it. Refused: a
// key that is not there, the one that signs.
func removeSigningKey(tx *db.Tx, id string) (SigningKey, error) {
	k, err := findSigningKey(&tx.Conn, id)
	if err == nil && k.Signs {
		err = fault.Conflictf("the key %s signs now; use another key first", k.KeyID)
	}
	if err != nil {
		return k, err
	}
	tx.Do("DELETE FROM store_signing_keys WHERE key_id = ?", k.KeyID)
	return k, tx.Audit("signing_key.removed", "signing_key:"+k.KeyID, struct{}{})
}

func findSigningKey(c *db.Conn, id string) (SigningKey, error) {
	k, found, err := db.One(c, scanSigningKey, "SELECT "+signingKeyColumns+" FROM store_signing_keys WHERE key_id = ?", id)
	if err == nil && !found {
		err = fault.NotFoundf("there is no signing key %s", schema.Quote(id))
	}
	return k, err
}

// JWK is a public signing key as RFC 8037 writes it.
type JWK struct {
	Type  string `json:"kty" enum:"OKP"`
	Curve string `json:"crv" enum:"Ed25519"`
	KeyID string `json:"kid"`
	Use   string `json:"use" enum:"sig"`
	X     string `json:"x" about:"the public key, 32 bytes in base64url without padding"`
}

// JWKS are the public keys of all that were made and not removed.
type JWKS struct {
	Keys []JWK `json:"keys"`
}

func (s *Service) publicKeys(ctx context.Context) (JWKS, error) {
	list, err := s.SigningKeys(ctx)
	set := JWKS{Keys: []JWK{}}
	for _, k := range list.Keys {
		set.Keys = append(set.Keys, k.jwk())
	}
	return set, err
}

func (k SigningKey) jwk() JWK {
	return JWK{Type: "OKP", Curve: "Ed25519", KeyID: k.KeyID, Use: "sig", X: k.Public}
}

func exampleSigningKey() SigningKey {
	return SigningKey{
		KeyID: "5f1c0a9be27d4e66", Signs: true, Public: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
		CreatedAt: exampleInstant,
		PEM: "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END " +
			"PUBLIC KEY-----\n",
	}
}

func (s *Service) listPublicKeys() schema.Op {
	return schema.Op{
		Name:   "license_keys",
		About:  "The public keys of license files, as a JSON Web Key Set: the one that signs, earlier and future ones.",
		Public: true, Idempotent: true, Response: JWKS{Keys: []JWK{exampleSigningKey().jwk()}},
		Bind: schema.Asks(s.publicKeys),
	}
}

const keysPage = "/settings/license-keys"

func (s *Service) listSigningKeys() schema.Op {
	return schema.Op{
		Name: "list_signing_keys", About: "The signing keys of license files (public halves), oldest first.",
		Response: SigningKeys{Keys: []SigningKey{exampleSigningKey()}}, Example: "store signing-key list",
		Print: schema.Printed(func(w io.Writer, k SigningKeys) {
			schema.Tabulate(w, "KEY|SIGNS|PUBLIC KEY|MADE", k.Keys, func(k SigningKey) []any {
				return []any{k.KeyID, yesNo(k.Signs), k.Public, k.CreatedAt}
			})
		}),
		Bind: schema.Asks(s.SigningKeys),
	}
}

func (s *Service) makeSigningKey() schema.Op {
	return schema.Op{
		Name: "make_signing_key", About: "Create a signing key for license files. The first signs at once; later keys " +
			"wait until you use them.",
		Writes: true, Admin: true, Response: exampleSigningKey(), Example: "store signing-key make",
		Print: schema.Printed(func(w io.Writer, k SigningKey) { fmt.Fprintf(w, "%s\n%s", k.KeyID, k.PEM) }),
		Did: schema.Said(func(k SigningKey) string {
			if k.Signs {
				return fmt.Sprintf("The key %s is created and signs license files from now on.", k.KeyID)
			}
			return fmt.Sprintf("The key %s is created. Give its public half to your programs, then use it to sign.", k.KeyID)
		}),
		Leads: func(any) string { return keysPage },
		Bind:  schema.Writes0(s.db, makeSigningKey),
	}
}

// signingKeyAct is an act on one signing key; will is said before it, with the key's id in it.
func (s *Service) signingKeyAct(name, word, about, did, will string,
	do func(*db.Tx, string) (SigningKey, error)) schema.Op {
	say := func(format string) func(any, schema.Money) string {
		return func(answer any, _ schema.Money) string {
			k, _ := answer.(SigningKey)
			return fmt.Sprintf(format, k.KeyID)
		}
	}
	return schema.Op{
		Name: name, About: about, Writes: true, Admin: true, Destructive: true, Response: exampleSigningKey(),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "store signing-key " + word + " 5f1c0a9be27d4e66", Did: say(did), Will: say(will),
		Leads: func(any) string { return keysPage },
		Bind: schema.Writes(s.db, func(f *schema.Form, id *string) {
			f.Text(id, "key_id", "the signing key", schema.Required, schema.Most(64), schema.Positional("ID"),
				schema.Label("Signing key"), schema.Choices(signingChoices), schema.Example("5f1c0a9be27d4e66"))
		}, do),
	}
}

func (s *Service) useSigningKey() schema.Op {
	return s.signingKeyAct("use_signing_key", "use", "Use a signing key for license files from now on.",
		"The key %s signs license files from now on.",
		"New license files will be signed with the key %s. Programs that do not have its public half will refuse them.",
		useSigningKey)
}

func (s *Service) removeSigningKey() schema.Op {
	return s.signingKeyAct("remove_signing_key", "remove", "Remove a signing key for good, the private half too.",
		"The key %s is removed.",
		"The key %s will be removed for good. Programs that ask for the public keys will refuse files that it signed.",
		removeSigningKey)
}
