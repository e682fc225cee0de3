package table

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Programs are those whose files are recognised by their column names.
var Programs = func() (names []string) {
	for _, p := range programs {
		if !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	return names
}()

// program is another program's file: its columns, and our values of a row.
type program struct {
	name    string
	title   string
	table   string
	needs   []string // required columns; "A|B": one of these
	columns []string // all used ones; "A*": a prefix
	targets []string // our columns of a row, in the order of make's cells
	units   []string // targets with amounts in currency units
	start   func(tr *translation) maker
	net     bool // its returns are netted

	from map[string][]string // the source columns of a target; without them it stays unchanged
}

// maker makes the cells of our row, or explains why there is none.
type maker func(get func(column string) string) (cells []string, skip string, refusal *fault.Error)

var programs = slices.Concat(
	[]*program{shopify, woocommerce, square, gumroad, fleetioVehicles, gumroadKeys, eddKeys, lemonKeys, polarKeys,
		keygenKeys},
	shopifyProducts, wooProducts, squareItems, shopifyCustomers, wooCustomers, quickbooksCustomers,
)

// programOf is the named program, or the one whose columns the header has if none is named and the names are not our
// own.
func programOf(t schema.Table, r Reading, header []string) *program {
	for _, p := range programs {
		switch {
		case p.table != t.Name:
		case r.From == p.name, r.From == "" && len(r.Map) == 0 && p.missing(header) == "":
			return p
		}
	}
	return nil
}

// missing is the first required column of the program that the header lacks.
func (p *program) missing(header []string) string {
	for _, names := range p.needs {
		if !slices.ContainsFunc(strings.Split(names, "|"), func(n string) bool { return slices.Contains(header, n) }) {
			return names
		}
	}
	return ""
}

func checkProgram(name string, t schema.Table) error {
	var tables []string
	for _, p := range programs {
		if p.name == name && p.table == t.Name {
			return nil
		}
		if p.name == name {
			tables = append(tables, p.table)
		}
	}
	if tables == nil {
		return fault.Fieldf("from", "from: %s is not allowed; it takes one of %s", schema.Quote(name), joined(Programs))
	}
	return fault.Fieldf("from", "from: %s makes rows of the table %s, not of %s", name, strings.Join(tables, " or "),
		t.Name)
}

// ProgramsFor are the programs whose files the table accepts.
func ProgramsFor(t schema.Table) []string {
	var names []string
	for _, p := range programs {
		if p.table == t.Name {
			names = append(names, p.name)
		}
	}
	return names
}

// TitleOf is what people call a program's files: Shopify's orders for shopify-orders.
func TitleOf(name string) string {
	for _, p := range programs {
		if p.name == name {
			return p.title
		}
	}
	return name
}

// Elsewhere is the program whose files have these columns, and which of the tables they are for.
func Elsewhere(header []string, tables []schema.Table) (title string, t schema.Table, found bool) {
	for _, p := range programs {
		if at := slices.IndexFunc(tables, func(t schema.Table) bool { return t.Name == p.table }); at >= 0 &&
			p.missing(header) == "" {
			return p.title, tables[at], true
		}
	}
	return "", t, false
}

// translation turns the rows of another program's file into our rows.
type translation struct {
	program *program
	convert *converter
	header  []string
	places  map[string]int    // indexes of its columns in the file
	above   map[string]string // cells that the rows below leave empty
	make    maker
	kept    []int // which of make's cells have a column in the table
	cells   []string
	kinds   []kind
	extra   []extra
	record  record
	skipped map[string][]int // lines of skipped rows, by reason
	notes   []string
	called  map[string]string // what the file calls its products, by SKU
}

// extra is our column that a mapping beside the program sets.
type extra struct {
	at    int
	value string
}

// begin starts the translation of a file with the header.
func (p *program) begin(t schema.Table, r Reading, header []string, c *converter) (*translation, *layout, error) {
	tr := &translation{
		program: p, convert: c, header: header, places: map[string]int{}, above: map[string]string{},
		skipped: map[string][]int{}, called: map[string]string{},
	}
	has := func(columns []string) func(string) bool {
		return func(name string) bool {
			return slices.ContainsFunc(columns, func(c string) bool { return starred(c, name) })
		}
	}
	for i, name := range header {
		if _, twice := tr.places[name]; !twice && has(slices.Concat(p.columns, nameColumns))(name) {
			tr.places[name] = i
		}
	}
	if name := p.missing(header); name != "" {
		return nil, nil, fault.Invalidf("the file has no column %s, which a file of %s has; its columns are %s",
			schema.Quote(name), p.title, joined(header))
	}
	columns := t.Columns()
	l := &layout{width: len(header), money: -1}
	add := func(c schema.Arg, units bool) {
		l.targets = append(l.targets, target{arg: c, at: len(l.targets), units: units})
	}
	set := map[string]bool{}
	for _, pair := range slices.Concat(r.Map, r.Set) {
		name := pair.Means
		if len(r.Set) > 0 && slices.Contains(r.Set, pair) {
			name = pair.Name
		}
		c, _, _ := ours(columns, name)
		set[c.Name] = true
	}
	for i, name := range p.targets {
		if p.from[name] != nil && !slices.ContainsFunc(header, has(p.from[name])) {
			continue
		}
		if c, units, ok := ours(columns, name); ok && !set[c.Name] {
			tr.kept = append(tr.kept, i)
			add(c, units && slices.Contains(p.units, name))
		}
	}
	for _, pair := range r.Map {
		at := slices.Index(header, pair.Name)
		if at < 0 {
			return nil, nil, fault.Fieldf("map", "map: the file has no column %s; its columns are %s", schema.Quote(pair.Name),
				joined(header))
		}
		c, units, _ := ours(columns, pair.Means)
		tr.extra = append(tr.extra, extra{at: at})
		add(c, units)
	}
	for _, pair := range r.Set {
		c, units, _ := ours(columns, pair.Name)
		tr.extra = append(tr.extra, extra{at: -1, value: pair.Means})
		add(c, units)
	}
	l.order = make([]int, len(columns))
	for i, c := range columns {
		l.order[i] = slices.IndexFunc(l.targets, func(t target) bool { return t.arg.Name == c.Name })
		if c.Name == "currency" {
			l.money = l.order[i]
		}
	}
	for _, name := range header {
		if name != "" && !has(p.columns)(name) {
			l.left = append(l.left, name)
		}
	}
	tr.make = p.start(tr)
	return tr, l, nil
}

// row turns a row of the file into ours.
func (tr *translation) row(rec record) (out record, skip bool, refusal *fault.Error) {
	tr.record = rec
	for _, name := range tr.program.columns {
		if at, has := tr.places[name]; has && rec.kind(at) == isError {
			return rec, false, errorCell(name, at, rec.cells[at])
		}
	}
	cells, why, refusal := tr.make(tr.get)
	switch {
	case refusal != nil:
		return rec, false, refusal
	case why != "":
		tr.skipped[why] = append(tr.skipped[why], rec.line)
		return rec, true, nil
	}
	tr.cells, tr.kinds = tr.cells[:0], tr.kinds[:0]
	for _, i := range tr.kept {
		tr.cells, tr.kinds = append(tr.cells, cells[i]), append(tr.kinds, isText)
	}
	for _, x := range tr.extra {
		cell, k := x.value, isText
		if x.at >= 0 {
			if cell = ""; x.at < len(rec.cells) {
				cell, k = rec.cells[x.at], rec.kind(x.at)
			}
		}
		tr.cells, tr.kinds = append(tr.cells, cell), append(tr.kinds, k)
	}
	return record{line: rec.line, cells: tr.cells, kinds: tr.kinds}, false, nil
}

// get returns a cell of the row by its column's name; "" if the file lacks it.
func (tr *translation) get(column string) string {
	at, ok := tr.places[column]
	if !ok || at >= len(tr.record.cells) {
		return ""
	}
	return strings.TrimSpace(unquoted(tr.record.cells[at]))
}

// nameColumns have a product's name, which only tells people what a SKU means.
var nameColumns = []string{"Lineitem name", "item_name", "Item Name"}

// name notes what the file calls a product.
func (tr *translation) name(sku string) {
	name := anyOf(tr.get, nameColumns...)
	if name != "" && name != sku && tr.called[sku] == "" && len(tr.called) < MaxShown {
		tr.called[sku] = name
	}
}

// cents parses an amount of the file, in currency units; an empty cell is 0.
func (tr *translation) cents(column, text, currency string) (int64, *fault.Error) {
	if text == "" {
		return 0, nil
	}
	money := tr.convert.currency
	if currency != "" {
		money = exact.CurrencyOf(currency)
	}
	cents, refusal := tr.convert.units(target{arg: schema.Arg{Name: column}}, text, isText, money)
	if refusal != nil {
		return 0, refusal
	}
	return parseWhole(cents), nil
}

// linesOf is "line 9", or "lines 9, 12, 15 and 3 more".
func linesOf(lines []int) string {
	text, most := "line ", 3
	if len(lines) > 1 {
		text = "lines "
	}
	for i, n := range lines[:min(len(lines), most)] {
		if i > 0 {
			text += ", "
		}
		text += strconv.Itoa(n)
	}
	if more := len(lines) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// told lists what was skipped, and other notes.
func (tr *translation) told() []string {
	notes := slices.Clone(tr.notes)
	for _, why := range slices.Sorted(maps.Keys(tr.skipped)) {
		lines := tr.skipped[why]
		notes = append(notes, fmt.Sprintf("%s skipped: %s (%s)", exact.Plural(len(lines), "row was", "rows were"), why,
			linesOf(lines)))
	}
	return notes
}
