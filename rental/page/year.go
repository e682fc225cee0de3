package page

import (
	"context"
	"net/url"
	"slices"

	"github.com/a-h/templ"

	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// yearsView is all years that have money, the last one first.
type yearsView struct {
	rental.Standing
	years    []rental.YearReport
	property string
}

func years(s *rental.Service) page.Page {
	return page.New(page.Spec[yearsView]{
		Path: "/years", Title: "Years", Menu: "Years", Key: "y",
		Load: func(f *schema.Form) page.Loader[yearsView] {
			var v yearsView
			bindHouse(f, &v.property)
			return func(ctx context.Context, who db.Caller) (yearsView, error) {
				var err error
				v.years, v.Standing, err = s.Years(ctx, who, v.property)
				return v, err
			}
		},
		View: Years,
		CSV: func(v yearsView) page.Sheet {
			sheet := page.Sheet{Name: "year", Columns: rental.YearColumns}
			for _, y := range v.years {
				for _, r := range y.Rows() {
					sheet.Rows = append(sheet.Rows, r.Cells())
				}
			}
			return sheet
		},
	})
}

// bindHouse binds the house that a page is narrowed to, by its name.
func bindHouse(f *schema.Form, property *string) {
	f.Text(property, "property", "Of this property", schema.Most(200), schema.Label("Property"),
		schema.Choices(rental.PropertyNames))
}

// yearView is one year, with the years beside it.
type yearView struct {
	rental.YearReport
	beside   []int64
	property string
	hidden   int64 // units that the page leaves out
}

// short leaves out the units beyond mostRows.
func (v yearView) short() yearView {
	left := mostRows
	v.Properties = slices.Clone(v.Properties)
	for i := range v.Properties {
		p := &v.Properties[i]
		n := min(len(p.Units), left)
		left, v.hidden = left-n, v.hidden+int64(len(p.Units)-n)
		p.Units = p.Units[:n]
	}
	return v
}

// PageTitle is the year.
func (v yearView) PageTitle() string { return page.Num(v.Year) }

func year(s *rental.Service) page.Page {
	return page.New(page.Spec[yearView]{
		Path: "/years/:year", Title: "Year",
		Load: func(f *schema.Form) page.Loader[yearView] {
			var year int64
			var v yearView
			f.ID(&year, "year", "the year", schema.InPath("year"))
			bindHouse(f, &v.property)
			return func(ctx context.Context, who db.Caller) (yearView, error) {
				var err error
				if v.YearReport, err = s.YearReport(ctx, who, year, v.property); err != nil {
					return v, err
				}
				only := int64(0)
				if v.property != "" && len(v.Properties) == 1 && v.Properties[0].PropertyID != nil {
					only = *v.Properties[0].PropertyID
				}
				v.beside, err = s.MoneyYears(ctx, only)
				return v, err
			}
		},
		View: func(v yearView) templ.Component { return Year(v.short()) },
		CSV: func(v yearView) page.Sheet {
			return page.SheetOf("year", rental.YearColumns, v.Rows(), rental.YearRow.Cells)
		},
	})
}

// acts are the actions on the year: one that is over is closed, the last closed one opened.
func (v yearView) acts(this int64) []page.Action {
	acts := []page.Action{page.Link("All years", "/years")}
	switch {
	case v.Closed:
		acts = append(acts, page.Open("Open the year", "open_year", "year", page.Num(v.Year)))
	case v.Year < this:
		acts = append(acts, page.Open("Close the year", "close_year", "year", page.Num(v.Year)))
	}
	return acts
}

// yearPath is the address of a year, of all houses or of one.
func yearPath(year int64, property string) string {
	at := page.Path("years", page.Num(year))
	if property != "" {
		at += "?" + query("property", property)
	}
	return at
}

// houseName is what the page calls a part of a year.
func houseName(p rental.PropertyYear) string {
	if p.Property == nil {
		return "For all houses, not divided"
	}
	return *p.Property
}

// query is one parameter of an address.
func query(name, value string) string { return url.Values{name: {value}}.Encode() }
