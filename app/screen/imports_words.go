package screen

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// cellOf is the file's column name of a refused cell, and the reason without that name.
func (v importView) cellOf(e schema.Refused) (column, reason string) {
	column, reason = e.Column, e.Reason
	if name, rest, found := strings.Cut(reason, ": "); found && (column == "" || column == name) &&
		slices.ContainsFunc(v.table.Columns(), func(a schema.Arg) bool { return a.Name == name }) {
		column, reason = name, rest
	}
	if name, _, found := strings.Cut(reason, " is missing: "); found && (column == "" || column == name) {
		column, reason = name, columnWords(name)+" is missing"
	}
	if strings.Contains(reason, " is negative;") && v.reading.Returns == "" {
		reason += ". For returns, choose net under Negative quantities"
	}
	return cmp.Or(v.look.Theirs(column), columnWords(column)), schema.DaysInWords(reason)
}

// refusedGroup are the rows that are refused for one reason.
type refusedGroup struct {
	lines          []int
	column, reason string
	make           []page.Action // makes the record that the reason calls missing
}

// where is "50, 72, 181 and 345 more".
func (g *refusedGroup) where() string {
	first := make([]string, min(len(g.lines), 3))
	for i := range first {
		first[i] = strconv.Itoa(g.lines[i])
	}
	where := strings.Join(first, ", ")
	if left := len(g.lines) - len(first); left > 0 {
		where += " and " + page.Grouped(left) + " more"
	}
	return where
}

// missing finds what a reason says does not exist: no product "X", or "X" is not in the catalogue.
var missing = regexp.MustCompile(`\bno [A-Za-z ]+ "([^"]+)"|"([^"]+)" is not in`)

// refusedGroups gathers refused rows by reason, in the order of the file.
func (v importView) refusedGroups(refused []schema.Refused) (all []*refusedGroup) {
	by := map[[2]string]*refusedGroup{}
	for _, e := range refused {
		column, reason := v.cellOf(e)
		g := by[[2]string{column, reason}]
		if g == nil {
			g = &refusedGroup{column: column, reason: reason}
			all, by[[2]string{column, reason}] = append(all, g), g
			name, _, _ := strings.Cut(e.Reason, ": ")
			columns := v.table.Columns()
			at := slices.IndexFunc(columns, func(a schema.Arg) bool { return a.Name == name && a.New != "" })
			if none := missing.FindStringSubmatch(reason); at >= 0 && none != nil {
				id := none[1] + none[2]
				fields := []string{name, id, "then", v.waitsAt(nil)}
				if called := v.out.Called[id]; called != "" {
					fields = append(fields, "name", called)
					g.reason += ". The file calls it " + called
				}
				g.make = []page.Action{page.Open(schema.Op{Name: columns[at].New}.NewTitle(), columns[at].New, fields...).
					Named(cmp.Or(v.out.Called[id], id))}
			}
		}
		g.lines = append(g.lines, e.Line)
	}
	return all
}

// columnWords is a file's column for people: unit cost for unit_cost_cents.
func columnWords(column string) string {
	return schema.Arg{Name: strings.TrimSuffix(column, "_cents")}.Label()
}

// cellWords is a cell of the rows for people: cents are an amount, and a moment is in the shop's zone.
func (v importView) cellWords(ctx context.Context, i, n int) string {
	columns, rows := v.out.Columns, v.out.Sample
	cell := rows[i][n]
	if slices.ContainsFunc(v.table.Columns(), func(a schema.Arg) bool {
		return a.Name == columns[n] && a.Kind == schema.BoolKind
	}) {
		switch strings.ToLower(cell) {
		case "1", "true":
			return "Yes"
		case "0", "false":
			return "No"
		}
	}
	if at, is := exact.ParseInstant(cell); is && strings.HasSuffix(columns[n], "_at") {
		return page.InstantText(ctx, at)
	}
	amount := func(digits string) string {
		cents, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return digits
		}
		currency := currencyOf(ctx, columns, rows, i)
		return page.Amount(cents, currency) + " " + currency
	}
	switch {
	case strings.HasSuffix(columns[n], "_cents"):
		return amount(cell)
	case columns[n] == "refunds":
		return centsOfDay.ReplaceAllStringFunc(cell, func(s string) string { return ": " + amount(s[1:]) })
	}
	return cell
}

// centsOfDay are the cents of DAY=CENTS.
var centsOfDay = regexp.MustCompile(`=\d+`)

// currencyOf is a row's currency: its own, else that of the order's line above it, else the shop's.
func currencyOf(ctx context.Context, columns []string, rows [][]string, i int) string {
	own, ref := slices.Index(columns, "currency"), slices.Index(columns, "provider_ref")
	for ; own >= 0; i-- {
		if rows[i][own] != "" {
			return rows[i][own]
		}
		if i == 0 || ref < 0 || rows[i][ref] == "" || rows[i-1][ref] != rows[i][ref] {
			break
		}
	}
	return page.CurrencyCode(ctx)
}

// fieldsWords are the changed fields of a row, as the preview's table calls them: "Rent, Phone".
func fieldsWords(fields []string) string {
	return strings.Join(schema.Map(fields, columnWords), ", ")
}
