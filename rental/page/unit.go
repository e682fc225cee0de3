package page

import (
	"context"

	"quartermaster/rental"
	"quartermaster/schema"
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
		Load: func(f *schema.Form) page.Loader[unitView] {
			var id int64
			bindID(f, &id, "unit_id", "the unit")
			return func(ctx context.Context, who db.Caller) (unitView, error) {
				v, err := s.UnitRecord(ctx, who, id)
				if err != nil {
					return unitView{}, err
				}
				years, err := s.MoneyYears(ctx, v.PropertyID)
				return unitView{v, years}, err
			}
		},
		View: UnitPage,
	})
}

// acts are the actions on the unit: one that is vacant is let first of all.
func (v unitView) acts() []page.Action {
	lease := page.Open("New lease", "save_lease", "property", v.Property, "unit", v.Name)
	ticket := page.Open("New ticket", "create_ticket", "unit_id", page.Num(v.ID))
	if v.LeaseID == nil {
		lease = lease.Main().Key("n")
	} else {
		ticket = ticket.Main().Key("n")
	}
	return []page.Action{lease, ticket, page.Open("Edit", "save_unit", "property", v.Property, "name", v.Name).Key("e"),
		page.Open("Rename", "rename_unit", "unit_id", page.Num(v.ID), "name", v.Name)}
}
