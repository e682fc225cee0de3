package page

import (
	"context"
	"time"

	"github.com/a-h/templ"

	"quartermaster/maintenance"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
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
			filter.Q, filter.Cursor = p.Q, p.Cursor()
			return func(ctx context.Context, _ db.Caller) (v partsView, err error) {
				list, err := s.Parts(ctx, filter)
				if err != nil {
					return v, err
				}
				if v.Total, err = s.CountParts(ctx, filter); err != nil {
					return v, err
				}
				if err = page.Arranged(p, &list.Parts, v.Total, &list.Next, partSorts, nil); err != nil {
					return v, err
				}
				v.Parts, v.Next = list.Parts, schema.Cell(list.Next)
				low := true
				v.Low, err = s.CountParts(ctx, maintenance.PartFilter{LowStock: &low})
				return v, err
			}
		},
		View: Parts,
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
		Load: page.ByID("id", "the part", func(ctx context.Context, _ db.Caller, id int64) (v partView, err error) {
			if v.Part, err = s.Part(ctx, id); err != nil {
				return v, err
			}
			v.Uses, err = s.PartUses(ctx, id)
			return v, err
		}),
		View: PartPage,
	})
}

// figuresView is what the jobs of a range came to.
type figuresView struct {
	maintenance.Figures
	before  maintenance.Figures // of as many days before
	rate    int64               // cents an hour
	assetID int64               // the only asset, or 0
}

// span is a range of days that people ask for.
type span struct {
	text     string
	from, to exact.Day
}

// spans are offered above the filters; the first is that of no filter.
func (v figuresView) spans(today exact.Day) []span {
	year := today.Month() - exact.Month(today.Time(time.UTC).Month()-1)
	return []span{{"12 months", today - 364, today}, {"90 days", today - 89, today}, {"This year", year.First(), today},
		{"Last year", (year - 12).First(), year.First() - 1}}
}

// path is the page's address for a range.
func (v figuresView) path(x span) string {
	path := "/figures?from=" + x.from.String() + "&to=" + x.to.String()
	if v.assetID != 0 {
		path += "&asset=" + page.Num(v.assetID)
	}
	return path
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
	c := page.Chart{Title: "Cost by month, " + page.CurrencyCode(ctx), Low: true, Label: "Month",
		Names: [2]string{"Cost, " + page.CurrencyCode(ctx), ""},
		Show:  func(n int64) string { return page.Amount(n, page.CurrencyCode(ctx)) }}
	if v.Jobs == 0 {
		return c
	}
	first := max(v.From.Month(), v.To.Month()-23) // two years of bars are as many as can be read
	label := "Jan"
	if v.To.Month()-first >= 12 {
		label = "Jan 06" // the same month stands there twice
	}
	for m := first; m <= v.To.Month(); m++ {
		c.Bars = append(c.Bars, page.Point{Label: m.First().Time(time.UTC).Format(label), Value: v.Months[m]})
	}
	return c
}

// planned shares the cost between repairs and services.
func (v figuresView) planned(ctx context.Context) templ.Component {
	part := func(name, look, kind string) page.Part {
		k := v.Kinds[kind]
		return page.Part{Label: name, Look: look, Value: k.Cents,
			Shown: page.MoneyText(ctx, k.Cents) + ", " + page.Plural(k.Jobs, "job", "jobs")}
	}
	return page.Stacked("Cost of repairs and of services", part("Repairs", page.Deep, "corrective"),
		part("Services", page.Pale, "preventive"))
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
				rate, err := s.LaborRate(ctx)
				if err != nil {
					return figuresView{}, err
				}
				last := figures.From - 1
				first := last - (figures.To - figures.From)
				before, err := s.Figures(ctx, maintenance.FiguresFor{From: &first, To: &last, AssetID: q.AssetID})
				return figuresView{figures, before, rate, q.AssetID}, err
			}
		},
		View: Figures,
		CSV: func(v figuresView) page.Sheet {
			return page.SheetOf("maintenance-figures", maintenance.FigureColumns(), v.Assets, maintenance.AssetFigures.Cells)
		},
	})
}

// photo is a work order's picture, as it is kept.
func photo(s *maintenance.Service) page.Page {
	return page.New(page.Spec[page.File]{
		Path: "/photos/:id", Title: "Photo",
		Load: page.ByID("id", "the photo", func(ctx context.Context, _ db.Caller, id int64) (page.File, error) {
			_, media, data, err := s.Picture(ctx, id)
			return page.File{Kind: media, Body: data}, err
		}),
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
		View: Request,
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
