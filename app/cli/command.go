// Package cli is the command line: commands derived from the services' operations, and a few of its own.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	_ "time/tzdata" // the zone database, for machines without one

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quartermaster/app/server"
	"quartermaster/schema/db"
	"quartermaster/schema/strict"
)

// Env is the environment of a run of the program.
type Env struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Now            func() time.Time // time.Now if nil
}

// program is one run: the flags of every command, and the exits.
type program struct {
	Env
	dbPath, timezone, logFormat, logLevel string

	dbGiven     bool // by a flag or the environment
	acceptClock bool // the operator's acceptance of the clock
	asJSON      bool
	zone        *time.Location
	log         zerolog.Logger
	as          string
	unshown     func() // undoes a one-time secret that could not be printed; may be nil
	lost        string // the consequence of a result that could not be printed, for one-time secrets

	ops map[*cobra.Command]*opCommand // the commands that are operations

	// completions register the shell's completions, and run only when it asks, since cobra keeps registered ones for the
	// life of the process.
	completions []func()
}

// usageError is wrong usage: exit 2.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Run runs one command line and returns its exit code: 0 done, 1 refused or failed, 2 wrong usage.
func Run(ctx context.Context, env Env) int {
	if env.Now == nil {
		env.Now = time.Now
	}
	out := &output{w: env.Stdout}
	env.Stdout = out
	p := &program{Env: env}
	root := p.root()
	p.prepare(root, env.Args)
	server.LetGoOfOwnFile()
	root.SetArgs(env.Args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	cmd, err := root.ExecuteContextC(ctx)
	var failure runError
	var usage usageError
	if out.err != nil && (err == nil || errors.Is(err, out.err)) {
		err = runError{fmt.Errorf("the output could not be written: %w%s", out.err, p.lostText())}
	}
	switch {
	case err == nil:
		return 0
	case errors.As(err, &failure) && !errors.As(err, &usage):
		if !errors.Is(failure.error, errReported) {
			fmt.Fprintf(env.Stderr, "quartermaster: %v\n", failure.error)
		}
		return 1
	default: // cobra's own errors are about the usage
		fmt.Fprintf(env.Stderr, "quartermaster: %v\n", inWords(err))
		fmt.Fprintf(env.Stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		return 2
	}
}

// shown checks, while the database is open, whether a one-time secret could be printed.
func (p *program) shown() error {
	out, ours := p.Stdout.(*output)
	if !ours || p.lost == "" {
		return nil
	}
	if out.closed(); out.err != nil && p.unshown != nil {
		p.unshown()
	}
	return out.err
}

// lostText says what it means that a result was not printed.
func (p *program) lostText() string {
	if p.lost == "" {
		return ""
	}
	return "; " + p.lost
}

// inWords explains a flag's wrong value to people who do not know Go.
func inWords(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	f := bad.GetFlag()
	if _, ours := f.Value.(*opFlag); ours {
		return fmt.Errorf("--%s: %q %w", f.Name, bad.GetValue(), bad.Unwrap())
	}
	takes := map[string]string{"int64": "a whole number", "int": "a whole number", "bool": "true or false",
		"duration": "a time such as 90s"}[f.Value.Type()]
	if takes == "" {
		return err
	}
	return fmt.Errorf("--%s: %q is not allowed; it takes %s: %s", f.Name, bad.GetValue(), takes, f.Usage)
}

// runError is the error of a command that ran.
type runError struct{ error }

func (e runError) Unwrap() error { return e.error }

// errReported ends a command with exit 1 that has already reported the reason.
var errReported = errors.New("failed")

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "quartermaster",
		Short:         "A small shop's back office: store, maintenance, rental and reorder over one SQLite file",
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return p.readFlags(cmd) },
		Args:              noArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	p.flags(root.PersistentFlags())
	root.AddCommand(p.commands()...)
	p.derive(root)
	child(root, "mail").AddCommand(p.mailDailyCommand())
	return root
}

// group is a command that only contains others; its example is theirs, a line each.
func group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Long: long, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var lines []string
	for _, c := range commands {
		line, _, _ := strings.Cut(c.Example, "\n")
		lines = append(lines, line)
	}
	cmd.Example = strings.Join(lines, "\n")
	cmd.AddCommand(commands...)
	return cmd
}

// flags are those of every command.
func (p *program) flags(f *pflag.FlagSet) {
	f.StringVar(&p.dbPath, "db", "quartermaster.db", "the database file")
	f.StringVar(&p.timezone, "timezone", "",
		"the shop's time zone, an IANA name such as Europe/Berlin (default: the machine's)")
	f.BoolVar(&p.acceptClock, "accept-clock", false, "accept the system clock although it is far from the newest record")
	f.StringVar(&p.logFormat, "log-format", "auto", "auto, json or console")
	f.StringVar(&p.logLevel, "log-level", "info", "debug, info, warn or error")
}

