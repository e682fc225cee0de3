package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"quartermaster/app/server"
	"quartermaster/app/table"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// importing are the arguments of an import beside the file.
type importing struct {
	table.Options
	maps, sets []string
	comma      bool
	refused    string // where the refused rows go
	template   bool
	again      bool
}

func (p *program) importCommand() *cobra.Command {
	var o importing
	cmd := p.jsonFlag(p.acting(&cobra.Command{
		Use:   "import SERVICE TABLE FILE",
		Short: "Load a CSV or XLSX file into one of a service's tables",
		Long: `Load a file (- is standard input) into one of a service's tables. The header names
the columns. Refused rows are listed with their line and reason; the others are written,
and the exit code is 1. A file with an unknown column is refused. While a large file is
imported, others can write. If an import was cut off, import the file again: no row counts
twice. A row whose identifier exists updates that record; a missing column changes nothing,
and an empty cell means the default.

The delimiter, the encoding, the header's line, the decimal sign and the format of days
are detected. If something can be read in two ways, nothing is written, and the flag that
decides it is named. Files of some other programs are recognised by their header. With
--map or --set the other columns are ignored and listed. To read amounts in units of the
currency, leave out _cents: --map "Price=unit_cost" reads 4.50 into unit_cost_cents.

` + tableList(),
		Example: `  quartermaster import reorder skus catalogue.csv --dry-run
  quartermaster import reorder skus catalogue.csv --as alice
  quartermaster import reorder skus artikel.xlsx --map "Artikel=sku" --map "EK=unit_cost" --set supplier=Leaf
  quartermaster import store orders orders_export.csv --from shopify-orders --refused refused.csv
  quartermaster import reorder skus --template
  zcat catalogue.csv.gz | quartermaster import reorder skus - --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.template {
				return takes(2, 2)(cmd, args)
			}
			return takes(3, 3)(cmd, args)
		},
		RunE: p.run(func(ctx context.Context, args []string) error {
			t, err := o.check(args)
			if err != nil || o.template {
				if err == nil {
					err = table.Template(t, p.Stdout)
				}
				return err
			}
			return p.importFile(ctx, args[0], args[1], args[2], o)
		}),
		ValidArgsFunction: completeTable,
	}))
	o.flags(p, cmd)
	return cmd
}

func (o *importing) flags(p *program, cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.DryRun, "dry-run", false, "show what would be imported, changed and refused; write nothing")
	f.BoolVar(&o.Add, "add", false, "add to stored figures instead of replacing them (only for sales)")
	f.BoolVar(&o.again, "again", false, "with --add: add the file even if it was added before")
	f.BoolVar(&o.Emit, "emit", false, "send events for the imported rows (tables marked with --emit)")
	f.StringArrayVar(&o.maps, "map", nil, `"Their column=ours": what a column of the file means (may be repeated)`)
	f.StringArrayVar(&o.sets, "set", nil, "ours=VALUE: a value for all rows (may be repeated)")
	f.StringVar(&o.DateFormat, "date-format", "",
		"how the file writes days, in DD MM MMM YYYY hh mm ss: DD.MM.YYYY (default: detected for each column)")
	f.StringVar(&o.Decimal, "decimal", "", "the decimal sign: "+strings.Join(table.Decimals, " or ")+
		" (default: detected)")
	f.BoolVar(&o.comma, "decimal-comma", false, "same as --decimal comma")
	f.IntVar(&o.HeaderLine, "header-line", 0,
		"the line of the file that names the columns (default: detected in the first 20)")
	f.StringVar(&o.Delimiter, "delimiter", "", "what separates the cells: "+strings.Join(table.Delimiters,
		" ")+" (default: detected)")
	f.StringVar(&o.Encoding, "encoding", "", strings.Join(table.Encodings, ", ")+" (default: detected)")
	f.StringVar(&o.Sheet, "sheet", "", "the sheet of a workbook (default: the first)")
	f.StringVar(&o.Returns, "returns", "", "net: subtract negative quantities from their SKU and day, but not below 0")
	f.StringVar(&o.From, "from", "",
		"the program that wrote the file; none turns this off (default: recognised by its header): "+
			strings.Join(table.Programs, ", "))
	f.StringVar(&o.refused, "refused", "",
		"write the refused rows to this file, with a column reason; correct them there and import it")
	f.BoolVar(&o.template, "template", false, "print an empty file with the table's columns")
	for name, list := range map[string][]string{"decimal": table.Decimals, "delimiter": table.Delimiters,
		"encoding": table.Encodings, "from": table.Programs, "returns": {"net"}} {
		p.completeWith(cmd, name, list)
	}
}

// check refuses, as wrong usage, an unknown table and options that it does not accept.
func (o *importing) check(args []string) (schema.Table, error) {
	t, err := lookTable(server.NewServices(nil), args[0], args[1])
	if err != nil {
		return t, err
	}
	for _, f := range []struct {
		name  string
		given bool
	}{{"add", o.Add}, {"emit", o.Emit}} {
		if f.given && !slices.Contains(t.Options, f.name) {
			return t, usagef("--%s: the table %s of %s does not take it", f.name, t.Name, args[0])
		}
	}
	if o.Delimiter == "\t" || o.Delimiter == `\t` {
		o.Delimiter = "tab"
	}
	if o.comma && o.Decimal == "" {
		o.Decimal = "comma"
	}
	o.Flags, o.Map, o.Set = true, nil, nil
	for _, m := range o.maps {
		i := strings.LastIndexByte(m, '=')
		if i < 1 || i == len(m)-1 {
			return t, usagef("--map: %q is not allowed; it takes \"Their column=ours\"", m)
		}
		o.Map = append(o.Map, table.Pair{Name: strings.TrimSpace(m[:i]), Means: strings.TrimSpace(m[i+1:])})
	}
	for _, s := range o.sets {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return t, usagef("--set: %q is not allowed; it takes ours=VALUE", s)
		}
		o.Set = append(o.Set, table.Pair{Name: strings.TrimSpace(name), Means: value})
	}
	if e, refused := fault.As(o.Check(t)); refused {
		return t, usagef("--%s", e.Detail)
	}
	return t, nil
}

// importFile imports the file into the service's table and returns the outcome.
func (p *program) importFile(ctx context.Context, service, name, path string, o importing) error {
	if o.refused != "" {
		if err := db.Replaceable(p.dbPath, o.refused); err != nil {
			return err
		}
	}
	in, size, err := p.input(path)
	if err != nil {
		return err
	}
	defer in.Close()
	return p.withDB(func(d *db.DB) error {
		t, err := lookTable(server.NewServices(d), service, name)
		if err != nil {
			return err
		}
		who, err := p.actor(ctx, d, service)
		if err != nil {
			return err
		}
		if err := table.MayImport(who, t); err != nil {
			return err
		}
		file, err := table.Open(in)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()              // it is only read
		defer debug.SetGCPercent(debug.SetGCPercent(50)) // rows are short-lived: a small heap suffices
		progress, end := func(int) {}, func() {}
		if onTerminal(p.Stderr) {
			progress, end = progressOn(p.Stderr, size)
		}
		out, err := p.runImport(ctx, d, who, t, file, &o, progress)
		defer func() { o.Work.Close() }()
		end()
		p.advise(o, out, err)
		if err != nil {
			return err
		}
		if o.refused != "" && len(out.Errors) > 0 {
			if err := p.giveBack(t, file, o, out); err != nil {
				return err
			}
		}
		return errors.Join(p.printImported(out), p.told(ctx, o))
	})
}

// advise names the missing flag for another program's file.
func (p *program) advise(o importing, out table.Outcome, err error) {
	const unknown = "unknown column "
	if e, ok := fault.As(err); ok && o.From == "" && strings.HasPrefix(e.Detail, unknown) {
		name, columns, _ := strings.Cut(strings.TrimPrefix(e.Detail, unknown), ";")
		_, columns, _ = strings.Cut(columns, " are ")
		first, _, _ := strings.Cut(columns, ",")
		p.notice(`if your column names differ, map each one: --map ` + strings.TrimSuffix(name, `"`) + "=" + first +
			`"; --template prints the columns`)
	}
	if o.Returns == "" && slices.ContainsFunc(out.Errors, func(e schema.Refused) bool {
		return strings.HasPrefix(e.Reason, "qty: ") && strings.Contains(e.Reason, "is negative")
	}) {
		p.notice("--returns net subtracts negative quantities from the sales of their SKU on that day")
	}
}

// giveBack writes the refused rows to the file of --refused.
func (p *program) giveBack(t schema.Table, file *table.File, o importing, out table.Outcome) error {
	left := 0
	err := p.writeBeside(o.refused, func(w io.Writer) (err error) {
		left, err = table.WriteRefused(t, file, o.Reading, out.Errors, w)
		return err
	})
	if err == nil && left > 0 {
		p.notice(fmt.Sprintf("%s lacks %d of the refused rows: their cells could not be separated", o.refused, left))
	}
	return err
}

// rehearsed is a dry run as JSON.
type rehearsed struct {
	schema.Loaded
	New     int                 `json:"new"`
	Changed int                 `json:"changed"`
	Same    int                 `json:"same"`
	Refused int                 `json:"refused"`
	Changes []schema.LineChange `json:"changes"`
	Would   []db.Change         `json:"would"`
	Events  map[string]int      `json:"events"`
	Found   table.Found         `json:"found"`
	Left    []string            `json:"left_out"`
	Notes   []string            `json:"notes"`

	WouldPost any `json:"would_post,omitempty"`
	Replaced  int `json:"replaced"`
}

func (p *program) printImported(out table.Outcome) error {
	p.printFound(out)
	result := any(out.Loaded)
	if out.DryRun {
		result = rehearsed{
			out.Loaded, out.New, out.Changed, out.Same, out.Refused, orEmpty(out.Changes), orEmpty(out.Would), out.Events,
			out.Found,
			orEmpty(out.Left), orEmpty(out.Notes), out.Follows.WouldPost, out.Replaced,
		}
	}
	err := p.print(result, func(w io.Writer) {
		for _, e := range out.Errors {
			p.notice(fmt.Sprintf("line %d: %s", e.Line, e.Reason))
		}
		if !out.DryRun {
			fmt.Fprintf(w, "imported %d rows\n", out.Imported)
			return
		}
		fmt.Fprintf(w, "would import %d rows\n", out.Imported)
		fmt.Fprintf(w, "%d of %d rows are new, %d changed, %d the same, %d refused\n",
			out.New, out.Imported+out.Refused, out.Changed, out.Same, out.Refused)
		p.printDryRun(out)
	})
	if err == nil && len(out.Errors) > 0 {
		err = fmt.Errorf("%d of %d rows were refused", len(out.Errors), len(out.Errors)+out.Imported)
	}
	return err
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// printFound prints the file's format if it is not the default, and its ignored columns.
func (p *program) printFound(out table.Outcome) {
	var how []string
	f := out.Found
	switch {
	case f.Format == "xlsx":
		how = append(how, fmt.Sprintf("the sheet %q of a workbook", f.Sheet))
	case f.Format == "json":
		how = append(how, "JSON answers, one after another")
	case f.Delimiter != ",":
		how = append(how, "cells separated by "+f.Delimiter)
	}
	if f.Encoding != "" && f.Encoding != "utf-8" {
		how = append(how, "in "+f.Encoding)
	}
	if f.HeaderLine > 1 {
		how = append(how, fmt.Sprintf("the header on line %d", f.HeaderLine))
	}
	how = append(how, f.Written()...)
	if len(how) > 0 {
		p.notice("read as " + strings.Join(how, ", "))
	}
	if len(out.Left) > 0 {
		p.notice("ignored columns: " + strings.Join(out.Left, ", "))
	}
	for _, n := range out.Notes {
		p.notice(n)
	}
}

// printDryRun prints what a dry run would change and trigger.
func (p *program) printDryRun(out table.Outcome) {
	const most = 20
	for i, c := range out.Changes {
		if i == most {
			p.notice(fmt.Sprintf("... and %d more that change", out.Changed-most))
			break
		}
		p.notice(fmt.Sprintf("line %d changes %s", c.Line, strings.Join(c.Fields, ", ")))
	}
	for _, name := range slices.Sorted(maps.Keys(out.Events)) {
		p.notice("it would send " + exact.Plural(out.Events[name], name+" event", name+" events"))
	}
}
