package page

import (
	"context"

	"github.com/a-h/templ"

	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

func bindYear(f *schema.Form, year *int64) {
	f.Int(year, "year", "The year", schema.Range(1900, 9999), schema.Label("Year"))
}

// thisYear is the year of today.
func thisYear(ctx context.Context, s *rental.Service, who db.Caller) (int64, error) {
	o, err := s.Overview(ctx, who)
	year, _, _ := o.Today.Date()
	return int64(year), err
}

func statement(s *rental.Service) page.Page {
	return page.New(page.Spec[rental.Statement]{
		Path: "/leases/:id/statement", Title: "Statement",
		Load: func(f *schema.Form) page.Loader[rental.Statement] {
			var id, year int64
			bindID(f, &id, "lease_id", "the lease")
			bindYear(f, &year)
			return func(ctx context.Context, who db.Caller) (st rental.Statement, err error) {
				if year == 0 {
					if year, err = thisYear(ctx, s, who); err != nil {
						return st, err
					}
				}
				return s.LeaseStatement(ctx, who, id, year)
			}
		},
		View: Statement,
	})
}

func receipt(s *rental.Service) page.Page {
	return page.New(page.Spec[rental.Receipt]{
		Path: "/payments/:id", Title: "Receipt",
		Load: func(f *schema.Form) page.Loader[rental.Receipt] {
			var id int64
			bindID(f, &id, "payment_id", "the payment")
			return func(ctx context.Context, _ db.Caller) (rental.Receipt, error) { return s.LeaseReceipt(ctx, id) }
		},
		View: Receipt,
	})
}

// letterView is a reminder of what is past its day.
type letterView struct {
	rental.Ledger
	overdue []rental.Charge
	sum     int64
	view    leaseView
}

func reminder(s *rental.Service) page.Page {
	return page.New(page.Spec[letterView]{
		Path: "/leases/:id/reminder", Title: "Reminder",
		Load: func(f *schema.Form) page.Loader[letterView] {
			var id int64
			bindID(f, &id, "lease_id", "the lease")
			return func(ctx context.Context, who db.Caller) (letterView, error) {
				r, err := s.LeaseRecord(ctx, who, id)
				v := letterView{Ledger: r.Ledger, view: leaseView{r}}
				for _, c := range r.Charges {
					if !c.Paid && c.BalanceCents > 0 && c.DueDate < r.Today {
						v.overdue = append(v.overdue, c)
						v.sum += c.BalanceCents
					}
				}
				return v, err
			}
		},
		View: func(v letterView) templ.Component { return Reminder(v) },
	})
}
