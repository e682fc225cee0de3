package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"quartermaster/app/account"
	"quartermaster/schema/db"
)

// userNames completes a user's name as the first argument.
func (p *program) userNames(args []string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		_ = p.withDB(func(d *db.DB) error { // without a database there is nothing to complete
			users, err := account.Users(context.Background(), d, db.CLI(""))
			for _, u := range users {
				names = append(names, u.Name)
			}
			return err
		})
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// require makes a flag mandatory; omitting it is wrong usage.
func require(cmd *cobra.Command, flag string) {
	if err := cmd.MarkFlagRequired(flag); err != nil {
		panic(err) // the flag does not exist: a programming error
	}
}

// completeWith completes a flag's value in the shell from its list.
func (p *program) completeWith(cmd *cobra.Command, flag string, values []string) {
	p.completeBy(cmd, flag, func() []string { return values })
}

// completeBy completes a flag's value in the shell by list.
func (p *program) completeBy(cmd *cobra.Command, flag string, list func() []string) {
	p.completions = append(p.completions, func() {
		err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string,
			cobra.ShellCompDirective) {
			return list(), cobra.ShellCompDirectiveNoFileComp
		})
		if err != nil {
			panic(err) // the flag does not exist: a programming error
		}
	})
}

// idArg parses a record's id; any other text is wrong usage.
func idArg(name, text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, usagef("%s: %q is not an id; ids are positive whole numbers", name, text)
	}
	return id, nil
}
