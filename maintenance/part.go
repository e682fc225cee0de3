package maintenance

import (
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/record"
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

var parts = record.New("part", "parts",
	record.ID(func(p *Part) *int64 { return &p.ID }),
	record.Text("part_number", func(p *Part) *string { return &p.PartNumber }, "identifies the part",
		schema.Required, schema.Most(maxName), schema.Label("Number")).Key().Told(),
	record.Text("name", func(p *Part) *string { return &p.Name }, "its name; empty is the number",
		schema.Most(maxName)).Else(func(p *Part) { p.Name = p.PartNumber }).Told(),
	record.OptText("unit", func(p *Part) **string { return &p.Unit }, "what one of it is: piece, l", schema.Most(maxName)),
	record.Milli("quantity", func(p *Part) *exact.Milli { return &p.Quantity }, "how much is in stock",
		schema.Range(0, maxQuantity)).Told(),
	record.Milli("min_quantity", func(p *Part) *exact.Milli { return &p.MinQuantity },
		"stock is low at this quantity or below; 0 for never", schema.Range(0, maxQuantity), schema.Label("Minimum")),
	record.Int("unit_cost_cents", func(p *Part) *int64 { return &p.UnitCostCents }, "unit cost in cents",
		schema.Range(0, maxUnitCost)).Told(),
	record.OptText("supplier", func(p *Part) **string { return &p.Supplier }, "who delivers it",
		append(used("parts", "supplier"), schema.Most(maxName))...),
	record.OptText("location", func(p *Part) **string { return &p.Location }, "where it is kept",
		append(used("parts", "location"), schema.Most(maxName))...),
).Derive(func(p *Part) { p.LowStock = lowStock(p.Quantity, p.MinQuantity) })

// partTable is the spare parts as CSV.
func partTable() schema.Table {
	return parts.Table("parts", "Spare parts, one row each. A new unit cost applies to parts used from then on.")
}

// PartColumns are the columns of Cells.
func PartColumns() []string { return parts.Header() }

// Cells is the part as a row of the table.
func (p Part) Cells() []string { return parts.Cells(p) }

// lowStock reports whether a part must be ordered; never with a minimum of 0.
func lowStock(quantity, minimum exact.Milli) bool { return minimum > 0 && quantity <= minimum }

// findPart finds a part by its number, else by its number or name in any case, or by #id; an unknown one is 404 with
// the existing ones.
func findPart(c *db.Conn, number string) (Part, error) {
	p, found, err := parts.One(c, "WHERE part_number = ?", number)
	if err != nil || found {
		return p, err
	}
	id := int64(0)
	if text, marked := strings.CutPrefix(number, "#"); marked {
		id = numberOf(text)
	}
	if id == 0 {
		if id, err = partNamed(c, number); err != nil {
			return p, err
		}
	}
	return parts.ByID(c, id)
}

// numberOf parses an id; 0 is none.
func numberOf(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
