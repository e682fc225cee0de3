package maintenance

import (
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// stockPart adds a delivery of a part to its stock; an unknown part is 404.
func stockPart(tx *db.Tx, id int64, qty exact.Milli) (none Part, err error) {
	p, err := parts.ByID(&tx.Conn, id)
	if err != nil {
		return none, err
	}
	switch {
	case qty <= 0:
		return none, fault.Fieldf("qty", "qty: enter how much was delivered, above 0")
	case p.Quantity+qty > maxQuantity*1000:
		return none, fault.Fieldf("qty", "qty: part %s would have more than %d in stock", p.PartNumber, maxQuantity)
	}
	now := p
	now.Quantity += qty
	if _, err := parts.Change(tx, p, now, func(column string) bool { return column == "quantity" }); err != nil {
		return none, err
	}
	return parts.ByID(&tx.Conn, id)
}

func (s *Service) stockPart() schema.Op {
	return schema.Op{
		Name: "stock_part", About: "Add a delivery of a spare part to its stock.",
		Writes: true, Response: samplePart,
		Bind: schema.Writes2(s.db, func(f *schema.Form, id *int64, qty *exact.Milli) {
			bindPartID(f, id)
			f.Milli(qty, "qty", "how much was delivered, above 0, with at most 3 decimals", schema.Required,
				schema.Range(0, maxQuantity), schema.Positional("QTY"), schema.Label("Quantity"))
		}, stockPart),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance parts add-stock 6204-2RS 20",
		Did: schema.Said(func(p Part) string {
			return fmt.Sprintf("%s, %s: %v in stock now.", p.PartNumber, p.Name, p.Quantity)
		}),
		Leads: func(answer any) string { return partPage(answer.(Part).ID) },
	}
}
