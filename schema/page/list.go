package page

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/schema"
)

// Column is the head of a table's column.
type Column struct {
	Label   string
	Sort    string // the value of sort for this column; "": not sortable
	Right   bool   // figures
	Unit    bool   // figures with a unit beside each, in cells of class unit
	Hear    bool   // the label is for screen readers: for a column of buttons
	Mark    bool   // the column of marks, with a box for all of them
	Wide    bool   // omitted, with its cells of class w, if there is no room
	Falling bool   // first sorted from the largest down
}

// heads writes a table's header.
func heads(columns []Column) templ.Component {
	return made(func(f *Frame) string {
		var b strings.Builder
		b.WriteString(`<thead><tr>`)
		for _, c := range columns {
			f.head(&b, c)
		}
		b.WriteString(`</tr></thead>`)
		return b.String()
	})
}

func (f *Frame) head(b *strings.Builder, c Column) {
	class, sorted := "", ""
	switch {
	case c.Mark:
		class = ` class="mark"`
	case c.Unit:
		class = ` class="r unit"`
	case c.Right && c.Wide:
		class = ` class="r w"`
	case c.Right:
		class = ` class="r"`
	case c.Wide:
		class = ` class="w"`
	}
	inner := esc(c.Label)
	if c.Mark || c.Hear {
		inner = `<span class="hear">` + inner + `</span>`
	} else if c.Sort != "" {
		to := c.Sort
		switch now := f.Query.Get("sort"); {
		case now == c.Sort:
			sorted, to = ` aria-sort="ascending"`, "-"+to
		case now == "-"+c.Sort:
			sorted = ` aria-sort="descending"`
		case c.Falling:
			to = "-" + to
		}
		inner = `<a href="` + esc(f.with("sort", to)) + `">` + inner + `</a>`
	}
	b.WriteString(`<th scope="col"` + class + sorted + `>` + inner + `</th>`)
}

// Td is a table's cell of the class with one value.
func Td(class string, value templ.Component) templ.Component {
	return around(`<td class="`+class+`">`, value, `</td>`)
}

// NamedTd is a Td that has its name beside it on a phone, where the table has no header.
func NamedTd(class, name string, value templ.Component) templ.Component {
	return around(`<td class="`+class+`" data-label="`+esc(name)+`">`, value, `</td>`)
}

// Fact is an Item of Facts or Figures with one value.
func Fact(name string, value templ.Component) templ.Component {
	return around(`<div><dt>`+esc(name)+`</dt><dd>`, value, `</dd></div>`)
}

func around(before string, value templ.Component, after string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		if _, err := io.WriteString(w, before); err != nil {
			return err
		}
		if err := value.Render(ctx, w); err != nil {
			return err
		}
		_, err := io.WriteString(w, after)
		return err
	})
}

// Found shows the number of rows, and links to the next page and the CSV file. total counts all matches, next is REST's
// next or "".
func Found(shown int, total int64, next string) templ.Component {
	return made(func(f *Frame) string {
		var b strings.Builder
		b.WriteString(`<nav class="pager" aria-label="Pages">`)
		if int64(shown) < total {
			b.WriteString(`<span>` + group(Num(shown)) + ` of `)
		} else { // seen at a glance, and said by most titles
			b.WriteString(`<span class="hear">`)
		}
		b.WriteString(data(Num(total), group(Num(total))) + ` in all</span>`)
		if f.Query.Get("after") != "" {
			f.turn(&b, "btn quiet", "", "First page", f.with("", ""))
		}
		if next != "" {
			f.turn(&b, "btn", ` rel="next"`, "Next page", f.with("after", next))
			if f.prints() && total <= mostPrinted {
				b.WriteString(`<a class="btn quiet" href="` + esc(f.with("format", "print")) + `">Print all ` + group(Num(total)) +
					`</a>`)
			}
		}
		if f.Printing() {
			b.WriteString(`<a class="btn quiet no-print" href="` + esc(f.with("", "")) +
				`">Back to pages</a><button type="button" class="btn" data-print hidden>Print</button>`)
		}
		f.elsewhere(&b)
		b.WriteString(`</nav>`)
		return b.String()
	})
}

// prints reports whether the page's list can be shown on one page.
func (f *Frame) prints() bool {
	return slices.ContainsFunc(f.Filters, func(a schema.Arg) bool { return a.Name == "format" })
}

// Printing reports whether the list is on one page, for printing.
func (f *Frame) Printing() bool { return f.prints() && f.Query.Get("format") == printFormat }

// CSVLink links to the list as a file, and offers to print the page.
func CSVLink() templ.Component {
	return made(func(f *Frame) string {
		return `<a class="btn quiet" download href="` + esc(f.with("format", "csv")) + `">CSV</a>`
	})
}

// Filters draws the page's search and filters: a GET form of the parameters that its Load binds. only names the shown
// parameters, in this order; none means all.
func Filters(only ...string) templ.Component {
	return drawn(func(ctx context.Context, f *Frame, b *strings.Builder) error {
		b.WriteString(`<form method="get" class="filters" action="` + esc(f.Path) + `">`)
		shown, more := f.filters(only), false
		for i, a := range shown {
			if !more && a.Name != "q" {
				more = true
				f.moreFilters(b, shown[i:])
			}
			if err := f.filter(b, a); err != nil {
				return err
			}
		}
		if more {
			b.WriteString(`</div>`)
		}
		for _, a := range f.Filters { // filters set by chips, heads and other choices stay
			shows := slices.ContainsFunc(shown, func(x schema.Arg) bool { return x.Name == a.Name })
			if v := f.Query.Get(a.Name); v != "" && !shows && a.Name != "after" && a.Name != "format" {
				hidden(b, a.Name, v)
			}
		}
		b.WriteString(`<button class="btn">Filter</button>`)
		if f.asked() {
			b.WriteString(`<a class="btn quiet" href="` + esc(f.Path) + `">Show all</a>`)
		}
		b.WriteString(`<a class="btn quiet" download href="` + esc(f.with("format", "csv")) + `">CSV</a>`)
		b.WriteString(`</form>`)
		return nil
	})
}

