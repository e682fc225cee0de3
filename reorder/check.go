package reorder

import (
	"fmt"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// tally is what the rows say about a SKU, against which its record is held.
type tally struct {
	record
	stands  exact.Milli // sold in the standing window
	judged  exact.Milli // sold in the window of the day on which it was judged
	first   exact.Day
	onOrder exact.Milli
}

// check recomputes from the rows all that the service keeps beside them: what each SKU
// sold in the window, the day of its first sale, what is on order, and whether it was
// below on the day for which that was decided.
func check(c *db.Conn) (breaches []string, err error) {
	breach := func(format string, args ...any) { breaches = append(breaches, fmt.Sprintf(format, args...)) }
	set, err := settingsOf(c)
	if err != nil {
		return nil, err
	}
	skus, order, err := tallies(c, breach)
	if err != nil {
		return nil, err
	}
	if err := addUp(c, skus, set, breach); err != nil {
		return nil, err
	}
	if err := checkChannels(c, skus, breach); err != nil {
		return nil, err
	}
	for _, id := range order {
		t := skus[id]
		if t.sold != t.stands {
			breach("SKU %s: sold in the %d days to %s is kept as %s, its sales add up to %s", t.Code, set.ForecastWindowDays, set.standing, t.sold, t.stands)
		}
		if t.firstSold != t.first {
			breach("SKU %s: its first sale is kept as %s, its sales begin on %s", t.Code, dayOrNever(t.firstSold), dayOrNever(t.first))
		}
		if t.OnOrder != t.onOrder {
			breach("SKU %s: on order is kept as %s, of its purchase orders %s is outstanding", t.Code, t.OnOrder, t.onOrder)
		}
		b := t.basis()
		b.sold, b.firstSold = t.judged, t.first
		if is := b.status(set.horizon(t.judgedOn)) == Below; is != t.isBelow {
			breach("SKU %s: for %s it is kept as below = %v, recomputed it is %v", t.Code, t.judgedOn, t.isBelow, is)
		}
	}
	return breaches, nil
}

func dayOrNever(d exact.Day) string {
	if d == never {
		return "never"
	}
	return d.String()
}

// tallies reads every SKU with what is outstanding of its purchase orders.
func tallies(c *db.Conn, breach func(string, ...any)) (skus map[int64]*tally, order []int64, err error) {
	skus = map[int64]*tally{}
	err = db.Each(c, func(r *db.Row) error {
		t := &tally{record: scan(r), first: never}
		skus[t.id], order = t, append(order, t.id)
		return nil
	}, "SELECT "+columns+" FROM skus ORDER BY sku")
	if err != nil {
		return nil, nil, err
	}
	err = db.Each(c, func(r *db.Row) error {
		number, status := r.Text(), r.Text()
		l := OrderLine{skuID: r.Int(), Ordered: r.Milli(), Received: r.Milli()}
		t, known := skus[l.skuID]
		if !known {
			breach("purchase order %s: a line of a SKU that is not there (id %d)", number, l.skuID)
			return nil
		}
		t.onOrder += l.outstanding(status)
		return nil
	}, "SELECT number, status, sku_id, ordered, received FROM purchase_orders CROSS JOIN purchase_order_lines ON order_id = purchase_orders.id")
	return skus, order, err
}

// addUp adds up the sales, every row once.
func addUp(c *db.Conn, skus map[int64]*tally, set Settings, breach func(string, ...any)) error {
	standing := windowOf(set.standing, set.ForecastWindowDays)
	return db.Each(c, func(r *db.Row) error {
		day, id, qty := r.Day(), r.Int(), r.Milli()
		t, known := skus[id]
		if !known {
			breach("sales of %s: a row of a SKU that is not there (id %d)", day, id)
			return nil
		}
		if qty < 0 || qty > maxDayTotal {
			breach("SKU %s: its sales of %s are %s; 0 to %s can be", t.Code, day, qty, maxDayTotal)
		}
		if standing.has(day) {
			t.stands += qty
		}
		if windowOf(t.judgedOn, set.ForecastWindowDays).has(day) {
			t.judged += qty
		}
		if qty > 0 {
			t.first = min(t.first, day)
		}
		return nil
	}, "SELECT day, sku_id, qty FROM sales")
}

// checkChannels holds the shares of the channels against the totals of their SKU-days.
func checkChannels(c *db.Conn, skus map[int64]*tally, breach func(string, ...any)) error {
	return db.Each(c, func(r *db.Row) error {
		day, id, shares, total, strange := r.Day(), r.Int(), r.Milli(), r.MilliPtr(), r.Int()
		code := fmt.Sprintf("(id %d)", id)
		if t, known := skus[id]; known {
			code = t.Code
		}
		switch {
		case total == nil:
			breach("SKU %s: channels sold %s on %s, but no sales are kept of that day", code, shares, day)
		case shares > *total:
			breach("SKU %s: its channels sold %s on %s, more than the %s that are kept of that day", code, shares, day, *total)
		}
		if strange > 0 {
			breach("SKU %s: sales of %s belong to a channel that is not there", code, day)
		}
		return nil
	}, selectShareSums)
}

const selectShareSums = `SELECT c.day, c.sku_id, sum(c.qty), max(s.qty), count(*) - count(n.id)
	FROM channel_sales AS c LEFT JOIN sales AS s USING (day, sku_id) LEFT JOIN sales_channels AS n ON n.id = c.channel_id
	GROUP BY c.day, c.sku_id`
