package page

import (
	"context"

	"quartermaster/maintenance"
	"quartermaster/schema/page"
)

// Front is what the service shows of itself on the pages of all services.
func Front(s *maintenance.Service) page.Front {
	return page.Front{Find: find(s), Today: s.Sentence, Steps: func(ctx context.Context) ([]page.Step, error) {
		some, err := s.Begun(ctx)
		return []page.Step{
			{Title: "First machine", Done: some[0], Acts: []page.Action{page.Open("New asset", "save_asset"),
				page.Link("Import assets", "/import/assets")}},
			{Title: "Its meter, if it has one", Done: some[1] || some[2],
				Acts: []page.Action{page.Open("New meter", "save_meter"),
					page.Link("Import meters", "/import/meters")}},
			{Title: "First plan: what is due when", Done: some[2], Acts: []page.Action{page.Open("New plan", "save_plan"),
				page.Link("Import plans", "/import/pm-plans")}},
		}, err
	}}
}
