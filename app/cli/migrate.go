package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

type migrationList struct {
	Migrations []db.Migration `json:"migrations"`
}

func (p *program) migrateCommand() *cobra.Command {
	cmd := p.jsonFlag(&cobra.Command{
		Use:   "migrate",
		Short: "Bring the database to this program's schema",
		Long: `Apply the migrations that the database lacks. A missing database is created. An existing
file is copied before it is changed. A file of a newer program is refused and not changed.
So is one that lacks migrations while a server runs on it. "serve" migrates by itself.`,
		Example: "  quartermaster migrate\n  quartermaster migrate status --json",
		Args:    noArgs,
		RunE:    p.run(func(context.Context, []string) error { return p.migrate() }),
	})
	cmd.AddCommand(p.jsonFlag(&cobra.Command{
		Use:     "status",
		Short:   "Show which migrations are applied",
		Example: "  quartermaster migrate status --json",
		Args:    noArgs,
		RunE: p.run(func(context.Context, []string) error {
			all, err := db.Status(p.dbPath)
			if err != nil {
				return err
			}
			return p.print(migrationList{all}, func(w io.Writer) {
				schema.Tabulate(w, "MIGRATION|APPLIED", all, func(m db.Migration) []any {
					if m.AppliedAt == nil {
						return []any{m.Name, "missing"}
					}
					return []any{m.Name, m.AppliedAt.String()}
				})
			})
		}),
	}))
	return cmd
}

// migrate makes the database or migrates it, and prints what it applied.
func (p *program) migrate() error {
	before, err := db.Status(p.dbPath)
	switch {
	case errors.Is(err, db.ErrMissing):
		err = p.create()
	case err == nil && lacking(before) > 0:
		err = p.bringUp()
	}
	if err != nil {
		return err
	}
	after, err := db.Status(p.dbPath)
	if err != nil {
		return err
	}
	return p.print(migrationList{after}, func(w io.Writer) {
		if before != nil && lacking(before) == 0 {
			fmt.Fprintf(w, "nothing to apply: all %d migrations are there\n", len(after))
			return
		}
		for i, m := range after {
			if before == nil || before[i].AppliedAt == nil {
				fmt.Fprintf(w, "applied %s\n", m.Name)
			}
		}
	})
}

// bringUp migrates the existing file, unless a server holds it, which would continue with an unknown schema.
func (p *program) bringUp() (err error) {
	release, err := db.Hold(p.dbPath)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	d, err := db.Open(p.dbPath, db.Options{Now: p.Now, Zone: p.zone, Notice: p.notice, Migrate: true})
	if err != nil {
		return err
	}
	return d.Close()
}

func lacking(all []db.Migration) (n int) {
	for _, m := range all {
		if m.AppliedAt == nil {
			n++
		}
	}
	return n
}
