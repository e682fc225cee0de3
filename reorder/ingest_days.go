package reorder

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// days writes an upload's rows, day by day.
type days struct {
	tx      *db.Tx
	skus    []salesChange
	window  span
	year    span
	replace bool
	read    *db.Stmt
	shares  *shares // nil for an upload without channels
	totals  []total // of the present day, in the order of the SKUs

	imported, replaced int

	held    []Sale // for agents: what the SKU-days held before
	differs bool   // some rows differ from the former value of their SKU-day
}

// total is the upload's value for a SKU on the present day.
type total struct {
	sku      int32
	rows     []sale
	old      exact.Milli
	isStored bool
}

func newDays(tx *db.Tx, u *upload, skus []salesChange, h horizon, replace bool) (*days, error) {
	d := &days{tx: tx, skus: skus, window: windowOf(h.today, h.window), year: windowOf(h.today, yearDays),
		replace: replace}
	var err error
	if u.byChannel {
		if d.shares, err = newShares(tx, u, replace); err != nil {
			return nil, err
		}
	}
	d.read, err = tx.Prepare("SELECT qty FROM sales WHERE day = ? AND sku_id = ?")
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
	divided := false // whether some of the day belongs to a channel
	if d.replace && d.shares == nil {
		var err error
		if _, divided, err = db.One(&d.tx.Conn, db.Int, "SELECT 1 FROM channel_sales WHERE day = ? LIMIT 1",
			day); err != nil {
			return err
		}
	}
	made := 0 // new SKU-days
	for i := range d.totals {
		t := &d.totals[i]
		if u.agent {
			d.noteHeld(t, day)
		}
		qty, err := d.newTotal(u, t, day, divided)
		if err != nil {
			return err
		}
		if t.isStored && qty == t.old {
			continue
		}
		d.tx.Do("INSERT OR REPLACE INTO sales (day, sku_id, qty) VALUES (?, ?, ?)", day, d.skus[t.sku].id, qty)
		if !t.isStored {
			made++
		}
		d.account(&d.skus[t.sku], day, t.old, qty)
	}
	if made == 0 {
		return nil
	}
	d.tx.Do(
		"INSERT INTO sales_days (day, skus) VALUES (?1, ?2) ON CONFLICT (day) DO UPDATE SET skus = skus + ?2", day, made)
	return nil
}

// mostHeld is the number of SKU-days whose former quantity an agent gets.
const mostHeld = 100

// noteHeld notes the former value of a SKU-day.
func (d *days) noteHeld(t *total, day exact.Day) {
	sent := exact.Milli(0)
	for _, r := range t.rows {
		sent += r.qty
	}
	d.differs = d.differs || d.shares != nil || !t.isStored || sent != t.old
	if t.isStored && len(d.held) < mostHeld {
		d.held = append(d.held, Sale{Date: day, SKU: d.skus[t.sku].Code, Qty: t.old})
	}
}

// newTotal is the SKU-day's new total. Replacing it as a whole also removes its channels' shares.
func (d *days) newTotal(u *upload, t *total, day exact.Day, divided bool) (exact.Milli, error) {
	id := d.skus[t.sku].id
	if d.shares != nil {
		return d.shares.write(u, t, day, id, d)
	}
	if divided {
		d.tx.Do("DELETE FROM channel_sales WHERE day = ? AND sku_id = ?", day, id)
	}
	return d.sum(u, t), nil
}

// sum adds up the SKU-day, and refuses a row that would exceed the limit.
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
		u.tell(s, outcome(t.isStored, true))
	}
	if qty == t.old && t.isStored {
		for _, s := range t.rows {
			u.tell(s, outcome(true, false))
		}
	}
	return qty
}

// outcome is a row's effect on its quantity.
func outcome(stored, changed bool) schema.Outcome {
	switch {
	case !stored:
		return schema.Outcome{New: true}
	case changed:
		return schema.Outcome{Fields: []string{"qty"}}
	}
	return schema.Outcome{}
}

// tell notes a row's outcome, if outcomes are requested. A refused one is not counted.
func (u *upload) tell(s sale, o schema.Outcome) {
	if u.told != nil {
		u.told[s.row] = o
	}
}

// refuseTotal refuses a row that would exceed its SKU-day's limit.
func (u *upload) refuseTotal(s sale) {
	u.refuse(s.row, "qty: "+s.qty.String()+" would raise the SKU's total of "+s.day.String()+" past "+maxDayTotal.String()+
		", the maximum")
}

// readStored reads the stored values for the day's totals.
func (d *days) readStored(day exact.Day) error {
	defer d.read.Reset()
	for i := range d.totals {
		t := &d.totals[i]
		if err := d.read.Ints(int64(day), d.skus[t.sku].id); err != nil {
			return err
		}
		r, err := d.read.Step()
		if err != nil {
			return err
		}
		if t.isStored = r != nil; t.isStored {
			t.old = r.Milli()
		}
	}
	return nil
}

// account notes a SKU-day's change from old to qty.
func (d *days) account(t *salesChange, day exact.Day, old, qty exact.Milli) {
	t.changed = true
	if d.window.has(day) {
		t.added += qty - old
	}
	if d.year.has(day) {
		t.addedYear += qty - old
	}
	if qty > 0 {
		t.first, t.last = min(t.first, day), max(t.last, day)
	} else if day == t.firstSold || day == t.lastSold {
		t.emptied = true
	}
}

// soldNow are the days of the SKU's first and last sale after the upload, or never and
// neverYet.
func (t *salesChange) soldNow(c *db.Conn) (first, last exact.Day, err error) {
	first, last = min(t.first, t.firstSold), max(t.last, t.lastSold)
	if !t.emptied {
		return first, last, nil
	}
	for _, end := range []struct {
		day   *exact.Day
		none  exact.Day
		query string
	}{
		{&first, never, firstSale},
		{&last, neverYet, lastSale},
	} {
		day, found, err := db.One(c, (*db.Row).Day, end.query, *end.day, t.id)
		if err != nil {
			return first, last, err
		}
		if *end.day = day; !found {
			*end.day = end.none
		}
	}
	return first, last, nil
}

// firstSale and lastSale find the first day of a SKU's sales not before a day, and the last one not after it, day by
// day: sales are ordered by day.
const (
	firstSale = `SELECT d.day FROM sales_days AS d CROSS JOIN sales ON sales.day = d.day AND sku_id = ?2 AND qty > 0
		WHERE d.day >= ?1 ORDER BY d.day LIMIT 1`
	lastSale = `SELECT d.day FROM sales_days AS d CROSS JOIN sales ON sales.day = d.day AND sku_id = ?2 AND qty > 0
		WHERE d.day <= ?1 ORDER BY d.day DESC LIMIT 1`
)
