package page

import (
	"context"
	"slices"

	"github.com/a-h/templ"

	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

func month(s *rental.Service) page.Page {
	return page.New(page.Spec[rental.Overview]{
		Path: "/", Title: "This month", Menu: "This month", Key: "t",
		Load: func(*schema.Form) page.Loader[rental.Overview] {
			return func(ctx context.Context, who db.Caller) (rental.Overview, error) { return s.Overview(ctx, who) }
		},
		View: Month,
	})
}

// arrearsView is a page of the arrears; the sums are of all.
type arrearsView struct {
	rental.Arrears
	shown []rental.TenantBehind
	total int64
	next  string
	all   int // tenants who are behind, whatever is searched for
}

func arrears(s *rental.Service) page.Page {
	return page.New(page.Spec[arrearsView]{
		Path: "/arrears", Title: "Arrears", Menu: "Arrears", Key: "a",
		Load: func(f *schema.Form) page.Loader[arrearsView] {
			var p page.Paging
			p.Bind(f, arrearSorts.Names()...)
			return func(ctx context.Context, who db.Caller) (arrearsView, error) {
				all, err := s.Arrears(ctx, who)
				return newArrears(all, p), err
			}
		},
		View: func(v arrearsView) templ.Component { return Arrears(v) },
		CSV: func(v arrearsView) page.Sheet {
			sheet := page.Sheet{Name: "arrears", Columns: []string{"lease_id", "property", "unit", "tenant", "tenant_email", "charge_id", "type", "label", "due_date", "days_overdue", "amount_cents", "balance_cents"}}
			for _, t := range v.shown {
				for _, a := range t.Charges {
					sheet.Rows = append(sheet.Rows, []string{cell(a.LeaseID), a.Property, a.Unit, a.Tenant, textOf(a.TenantEmail), cell(a.ID), a.Type, a.Label, a.DueDate.String(),
						cell(a.DaysOverdue), cell(a.AmountCents), cell(a.BalanceCents)})
				}
			}
			return sheet
		},
	})
}

func newArrears(all rental.Arrears, p page.Paging) arrearsView {
	v := arrearsView{Arrears: all}
	people := all.ByPerson()
	v.all = len(people)
	for _, t := range people {
		t.Charges = slices.DeleteFunc(t.Charges, func(a rental.Arrear) bool {
			return !matches(p.Q, a.Tenant, a.Property+" / "+a.Unit, a.Label)
		})
		if len(t.Charges) > 0 {
			v.shown = append(v.shown, t)
		}
	}
	v.total = int64(len(v.shown))
	rows, then := page.Arrange(p, v.shown, arrearSorts)
	v.shown, v.next = rows, next(then)
	return v
}

func rentRoll(s *rental.Service) page.Page {
	return page.New(page.Spec[rental.RentRoll]{
		Path: "/rent-roll", Title: "Rent roll", Menu: "Rent roll", Key: "r",
		Load: func(f *schema.Form) page.Loader[rental.RentRoll] {
			var m exact.Month
			var format string
			f.Month(&m, "month", "The month", schema.Label("Month"))
			f.Enum(&format, "format", "csv for a file", []string{"csv"})
			return func(ctx context.Context, who db.Caller) (rental.RentRoll, error) {
				if m == 0 {
					return s.RentRoll(ctx, who, nil)
				}
				return s.RentRoll(ctx, who, &m)
			}
		},
		View: RentRoll,
		CSV: func(v rental.RentRoll) page.Sheet {
			sheet := page.Sheet{Name: "rent-roll-" + v.Month.String(), Columns: []string{"unit_id", "property", "unit", "billed_cents", "collected_cents", "outstanding_cents", "received_cents"}}
			for _, u := range v.Units {
				sheet.Rows = append(sheet.Rows, []string{cell(u.UnitID), u.Property, u.Unit, cell(u.BilledCents), cell(u.CollectedCents), cell(u.OutstandingCents), cell(u.ReceivedCents)})
			}
			return sheet
		},
	})
}
