package reorder

import (
	"slices"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// demoBooks is the number of days of the demo's stock movements, demoCounted how many days ago the shelves were counted.
const (
	demoBooks   = 75
	demoCounted = 17
)

// demoOff is by how much the shelves were off, by SKU in turn.
var demoOff = [...]exact.Milli{0, -1_000, 0, 0, 0, 1_000, 0, 0, -2_000, 0, 0}

// off is by how much a SKU was off: of one two cartons were missing, loose goods are off by less than a unit.
func (d demoSKU) off(id int64) exact.Milli {
	switch off := demoOff[id%int64(len(demoOff))]; {
	case d.code == "TEA-EARLGREY-100":
		return exact.Milli(-2000 * d.pack)
	case d.unit == "kg":
		return off / 4
	default:
		return off
	}
}

// demoHistory replaces the one edit that set a SKU's stock by its history: each day's sales as an import, deliveries
// when there was room for one, the first count.
func demoHistory(tx *db.Tx, d demoSKU, rec article, today exact.Day) error {
	tx.Do("DELETE FROM stock_movements WHERE sku_id = ?", rec.id)
	sold := map[exact.Day]exact.Milli{}
	if err := db.Each(&tx.Conn, func(r *db.Row) error {
		sold[r.Day()] = r.Milli()
		return nil
	}, "SELECT day, qty FROM sales WHERE sku_id = ? AND day >= ?", rec.id, today-demoBooks); err != nil {
		return err
	}
	after := rec.CurrentStock
	var all []Movement // newest first
	note := func(day exact.Day, hour time.Duration, kind string, qty exact.Milli, reason, by string) {
		all = append(all, Movement{At: exact.InstantOf(day.Time(tx.Zone()).Add(hour * time.Hour)), Kind: kind, Qty: qty,
			CurrentStock: after, Reason: reason, Actor: by})
		after -= qty
	}
	// A delivery's quantity: the demand of three weeks.
	brings := exact.Milli(demoQty(d, 21*d.demand/1000/d.pack*d.pack*1000))
	delivered := today
	for day := today - 1; day >= today-demoBooks; day-- {
		if qty := sold[day]; qty > 0 {
			note(day, 19, movedByEdit, -qty, "daily sales", "till")
		}
		if day == today-demoCounted {
			note(day, 8, movedByCount, d.off(rec.id), "stock count", "ada")
		}
		if after > brings+brings/4 && brings > 0 && delivered-day > 9 && d.state != "dead" {
			delivered = day
			note(day, 9, movedByReceipt, brings, "delivery", "ada")
		}
	}
	note(today-demoBooks, 8, movedByCount, after, "first count", "ada")
	tx.Do("UPDATE skus SET created_at = ? WHERE id = ?", all[len(all)-1].At, rec.id)
	for _, m := range slices.Backward(all) {
		tx.Do(`INSERT INTO stock_movements (sku_id, at, kind, qty, current_stock, reason, number, actor, via)
			VALUES (?, ?, ?, ?, ?, ?, '', ?, ?)`, rec.id, m.At, m.Kind, m.Qty, m.CurrentStock, m.Reason, m.Actor,
			tx.Who().Via)
	}
	return nil
}
