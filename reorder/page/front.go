package page

import (
	"context"

	"quartermaster/reorder"
	"quartermaster/schema/page"
)

// Front is what the service shows of itself on the pages of all services.
func Front(s *reorder.Service) page.Front {
	return page.Front{Find: find(s), Today: s.Sentence, Steps: func(ctx context.Context) ([]page.Step, error) {
		some, err := s.Begun(ctx)
		return []page.Step{
			{Title: "First SKUs", Done: some[0], Acts: []page.Action{page.Open("New SKU", "save_sku"),
				page.Link("Import SKUs", "/import/skus")}},
			{Title: "Their sales", Done: some[1], Acts: []page.Action{page.Link("Import sales", "/import/sales")}},
		}, err
	}}
}
