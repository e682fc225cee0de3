package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quartermaster/app/server"
)

// manCommand writes files for packages: a man page for each command, and the shells' completions. It is hidden, since
// only packages call it.
func (p *program) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write the man pages and the shells' completions into a folder",
		Example: "  quartermaster man build",
		Hidden:  true,
		Args:    takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.run(func(context.Context, []string) error { return writeManual(cmd.Root(), args[0]) })(cmd, args)
		},
	}
}

func writeManual(root *cobra.Command, folder string) error {
	pages, shells := filepath.Join(folder, "man1"), filepath.Join(folder, "completions")
	for _, d := range []string{pages, shells} {
		if err := os.MkdirAll(d, 0o755); err != nil { // #nosec G301 -- readable by everybody
			return err
		}
	}
	if err := writePages(root, pages); err != nil {
		return err
	}
	for name, write := range map[string]func(string) error{
		"quartermaster.bash": func(f string) error { return root.GenBashCompletionFileV2(f, true) },
		"_quartermaster":     root.GenZshCompletionFile,
		"quartermaster.fish": func(f string) error { return root.GenFishCompletionFile(f, true) },
		"quartermaster.ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := write(filepath.Join(shells, name)); err != nil {
			return err
		}
	}
	return nil
}

func writePages(cmd *cobra.Command, folder string) error {
	if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
		return nil
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	// #nosec G306 -- readable by everybody
	if err := os.WriteFile(filepath.Join(folder, name+".1"), []byte(manPage(cmd, name)), 0o644); err != nil {
		return err
	}
	for _, c := range cmd.Commands() {
		if err := writePages(c, folder); err != nil {
			return err
		}
	}
	return nil
}

// manPage is one command's page in roff.
func manPage(cmd *cobra.Command, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"quartermaster %s\" \"Quartermaster\"\n", roff(strings.ToUpper(name)),
		roff(server.Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n\\fB%s\\fR\n", roff(name), roff(cmd.Short), roff(cmd.UseLine()))
	long := cmp.Or(cmd.Long, cmd.Short+".")
	fmt.Fprintf(&b, ".SH DESCRIPTION\n.nf\n%s\n.fi\n", roff(long))
	manFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	manFlags(&b, "OPTIONS OF EVERY COMMAND", cmd.InheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	b.WriteString(".SH EXIT STATUS\n0 done, 1 refused or failed, 2 wrong usage.\n")
	var others []string
	if cmd.HasParent() {
		others = append(others, strings.ReplaceAll(cmd.Parent().CommandPath(), " ", "-"))
	}
	for _, c := range cmd.Commands() {
		if !c.Hidden && c.Name() != "help" && c.Name() != "completion" {
			others = append(others, strings.ReplaceAll(c.CommandPath(), " ", "-"))
		}
	}
	if len(others) > 0 {
		b.WriteString(".SH SEE ALSO\n")
		for i, o := range others {
			end := ","
			if i == len(others)-1 {
				end = ""
			}
			fmt.Fprintf(&b, ".BR %s (1)%s\n", roff(o), end)
		}
	}
	return b.String()
}

func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(b, ".TP\n\\fB\\-\\-%s\\fR %s\n%s\n", roff(f.Name), roff(value), roff(usage))
	})
}

// roff escapes text: a backslash, a dash that should be copied as one, and a line that would begin with a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
