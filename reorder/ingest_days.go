package reorder

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// days writes an upload's rows, one day after another.
type days struct {
	tx      *db.Tx
	skus    []salesChange
	window  span
	replace bool
	read    *db.Stmt
	writer  writer
	shares  *shares // nil for an upload that does not tell channels apart
	totals  []total // of the day at hand, in the order of the SKUs

	imported, replaced   int
	fresh, changed, same int // of the rows imported, by what became of their SKU-day
}

// total is what the upload has for a SKU on the day at hand.
type total struct {
	sku      int32
	rows     []sale
	old      exact.Milli
	isStored bool
}

func newDays(tx *db.Tx, u *upload, skus []salesChange, h horizon, replace bool) (*days, error) {
	d := &days{tx: tx, skus: skus, window: windowOf(h.today, h.window), replace: replace}
	var err error
	if u.byChannel {
		if d.shares, err = newShares(tx, u, replace); err != nil {
			return nil, err
		}
	}
	if d.read, err = tx.Prepare("SELECT sku_id, qty FROM sales WHERE day = ? AND sku_id >= ? ORDER BY sku_id"); err != nil {
		return nil, err
	}
	d.writer, err = newSalesWriter(tx)
	return d, err
}

// write stores one day's rows, which are sorted by SKU.
func (d *days) write(u *upload, rows []sale) error {
	d.totals = d.totals[:0]
	for from := 0; from < len(rows); {
		to := from + 1
		for to < len(rows) && rows[to].sku == rows[from].sku {
			to++
		}
		d.totals = append(d.totals, total{sku: rows[from].sku, rows: rows[from:to]})
		from = to
	}
	day := rows[0].day
	if err := d.readStored(day); err != nil {
		return err
	}
	divided := false // whether anything of the day belongs to a channel
	if d.replace && d.shares == nil {
		var err error
		if _, divided, err = db.One(&d.tx.Conn, db.Int, "SELECT 1 FROM channel_sales WHERE day = ? LIMIT 1", day); err != nil {
			return err
		}
	}
	for i := range d.totals {
		t := &d.totals[i]
		before := d.imported
		qty, err := d.newTotal(u, t, day, divided)
		if err != nil {
			return err
		}
		switch rows := d.imported - before; {
		case !t.isStored:
			d.fresh += rows
		case qty != t.old:
			d.changed += rows
		default:
			d.same += rows
			continue
		}
		if err := d.writer.add(int64(day), d.skus[t.sku].id, int64(qty)); err != nil {
			return err
		}
		d.skus[t.sku].account(day, t.old, qty, d.window.has(day))
	}
	return nil
}

// flush stores what the writers still hold.
func (d *days) flush() error {
	if d.shares != nil {
		if err := d.shares.writer.flush(); err != nil {
			return err
		}
	}
	return d.writer.flush()
}

// newTotal is what becomes of the SKU-day. Replacing it as a whole also takes away what
// its channels had of it.
func (d *days) newTotal(u *upload, t *total, day exact.Day, divided bool) (exact.Milli, error) {
	id := d.skus[t.sku].id
	if d.shares != nil {
		return d.shares.write(u, t, day, id, d)
	}
	if divided {
		if _, err := d.tx.Exec("DELETE FROM channel_sales WHERE day = ? AND sku_id = ?", day, id); err != nil {
			return 0, err
		}
	}
	return d.sum(u, t), nil
}

// sum adds up what becomes of the SKU-day, and refuses a row that would take it past
// what is kept.
func (d *days) sum(u *upload, t *total) exact.Milli {
	qty := t.old
	if d.replace {
		qty = 0
		if t.isStored {
			d.replaced++
		}
	}
	for _, s := range t.rows {
		if qty+s.qty > maxDayTotal {
			u.refuseTotal(s)
			continue
		}
		qty += s.qty
		d.imported++
	}
	return qty
}

// refuseTotal refuses a row that would take its SKU-day past what is kept.
func (u *upload) refuseTotal(s sale) {
	u.refuse(s.row, "qty: "+s.qty.String()+" would take the SKU's total of "+s.day.String()+" past "+maxDayTotal.String()+", the most that is kept")
}

// reseek is how many stored rows are stepped over before the next is sought afresh.
const reseek = 8

// readStored fills in what is stored for the day's totals: one pass over the day's
// rows, which leaps where the upload leaves many out.
func (d *days) readStored(day exact.Day) error {
	defer d.read.Reset()
	id := func(i int) int64 { return d.skus[d.totals[i].sku].id }
	if err := d.read.Ints(int64(day), id(0)); err != nil {
		return err
	}
	for i, stepped := 0, 0; ; {
		r, err := d.read.Step()
		if err != nil || r == nil {
			return err
		}
		stored := r.Int()
		for id(i) < stored {
			if i++; i == len(d.totals) {
				return nil
			}
		}
		if id(i) == stored {
			d.totals[i].old, d.totals[i].isStored = r.Milli(), true
			if i++; i == len(d.totals) {
				return nil
			}
			stepped = 0
		} else if stepped++; stepped == reseek {
			stepped = 0
			if err := d.read.Ints(int64(day), id(i)); err != nil {
				return err
			}
		}
	}
}

// account keeps account of a SKU-day that went from old to qty.
func (t *salesChange) account(day exact.Day, old, qty exact.Milli, inWindow bool) {
	t.changed = true
	if inWindow {
		t.added += qty - old
	}
	if qty > 0 {
		t.first = min(t.first, day)
	} else if day == t.firstSold {
		t.emptied = true
	}
}

// firstNow is the day of the SKU's first sale after the upload.
func (t *salesChange) firstNow(c *db.Conn) (exact.Day, error) {
	if !t.emptied || t.first < t.firstSold {
		return min(t.first, t.firstSold), nil
	}
	day, found, err := db.One(c, (*db.Row).Day, `WITH RECURSIVE later (day) AS (
			SELECT min(day) FROM sales WHERE day > ?1
			UNION ALL
			SELECT (SELECT min(day) FROM sales WHERE day > later.day) FROM later WHERE later.day IS NOT NULL)
		SELECT later.day FROM later CROSS JOIN sales ON sales.day = later.day AND sales.sku_id = ?2 AND sales.qty > 0 LIMIT 1`,
		t.firstSold, t.id)
	if !found {
		day = never
	}
	return day, err
}
