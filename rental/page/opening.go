package page

import (
	"context"
	"strconv"

	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// openingView is a page of the leases that can be taken over from another book: as many as one act takes.
type openingView struct {
	leases []rental.Lease
	total  int64
	next   string
}

// field names a field of the i-th lease in the form.
func (openingView) field(i int, name string) string {
	return "leases." + strconv.Itoa(i) + "." + name
}

func opening(s *rental.Service) page.Page {
	return page.New(page.Spec[openingView]{
		Path: "/opening", Title: "Take leases over",
		Load: func(f *schema.Form) page.Loader[openingView] {
			var p page.Paging
			p.Bind(f)
			return func(ctx context.Context, _ db.Caller) (v openingView, err error) {
				var then *int64
				v.leases, then, v.total, err = s.Openings(ctx, p.Start(), rental.MaxOpenings)
				v.next = schema.Cell(then)
				return v, err
			}
		},
		View: Openings,
	})
}
