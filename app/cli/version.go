package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"quartermaster/app/server"
	"quartermaster/schema/db"
)

type versionResult struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Schema  string `json:"schema"` // the newest migration known to the program
	Go      string `json:"go"`
	SQLite  string `json:"sqlite"`
}

func (p *program) versionCommand() *cobra.Command {
	return p.jsonFlag(&cobra.Command{
		Use:     "version",
		Short:   "Print the program's version, commit and schema, and Go's and SQLite's versions",
		Example: "  quartermaster version --json",
		Args:    noArgs,
		RunE: p.run(func(context.Context, []string) error {
			engine, err := db.EngineVersion()
			if err != nil {
				return err
			}
			newest, err := db.NewestMigration()
			if err != nil {
				return err
			}
			v := versionResult{Version: server.Version, Commit: server.Commit, Schema: newest, Go: runtime.Version(),
				SQLite: engine}
			return p.print(v, func(w io.Writer) {
				fmt.Fprintf(w, "quartermaster %s\ncommit %s\nschema %s\n%s\nSQLite %s\n", v.Version, v.Commit, v.Schema, v.Go,
					v.SQLite)
			})
		}),
	})
}
