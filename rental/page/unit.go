package page

import (
	"context"

	"quartermaster/rental"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// unitView is one unit with its leases and tickets.
type unitView struct {
	rental.UnitRecord
	years []int64
}

// PageTitle is the unit's full name.
func (v unitView) PageTitle() string { return v.Property + " / " + v.Name }

func unit(s *rental.Service) page.Page {
	return page.New(page.Spec[unitView]{
		Path: "/units/:id", Title: "Unit",
		Load: page.ByID("unit_id", "the unit", func(ctx context.Context, who db.Caller, id int64) (v unitView, err error) {
			if v.UnitRecord, err = s.UnitRecord(ctx, who, id); err == nil {
				v.years, err = s.MoneyYears(ctx, v.PropertyID)
			}
			return v, err
		}),
		View: UnitPage,
	})
}

// newLease opens a lease of the unit at its market rent, where that is known.
func newLease(ctx context.Context, u rental.Unit) page.Action {
	fields := []string{"property", u.Property, "unit", u.Name}
	if u.MarketRentCents > 0 {
		fields = append(fields, "rent", page.AmountField(ctx, u.MarketRentCents))
	}
	return page.Open("New lease", "save_lease", fields...)
}

// acts are the actions on the unit: one that is vacant is let first of all.
func (v unitView) acts(ctx context.Context) []page.Action {
	lease := newLease(ctx, v.Unit)
	ticket := page.Open("New ticket", "create_ticket", "unit_id", page.Num(v.ID))
	if v.LeaseID == nil {
		lease = lease.Main().Key("n")
	} else {
		ticket = ticket.Main().Key("n")
	}
	return []page.Action{lease, ticket, page.Open("Edit", "save_unit", "property", v.Property, "name", v.Name).Key("e"),
		page.Open("Rename", "rename_unit", "unit_id", page.Num(v.ID), "name", v.Name)}
}
