package reorder

import (
	"context"
	"net/url"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// suggestMatching drafts what the report's page lists for the filters of its address, on all its
// pages: "status=below&supplier=Wollwerk".
func (s *Service) suggestMatching(ctx context.Context, who db.Caller, match string) (Suggested, error) {
	values, err := url.ParseQuery(match)
	if err != nil {
		return Suggested{}, fault.Fieldf("match", "These filters cannot be read. Open the list again.")
	}
	q := ToOrderQuery{Status: Flagged}
	op := schema.Op{Bind: func(f *schema.Form) schema.Handler {
		f.Enum(&q.Status, "status", "which SKUs", []string{Flagged, Below, Near, Healthy, All})
		f.Text(&q.Supplier, "supplier", "only this supplier's", schema.Most(maxName),
			schema.Choices(SupplierChoices), schema.Any)
		return nil
	}}
	if _, err := op.Decode(schema.Input{Surface: schema.Page, Values: values, Lenient: true,
		Currency: exact.CurrencyOf("USD")}); err != nil {
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
