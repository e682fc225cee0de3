package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"quartermaster/app/account"
	"quartermaster/app/server"
	"quartermaster/schema/db"
)

type userList struct {
	Users []account.User `json:"users"`
}

func (p *program) userCommand() *cobra.Command {
	return group("user", "Keep the people and their roles",
		`A user has a role in each service: a viewer reads, a member and an admin read and
write. What a user does over REST or as an agent is done with a key of theirs; see
"quartermaster key".`,
		p.userAddCommand(), p.userListCommand(), p.userRoleCommand(),
		p.userSwitchCommand("disable", "Stop a user's keys from working, from the next request on", account.Disable),
		p.userSwitchCommand("enable", "Let a disabled user's keys work again", account.Enable))
}

func (p *program) userAddCommand() *cobra.Command {
	var role string
	var services []string
	cmd := &cobra.Command{
		Use:   "add NAME --role ROLE [--service SERVICE]...",
		Short: "Add a user, without --service in all four services",
		Example: `  quartermaster user add alice --role admin
  quartermaster user add bob --role viewer --service rental --service reorder`,
		Args: cobra.ExactArgs(1),
		RunE: p.run(func(ctx context.Context, args []string) error {
			in, err := p.roleIn("--role", role, services)
			if err != nil {
				return err
			}
			return p.withDB(func(d *db.DB) error {
				u, err := account.AddUser(ctx, d, db.CLI(""), args[0], role, in)
				if err == nil {
					p.notice(fmt.Sprintf("user %s added: %s", u.Name, rolesLine(u.Roles)))
				}
				return err
			})
		}),
	}
	cmd.Flags().StringVar(&role, "role", "", "viewer, member or admin")
	require(cmd, "role")
	complete(cmd, "role", account.Roles)
	servicesFlag(cmd, &services)
	return cmd
}

func (p *program) userListCommand() *cobra.Command {
	return p.jsonFlag(&cobra.Command{
		Use:     "list",
		Short:   "List the users with their roles",
		Example: "  quartermaster user list --json",
		Args:    noArgs,
		RunE: p.run(func(ctx context.Context, _ []string) error {
			return p.withDB(func(d *db.DB) error {
				users, err := account.Users(ctx, d, db.CLI(""))
				if err != nil {
					return err
				}
				return p.print(userList{Users: users}, func(w io.Writer) {
					columns(w, []string{"USER", "STATE", "ROLES"}, users, func(u account.User) []string {
						state := "enabled"
						if u.Disabled {
							state = "disabled"
						}
						return []string{u.Name, state, rolesLine(u.Roles)}
					})
				})
			})
		}),
	})
}

func (p *program) userRoleCommand() *cobra.Command {
	var services []string
	cmd := &cobra.Command{
		Use:   "role NAME ROLE [--service SERVICE]...",
		Short: "Give a user another role, without --service where the user has one",
		Example: `  quartermaster user role bob member
  quartermaster user role bob viewer --service store`,
		Args: cobra.ExactArgs(2),
		RunE: p.run(func(ctx context.Context, args []string) error {
			in, err := p.roleIn("ROLE", args[1], services)
			if err != nil {
				return err
			}
			return p.withDB(func(d *db.DB) error {
				u, err := account.SetRole(ctx, d, db.CLI(""), args[0], args[1], services, in)
				if err == nil {
					p.notice(fmt.Sprintf("user %s: %s", u.Name, rolesLine(u.Roles)))
				}
				return err
			})
		}),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 1 {
				return account.Roles, cobra.ShellCompDirectiveNoFileComp
			}
			return p.userNames(args)
		},
	}
	servicesFlag(cmd, &services)
	return cmd
}

// userSwitchCommand is disable or enable.
func (p *program) userSwitchCommand(word, short string,
	do func(context.Context, *db.DB, db.Caller, string) (account.User, error),
) *cobra.Command {
	return &cobra.Command{
		Use:     word + " NAME",
		Short:   short,
		Example: "  quartermaster user " + word + " bob",
		Args:    cobra.ExactArgs(1),
		RunE: p.run(func(ctx context.Context, args []string) error {
			return p.withDB(func(d *db.DB) error {
				u, err := do(ctx, d, db.CLI(""), args[0])
				if err == nil {
					p.notice(fmt.Sprintf("user %s %sd", u.Name, word))
				}
				return err
			})
		}),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return p.userNames(args)
		},
	}
}

// roleIn checks a role and the services it is for; no service is all of them.
func (p *program) roleIn(flag, role string, services []string) ([]string, error) {
	if err := oneOf(flag, role, account.Roles...); err != nil {
		return nil, err
	}
	for _, s := range services {
		if err := oneOf("--service", s, server.Names...); err != nil {
			return nil, err
		}
	}
	if len(services) == 0 {
		return server.Names, nil
	}
	return services, nil
}

// rolesLine tells the roles in the order of the services.
func rolesLine(roles map[string]string) string {
	var parts []string
	for _, s := range server.Names {
		if role := roles[s]; role != "" {
			parts = append(parts, s+" "+role)
		}
	}
	return strings.Join(parts, ", ")
}

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

// serviceNames tells the services in a flag's help.
var serviceNames = strings.Join(server.Names, ", ")

// servicesFlag gives a command --service, any number of times.
func servicesFlag(cmd *cobra.Command, services *[]string) {
	cmd.Flags().StringArrayVar(services, "service", nil, serviceNames+"; any number of times")
	complete(cmd, "service", server.Names)
}

// require makes a flag necessary; leaving it out is wrong usage.
func require(cmd *cobra.Command, flag string) {
	if err := cmd.MarkFlagRequired(flag); err != nil {
		panic(err) // the flag is not there: a mistake in the program
	}
}

// complete lets the shell complete a flag's value from its list.
func complete(cmd *cobra.Command, flag string, values []string) {
	completeBy(cmd, flag, func() []string { return values })
}

// completeBy lets the shell complete a flag's value from what list gives.
func completeBy(cmd *cobra.Command, flag string, list func() []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // the flag is not there: a mistake in the program
	}
}

// columns writes a list for people. A reader that has gone is told nothing more.
func columns[T any](w io.Writer, heads []string, rows []T, cells func(T) []string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(cells []string) { _, _ = io.WriteString(t, strings.Join(cells, "\t")+"\n") }
	line(heads)
	for _, row := range rows {
		line(cells(row))
	}
	_ = t.Flush()
}
