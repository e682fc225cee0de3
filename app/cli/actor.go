package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"quartermaster/app/account"
	"quartermaster/schema/db"
)

// acting adds --as to a command that changes a service's business data.
func (p *program) acting(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Var((*actorName)(&p.as), "as", "act as this user")
	p.completeBy(cmd, "as", func() []string {
		names, _ := p.userNames(nil)
		return names
	})
	return cmd
}

// actor is a command's caller in the service: the operator, who may do everything, or the user of --as. An unknown or
// disabled user, or one without a role there, is refused.
func (p *program) actor(ctx context.Context, d *db.DB, service string) (db.Caller, error) {
	if p.as == "" {
		return db.CLI(service), nil
	}
	return account.Actor(ctx, d, p.as, service)
}

// actorName is the value of --as. An empty one, as from an unset variable of a script, is wrong usage: it must not mean
// the operator.
type actorName string

func (n *actorName) String() string { return string(*n) }

func (n *actorName) Type() string { return "NAME" }

func (n *actorName) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		return errors.New("a user's name is needed")
	}
	*n = actorName(s)
	return nil
}
