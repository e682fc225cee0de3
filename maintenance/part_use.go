package maintenance

import (
	"fmt"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// PartUse is a part that was used on a work order.
type PartUse struct {
	PartID        int64       `json:"part_id"`
	PartNumber    string      `json:"part_number"`
	Name          string      `json:"name"`
	Qty           exact.Milli `json:"qty"`
	UnitCostCents int64       `json:"unit_cost_cents" about:"on the day of use"`
	CostCents     int64       `json:"cost_cents"`
}

// Used is the result of using a part.
type Used struct {
	WorkOrder WorkOrder `json:"work_order"`
	Use       PartUse   `json:"use"`
	Part      Part      `json:"part" about:"the part as it is now"`
}

// usePart takes a part from stock for a work order, at today's unit cost. More than the stock, and a closed order, are
// 422; an unknown order or part 404.
func usePart(tx *db.Tx, orderID int64, partNumber string, qty exact.Milli) (none Used, err error) {
	wo, p, err := partOfOrder(&tx.Conn, orderID, partNumber, qty, "used")
	if err != nil {
		return none, err
	}
	if qty > p.Quantity {
		return none, fault.Fieldf("qty", "qty: %v of part %s is more than the %v in stock", qty, p.PartNumber, p.Quantity)
	}
	u := PartUse{PartID: p.ID, PartNumber: p.PartNumber, Name: p.Name, Qty: qty, UnitCostCents: p.UnitCostCents,
		CostCents: costOfParts(qty, p.UnitCostCents)}
	if u.CostCents > maxUsedCents-wo.cost.PartsUsedCents {
		return none, fault.Fieldf("qty", "qty: the parts used on work order %d would cost more than %d cents in all", wo.ID,
			fault.Cents(maxUsedCents))
	}
	takeFromStock(tx, wo.ID, u)
	if err := tx.Audit("workorder.part_used", db.Subject("work_order", wo.ID), u); err != nil {
		return none, err
	}
	return usedNow(tx, wo.ID, u)
}

// usedNow is the answer of taking or returning a part.
func usedNow(tx *db.Tx, orderID int64, u PartUse) (used Used, err error) {
	used.Use = u
	if used.Part, err = parts.ByID(&tx.Conn, u.PartID); err != nil {
		return used, err
	}
	used.WorkOrder, err = findWorkOrder(&tx.Conn, orderID)
	return used, err
}

func takeFromStock(tx *db.Tx, orderID int64, u PartUse) {
	tx.Do("UPDATE parts SET quantity = quantity - ? WHERE id = ?", u.Qty, u.PartID)
	tx.Do(
		"INSERT INTO part_uses (work_order_id, part_id, qty, unit_cost_cents, cost_cents, used_at) VALUES (?, ?, ?, ?, ?, ?)",
		orderID, u.PartID, u.Qty, u.UnitCostCents, u.CostCents, tx.Now())
	tx.Do("UPDATE work_orders SET used_cents = used_cents + ?, updated_at = ? WHERE id = ?", u.CostCents,
		tx.Now(), orderID)
}

// partsOf lists the parts used on a work order, in the order of use.
func partsOf(c *db.Conn, orderID int64) ([]PartUse, error) {
	return db.All(c, func(r *db.Row) PartUse {
		return PartUse{PartID: r.Int(), PartNumber: r.Text(), Name: r.Text(), Qty: r.Milli(), UnitCostCents: r.Int(),
			CostCents: r.Int()}
	}, `SELECT u.part_id, p.part_number, p.name, u.qty, u.unit_cost_cents, u.cost_cents
		FROM part_uses u CROSS JOIN parts p ON p.id = u.part_id WHERE u.work_order_id = ? ORDER BY u.id`, orderID)
}

// partOfOrder finds the work order and the part of a use or return, and refuses what neither allows: done is the
// action, for the refusal.
func partOfOrder(c *db.Conn, orderID int64, partNumber string, qty exact.Milli, done string) (wo WorkOrder, p Part,
	err error) {
	if qty <= 0 || qty > maxQuantity*1000 {
		return wo, p,
			fault.Fieldf("qty", "qty: %v is out of range; it takes a number above 0 with at most 3 decimals, up to %d", qty,
				maxQuantity)
	}
	if partNumber, err = needed("part_number", partNumber, maxName); err != nil {
		return wo, p, err
	}
	if wo, err = findWorkOrder(c, orderID); err != nil {
		return wo, p, err
	}
	if p, err = findPart(c, partNumber); err != nil {
		return wo, p, err
	}
	if closed(wo.Status) {
		return wo, p, fault.Invalidf("work order %d is %s: parts are %s on open and in-progress orders only", wo.ID,
			wo.Status, done)
	}
	return wo, p, nil
}

// returnPart returns parts of a work order to stock: the last taken first, at their cost then. More than is used on the
// order, and a closed order, are 422; an unknown order or part 404.
func returnPart(tx *db.Tx, orderID int64, partNumber string, qty exact.Milli) (none Used, err error) {
	wo, p, err := partOfOrder(&tx.Conn, orderID, partNumber, qty, "given back")
	if err != nil {
		return none, err
	}
	uses, err := usesOf(&tx.Conn, wo.ID, p.ID)
	if err != nil {
		return none, err
	}
	var used exact.Milli
	for _, u := range uses {
		used += u.qty
	}
	switch {
	case used == 0:
		return none, fault.Fieldf("part_number", "part_number: no %s is used on work order %d", p.PartNumber, wo.ID)
	case qty > used:
		return none, fault.Fieldf("qty",
			"qty: %v of part %s is more than the %v used on work order %d", qty, p.PartNumber, used, wo.ID)
	case p.Quantity+qty > maxQuantity*1000:
		return none, fault.Fieldf("qty", "qty: part %s would have more than %d in stock", p.PartNumber, maxQuantity)
	}
	cents, err := giveBack(tx, uses, qty)
	if err != nil {
		return none, err
	}
	tx.Do("UPDATE parts SET quantity = quantity + ? WHERE id = ?", qty, p.ID)
	tx.Do("UPDATE work_orders SET used_cents = used_cents - ?, updated_at = ? WHERE id = ?", cents,
		tx.Now(), wo.ID)
	u := PartUse{PartID: p.ID, PartNumber: p.PartNumber, Name: p.Name, Qty: qty, UnitCostCents: uses[0].unit,
		CostCents: cents}
	if err := tx.Audit("workorder.part_returned", db.Subject("work_order", wo.ID), u); err != nil {
		return none, err
	}
	return usedNow(tx, wo.ID, u)
}

// taking is one stored use of a part.
type taking struct {
	id         int64
	qty        exact.Milli
	unit, cost int64
}

// usesOf lists how a part was taken for an order, the last first.
func usesOf(c *db.Conn, orderID, partID int64) ([]taking, error) {
	return db.All(c, func(r *db.Row) taking { return taking{id: r.Int(), qty: r.Milli(), unit: r.Int(), cost: r.Int()} },
		"SELECT id, qty, unit_cost_cents, cost_cents FROM part_uses WHERE work_order_id = ? AND +part_id = ? ORDER BY id DESC", orderID, partID)
}

// giveBack subtracts qty from the uses in order and returns its cost.
func giveBack(tx *db.Tx, uses []taking, qty exact.Milli) (cents int64, err error) {
	for _, u := range uses {
		if qty == 0 {
			break
		}
		back := min(qty, u.qty)
		qty -= back
		left := costOfParts(u.qty-back, u.unit)
		cents += u.cost - left
		if back == u.qty {
			_, err = tx.Exec("DELETE FROM part_uses WHERE id = ?", u.id)
		} else {
			_, err = tx.Exec("UPDATE part_uses SET qty = ?, cost_cents = ? WHERE id = ?", u.qty-back, left, u.id)
		}
		if err != nil {
			return 0, err
		}
	}
	return cents, nil
}

// bindUse binds an order, a part and how much of it.
func bindUse(f *schema.Form, id *int64, part *string, qty *exact.Milli) {
	f.ID(id, "id", "the work order", schema.Required, orderPositional, schema.Choices(jobChoices))
	must := schema.Opt(schema.Required)
	if f.Surface() == schema.Command { // UsePart refuses an empty text: it is no wrong usage
		must = func(*schema.Arg) {}
	}
	f.Text(part, "part_number", "the part's number", must, schema.Most(maxName), schema.Positional("PART_NUMBER"),
		schema.Choices(partChoices), schema.Label("Part"), schema.NewBy("save_part"))
	f.Milli(qty, "qty", "how much, above 0, with at most 3 decimals", schema.Required, schema.Range(0, maxQuantity),
		schema.Positional("QTY"), schema.Label("Quantity"))
}

func (s *Service) usePart() schema.Op {
	return schema.Op{
		Name:   "use_part",
		About:  "Use a part from stock on an open work order, at today's unit cost. More than is in stock is refused.",
		Writes: true, Response: sampleUsed,
		Bind:    schema.Writes3(s.db, bindUse, usePart),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance use-part 12 6204-2RS 2\nmaintenance use-part 12 OIL-5W30 4.5 --as alice",
		Print:   schema.Printed(printUsed),
		Did: schema.SaidIn(func(u Used, m schema.Money) string {
			return fmt.Sprintf("%v of %s is on work order %d, for %s.", u.Use.Qty, u.Use.PartNumber, u.WorkOrder.ID,
				m(u.Use.CostCents))
		}),
		Leads: leadsToOrder,
		Undo: func(answer any) *schema.Undo {
			u := answer.(Used)
			return &schema.Undo{Op: "return_part", Label: "Give it back",
				Fields: map[string]string{"id": fmt.Sprint(u.WorkOrder.ID), "part_number": u.Use.PartNumber,
					"qty": u.Use.Qty.String()}}
		},
	}
}

func printUsed(w io.Writer, u Used) {
	low := ""
	if u.Part.LowStock {
		low = ", which is low"
	}
	fmt.Fprintf(w, "%s of %s on work order %d: %s, the order now costs %s; %s left in stock%s\n",
		u.Use.Qty, u.Use.PartNumber, u.WorkOrder.ID, units(u.Use.CostCents), units(u.WorkOrder.TotalCostCents),
		u.Part.Quantity, low)
}

func (s *Service) returnPart() schema.Op {
	return schema.Op{
		Name: "return_part",
		About: "Return parts of a work order to stock: what was used last first, at its cost then. " +
			"Never more than was used, and only while the order is open or in progress.",
		Writes: true, Response: sampleUsed,
		Bind:    schema.Writes3(s.db, bindUse, returnPart),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance return-part 12 6204-2RS 1",
		Print: schema.Printed(func(w io.Writer, u Used) {
			fmt.Fprintf(w, "%s of %s returned from work order %d: %s, the order now costs %s; %s in stock\n",
				u.Use.Qty, u.Use.PartNumber, u.WorkOrder.ID, units(u.Use.CostCents), units(u.WorkOrder.TotalCostCents),
				u.Part.Quantity)
		}),
		Did: schema.SaidIn(func(u Used, m schema.Money) string {
			return fmt.Sprintf("%v of %s is back in stock; %s is off work order %d.", u.Use.Qty, u.Use.PartNumber,
				m(u.Use.CostCents), u.WorkOrder.ID)
		}),
		Leads: leadsToOrder,
		Undo: func(answer any) *schema.Undo {
			u := answer.(Used)
			return &schema.Undo{Op: "use_part", Label: "Take it again",
				Fields: map[string]string{"id": fmt.Sprint(u.WorkOrder.ID), "part_number": u.Use.PartNumber,
					"qty": u.Use.Qty.String()}}
		},
	}
}
