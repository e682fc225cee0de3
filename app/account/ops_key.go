package account

import (
	"context"
	"fmt"
	"io"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// CreatedKey is a new key, shown only once.
type CreatedKey struct {
	ID  int64  `json:"id"`
	Key string `json:"key"`
	of  Key
}

// Redacted is the answer without the key, which is stored nowhere.
func (k CreatedKey) Redacted() any { k.Key = ""; return k }

// KeyList is the keys in order of creation.
type KeyList struct {
	Keys []Key `json:"keys"`
}

var exampleKey = Key{
	ID: 7, Prefix: "apk_1f2e", Label: "nightly upload", Service: "reorder", User: "alice", Scope: "full",
	CreatedAt: 1795208700,
}

func toKeys(any) string { return "/keys" }

func (o ops) createKey() schema.Op {
	return schema.Op{
		Name: "create_key", Writes: true, Admin: true, Credential: true, Creates: true,
		About:   "Create an API key. It is shown only now. It opens one service, with its user's role.",
		Command: "key create",
		Example: "key create --service reorder --user alice --label \"nightly upload\"\nkey create --service rental " +
			"--user bob --scope read",
		Response: CreatedKey{ID: 7, Key: "apk_" + strings.Repeat("0", 40)},
		Bind: schema.Does(func(f *schema.Form, n *NewKey) {
			n.Scope = "full"
			f.Enum(&n.Service, "service", "the service that it opens: "+strings.Join(o.services, ", "), o.services,
				schema.Required, schema.Choices(servicesOn))
			f.Text(&n.User, "user",
				"the user that the key acts as", schema.Most(most+1), schema.ChoicesFor(userChoices), schema.Required)
			f.Enum(&n.Scope, "scope", "read or full (default: full)", Scopes)
			f.Text(&n.Label, "label", "what it is for")
		}, func(ctx context.Context, who db.Caller, n NewKey) (CreatedKey, error) {
			return makeKey(ctx, o.d, who, n)
		}),
		Print: schema.Printed(func(w io.Writer, k CreatedKey) { _, _ = fmt.Fprintln(w, k.Key) }),
		Did: schema.Said(func(k CreatedKey) string {
			return fmt.Sprintf("API key %d created: %s of %s, scope %s; it is shown only now", k.ID, k.of.Service, k.of.User,
				k.of.Scope)
		}),
		Leads: toKeys,
	}
}

func (o ops) listKeys() schema.Op {
	return schema.Op{
		Name: "list_keys", Admin: true, About: "The API keys, revoked ones included.",
		Command: "key list", Example: "key list --service reorder --json", Response: KeyList{Keys: []Key{exampleKey}},
		Bind: schema.Does(func(f *schema.Form, service *string) {
			f.Enum(service, "service", "only the keys of one service: "+strings.Join(o.services, ", "), o.services)
		}, func(ctx context.Context, who db.Caller, service string) (KeyList, error) {
			keys, err := KeysOf(ctx, o.d, who, service)
			return KeyList{Keys: keys}, err
		}),
		Print: schema.Printed(func(w io.Writer, l KeyList) {
			schema.Tabulate(w, "ID|KEY|SERVICE|USER|SCOPE|CREATED|LAST USED|REVOKED|LABEL", l.Keys, func(k Key) []any {
				return []any{k.ID, k.Prefix + "...", k.Service, k.User, k.Scope, k.CreatedAt, orDash(k.LastUsedAt),
					orDash(k.RevokedAt), k.Label}
			})
		}),
	}
}

func orDash(at *exact.Instant) string {
	if at == nil {
		return "-"
	}
	return at.String()
}

func (o ops) revokeKey() schema.Op {
	return schema.Op{
		Name: "revoke_key", Writes: true, Admin: true, Destructive: true,
		About:   "Revoke an API key for good. A running server refuses it from the next request on.",
		Command: "key revoke ID", Example: "key revoke 7", Response: exampleKey, Print: silent,
		Bind: schema.Does(func(f *schema.Form, id *int64) {
			f.ID(id, "id", "the key's number, as the list shows it", schema.Required, schema.Positional("ID"),
				schema.Label("API key"), schema.Choices(keyChoices))
		}, func(ctx context.Context, who db.Caller, id int64) (Key, error) { return RevokeKey(ctx, o.d, who, id) }),
		Did: schema.Said(func(k Key) string {
			return fmt.Sprintf("key %d (%s, %s of %s) revoked", k.ID, k.Prefix, k.Service, k.User)
		}),
		Will: schema.Said(func(k Key) string {
			used := "was never used"
			if k.LastUsedAt != nil {
				used = "was used last at " + k.LastUsedAt.String()
			}
			return fmt.Sprintf("The key %s... of %s for the service %s, which %s, ends for good. Programs that send it are "+
				"refused from the next request on.",
				k.Prefix, k.User, k.Service, used)
		}),
		Leads: toKeys,
	}
}
