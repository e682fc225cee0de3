package cli

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"quartermaster/app/server"
	"quartermaster/schema/db"
)

// Version is the program's own version.
var Version = server.Version

type versionResult struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	SQLite  string `json:"sqlite"`
}

func (p *program) versionCommand() *cobra.Command {
	return p.jsonFlag(&cobra.Command{
		Use:     "version",
		Short:   "Print the program's, Go's and SQLite's versions",
		Example: "  quartermaster version --json",
		Args:    noArgs,
		RunE: p.run(func(context.Context, []string) error {
			engine, err := db.EngineVersion()
			if err != nil {
				return err
			}
			v := versionResult{Version: Version, Commit: commit(), Go: runtime.Version(), SQLite: engine}
			return p.print(v, func(w io.Writer) {
				fmt.Fprintf(w, "quartermaster %s\ncommit %s\n%s\nSQLite %s\n", v.Version, v.Commit, v.Go, v.SQLite)
			})
		}),
	})
}

// commit is the revision that the binary was built from: what the release says, else
// the checkout's; "unknown" when it was not built in one.
func commit() string {
	if server.Commit != "" {
		return server.Commit
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
