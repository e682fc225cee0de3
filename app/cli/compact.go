package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"quartermaster/schema/db"
)

type compactResult struct {
	Database string `json:"database"`
	Before   int64  `json:"bytes_before"`
	After    int64  `json:"bytes_after"`
}

func (p *program) compactCommand() *cobra.Command {
	return p.jsonFlag(&cobra.Command{
		Use:   "compact",
		Short: "Rewrite the database so that nothing removed is left in the file",
		Long: `Rewrite the database, so that unused parts of the file contain nothing that was removed or
forgotten, and the file gets smaller. A file of up to 64 MiB is rewritten automatically
when somebody is forgotten; for a larger one "doctor" says when to run this command. It
needs free space of the file's size. Refused while a server runs on the database.`,
		Example: "  quartermaster compact\n  quartermaster compact --json",
		Args:    noArgs,
		RunE: p.run(func(context.Context, []string) error {
			end := p.working(func() string { return "rewriting the file" })
			before, after, err := db.Compact(p.dbPath)
			end()
			if err != nil {
				return err
			}
			r := compactResult{Database: absolute(p.dbPath), Before: before, After: after}
			return p.print(r, func(w io.Writer) {
				fmt.Fprintf(w, "%s: %d bytes, %d before; it holds nothing that was removed\n", r.Database, r.After, r.Before)
			})
		}),
	})
}
