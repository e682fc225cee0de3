package reorder

import (
	"errors"
	"fmt"
	"math"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// tally are a SKU's figures recomputed from the rows.
type tally struct {
	stands   exact.Milli // sold in the standing window
	year     exact.Milli // and in the year to its end
	judged   exact.Milli // sold in the window of its last status check
	onOrder  exact.Milli
	first    exact.Day
	last     exact.Day
	judgedOn exact.Day
}

// tallies are those of the SKUs whose ids are above after, up to until.
type tallies struct {
	c            *db.Conn
	after, until int64
	all          map[int64]*tally
}

// mostTallies bounds the memory of doctor: the sales are read again for each so many SKUs. All of 250,000 SKUs at once
// took 30 MB.
const mostTallies = 50_000

// code is a SKU's, for a breach.
func (t *tallies) code(id int64) string {
	code, found, err := db.One(t.c, db.Text, "SELECT sku FROM skus WHERE id = ?", id)
	if err != nil || !found {
		return fmt.Sprintf("(id %d)", id)
	}
	return code
}

// check recomputes the service's derived data from the rows: each SKU's sales in the window, the day of its first sale,
// its quantity on order, and whether it was below on the day of its last status check.
func check(c *db.Conn) (breaches []string, err error) {
	breach := func(format string, args ...any) { breaches = append(breaches, fmt.Sprintf(format, args...)) }
	set, err := settingsOf(c)
	if err != nil {
		return nil, err
	}
	skus := &tallies{c: c}
	most, _, err := db.One(c, db.Int, "SELECT ifnull(max(id), 0) FROM skus")
	if err != nil {
		return nil, err
	}
	for skus.after = math.MinInt64; skus.until < math.MaxInt64; skus.after = skus.until {
		if skus.until += mostTallies; skus.until >= most {
			skus.until = math.MaxInt64
		}
		if err := skus.check(set, breach); err != nil {
			return nil, err
		}
	}
	err = errors.Join(checkDays(c, breach), checkChannels(c, skus, breach))
	return breaches, err
}

// check recomputes the figures of these SKUs.
func (t *tallies) check(set Settings, breach func(string, ...any)) error {
	t.all = map[int64]*tally{}
	err := db.Each(t.c, func(r *db.Row) error {
		t.all[r.Int()] = &tally{judgedOn: r.Day(), first: never, last: neverYet}
		return nil
	}, "SELECT id, judged_on FROM skus WHERE id > ? AND id <= ?", t.after, t.until)
	if err != nil {
		return err
	}
	if err := t.addOrders(breach); err != nil {
		return err
	}
	if err := t.addUp(set, breach); err != nil {
		return err
	}
	return t.compare(set, breach)
}

// checkDays compares the stored sums of each day with its rows.
func checkDays(c *db.Conn, breach func(string, ...any)) error {
	return db.Each(c, func(r *db.Row) error {
		breach("sales of %s: %d SKUs are kept to have some, %d have", r.Day(), r.Int(), r.Int())
		return nil
	}, `SELECT day, sum(kept), sum(is_so) FROM (
			SELECT day, skus AS kept, 0 AS is_so FROM sales_days UNION ALL SELECT day, 0, count(*) FROM sales GROUP BY day)
		GROUP BY day HAVING sum(kept) <> sum(is_so)`)
}

// compare compares the SKUs' records with their tallies.
func (t *tallies) compare(set Settings, breach func(string, ...any)) error {
	horizons := map[exact.Day]horizon{}
	return db.Each(t.c, func(r *db.Row) error {
		rec := articles.Row(r)
		is := t.all[rec.id]
		if rec.sold != is.stands {
			breach("SKU %s: sold in the %d days to %s is kept as %s, its sales add up to %s", rec.Code, set.ForecastWindowDays,
				set.standing, rec.sold, is.stands)
		}
		if rec.firstSold != is.first {
			breach("SKU %s: its first sale is kept as %s, its sales begin on %s", rec.Code, dayOrNever(rec.firstSold),
				dayOrNever(is.first))
		}
		if rec.soldYear != is.year {
			breach("SKU %s: sold in the %d days to %s is kept as %s, its sales add up to %s", rec.Code, yearDays, set.standing,
				rec.soldYear, is.year)
		}
		if rec.lastSold != is.last {
			breach("SKU %s: its last sale is kept as %s, its sales end on %s", rec.Code, dayOrNever(rec.lastSold),
				dayOrNever(is.last))
		}
		if rec.OnOrder != is.onOrder {
			breach("SKU %s: on order is kept as %s, of its purchase orders %s is outstanding", rec.Code, rec.OnOrder, is.onOrder)
		}
		b := rec.basis()
		b.sold, b.firstSold = is.judged, is.first
		h, known := horizons[rec.judgedOn]
		if !known {
			var err error
			if h, err = set.horizon(t.c, rec.judgedOn); err != nil {
				return err
			}
			horizons[rec.judgedOn] = h
		}
		if below := b.status(h) == Below; below != rec.isBelow {
			breach("SKU %s: for %s it is kept as below = %v, recomputed it is %v", rec.Code, rec.judgedOn, rec.isBelow, below)
		}
		return nil
	}, "SELECT "+articles.Columns()+" FROM skus WHERE id > ? AND id <= ? ORDER BY id", t.after, t.until)
}

func dayOrNever(d exact.Day) string {
	if d == never || d == neverYet {
		return "never"
	}
	return d.String()
}

// addOrders adds up what is outstanding of purchase orders.
func (t *tallies) addOrders(breach func(string, ...any)) error {
	return db.Each(t.c, func(r *db.Row) error {
		number, status := r.Text(), r.Text()
		l := OrderLine{skuID: r.Int(), Ordered: r.Milli(), Received: r.Milli()}
		of := t.all[l.skuID]
		if of == nil {
			breach("purchase order %s: a line of a SKU that is not there (id %d)", number, l.skuID)
			return nil
		}
		of.onOrder += l.outstanding(status)
		return nil
	}, `SELECT number, status, sku_id, ordered, received FROM purchase_order_lines CROSS JOIN purchase_orders
		ON purchase_orders.id = order_id WHERE sku_id > ? AND sku_id <= ?`, t.after, t.until)
}

// addUp adds up the sales, day by day.
func (t *tallies) addUp(set Settings, breach func(string, ...any)) error {
	standing, year := windowOf(set.standing, set.ForecastWindowDays), windowOf(set.standing, yearDays)
	return db.Each(t.c, func(r *db.Row) error {
		day, id, qty := r.Day(), r.Int(), r.Milli()
		of := t.all[id]
		if of == nil {
			breach("sales of %s: a row of a SKU that is not there (id %d)", day, id)
			return nil
		}
		if qty < 0 || qty > maxDayTotal {
			breach("SKU %s: its sales of %s are %s; 0 to %s can be", t.code(id), day, qty, maxDayTotal)
		}
		if standing.has(day) {
			of.stands += qty
		}
		if windowOf(of.judgedOn, set.ForecastWindowDays).has(day) {
			of.judged += qty
		}
		if year.has(day) {
			of.year += qty
		}
		if qty > 0 {
			of.first, of.last = min(of.first, day), day
		}
		return nil
	}, "SELECT day, sku_id, qty FROM sales WHERE sku_id > ? AND sku_id <= ? ORDER BY day, sku_id", t.after, t.until)
}

// checkChannels compares the shares of the channels with the totals of their SKU-days.
func checkChannels(c *db.Conn, skus *tallies, breach func(string, ...any)) error {
	return db.Each(c, func(r *db.Row) error {
		day, id, shares, total, strange := r.Day(), r.Int(), r.Milli(), r.MilliPtr(), r.Int()
		switch {
		case total == nil:
			breach("SKU %s: channels sold %s on %s, but no sales are kept of that day", skus.code(id), shares, day)
		case shares > *total:
			breach("SKU %s: its channels sold %s on %s, more than the %s that are kept of that day", skus.code(id), shares, day,
				*total)
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
