package page

import (
	"context"

	"quartermaster/schema/page"
	"quartermaster/store"
)

// Front is what the service shows of itself on the pages of all services.
func Front(s *store.Service) page.Front {
	return page.Front{Find: find(s), Today: s.Sentence, Steps: func(ctx context.Context) ([]page.Step, error) {
		some, err := s.Begun(ctx)
		return []page.Step{
			{Title: "First product", Done: some[0], Acts: []page.Action{page.Open("New product", "save_product"),
				page.Link("Import products", "/import/products")}},
			{Title: "Payment provider, or the first order by hand", Done: some[1], Acts: []page.Action{
				page.Open("Payment provider", "set_provider"), page.Open("Record order", "record_order"),
				page.Link("Import orders", "/import/orders")}},
		}, err
	}}
}