// readFlags fills flags from the environment and reads those that every command has.
func (p *program) readFlags(cmd *cobra.Command) error {
	var bad error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "help" || !fromEnvironment(cmd, f) {
			return
		}
		if v := p.Getenv(variable(f.Name)); v != "" {
			if err := cmd.Flags().Set(f.Name, v); err != nil && bad == nil {
				bad = usagef("%s: %w", variable(f.Name), inWords(err))
			}
		}
	})
	if bad != nil {
		return bad
	}
	f := cmd.Flags().Lookup("db")
	p.dbGiven = f != nil && f.Changed
	if err := p.loadZone(); err != nil {
		return err
	}
	return p.setUpLog()
}

// fromEnvironment reports whether the flag has an environment variable: those of every command, the receivers'
// addresses, and all of serve's and healthcheck's.
func fromEnvironment(cmd *cobra.Command, f *pflag.Flag) bool {
	switch f.Name {
	case "db", "timezone", "log-format", "log-level", "webhook-allow-private":
		return true
	}
	return cmd.Name() == "serve" || cmd.Name() == "healthcheck"
}

func variable(flag string) string {
	return "QUARTERMASTER_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func (p *program) loadZone() error {
	p.zone = time.Local
	if p.timezone == "" {
		return nil
	}
	zone, err := time.LoadLocation(p.timezone)
	if err != nil {
		return usagef("--timezone: %q is not a time zone; give an IANA name such as Europe/Berlin or UTC", p.timezone)
	}
	p.zone = zone
	return nil
}

func (p *program) setUpLog() error {
	level, err := zerolog.ParseLevel(p.logLevel)
	if err != nil || p.logLevel == "" {
		return usagef("--log-level: %q is not one of debug, info, warn, error", p.logLevel)
	}
	out := p.Stderr
	switch p.logFormat {
	case "json":
	case "console":
		out = zerolog.ConsoleWriter{Out: p.Stderr, TimeFormat: time.DateTime}
	case "auto":
		if onTerminal(p.Stderr) {
			out = zerolog.ConsoleWriter{Out: p.Stderr, TimeFormat: time.DateTime}
		}
	default:
		return usagef("--log-format: %q is not one of auto, json, console", p.logFormat)
	}
	p.log = zerolog.New(out).Level(level).With().Timestamp().Logger()
	return nil
}

// run wraps a command's function, so that its errors are distinguished from wrong usage.
func (p *program) run(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := do(cmd.Context(), args); err != nil {
			return runError{err}
		}
		return nil
	}
}

// open opens the database for a command other than serve. The caller closes it.
func (p *program) open() (*db.DB, error) {
	return db.Open(p.dbPath, db.Options{Now: p.Now, Zone: p.zone, Accept: p.acceptClock, Notice: p.notice})
}

// withDB runs do with the open database.
func (p *program) withDB(do func(d *db.DB) error) error {
	d, err := p.open()
	if err != nil {
		return err
	}
	return errors.Join(do(d), d.Close())
}

func (p *program) notice(text string) { fmt.Fprintln(p.Stderr, text) }

// print writes a command's result: JSON with --json, else by text.
func (p *program) print(result any, text func(w io.Writer)) error {
	if !p.asJSON {
		text(p.Stdout)
		return nil
	}
	b, err := strict.Marshal(result)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "%s\n", b)
	return err
}

// jsonFlag adds --json to a command that prints a result.
func (p *program) jsonFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&p.asJSON, "json", false, "print the result as JSON")
	return cmd
}

// oneOf refuses a flag's value that is not in its list, as wrong usage.
func oneOf(flag, value string, allowed ...string) error {
	for _, a := range allowed {
		if a == value {
			return nil
		}
	}
	return usagef("%s: %q is not one of %s", flag, value, strings.Join(allowed, ", "))
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unknown command or argument %q for %q", args[0], cmd.CommandPath())
	}
	return nil
}

// absolute makes a path valid from any folder.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// commands is the command line's table of contents.
func (p *program) commands() []*cobra.Command {
	return []*cobra.Command{
		p.initCommand(),
		p.serveCommand(),
		p.backupCommand(), p.manCommand(),
		p.restoreCommand(),
		p.compactCommand(),
		p.migrateCommand(),
		p.statusCommand(),
		p.doctorCommand(),
		p.healthcheckCommand(),
		p.maintenanceCommand(),
		p.importCommand(),
		p.exportCommand(),
		p.versionCommand(),
	}
}
