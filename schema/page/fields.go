package page

import (
	"context"
	"maps"
	"slices"
	"strings"

	"quartermaster/schema"
)

// fields writes the fields. Empty, unrefused, rarely used ones are under "More"; a group's under its title, folded
// while all of them are so.
func (f *Frame) fields(ctx context.Context, b *strings.Builder, fm *Form, op schema.Op, args []schema.Arg) error {
	fm.focusOn(args)
	folds := func(a schema.Arg) bool { return fm.untouched(a) && fm.wrong(schema.PageField(a.Name)) == "" }
	var rare []schema.Arg
	grouped := make([][]schema.Arg, len(op.Groups))
	for _, a := range args {
		group := slices.IndexFunc(op.Groups, func(g schema.Group) bool { return slices.Contains(g.Fields, a.Name) })
		switch {
		case fm.Inline:
		case group >= 0:
			grouped[group] = append(grouped[group], a)
			continue
		case a.Rare && folds(a):
			rare = append(rare, a)
			continue
		}
		if err := f.field(ctx, b, *fm, a); err != nil {
			return err
		}
	}
	for i, group := range grouped {
		open, end := `<details class="rest"><summary>`+esc(op.Groups[i].Title)+`</summary>`, `</details>`
		if slices.ContainsFunc(group, func(a schema.Arg) bool { return !folds(a) }) {
			open, end = `<fieldset class="group"><legend>`+esc(op.Groups[i].Title)+`</legend>`, `</fieldset>`
		}
		if err := f.within(ctx, b, fm, open, group, end); err != nil {
			return err
		}
	}
	return f.within(ctx, b, fm, `<details class="rest"><summary>More <small>`+esc(labelsOf(rare))+`</small></summary>`,
		rare, `</details>`)
}

// mostNamed is the number of folded fields that are named beside "More".
const mostNamed = 3

// labelsOf says which fields are folded: "Status, Notes, Tags, and 2 others".
func labelsOf(args []schema.Arg) string {
	var names []string
	for _, a := range args {
		names = append(names, a.Label())
	}
	if len(names) > mostNamed+1 {
		names = append(names[:mostNamed], "and "+num(len(names)-mostNamed)+" others")
	}
	return strings.Join(names, ", ")
}

// within writes fields, if there are any, in a container.
func (f *Frame) within(ctx context.Context, b *strings.Builder, fm *Form, open string, args []schema.Arg,
	end string) error {
	if len(args) == 0 {
		return nil
	}
	b.WriteString(open)
	for _, a := range args {
		if err := f.field(ctx, b, *fm, a); err != nil {
			return err
		}
	}
	b.WriteString(end)
	return nil
}

// focusOn chooses the field with the focus: the first refused one, else the first empty one.
func (fm *Form) focusOn(args []schema.Arg) {
	for _, a := range args {
		if name := fm.wrong(schema.PageField(a.Name)); name != "" {
			fm.focus = name
			return
		}
	}
	for _, a := range args {
		if fm.Focus && fm.empty(a) && !a.Rare && !slices.Contains(fm.Facts, schema.PageField(a.Name)) {
			fm.focus = schema.PageField(a.Name)
			return
		}
	}
}

// wrong is the argument's first refused field: its own, or one of its rows; "" if none.
func (fm *Form) wrong(field string) string {
	if fm.Refused[field] != "" {
		return field
	}
	for _, name := range slices.Sorted(maps.Keys(fm.Refused)) {
		if strings.HasPrefix(name, field+".") {
			return name
		}
	}
	return ""
}
