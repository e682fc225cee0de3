package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// opFlag is the flag of an operation's argument. It checks its text as far as the argument's type allows, so that a
// wrong one is wrong usage; the operation binds it.
type opFlag struct {
	c   *opCommand
	arg schema.Arg
	of  *pflag.Flag // the flag of which this is a former spelling; nil: none
}

// flag adds the argument's flag to the command.
func (c *opCommand) flag(cmd *cobra.Command, a schema.Arg) {
	name := a.FlagName()
	f := cmd.Flags().VarPF(&opFlag{c: c, arg: a}, name, "", a.About)
	if a.Kind == schema.BoolKind {
		f.NoOptDefVal = "true"
	}
	switch {
	case a.Secret:
		c.secretFlags(cmd, a)
		return
	case a.Required:
		require(cmd, name)
	}
	if a.Flag != "" && a.Flag != name {
		cmd.Flags().VarPF(&opFlag{c: c, arg: a, of: f}, a.Flag, "", "").Hidden = true
	}
	switch {
	case len(a.Enum) > 0:
		c.p.completeWith(cmd, name, a.Enum)
	case a.Kind != schema.FileKind:
		c.p.completeBy(cmd, name, func() []string { return c.choices(a) })
	}
}

// choices completes the records that the argument may name.
func (c *opCommand) choices(a schema.Arg) (words []string) {
	_ = c.p.withDB(func(d *db.DB) error { // without a database there is nothing to complete
		return d.View(context.Background(), func(conn *db.Conn) error {
			choices, err := a.Choose(conn, db.CLI(""), schema.Find{Most: 500})
			for _, x := range choices {
				if _, own, parts := strings.Cut(x.Value, "\t"); parts {
					x.Value = own
				}
				about := x.Text
				if about == x.Value {
					about = x.More
				}
				if about != "" {
					x.Value += "\t" + about
				}
				words = append(words, x.Value)
			}
			return err
		})
	})
	return words
}

// String is the flag's default.
func (f *opFlag) String() string { return "" }

// Type is the placeholder of the value in the help.
func (f *opFlag) Type() string {
	switch f.arg.Kind {
	case schema.IntKind:
		if f.arg.InCents() {
			return "CENTS"
		}
		return "N"
	case schema.NumberKind:
		return "N"
	case schema.BoolKind:
		return "bool"
	case schema.DayKind:
		return "DAY"
	case schema.MonthKind:
		return "MONTH"
	case schema.FileKind:
		return "FILE"
	}
	return "TEXT"
}

// Set stores the flag's text.
func (f *opFlag) Set(text string) error {
	many := f.arg.Kind == schema.ListKind || f.arg.Kind == schema.TableKind
	completing := len(f.c.p.Args) > 0 && strings.HasPrefix(f.c.p.Args[0], "__complete") // flags are read twice then
	if given := f.c.values[f.arg.Name]; len(given) > 0 && !many && !completing {
		return errors.New("is given twice; give it once")
	}
	if err := f.check(text); err != nil {
		return err
	}
	f.c.values[f.arg.Name] = append(f.c.values[f.arg.Name], text)
	if f.of != nil {
		f.of.Changed = true
	}
	return nil
}

// inUnits matches an amount in currency units.
var inUnits = regexp.MustCompile(`^([0-9]+)[.,]([0-9]{1,2})$`)

// check refuses a text that the argument's type never accepts. Its errors follow the flag and the text: "is not
// allowed; it takes ...".
func (f *opFlag) check(text string) error {
	if text == "" && f.arg.Nullable() {
		return nil
	}
	takes := ""
	switch f.arg.Kind {
	case schema.IntKind:
		if _, err := strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 64); err != nil && !f.arg.Named() {
			takes = "a whole number"
			if units := inUnits.FindStringSubmatch(text); units != nil && f.arg.InCents() {
				return fmt.Errorf("is not allowed; it is in cents: %s", cmp.Or(strings.TrimLeft(units[1]+(units[2] + "0")[:2], "0"),
					"0"))
			}
		}
	case schema.BoolKind:
		if _, err := strconv.ParseBool(text); err != nil {
			takes = "true or false"
		}
	case schema.EnumKind:
		word := strings.TrimSpace(text)
		if !slices.Contains(f.arg.Enum, word) && !f.arg.Spelled(word) {
			takes = "one of " + strings.Join(f.arg.Enum, ", ")
		}
	case schema.DayKind:
		if _, ok := exact.ParseDay(text); !ok {
			takes = "a calendar day as YYYY-MM-DD"
		}
	case schema.MonthKind:
		if _, ok := exact.ParseMonth(text); !ok {
			takes = "a month as YYYY-MM"
		}
	}
	if takes == "" {
		return nil
	}
	return fmt.Errorf("is not allowed; it takes %s: %s", takes, f.arg.About)
}

// completePositional completes the present word from the argument's list, or from the records that it may name.
func (c *opCommand) completePositional(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(c.positionals) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	at := c.positionals[min(len(args), len(c.positionals)-1)]
	switch {
	case len(args) >= len(c.positionals) && !at.many:
		return nil, cobra.ShellCompDirectiveNoFileComp
	case at.arg.Kind == schema.FileKind:
		return nil, cobra.ShellCompDirectiveDefault
	case len(at.arg.Enum) > 0:
		return at.arg.Enum, cobra.ShellCompDirectiveNoFileComp
	}
	return c.choices(at.arg), cobra.ShellCompDirectiveNoFileComp
}
