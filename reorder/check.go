package reorder

import (
	"fmt"
	"slices"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// tally is what the rows say about a SKU, against which its record is held. There is one a
// SKU in memory, so it holds no texts.
type tally struct {
	stands   exact.Milli // sold in the standing window
	judged   exact.Milli // sold in the window of the day on which it was judged
	onOrder  exact.Milli
	first    exact.Day
	judgedOn exact.Day
}

// tallies are the SKUs' by id.
type tallies struct {
	c   *db.Conn
	ids []int64 // in order
	all []tally
}

// of gives a SKU's tally, nil when there is no such SKU. Ids are given one after another, so
// that it stands where it would if none had ever gone, or before that.
func (t *tallies) of(id int64) *tally {
	if len(t.ids) == 0 || id < t.ids[0] {
		return nil
	}
	to := min(int64(len(t.ids)), id-t.ids[0]+1)
	if t.ids[to-1] == id {
		return &t.all[to-1]
	}
	if i, found := slices.BinarySearch(t.ids[:to], id); found {
		return &t.all[i]
	}
	return nil
}

// code is a SKU's, for a breach.
func (t *tallies) code(id int64) string {
	code, found, err := db.One(t.c, db.Text, "SELECT sku FROM skus WHERE id = ?", id)
	if err != nil || !found {
		return fmt.Sprintf("(id %d)", id)
	}
	return code
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
	skus, err := beginTallies(c, breach)
	if err != nil {
		return nil, err
	}
	if err := addUp(c, skus, set, breach); err != nil {
		return nil, err
	}
	if err := checkChannels(c, skus, breach); err != nil {
		return nil, err
	}
	err = db.Each(c, func(r *db.Row) error {
		rec := scan(r)
		t := skus.of(rec.id)
		if rec.sold != t.stands {
			breach("SKU %s: sold in the %d days to %s is kept as %s, its sales add up to %s", rec.Code, set.ForecastWindowDays, set.standing, rec.sold, t.stands)
		}
		if rec.firstSold != t.first {
			breach("SKU %s: its first sale is kept as %s, its sales begin on %s", rec.Code, dayOrNever(rec.firstSold), dayOrNever(t.first))
		}
		if rec.OnOrder != t.onOrder {
			breach("SKU %s: on order is kept as %s, of its purchase orders %s is outstanding", rec.Code, rec.OnOrder, t.onOrder)
		}
		b := rec.basis()
		b.sold, b.firstSold = t.judged, t.first
		if is := b.status(set.horizon(rec.judgedOn)) == Below; is != rec.isBelow {
			breach("SKU %s: for %s it is kept as below = %v, recomputed it is %v", rec.Code, rec.judgedOn, rec.isBelow, is)
		}
		return nil
	}, "SELECT "+columns+" FROM skus ORDER BY sku")
	return breaches, err
}

func dayOrNever(d exact.Day) string {
	if d == never {
		return "never"
	}
	return d.String()
}

// beginTallies begins a tally for every SKU, with what is outstanding of its purchase orders.
func beginTallies(c *db.Conn, breach func(string, ...any)) (*tallies, error) {
	n, _, err := db.One(c, db.Int, "SELECT count(*) FROM skus")
	if err != nil {
		return nil, err
	}
	skus := &tallies{c: c, ids: make([]int64, 0, n), all: make([]tally, 0, n)}
	err = db.Each(c, func(r *db.Row) error {
		skus.ids = append(skus.ids, r.Int())
		skus.all = append(skus.all, tally{judgedOn: r.Day(), first: never})
		return nil
	}, "SELECT id, judged_on FROM skus ORDER BY id")
	if err != nil {
		return nil, err
	}
	err = db.Each(c, func(r *db.Row) error {
		number, status := r.Text(), r.Text()
		l := OrderLine{skuID: r.Int(), Ordered: r.Milli(), Received: r.Milli()}
		t := skus.of(l.skuID)
		if t == nil {
			breach("purchase order %s: a line of a SKU that is not there (id %d)", number, l.skuID)
			return nil
		}
		t.onOrder += l.outstanding(status)
		return nil
	}, "SELECT number, status, sku_id, ordered, received FROM purchase_orders CROSS JOIN purchase_order_lines ON order_id = purchase_orders.id")
	return skus, err
}

// addUp adds up the sales, every row once.
func addUp(c *db.Conn, skus *tallies, set Settings, breach func(string, ...any)) error {
	standing := windowOf(set.standing, set.ForecastWindowDays)
	return db.Each(c, func(r *db.Row) error {
		day, id, qty := r.Day(), r.Int(), r.Milli()
		t := skus.of(id)
		if t == nil {
			breach("sales of %s: a row of a SKU that is not there (id %d)", day, id)
			return nil
		}
		if qty < 0 || qty > maxDayTotal {
			breach("SKU %s: its sales of %s are %s; 0 to %s can be", skus.code(id), day, qty, maxDayTotal)
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
func checkChannels(c *db.Conn, skus *tallies, breach func(string, ...any)) error {
	return db.Each(c, func(r *db.Row) error {
		day, id, shares, total, strange := r.Day(), r.Int(), r.Milli(), r.MilliPtr(), r.Int()
		switch {
		case total == nil:
			breach("SKU %s: channels sold %s on %s, but no sales are kept of that day", skus.code(id), shares, day)
		case shares > *total:
			breach("SKU %s: its channels sold %s on %s, more than the %s that are kept of that day", skus.code(id), shares, day, *total)
		}
		if strange > 0 {
			breach("SKU %s: sales of %s belong to a channel that is not there", skus.code(id), day)
		}
		return nil
	}, selectShareSums)
}

const selectShareSums = `SELECT c.day, c.sku_id, sum(c.qty), max(s.qty), count(*) - count(n.id)
	FROM channel_sales AS c LEFT JOIN sales AS s USING (day, sku_id) LEFT JOIN sales_channels AS n ON n.id = c.channel_id
	GROUP BY c.day, c.sku_id`
