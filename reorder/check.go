package reorder

import (
	"fmt"
	"math"
	"slices"

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

// tallies are those of a run of SKUs, by id: a limited number at a time, to bound the memory of a check.
type tallies struct {
	c         *db.Conn
	size      int     // how many at most
	after, to int64   // the range of ids
	ids       []int64 // in order
	all       []tally
}

const runOfSKUs = 1 << 12

// of returns a SKU's tally, nil if there is no such SKU. Ids are passed in ascending order.
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

// check recomputes the service's derived data from the rows: each SKU's sales in the window, the day of its first sale,
// its quantity on order, and whether it was below on the day of its last status check.
func check(c *db.Conn) (breaches []string, err error) { return checkRuns(c, runOfSKUs) }

func checkRuns(c *db.Conn, size int) (breaches []string, err error) {
	breach := func(format string, args ...any) { breaches = append(breaches, fmt.Sprintf(format, args...)) }
	set, err := settingsOf(c)
	if err != nil {
		return nil, err
	}
	days, err := daysSold(c)
	if err != nil {
		return nil, err
	}
	skus := &tallies{c: c, size: size, to: math.MinInt64}
	for skus.to < math.MaxInt64 {
		if err := skus.next(); err != nil {
			return nil, err
		}
		if err := skus.addOrders(breach); err != nil {
			return nil, err
		}
		for _, day := range days {
			if err := skus.addUp(day, set, breach); err != nil {
				return nil, err
			}
		}
		if err := skus.compare(set, breach); err != nil {
			return nil, err
		}
	}
	if err := checkDays(c, breach); err != nil {
		return nil, err
	}
	return breaches, checkChannels(c, skus, breach)
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

// compare compares the records of the run's SKUs with their tallies.
func (t *tallies) compare(set Settings, breach func(string, ...any)) error {
	horizons := map[exact.Day]horizon{}
	return db.Each(t.c, func(r *db.Row) error {
		rec := articles.Row(r)
		is := t.of(rec.id)
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
	}, "SELECT "+articles.Columns()+" FROM skus WHERE id > ? AND id <= ? ORDER BY id", t.after, t.to)
}

func dayOrNever(d exact.Day) string {
	if d == never || d == neverYet {
		return "never"
	}
	return d.String()
}

// daysSold are the days with stored sales, in order.
func daysSold(c *db.Conn) (days []exact.Day, err error) {
	for last := exact.Day(math.MinInt32); ; {
		day, found, err := db.One(c, (*db.Row).Day, "SELECT day FROM sales WHERE day > ? ORDER BY day LIMIT 1", last)
		if err != nil || !found {
			return days, err
		}
		days, last = append(days, day), day
	}
}

// next begins the tallies of the next run. The last one reaches past the last SKU.
func (t *tallies) next() error {
	t.after, t.to, t.ids, t.all = t.to, math.MaxInt64, t.ids[:0], t.all[:0]
	err := db.Each(t.c, func(r *db.Row) error {
		t.ids = append(t.ids, r.Int())
		t.all = append(t.all, tally{judgedOn: r.Day(), first: never, last: neverYet})
		return nil
	}, "SELECT id, judged_on FROM skus WHERE id > ? ORDER BY id LIMIT ?", t.after, int64(t.size))
	if n := len(t.ids); n == t.size {
		t.to = t.ids[n-1]
	}
	return err
}

// addOrders adds up what is outstanding of purchase orders.
func (t *tallies) addOrders(breach func(string, ...any)) error {
	return db.Each(t.c, func(r *db.Row) error {
		number, status := r.Text(), r.Text()
		l := OrderLine{skuID: r.Int(), Ordered: r.Milli(), Received: r.Milli()}
		of := t.of(l.skuID)
		if of == nil {
			breach("purchase order %s: a line of a SKU that is not there (id %d)", number, l.skuID)
			return nil
		}
		of.onOrder += l.outstanding(status)
		return nil
	}, `SELECT number, status, sku_id, ordered, received FROM purchase_order_lines CROSS JOIN purchase_orders
		ON purchase_orders.id = order_id
		WHERE sku_id > ? AND sku_id <= ?`, t.after, t.to)
}

// addUp adds up the sales of a day; the days come in order.
func (t *tallies) addUp(day exact.Day, set Settings, breach func(string, ...any)) error {
	standing, inYear := windowOf(set.standing, set.ForecastWindowDays).has(day), windowOf(set.standing, yearDays).has(day)
	return db.Each(t.c, func(r *db.Row) error {
		id, qty := r.Int(), r.Milli()
		of := t.of(id)
		if of == nil {
			breach("sales of %s: a row of a SKU that is not there (id %d)", day, id)
			return nil
		}
		if qty < 0 || qty > maxDayTotal {
			breach("SKU %s: its sales of %s are %s; 0 to %s can be", t.code(id), day, qty, maxDayTotal)
		}
		if standing {
			of.stands += qty
		}
		if windowOf(of.judgedOn, set.ForecastWindowDays).has(day) {
			of.judged += qty
		}
		if inYear {
			of.year += qty
		}
		if qty > 0 {
			of.first, of.last = min(of.first, day), day
		}
		return nil
	}, "SELECT sku_id, qty FROM sales WHERE day = ? AND sku_id > ? AND sku_id <= ?", day, t.after, t.to)
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
