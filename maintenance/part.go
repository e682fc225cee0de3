package maintenance

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Part is a spare part in stock.
type Part struct {
	ID            int64       `json:"id"`
	PartNumber    string      `json:"part_number"`
	Name          string      `json:"name"`
	Unit          *string     `json:"unit"`
	Quantity      exact.Milli `json:"quantity" about:"in stock"`
	MinQuantity   exact.Milli `json:"min_quantity" about:"0: no warning"`
	UnitCostCents int64       `json:"unit_cost_cents"`
	Supplier      *string     `json:"supplier"`
	Location      *string     `json:"location"`
	LowStock      bool        `json:"low_stock" about:"min_quantity is above 0 and quantity at or below it"`
}

const partColumns = "id, part_number, name, unit, quantity, min_quantity, unit_cost_cents, supplier, location"

func scanPart(r *db.Row) Part {
	p := Part{ID: r.Int(), PartNumber: r.Text(), Name: r.Text(), Unit: r.TextPtr(), Quantity: r.Milli(), MinQuantity: r.Milli(),
		UnitCostCents: r.Int(), Supplier: r.TextPtr(), Location: r.TextPtr()}
	p.LowStock = lowStock(p.Quantity, p.MinQuantity)
	return p
}

// lowStock tells whether a part wants ordering; a minimum of 0 never does.
func lowStock(quantity, minimum exact.Milli) bool { return minimum > 0 && quantity <= minimum }

// findPart finds a part by its number; one that is not there is 404.
func findPart(c *db.Conn, number string) (Part, error) {
	p, found, err := db.One(c, scanPart, "SELECT "+partColumns+" FROM parts WHERE part_number = ?", number)
	if err == nil && !found {
		err = fault.NotFoundf("there is no part with the number %q", number)
	}
	return p, err
}

// Parts is one page of the spare parts.
type Parts struct {
	Parts []Part `json:"parts"`
	Next  *int64 `json:"next" about:"ask for the next page with after; null at the end"`
}

// Parts lists the spare parts by id: at most limit of those after an id.
func (s *Service) Parts(ctx context.Context, after, limit int64) (page Parts, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		page.Parts, err = db.All(c, scanPart, "SELECT "+partColumns+" FROM parts WHERE id > ? ORDER BY id LIMIT ?", after, limit+1)
		return err
	})
	if int64(len(page.Parts)) > limit {
		page.Parts = page.Parts[:limit]
		page.Next = &page.Parts[limit-1].ID
	}
	return page, err
}

// PartUse is a part that was used on a work order.
type PartUse struct {
	PartID        int64       `json:"part_id"`
	PartNumber    string      `json:"part_number"`
	Name          string      `json:"name"`
	Qty           exact.Milli `json:"qty"`
	UnitCostCents int64       `json:"unit_cost_cents" about:"on the day of use"`
	CostCents     int64       `json:"cost_cents"`
}

// Used is what using a part did.
type Used struct {
	WorkOrder WorkOrder `json:"work_order"`
	Use       PartUse   `json:"use"`
	Part      Part      `json:"part" about:"the part as it stands now"`
}

// UsePart takes a part from stock for a work order, at its unit cost of today. More
// than there is, and an order that is closed, are 422; an unknown order or part 404.
func (s *Service) UsePart(ctx context.Context, who db.Caller, orderID int64, partNumber string, qty exact.Milli) (Used, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Used, error) { return usePart(tx, orderID, partNumber, qty) })
}

func usePart(tx *db.Tx, orderID int64, partNumber string, qty exact.Milli) (none Used, err error) {
	if qty <= 0 || qty > maxQuantity*1000 {
		return none, fault.Invalidf("qty: %v is out of range; it takes a number above 0 with at most 3 decimals, up to %d", qty, maxQuantity)
	}
	if partNumber, err = needed("part_number", partNumber, maxName); err != nil {
		return none, err
	}
	wo, err := findWorkOrder(&tx.Conn, orderID)
	if err != nil {
		return none, err
	}
	p, err := findPart(&tx.Conn, partNumber)
	if err != nil {
		return none, err
	}
	if closed(wo.Status) {
		return none, fault.Invalidf("work order %d is %s: parts are used on open and in-progress orders only", wo.ID, wo.Status)
	}
	if qty > p.Quantity {
		return none, fault.Invalidf("qty: %v of part %s is more than the %v in stock; at most that can be used", qty, p.PartNumber, p.Quantity)
	}
	u := PartUse{PartID: p.ID, PartNumber: p.PartNumber, Name: p.Name, Qty: qty, UnitCostCents: p.UnitCostCents, CostCents: costOfParts(qty, p.UnitCostCents)}
	if u.CostCents > maxUsedCents-wo.cost.PartsUsedCents {
		return none, fault.Invalidf("qty: the parts used on work order %d would cost more than %d cents in all", wo.ID, int64(maxUsedCents))
	}
	if err := takeFromStock(tx, wo.ID, u); err != nil {
		return none, err
	}
	used := Used{Use: u}
	if used.Part, err = findPart(&tx.Conn, partNumber); err != nil {
		return none, err
	}
	if used.WorkOrder, err = findWorkOrder(&tx.Conn, orderID); err != nil {
		return none, err
	}
	return used, tx.Audit("workorder.part_used", subject("work_order", wo.ID), u)
}

func takeFromStock(tx *db.Tx, orderID int64, u PartUse) error {
	if _, err := tx.Exec("UPDATE parts SET quantity = quantity - ? WHERE id = ?", u.Qty, u.PartID); err != nil {
		return err
	}
	_, err := tx.Exec("INSERT INTO part_uses (work_order_id, part_id, qty, unit_cost_cents, cost_cents, used_at) VALUES (?, ?, ?, ?, ?, ?)",
		orderID, u.PartID, u.Qty, u.UnitCostCents, u.CostCents, tx.Now())
	if err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE work_orders SET used_cents = used_cents + ?, updated_at = ? WHERE id = ?", u.CostCents, tx.Now(), orderID)
	return err
}

// partsOf lists the parts used on a work order, in the order of use.
func partsOf(c *db.Conn, orderID int64) ([]PartUse, error) {
	return db.All(c, func(r *db.Row) PartUse {
		return PartUse{PartID: r.Int(), PartNumber: r.Text(), Name: r.Text(), Qty: r.Milli(), UnitCostCents: r.Int(), CostCents: r.Int()}
	}, `SELECT u.part_id, p.part_number, p.name, u.qty, u.unit_cost_cents, u.cost_cents
		FROM part_uses u CROSS JOIN parts p ON p.id = u.part_id WHERE u.work_order_id = ? ORDER BY u.id`, orderID)
}

func (s *Service) listParts() schema.Op {
	next := int64(1)
	return schema.Op{
		Route:    "GET /api/parts",
		About:    "Spare parts with their low-stock flags, by id.",
		Response: Parts{Parts: []Part{samplePart}, Next: &next},
		Bind: func(f *schema.Form) schema.Handler {
			var after, limit int64
			f.Limit(&limit)
			f.ID(&after, "after", "the next of the page before")
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.Parts(ctx, after, limit) }
		},
	}
}
