package maintenance

import (
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// partTable is the spare parts as CSV.
func (s *Service) partTable() schema.Table {
	return schema.Table{
		Name:  "parts",
		About: "Spare parts, one row each. A new unit cost counts for what is used from then on.",
		Row: func(f *schema.Form) schema.Put {
			p := bindPart(f)
			return schema.Untold(func(tx *db.Tx) error {
				_, err := putPart(tx, f, p)
				return err
			})
		},
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return db.Each(c, func(r *db.Row) error { return emit(scanPart(r).Cells()...) }, "SELECT "+partColumns+" FROM parts ORDER BY id")
		},
		Find: func(c *db.Conn, given func(column string) string) ([]string, bool, error) {
			p, found, err := db.One(c, scanPart, "SELECT "+partColumns+" FROM parts WHERE part_number = ?", given("part_number"))
			return p.Cells(), found, err
		},
	}
}

// Cells is the part as a row of the table.
func (p Part) Cells() []string {
	return []string{p.PartNumber, p.Name, cell(p.Unit), p.Quantity.String(), p.MinQuantity.String(), strconv.FormatInt(p.UnitCostCents, 10), cell(p.Supplier), cell(p.Location)}
}

// PartColumns are the columns of Cells.
func PartColumns() []string { return columnsOf((&Service{}).partTable()) }

// bindPart binds what a part is made of: a row's columns, the fields of its form.
func bindPart(f *schema.Form) (p Part) {
	f.Text(&p.PartNumber, "part_number", "identifies the part", schema.Required, schema.Most(maxName), schema.Label("Number"))
	p.Name = p.PartNumber
	f.Text(&p.Name, "name", "what it is; the number when empty", schema.Most(maxName))
	f.TextPtr(&p.Unit, "unit", "what one of it is: piece, l", schema.Most(maxName))
	f.Milli(&p.Quantity, "quantity", "how much is in stock", schema.Range(0, maxQuantity))
	f.Milli(&p.MinQuantity, "min_quantity", "at this quantity or below it stock is low; 0 for never", schema.Range(0, maxQuantity), schema.Label("Minimum"))
	f.Int(&p.UnitCostCents, "unit_cost_cents", "what one unit costs, in cents", schema.Range(0, maxUnitCost))
	f.TextPtr(&p.Supplier, "supplier", "who delivers it", schema.Most(maxName))
	f.TextPtr(&p.Location, "location", "where it lies", schema.Most(maxName))
	return p
}

// partSets are the columns of a part that people set, with their values: one list for
// INSERT, UPDATE and scanPart.
const partSets db.Columns = "name, unit, quantity, min_quantity, unit_cost_cents, supplier, location"

func (p Part) sets() []any {
	return []any{p.Name, p.Unit, p.Quantity, p.MinQuantity, p.UnitCostCents, p.Supplier, p.Location}
}

// putPart makes the part that the row names, or makes of it what the row says.
func putPart(tx *db.Tx, row *schema.Form, p Part) (id int64, err error) {
	held, found, err := db.One(&tx.Conn, scanPart, "SELECT "+partColumns+" FROM parts WHERE part_number = ?", p.PartNumber)
	if err != nil {
		return 0, err
	}
	if !found {
		id, err := tx.InsertRow("parts", "part_number, "+partSets, append([]any{p.PartNumber}, p.sets()...)...)
		if err != nil {
			return 0, err
		}
		return id, tx.Audit("part.created", db.Subject("part", id), map[string]any{
			"part_number": p.PartNumber, "name": p.Name, "quantity": p.Quantity, "unit_cost_cents": p.UnitCostCents})
	}
	e := newEdit(row.Given)
	set(e, "name", &held.Name, p.Name)
	setPtr(e, "unit", &held.Unit, p.Unit)
	set(e, "quantity", &held.Quantity, p.Quantity)
	set(e, "min_quantity", &held.MinQuantity, p.MinQuantity)
	set(e, "unit_cost_cents", &held.UnitCostCents, p.UnitCostCents)
	setPtr(e, "supplier", &held.Supplier, p.Supplier)
	setPtr(e, "location", &held.Location, p.Location)
	if e.nothing() {
		return held.ID, nil
	}
	if err := tx.UpdateRow("parts", held.ID, partSets, held.sets()...); err != nil {
		return 0, err
	}
	return held.ID, tx.Audit("part.changed", db.Subject("part", held.ID), e.changes)
}
