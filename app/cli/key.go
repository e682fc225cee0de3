package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"quartermaster/app/account"
	"quartermaster/app/server"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

type keyList struct {
	Keys []account.Key `json:"keys"`
}

type createdKey struct {
	ID  int64  `json:"id"`
	Key string `json:"key"`
}

func (p *program) keyCommand() *cobra.Command {
	return group("key", "Keep the API keys",
		`A key opens one service, as the user whose it is: a read-only key (--scope read)
only reads, a full one may do what the user's role there allows. It is sent as
"Authorization: Bearer KEY", to REST and to the agent endpoint alike. Only its hash is
kept, so that it cannot be shown again: whoever loses one makes another.`,
		p.keyCreateCommand(), p.keyListCommand(), p.keyRevokeCommand())
}

func (p *program) keyCreateCommand() *cobra.Command {
	var n account.NewKey
	cmd := p.jsonFlag(&cobra.Command{
		Use:   "create --service SERVICE --user NAME",
		Short: "Make a key and print it, alone and this once",
		Example: `  quartermaster key create --service reorder --user alice --label "nightly upload"
  KEY=$(quartermaster key create --service rental --user bob --scope read)`,
		Args: noArgs,
		RunE: p.run(func(ctx context.Context, _ []string) error {
			if err := oneOf("--service", n.Service, server.Names...); err != nil {
				return err
			}
			if err := oneOf("--scope", n.Scope, account.Scopes...); err != nil {
				return err
			}
			return p.withDB(func(d *db.DB) error {
				k, full, err := account.CreateKey(ctx, d, db.CLI(""), n)
				if err != nil {
					return err
				}
				p.notice(fmt.Sprintf("key %d made: %s of %s, scope %s; it is shown this once", k.ID, k.Service, k.User, k.Scope))
				return p.print(createdKey{ID: k.ID, Key: full}, func(w io.Writer) { fmt.Fprintln(w, full) })
			})
		}),
	})
	f := cmd.Flags()
	serviceFlag(cmd, &n.Service, "the service that it opens: ")
	f.StringVar(&n.User, "user", "", "the user whose key it is")
	f.StringVar(&n.Scope, "scope", "full", "read or full")
	f.StringVar(&n.Label, "label", "", "what it is for")
	require(cmd, "service")
	require(cmd, "user")
	complete(cmd, "scope", account.Scopes)
	completeBy(cmd, "user", func() []string { names, _ := p.userNames(nil); return names })
	return cmd
}

func (p *program) keyListCommand() *cobra.Command {
	var service string
	cmd := p.jsonFlag(&cobra.Command{
		Use:     "list",
		Short:   "List the keys, the revoked ones too",
		Example: "  quartermaster key list --service reorder --json",
		Args:    noArgs,
		RunE: p.run(func(ctx context.Context, _ []string) error {
			if service != "" {
				if err := oneOf("--service", service, server.Names...); err != nil {
					return err
				}
			}
			return p.withDB(func(d *db.DB) error {
				keys, err := account.KeysOf(ctx, d, db.CLI(""), service)
				if err != nil {
					return err
				}
				return p.print(keyList{Keys: keys}, func(w io.Writer) { writeKeys(w, keys) })
			})
		}),
	})
	serviceFlag(cmd, &service, "only the keys of one service: ")
	return cmd
}

func writeKeys(w io.Writer, keys []account.Key) {
	heads := []string{"ID", "KEY", "SERVICE", "USER", "SCOPE", "CREATED", "LAST USED", "REVOKED", "LABEL"}
	columns(w, heads, keys, func(k account.Key) []string {
		return []string{
			strconv.FormatInt(k.ID, 10), k.Prefix + "...", k.Service, k.User, k.Scope,
			k.CreatedAt.String(), orDash(k.LastUsedAt), orDash(k.RevokedAt), k.Label,
		}
	})
}

func orDash(at *exact.Instant) string {
	if at == nil {
		return "-"
	}
	return at.String()
}

func (p *program) keyRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "End a key for good, from the next request on, in a running server too",
		Long: `End a key for good, from the next request on, in a running server too. The ID is
the number in "quartermaster key list".`,
		Example: "  quartermaster key revoke 7",
		Args:    cobra.ExactArgs(1),
		RunE: p.run(func(ctx context.Context, args []string) error {
			id, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || id < 1 {
				return usagef("ID: %q is not the number of a key; `quartermaster key list` shows them", args[0])
			}
			return p.withDB(func(d *db.DB) error {
				k, err := account.RevokeKey(ctx, d, db.CLI(""), id)
				if err == nil {
					p.notice(fmt.Sprintf("key %d (%s, %s of %s) revoked", k.ID, k.Prefix, k.Service, k.User))
				}
				return err
			})
		}),
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

// serviceFlag gives a command --service, once.
func serviceFlag(cmd *cobra.Command, service *string, about string) {
	cmd.Flags().StringVar(service, "service", "", about+serviceNames)
	complete(cmd, "service", server.Names)
}
