package table

import (
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/fault"
)

// target is the source of our column's cells.
type target struct {
	arg   schema.Arg
	at    int    // the column of the file; -1 for a value for all rows
	value string // for all rows
	units bool   // the file's amounts are in currency units, not in cents
}

// layout maps a file's columns to a table's.
type layout struct {
	width   int // cells of the header
	targets []target
	left    []string // unknown columns
	unnamed []int    // columns without a name, which must be empty
	order   []int    // by column of the table: its target, or -1
	money   int      // the target of a row's currency, or -1
}

// stem is the name of a column of cents with amounts in currency units: unit_cents is unit, and cents alone is amount.
func stem(column string) string {
	if column != "cents" && !strings.HasSuffix(column, "_cents") {
		return ""
	}
	return schema.PageField(column)
}

// ours finds the column of a mapping's target: by its name, or an amount by its stem, which means currency units.
func ours(columns []schema.Arg, name string) (arg schema.Arg, units, ok bool) {
	for _, c := range columns {
		if c.Name == name {
			return c, false, true
		}
	}
	for _, c := range columns {
		if s := stem(c.Name); s != "" && s == name {
			return c, true, true
		}
	}
	return schema.Arg{}, false, false
}

// checkMapping refuses a mapping that fits no file.
func checkMapping(t schema.Table, r Reading) error {
	columns := t.Columns()
	taken := map[string]bool{}
	for i, p := range slices.Concat(r.Map, r.Set) {
		name, flag := p.Means, "map"
		if i >= len(r.Map) {
			name, flag = p.Name, "set"
		}
		c, _, ok := ours(columns, name)
		if !ok {
			return fault.Fieldf(flag, "%s: unknown column %s; %s", flag, schema.Quote(name), listed(t, columns))
		}
		if taken[c.Name] {
			return fault.Fieldf(flag,
				"%s: the column %s is given twice; give it one column of the file, or one value", flag, c.Name)
		}
		taken[c.Name] = true
	}
	theirs := map[string]bool{}
	for _, p := range r.Map {
		if p.Name == "" {
			return fault.Fieldf("map", "map: it takes \"Their column=ours\"")
		}
		if theirs[p.Name] {
			return fault.Fieldf("map", "map: the column %s of the file is given twice", schema.Quote(p.Name))
		}
		theirs[p.Name] = true
	}
	return nil
}

// wanted reports whether the import can use a header's name, or it means a column of the table.
func wanted(t schema.Table, r Reading) func(string) bool {
	names := map[string]bool{}
	for _, p := range r.Map {
		names[p.Name] = true
	}
	if len(names) > 0 {
		return func(name string) bool { return names[name] }
	}
	for _, p := range programs {
		if p.table == t.Name && (r.From == p.name || r.From == "") {
			for _, n := range p.columns {
				names[n] = true
			}
		}
	}
	if r.From != "" && len(names) > 0 {
		return func(name string) bool { return names[name] }
	}
	targets := Targets(t)
	return func(name string) bool { return names[name] || likely(targets, name) != "" }
}

// layOut maps the header's columns. A header that does not fit the table refuses the file.
func layOut(t schema.Table, r Reading, header []string) (*layout, error) {
	columns := t.Columns()
	l := &layout{width: len(header), money: -1}
	var err error
	if len(r.Map) == 0 && len(r.Set) == 0 {
		err = l.byName(t, columns, header)
	} else {
		err = l.byMapping(columns, r, header)
	}
	if err != nil {
		return nil, err
	}
	l.order = make([]int, len(columns))
	for i, c := range columns {
		l.order[i] = slices.IndexFunc(l.targets, func(t target) bool { return t.arg.Name == c.Name })
		if c.Required && l.order[i] < 0 {
			return nil, fault.Invalidf("the column %s, which identifies the record, is missing; %s", c.Name, listed(t, columns))
		}
		if c.Name == "currency" {
			l.money = l.order[i]
		}
	}
	return l, nil
}

// reasonColumn is the last column of a file of refused rows. It is ignored when such a file is imported.
const reasonColumn = "reason"

// byName maps a header of the table's own columns.
func (l *layout) byName(t schema.Table, columns []schema.Arg, header []string) error {
	for i, name := range header {
		at := slices.IndexFunc(columns, func(c schema.Arg) bool { return c.Name == name })
		if at < 0 && t.Sheet && name != "" {
			l.bySynonym(t, columns, i, header)
			continue
		}
		switch {
		case name == "":
			l.unnamed = append(l.unnamed, i)
			continue
		case at < 0 && name == reasonColumn && i > 0 && i == len(header)-1:
			continue
		case at < 0:
			return fault.Invalidf("unknown column %s; %s", schema.Quote(name), listed(t, columns))
		case slices.Contains(header[:i], name):
			return fault.Invalidf("the column %s is in the header twice; %s", name, listed(t, columns))
		}
		l.targets = append(l.targets, target{arg: columns[at], at: i})
	}
	return nil
}

// bySynonym maps a sheet's column by its usual name; it is ignored if it has no meaning, or a more usual name of its
// meaning is there.
func (l *layout) bySynonym(t schema.Table, columns []schema.Arg, at int, header []string) {
	means := likely(Targets(t), header[at])
	c, units, known := ours(columns, means)
	usual := func(name string) int { return slices.Index(synonyms[means], strings.ToLower(name)) }
	have := slices.IndexFunc(l.targets, func(t target) bool { return t.arg.Name == c.Name })
	switch {
	case !known:
		l.left = append(l.left, header[at])
		return
	case have >= 0 && usual(header[at]) < usual(header[l.targets[have].at]) && usual(header[at]) >= 0:
		l.left = append(l.left, header[l.targets[have].at])
		l.targets[have] = target{arg: c, at: at, units: units}
		return
	case have >= 0:
		l.left = append(l.left, header[at])
		return
	}
	l.targets = append(l.targets, target{arg: c, at: at, units: units})
}

// byMapping maps the columns of the mapping. With values for all rows only, our columns keep their names; with a
// mapping only required ones do. The others are ignored.
func (l *layout) byMapping(columns []schema.Arg, r Reading, header []string) error {
	taken := map[string]bool{}
	used := make([]bool, len(header))
	for _, p := range r.Map {
		at := slices.Index(header, p.Name)
		if at < 0 {
			return fault.Fieldf("map", "map: the file has no column %s; its columns are %s", schema.Quote(p.Name),
				joined(header))
		}
		if slices.Contains(header[at+1:], p.Name) {
			return fault.Fieldf("map", "map: the column %s is in the file's header twice", schema.Quote(p.Name))
		}
		c, units, _ := ours(columns, p.Means)
		l.targets = append(l.targets, target{arg: c, at: at, units: units})
		taken[c.Name], used[at] = true, true
	}
	for _, p := range r.Set {
		c, units, _ := ours(columns, p.Name)
		l.targets = append(l.targets, target{arg: c, at: -1, value: p.Means, units: units})
		taken[c.Name] = true
	}
	for _, c := range columns {
		if at := slices.Index(header, c.Name); at >= 0 && !taken[c.Name] && !used[at] && (c.Required || len(r.Map) == 0) {
			l.targets = append(l.targets, target{arg: c, at: at})
			used[at] = true
		}
	}
	for i, name := range header {
		if !used[i] && name != "" && (name != reasonColumn || i < len(header)-1) {
			l.left = append(l.left, name)
		}
	}
	return nil
}

func listed(t schema.Table, columns []schema.Arg) string {
	return "the columns of " + t.Name + " are " + joined(schema.Map(columns, func(c schema.Arg) string { return c.Name }))
}
