package page

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quartermaster/reorder"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// shelfView is the list of SKUs, and the sheet to count by.
type shelfView struct {
	reorder.Shelf
	columns []string
}

// barcodes reports whether a SKU of the list has one.
func (v shelfView) barcodes() bool {
	return slices.ContainsFunc(v.Rows, func(r reorder.ShelfRow) bool { return r.Catalogue.Barcode != "" })
}

// countLines is how many SKUs one form counts.
const countLines = 200

// bindShelf binds the filters of a list of SKUs, of which a page shows so many.
func bindShelf(f *schema.Form, q *reorder.ShelfQuery, limit int64) {
	f.Enum(&q.Status, "status", "Only this status; out is without stock",
		[]string{reorder.Below, reorder.Near, reorder.Healthy, reorder.Out})
	bindSupplier(f, &q.Supplier)
	f.Enum(&q.Active, "active", "1 for active SKUs, 0 for inactive ones", []string{"1", "0"}, schema.Label("Active"))
	var p page.Paging
	p.Bind(f, reorder.ShelfSorts...)
	q.Q, q.After, q.Limit = p.Q, p.After, limit
	if p.All {
		q.Limit = p.Limit
	}
	q.Sort, q.Falling = p.Column()
}

func loadShelf(s *reorder.Service, active string, limit int64) func(f *schema.Form) page.Loader[shelfView] {
	return func(f *schema.Form) page.Loader[shelfView] {
		q := reorder.ShelfQuery{Active: active, Last: limit == countLines}
		bindShelf(f, &q, limit)
		if q.Last && q.Sort == "" { // as the shelves are walked
			q.Sort = "supplier"
		}
		return func(ctx context.Context, _ db.Caller) (shelfView, error) {
			shelf, err := s.Shelf(ctx, q)
			return shelfView{shelf, reorder.SKUColumns()}, err
		}
	}
}

// idle says how many of the SKUs that are listed are inactive.
func (v shelfView) idle() string {
	n := 0
	for _, r := range v.Rows {
		if !r.Active {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d inactive", n)
}

// labels leads to the shelf labels of what the list's filters keep.
func (v shelfView) labels(ctx context.Context) string {
	_, query, filtered := strings.Cut(page.WithQuery(ctx, "active", ""), "?")
	if !filtered {
		return "/labels"
	}
	return "/labels?" + query
}

func (v shelfView) sheet(name string) page.Sheet {
	return page.SheetOf(name, v.columns, v.Rows, func(r reorder.ShelfRow) []string { return r.Catalogue.Cells() })
}

func skus(s *reorder.Service) page.Page {
	return page.New(page.Spec[shelfView]{
		Path: "/skus", Title: "SKUs", Menu: "SKUs", Key: "s", Load: loadShelf(s, "", page.PageSize),
		View: SKUs,
		CSV:  func(v shelfView) page.Sheet { return v.sheet("skus") },
	})
}

func count(s *reorder.Service) page.Page {
	return page.New(page.Spec[shelfView]{
		Path: "/count", Title: "Count", Menu: "Count", Key: "c", Load: loadShelf(s, "1", countLines),
		View: Count,
		CSV:  func(v shelfView) page.Sheet { return v.sheet("count") },
	})
}

// labels are the shelf labels of all SKUs that the list's filters keep, on one sheet.
func labels(s *reorder.Service) page.Page {
	return page.New(page.Spec[shelfView]{
		Path: "/labels", Title: "Shelf labels", Plain: true, Load: loadShelf(s, "1", mostLabels),
		View: Labels,
	})
}

// mostLabels is how many labels are printed at once.
const mostLabels = 1000

// on is the day of a SKU's last count, 0 if there was none.
func (v shelfView) on(ctx context.Context, r reorder.ShelfRow) exact.Day {
	if r.Last == nil {
		return 0
	}
	return r.Last.At.Day(page.From(ctx).Zone)
}

// last is the day of the last count of all, 0 if there was none.
func (v shelfView) last(ctx context.Context) (at exact.Day) {
	for _, r := range v.Rows {
		at = max(at, v.on(ctx, r))
	}
	return at
}

// before is what is said of a SKU's last count: its difference, "-1", and its day if that is not the last one of all.
func (v shelfView) before(ctx context.Context, r reorder.ShelfRow, last exact.Day) string {
	var all []string
	if on := v.on(ctx, r); on != 0 && on != last {
		all = append(all, page.DayText(ctx, on))
	}
	if r.Last != nil && r.Last.Off != nil && *r.Last.Off != 0 {
		all = append(all, signedText(*r.Last.Off))
	}
	return strings.Join(all, ", ")
}

// lastCount is what the last day of counting came to, of the SKUs on the page, as a sentence; "" if there was none.
func (v shelfView) lastCount(ctx context.Context, day exact.Day) string {
	var counted, off int64
	var large []reorder.ShelfRow // by a tenth or more
	for _, r := range v.Rows {
		if r.Last == nil || v.on(ctx, r) != day {
			continue
		}
		counted++
		if r.Last.Off != nil && *r.Last.Off != 0 {
			off++
		}
		if r.Last.Large() {
			large = append(large, r)
		}
	}
	switch text := page.Num(off) + " of " + page.Plural(counted, "SKU", "SKUs"); {
	case counted == 0:
		return ""
	case len(large) == 1:
		return text + " differed then, " + large[0].Name + " by " + signedText(*large[0].Last.Off) + ". "
	case len(large) > 1:
		return text + " differed then, " + page.Num(len(large)) + " by a tenth or more. "
	default:
		return text + " differed then. "
	}
}

// countColumns are the heads of the sheet to count by; the supplier has a column if the rows are not grouped by it.
func (v shelfView) countColumns(ctx context.Context) (all []page.Column) {
	all = append(all, page.Column{Label: "SKU", Sort: "name"})
	if v.barcodes() {
		all = append(all, page.Column{Label: "Barcode"})
	}
	if page.Sorted(ctx) {
		all = append(all, page.Column{Label: "Supplier", Sort: "supplier"})
	}
	all = append(all, page.Column{Label: "Expected", Sort: "stock", Unit: true},
		page.Column{Label: "Counted", Right: true}, page.Column{Label: "Difference", Right: true})
	if !page.From(ctx).Printing() {
		all = append(all, page.Column{Label: "Last difference", Right: true})
	}
	return all
}

// countField names the field of a line of the count.
func countField(i int, name string) string { return "counts." + page.Num(i) + "." + name }
