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
	Low   int64 // how many are low in all
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

// figuresView is what the jobs of a range came to.
type figuresView struct{ maintenance.Figures }

func figures(s *maintenance.Service) page.Page {
	return page.New(page.Spec[figuresView]{
		Path: "/figures", Title: "Figures", Menu: "Figures", Key: "f",
		Load: func(f *schema.Form) page.Loader[figuresView] {
			var p page.Paging
			p.Bind(f)
			var q maintenance.FiguresFor
			maintenance.BindFigures(f, &q)
			return func(ctx context.Context, _ db.Caller) (figuresView, error) {
				v, err := s.Figures(ctx, q)
				return figuresView{v}, err
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

// requestView is the page on which a visitor without an account asks for work.
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
