package page

import (
	"context"

	"quartermaster/rental"
	"quartermaster/schema/page"
)

// Front is what the service shows of itself on the pages of all services.
func Front(s *rental.Service) page.Front {
	return page.Front{Find: find(s), Today: s.Sentence, Steps: func(ctx context.Context) ([]page.Step, error) {
		some, err := s.Begun(ctx)
		return []page.Step{
			{Title: "First property and unit", Done: some[0] && some[1], Acts: []page.Action{
				page.Open("New property", "save_property"), page.Open("New unit", "save_unit"),
				page.Link("Import properties", "/import/properties"), page.Link("Import units", "/import/units")}},
			{Title: "First tenant", Done: some[2], Acts: []page.Action{page.Open("New tenant", "save_tenant"),
				page.Link("Import tenants", "/import/tenants")}},
			{Title: "First lease", Done: some[3], Acts: []page.Action{page.Open("New lease", "save_lease"),
				page.Link("Import leases", "/import/leases"), page.Link("Import rent roll", "/import/rent-roll")}},
		}, err
	}}
}
