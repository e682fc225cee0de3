package page

import (
	"context"

	"github.com/a-h/templ"

	"quartermaster/maintenance"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// partsView is the list of parts.
type partsView struct {
	Parts []maintenance.Part
	Next  string
	Total int64
	Low   int64 // number of all low ones
}

func parts(s *maintenance.Service) page.Page {
	return page.New(page.Spec[partsView]{
		Path: "/parts", Title: "Parts", Menu: "Parts", Key: "p",
		Load: func(f *schema.Form) page.Loader[partsView] {
			var p page.Paging
			p.Bind(f, partSorts.Names()...)
			var filter maintenance.PartFilter
			maintenance.BindPartFilter(f, &filter)
			filter.Q, filter.Limit, filter.After = p.Q, p.Limit, idOf(p.After)
			if p.Sorted() {
				filter.Limit, filter.After = whole, 0
			}
			return func(ctx context.Context, _ db.Caller) (v partsView, err error) {
				list, err := s.Parts(ctx, filter)
				if err != nil {
					return v, err
				}
				v = partsView{Parts: list.Parts, Next: next(list.Next)}
				if v.Total, err = s.CountParts(ctx, filter); err != nil {
					return v, err
				}
				if err := p.Sortable(v.Total); err != nil {
					return v, err
				}
				if p.Sorted() {
					v.Parts, list.Next = page.Arrange(p, v.Parts, partSorts)
					v.Next = next(list.Next)
				}
				low := true
				v.Low, err = s.CountParts(ctx, maintenance.PartFilter{LowStock: &low})
				return v, err
			}
		},
		View: func(v partsView) templ.Component { return Parts(v) },
		CSV: func(v partsView) page.Sheet {
			return page.SheetOf("parts", maintenance.PartColumns(), v.Parts, maintenance.Part.Cells)
		},
	})
}

// partView is one part with where it was used.
type partView struct {
	maintenance.Part
	Uses []maintenance.PartUsedOn
}

func (v partView) PageTitle() string { return v.Name }

func part(s *maintenance.Service) page.Page {
	return page.New(page.Spec[partView]{
		Path: "/parts/:id", Title: "Part",
		Load: func(f *schema.Form) page.Loader[partView] {
			var id int64
			f.ID(&id, "id", "the part", schema.InPath("id"))
			return func(ctx context.Context, _ db.Caller) (v partView, err error) {
				if v.Part, err = s.Part(ctx, id); err != nil {
					return v, err
				}
				v.Uses, err = s.PartUses(ctx, id)
				return v, err
			}
		},
		View: func(v partView) templ.Component { return PartPage(v) },
	})
}

// figuresView is what the jobs of a range came to, also by month and by type of job.
type figuresView struct {
	maintenance.Figures
	months, types []maintenance.ReportRow
}

// dearest is the largest cost of an asset.
func (v figuresView) dearest() (most int64) {
	for _, a := range v.Assets {
		most = max(most, a.TotalCostCents)
	}
	return most
}

// costs is what each month cost.
func (v figuresView) costs(ctx context.Context) page.Chart {
	c := page.Chart{Title: "Cost by month, " + page.CurrencyCode(ctx), Label: "Month",
		Names: [2]string{"Cost, " + page.CurrencyCode(ctx), ""},
		Show:  func(n int64) string { return page.Amount(n, page.CurrencyCode(ctx)) }}
	at := map[string]int64{}
	for _, m := range v.months {
		at[m.Key] = m.TotalCostCents
	}
	if len(v.months) == 0 {
		return c
	}
	first := max(v.From.Month(), v.To.Month()-23) // two years of bars are as many as can be read
	for m := first; m <= v.To.Month(); m++ {
		c.Bars = append(c.Bars, page.Point{Label: page.MonthText(m)[:3], Value: at[m.String()]})
	}
	return c
}

// planned shares the cost between repairs and services.
func (v figuresView) planned(ctx context.Context) templ.Component {
	names := map[string]string{"corrective": "Repairs", "preventive": "Services"}
	looks := map[string]string{"corrective": page.Deep, "preventive": page.Pale}
	var parts []page.Part
	for _, r := range v.types {
		shown := page.MoneyText(ctx, r.TotalCostCents) + ", " + page.Plural(r.Jobs, "job", "jobs")
		parts = append(parts, page.Part{Label: names[r.Key], Look: looks[r.Key], Value: r.TotalCostCents, Shown: shown})
	}
	return page.Stacked("Cost of repairs and of services", parts...)
}

func figures(s *maintenance.Service) page.Page {
	return page.New(page.Spec[figuresView]{
		Path: "/figures", Title: "Figures", Menu: "Figures", Key: "f",
		Load: func(f *schema.Form) page.Loader[figuresView] {
			var p page.Paging
			p.Bind(f)
			var q maintenance.FiguresFor
			maintenance.BindFigures(f, &q)
			return func(ctx context.Context, _ db.Caller) (figuresView, error) {
				figures, err := s.Figures(ctx, q)
				if err != nil {
					return figuresView{}, err
				}
				months, err := s.ReportRows(ctx, "month", q)
				if err != nil {
					return figuresView{}, err
				}
				types, err := s.ReportRows(ctx, "type", q)
				return figuresView{figures, months, types}, err
			}
		},
		View: func(v figuresView) templ.Component { return Figures(v) },
		CSV: func(v figuresView) page.Sheet {
			return page.SheetOf("maintenance-figures", maintenance.FigureColumns(), v.Assets, maintenance.AssetFigures.Cells)
		},
	})
}

// photo is a work order's picture, as it is kept.
func photo(s *maintenance.Service) page.Page {
	return page.New(page.Spec[page.File]{
		Path: "/photos/:id", Title: "Photo",
		Load: func(f *schema.Form) page.Loader[page.File] {
			var id int64
			f.ID(&id, "id", "the photo", schema.InPath("id"))
			return func(ctx context.Context, _ db.Caller) (page.File, error) {
				_, media, data, err := s.Picture(ctx, id)
				return page.File{Kind: media, Body: data}, err
			}
		},
	})
}

// requestView is the page on which a visitor without an account requests work.
type requestView struct{ maintenance.RequestedAsset }

func (v requestView) PageTitle() string { return "Report a problem with " + v.Asset }

func request(s *maintenance.Service) page.Page {
	return page.New(page.Spec[requestView]{
		Path: "/request/:token", Title: "Report a problem", Area: page.Public,
		Load: func(f *schema.Form) page.Loader[requestView] {
			var token string
			f.Text(&token, "token", "the address of the machine", schema.InPath("token"))
			return func(ctx context.Context, _ db.Caller) (requestView, error) {
				a, err := s.RequestFor(ctx, token)
				return requestView{a}, err
			}
		},
		View: func(v requestView) templ.Component { return Request(v) },
	})
}

// requestFields are the form's; an address is asked for if mail is set up.
func requestFields(ctx context.Context) []string {
	fields := []string{"description", "photo", "name"}
	if page.Mailing(ctx) {
		fields = append(fields, "email")
	}
	return fields
}
