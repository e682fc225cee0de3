package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"quartermaster/app/account"
	"quartermaster/app/server"
	"quartermaster/schema"
	"quartermaster/schema/db"
)

type initResult struct {
	Admin string            `json:"admin"`
	Keys  map[string]string `json:"keys"`           // service -> key
	Link  string            `json:"link,omitempty"` // where the admin sets a password; "" without pages
}

func (p *program) initCommand() *cobra.Command {
	var admin string
	var on []string
	screens := true
	cmd := p.jsonFlag(&cobra.Command{
		Use:   "init",
		Short: "Create the database, its first admin and a key for each service",
		Long: `Create the database if there is none, with its first user, an admin in all four
services, and a full-access key for each service. A link is printed with which the admin
chooses a password for the pages; it works once, within 24 hours. Keys and link are shown
only now. Refused if there are users already.`,
		Example: `  quartermaster init
  quartermaster init --for rental --for maintenance
  quartermaster init --admin alice --db /var/lib/quartermaster/shop.db`,
		Args: noArgs,
		RunE: p.run(func(ctx context.Context, _ []string) error {
			name, err := account.CheckName(admin)
			if err != nil { // before a database is made for it
				return err
			}
			if on, err = p.servicesFor(on); err != nil {
				return err
			}
			return p.withNewDB(func(d *db.DB) error {
				keys, err := account.First(ctx, d, db.CLI(""), name, on)
				if err != nil {
					return err
				}
				in := "all four services"
				if len(on) < len(server.Names) {
					in = strings.Join(on, ", ") + "; the other services stay off until an admin turns them on in Settings"
				}
				p.notice(fmt.Sprintf("user %s added, admin in %s; the keys are shown only now", name, in))
				link := ""
				if screens && p.Getenv("QUARTERMASTER_SCREENS") != "false" {
					if link, err = welcome(ctx, d, name, p.Getenv("QUARTERMASTER_"+strings.ToUpper(on[0])+"_URL")); err != nil {
						return err
					}
				}
				p.lost = "the keys, which are shown once, are lost: `quartermaster key create --service SERVICE --user " + name +
					"` makes others, `quartermaster key revoke` ends these"
				signal.Ignore(syscall.SIGPIPE)
				err = p.print(initResult{Admin: name, Keys: keys, Link: link}, func(w io.Writer) {
					schema.Tabulate(w, "SERVICE|KEY", on, func(s string) []any { return []any{s, keys[s]} })
					p.printNextSteps(w, link)
				})
				return cmp.Or(err, p.shown())
			})
		}),
	})
	cmd.Flags().StringSliceVar(&on, "for", nil, "only these services are used: "+strings.Join(server.Names, ", ")+
		" (may be repeated; default: all)")
	p.completeWith(cmd, "for", server.Names)
	cmd.Flags().BoolVar(&screens, "screens", true, "print the link to the pages; false if serve runs with --screens=false")
	cmd.Flags().StringVar(&admin, "admin", "admin", "the first user's name")
	p.completeBy(cmd, "admin", func() []string { return nil })
	return cmd
}

// servicesFor are the named services in order, by default all.
func (p *program) servicesFor(named []string) ([]string, error) {
	for _, s := range named {
		if err := oneOf("--for", s, server.Names...); err != nil {
			return nil, err
		}
	}
	if len(named) == 0 {
		return server.Names, nil
	}
	return slices.DeleteFunc(slices.Clone(server.Names), func(s string) bool { return !slices.Contains(named, s) }), nil
}

// welcome invites the first admin and returns the link, at the given public address, since no server has stored one
// yet.
func welcome(ctx context.Context, d *db.DB, name, base string) (string, error) {
	token, _, err := account.Invite(ctx, d, db.CLI(""), name)
	if err != nil {
		return "", err
	}
	if base != "" {
		return strings.TrimSuffix(base, "/") + "/welcome/" + token, nil
	}
	base, err = account.Address(ctx, d, server.Names...)
	return base + "/welcome/" + token, err
}

// printNextSteps prints the next steps after init.
func (p *program) printNextSteps(w io.Writer, link string) {
	p.nextSteps(w, link, p.dbPath == packageFile && isThere(packageUnit))
}

// nextSteps names the unit of a package's database, else the command.
func (p *program) nextSteps(w io.Writer, link string, installed bool) {
	serve, program := "quartermaster serve --db "+p.dbPath, "quartermaster user add NAME --role member --db "+p.dbPath
	if installed {
		serve, program = "systemctl start quartermaster", "quartermaster-shop user add NAME --role member"
	}
	if link == "" {
		fmt.Fprintf(w, "\nNext: %s\nMore people: %s\n", serve, program)
		return
	}
	fmt.Fprintf(w, "\nNext: %s\nThen open this link within 24 hours, once, and set your password:\n%s\n", serve, link)
}

// withNewDB is withDB for a command that makes a missing database.
func (p *program) withNewDB(do func(d *db.DB) error) error {
	err := p.withDB(do)
	if !errors.Is(err, db.ErrMissing) {
		return err
	}
	if err := p.create(); err != nil {
		return err
	}
	return p.withDB(do)
}

// create makes the database unless another process has just done so.
func (p *program) create() (err error) {
	release, err := db.Hold(p.dbPath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if d, err := p.open(); err == nil {
		return d.Close()
	} else if !errors.Is(err, db.ErrMissing) {
		return err
	}
	if err := db.Create(p.dbPath, db.Options{Now: p.Now, Zone: p.zone}); err != nil {
		return err
	}
	p.notice("database made: " + absolute(p.dbPath))
	return nil
}
