package reorder

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// suggestMatching drafts what the report's page lists for the filters of its address, on all its
// pages: "status=below&supplier=Wollwerk".
func (s *Service) suggestMatching(ctx context.Context, who db.Caller, match string) (Suggested, error) {
	q := ToOrderQuery{Status: Flagged}
	err := schema.Filters(match, func(f *schema.Form) {
		f.Enum(&q.Status, "status", "which SKUs", []string{Flagged, Below, Near, Healthy, All})
		f.Text(&q.Supplier, "supplier", "only this supplier's", schema.Most(maxName),
			schema.Choices(SupplierChoices), schema.Any)
	})
	if err != nil {
		return Suggested{}, err
	}
	if q.Status == Flagged {
		return s.SuggestOrders(ctx, who, SuggestQuery{Supplier: q.Supplier})
	}
	all, err := s.ToOrder(ctx, q)
	if err != nil {
		return Suggested{}, err
	}
	wanted := SuggestQuery{Supplier: q.Supplier}
	for _, r := range all.Rows {
		wanted.SKUs = append(wanted.SKUs, r.SKU)
	}
	if len(wanted.SKUs) == 0 {
		return Suggested{PurchaseOrders: []PurchaseOrder{}}, nil
	}
	return s.SuggestOrders(ctx, who, wanted)
}