// Sorted reports whether the list is sorted by one of its columns.
func Sorted(ctx context.Context) bool { return From(ctx).Query.Get("sort") != "" }

// Asked reports whether the list is searched or filtered.
func Asked(ctx context.Context) bool { return From(ctx).asked() }

func (f *Frame) asked() bool {
	return slices.ContainsFunc(f.Filters, func(a schema.Arg) bool { return f.Query.Get(a.Name) != "" })
}

// filters are the parameters in the page's form.
func (f *Frame) filters(only []string) []schema.Arg {
	fm := Form{Op: "filter", Only: only}
	return slices.DeleteFunc(fm.order(f.Filters), func(a schema.Arg) bool {
		return a.Path != "" || a.Name == "after" || a.Name == "format" || a.Name == "sort"
	})
}

// moreFilters holds all filters but the search, folded on a phone. It is open if one of them is set.
func (f *Frame) moreFilters(b *strings.Builder, rest []schema.Arg) {
	checked := ""
	if slices.ContainsFunc(rest, func(a schema.Arg) bool { return f.Query.Get(a.Name) != "" || f.Wrong[a.Name] != "" }) {
		checked = ` checked`
	}
	b.WriteString(`<input type="checkbox" class="hear more-box" id="more-filters"` + checked +
		`><label class="btn down narrow-only" for="more-filters">Filters</label><div class="more">`)
}

// filter writes one search field or filter.
func (f *Frame) filter(b *strings.Builder, a schema.Arg) error {
	e := entry{arg: a, name: a.Name, id: "filter-" + a.Name, source: "page=" + queryEscape(f.Pattern), inline: true,
		values: f.Query[a.Name], have: true, blank: "All"}
	if a.Kind == schema.MonthKind && len(e.values) == 0 {
		e.values = []string{f.Today.String()[:len("2006-01")]}
	}
	if e.required = a.Default != nil; e.required && len(e.values) == 0 {
		e.values = f.initial(a)
	}
	if why := f.Wrong[a.Name]; why != "" {
		e.why = why
	}
	hear := ""
	if a.Name == "q" { // the placeholder says it to those who see
		hear = ` class="hear"`
	}
	b.WriteString(`<div class="field"><label` + hear + ` for="` + e.id + `">` + esc(a.Label()) + `</label>`)
	switch {
	case a.Name == "q":
		b.WriteString(`<input type="search" placeholder="` + esc(a.Label()) + `"` + e.marks() + ` value="` + esc(e.value()) +
			`">`)
	case a.Kind == schema.BoolKind:
		f.choose(b, e, inWords([]string{"true", "false"}))
	default:
		if err := f.control(b, e); err != nil {
			return err
		}
	}
	b.WriteString(e.below() + `</div>`)
	return nil
}

// Chips are links that set one parameter of the address: quick filters of a list.
func Chips(name string, chips ...Chip) templ.Component {
	return made(func(f *Frame) string { return f.chips(name, f.Query.Get(name), chips) })
}

func (f *Frame) chips(name, now string, chips []Chip) string {
	var b strings.Builder
	b.WriteString(`<nav class="chips" aria-label="` + esc(Word(name)) + `">`)
	for _, c := range chips {
		current := ""
		if now == c.Value {
			current = ` aria-current="true"`
		}
		b.WriteString(`<a class="chip"` + current + ` href="` + esc(f.with(name, c.Value)) + `">` + esc(c.Text))
		if c.Count != nil {
			b.WriteString(` ` + data(Num(*c.Count), group(Num(*c.Count))))
		}
		b.WriteString(`</a>`)
	}
	b.WriteString(`</nav>`)
	return b.String()
}

// Chip is one value of a quick filter; "" is all.
type Chip struct {
	Value, Text string
	Count       *int64
}

// Bulk is an operation's form whose fields are in the page's rows: controls holds its further fields and precedes its
// button. It leads to then, by default to this page.
func Bulk(op, button string, controls templ.Component, then ...string) templ.Component {
	return drawn(func(ctx context.Context, f *Frame, b *strings.Builder) error {
		does, ok := f.may(op)
		if !ok {
			return nil
		}
		b.WriteString(f.rowsBack(op))
		class, bar := "btn", ""
		if op == "count_stock" || op == "set_opening" || op == "receive_purchase" { // the page is for nothing else
			class, bar = "btn main", " bar"
		}
		b.WriteString(`<form method="post" class="bulk` + bar + `" id="bulk-` + op + `" action="` + esc(f.DoPath(op)) + `"` +
			asks(does) + `>`)
		f.beside(b, strings.Join(then, ""))
		if controls != nil {
			if err := controls.Render(ctx, b); err != nil {
				return err
			}
		}
		b.WriteString(`<button class="` + class + `">` + esc(button) + `</button></form>`)
		return nil
	})
}
