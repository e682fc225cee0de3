package maintenance

import (
	"strconv"
	"strings"

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

const partColumns = "id, part_number, " + string(partSets)

func scanPart(r *db.Row) Part {
	p := Part{ID: r.Int(), PartNumber: r.Text(), Name: r.Text(), Unit: r.TextPtr(), Quantity: r.Milli(), MinQuantity: r.Milli(),
		UnitCostCents: r.Int(), Supplier: r.TextPtr(), Location: r.TextPtr()}
	p.LowStock = lowStock(p.Quantity, p.MinQuantity)
	return p
}

// lowStock reports whether a part wants ordering; a minimum of 0 never does.
func lowStock(quantity, minimum exact.Milli) bool { return minimum > 0 && quantity <= minimum }

// findPart finds a part by its number, else by its number or name in any case, or by #id;
// one that is not there is 404 with those that are.
func findPart(c *db.Conn, number string) (Part, error) {
	p, found, err := db.One(c, scanPart, "SELECT "+partColumns+" FROM parts WHERE part_number = ?", number)
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
	return findPartID(c, id)
}

// numberOf reads an id; 0 is none.
func numberOf(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// findPartID finds a part by its id; one that is not there is 404.
func findPartID(c *db.Conn, id int64) (Part, error) {
	p, found, err := db.One(c, scanPart, "SELECT "+partColumns+" FROM parts WHERE id = ?", id)
	if err == nil && !found {
		err = fault.NotFoundf("there is no part %d", id)
	}
	return p, err
}
