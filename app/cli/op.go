package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"quartermaster/app/server"
	"quartermaster/schema"
)

// opCommand is an operation's command: positional arguments and flags from its arguments, help from its sentence and
// example.
type opCommand struct {
	p       *program
	service string // "" for the appliance's own
	op      schema.Op

	declared    schema.Op    // op, unless the command is a second one
	words       []string     // "store", "order", "refund"
	positionals []positional // in order
	values      map[string][]string
	secretFiles map[string]*string // by argument: its file
	dryRun, yes bool
	asCSV       bool
}

// positional is one word in capitals of Op.Command.
type positional struct {
	arg            schema.Arg
	optional, many bool
}

// derive adds the commands of operations to root. An existing command of the same words is replaced.
func (p *program) derive(root *cobra.Command) {
	seen := map[string]bool{}
	for _, s := range p.declared() {
		for _, op := range s.Ops {
			if op.Command != "" && !seen[op.Command] {
				seen[op.Command] = true
				p.place(root, p.newOpCommand(s.Name, op))
				if second, has := seconds[op.Command]; has {
					same := op
					same.Command, same.Example = second.command, second.example
					c := p.newOpCommand(s.Name, same)
					c.declared = op
					p.place(root, c)
				}
			}
		}
	}
}

// seconds are commands that do the same as another: the currency is the store's and the whole shop's.
var seconds = map[string]struct{ command, example string }{
	"store settings": {"settings currency [CURRENCY]", "settings currency EUR"},
}

// declared are the operations of the command line: the appliance's own, then those of the four services.
func (p *program) declared() []schema.Service { return server.Declared(nil) }

// place adds the command under its words, making missing groups.
func (p *program) place(root *cobra.Command, c *opCommand) {
	at := root
	for i, word := range c.words[:len(c.words)-1] {
		next := child(at, word)
		if next == nil {
			path := strings.Join(c.words[:i+1], " ")
			short := groups[path]
			if short == "" {
				short = "Commands for " + strings.ReplaceAll(word, "-", " ")
			}
			next = group(word, short, "")
			at.AddCommand(next)
		}
		at = next
	}
	cmd := c.command()
	if p.ops == nil {
		p.ops = map[*cobra.Command]*opCommand{}
	}
	p.ops[cmd] = c
	if old := child(at, c.words[len(c.words)-1]); old != nil {
		at.RemoveCommand(old)
	}
	at.AddCommand(cmd)
	for g := at; g != root && g != nil; g = g.Parent() { // a group's example is its commands'
		if g.Example == "" || !strings.Contains(g.Example, cmd.Example) {
			line, _, _ := strings.Cut(cmd.Example, "\n")
			g.Example = strings.TrimPrefix(g.Example+"\n"+line, "\n")
		}
	}
}

func child(of *cobra.Command, word string) *cobra.Command {
	for _, c := range of.Commands() {
		if c.Name() == word {
			return c
		}
	}
	return nil
}

// newOpCommand parses the words of Op.Command.
func (p *program) newOpCommand(service string, op schema.Op) *opCommand {
	c := &opCommand{p: p, service: service, op: op, declared: op, values: map[string][]string{}}
	for _, word := range strings.Fields(op.Command) {
		if name := strings.Trim(word, "[]."); name != strings.ToUpper(name) {
			c.words = append(c.words, word)
		}
	}
	return c
}

// prepare adds the operation's arguments to the command that args mean, before it runs or prints help. Only to that
// one: describing all operations would take longer than most commands.
func (p *program) prepare(root *cobra.Command, args []string) {
	shell := len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
	if shell || len(args) > 0 && args[0] == "help" {
		args = args[1:]
	}
	cmd, _, err := root.Find(args)
	if c := p.ops[cmd]; err == nil && c != nil {
		c.arguments(cmd)
	}
	if shell {
		for _, register := range p.completions {
			register()
		}
	}
}

// arguments adds the positional arguments and flags to the command. It panics if a word in capitals names no argument:
// the declaration is wrong.
func (c *opCommand) arguments(cmd *cobra.Command) {
	args := c.op.Args(schema.Command)
	for _, word := range strings.Fields(c.op.Command) {
		name, found := strings.Trim(word, "[]."), false
		if name != strings.ToUpper(name) {
			continue
		}
		for _, a := range args {
			if a.Word() == name {
				c.positionals = append(c.positionals, positional{arg: a, optional: strings.HasPrefix(word, "["),
					many: strings.Contains(word, "...")})
				found = true
				break
			}
		}
		if !found {
			panic(fmt.Sprintf("cli: %s: no argument is called %s", c.op.Command, name))
		}
	}
	for _, a := range args {
		if a.Header == "" && !c.isPositional(a) {
			c.flag(cmd, a)
		}
	}
	c.p.jsonFlag(cmd)
	if c.op.Writes {
		c.p.acting(cmd)
		cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "show what would change; write nothing")
	} else if cmd.Flags().Lookup("csv") == nil {
		cmd.Flags().BoolVar(&c.asCSV, "csv", false, "print the list as CSV")
	}
	if c.op.Destructive {
		cmd.Flags().BoolVar(&c.yes, "yes", false, "do not ask")
	}
}

func (c *opCommand) isPositional(a schema.Arg) bool {
	return slices.ContainsFunc(c.positionals, func(x positional) bool { return x.arg.Name == a.Name })
}

func (c *opCommand) command() *cobra.Command {
	last := c.words[len(c.words)-1]
	use := last + strings.TrimPrefix(c.op.Command, strings.Join(c.words, " "))
	short, _, _ := strings.Cut(c.op.About, ". ")
	cmd := &cobra.Command{
		Use: use, Short: strings.TrimSuffix(short, "."), Long: c.op.About, Args: c.checkArgs,
		Example: "  quartermaster " + strings.ReplaceAll(c.op.Example, "\n", "\n  quartermaster "),
	}
	if c.op.Example == "" {
		cmd.Example = "  quartermaster " + c.op.Command
	}
	cmd.ValidArgsFunction = c.completePositional
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.takePositionals(args)
		err := c.run(cmd.Context())
		var usage usageError
		if err != nil && !errors.As(err, &usage) {
			err = runError{err}
		}
		return err
	}
	return cmd
}

// checkArgs counts the positional arguments.
func (c *opCommand) checkArgs(cmd *cobra.Command, args []string) error {
	least, most := 0, len(c.positionals)
	for _, x := range c.positionals {
		if !x.optional {
			least++
		}
		if x.many {
			most = 1 << 20
		}
	}
	if most == 0 {
		return noArgs(cmd, args)
	}
	return takes(least, most)(cmd, args)
}

// takes refuses fewer arguments than least, and more than most.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef("%d arguments are given; usage: %s", len(args), cmd.UseLine())
		}
		return nil
	}
}

func (c *opCommand) takePositionals(args []string) {
	for i, x := range c.positionals {
		switch {
		case i >= len(args):
		case x.many:
			c.values[x.arg.Name] = args[i:]
		default:
			c.values[x.arg.Name] = args[i : i+1]
		}
	}
}

// readFile reads a file named in a command; - is standard input.
func (p *program) readFile(path string) (schema.File, error) {
	if path == "-" {
		data, err := io.ReadAll(io.LimitReader(p.Stdin, 64<<20))
		return schema.File{Name: "-", Data: data}, err
	}
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s is no plain file", path)
	}
	if err != nil {
		return schema.File{}, err
	}
	data, err := os.ReadFile(path) // #nosec G304 -- the operator names the file
	return schema.File{Name: filepath.Base(path), Data: data}, err
}
