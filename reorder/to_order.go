package reorder

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// ToOrder is the report for pages: without quantities in drafts.
type ToOrder struct {
	Report    // without its SKUs; the counts are the supplier's
	Rows      []ToOrderRow
	Total     int64 // rows that match
	Next      string
	Open      int64 // SKUs to order beyond what is in drafts, and what that costs
	OpenCents int64
	Suppliers int // known ones that something is to be ordered from
	Of        map[string]Share
	Drafts    int64
}

// Share is what is to be ordered from one supplier beyond what is in drafts.
type Share struct{ Open, OpenCents int64 }

// ToOrderRow is a SKU of the report with its open drafts and orders.
type ToOrderRow struct {
	Row
	Open      int64 // units to order beyond what is in drafts, and their cost
	OpenCents int64
	Covers    int64 // days that Open lasts
	In        []Outstanding
	Sales     []int64 // thousandths a day of the last 30 days, oldest first
}

// sparkDays is how many days of sales each row of the report shows.
const sparkDays = 30

// longCover is how many days an order lasts at most that is marked by itself.
const longCover = 180

// Long reports whether what is to be ordered lasts longer than is usual.
func (r ToOrderRow) Long() bool { return r.Covers > longCover }

// ToOrderQuery narrows and orders it.
type ToOrderQuery struct {
	Status, Supplier, Sort string
	Falling                bool
	schema.Cursor[string]
}

// ToOrder returns the report page by page, with what stands over it.
func (s *Service) ToOrder(ctx context.Context, q ToOrderQuery) (page ToOrder, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		drafted, err := draftedQuantities(c)
		if err != nil {
			return err
		}
		k, err := rankBeside(c, drafted)
		if err != nil {
			return err
		}
		asked := ReportQuery{Status: q.Status, Supplier: q.Supplier}
		sums, entries := k.sums(asked), k.where(asked.wants)
		page.Report = Report{Today: k.h.today, ForecastWindowDays: k.h.window, TargetCoverDays: k.h.cover,
			EstCostCents: sums.all.cents()}
		var counts [inactive]int64
		for _, e := range k.where(ReportQuery{Status: All, Supplier: q.Supplier}.wants) {
			counts[e.status]++
		}
		page.Counts = Counts{counts[0], counts[1], counts[2]}
		page.addOpen(entries)
		page.Total = int64(len(entries))
		if q.Sort == "" {
			bySupplier(entries)
		} else if err := k.sort(c, entries, q.Sort, q.Falling); err != nil {
			return err
		}
		entries, page.Next = After(entries, q.After, q.Limit, codeOf)
		page.Rows = make([]ToOrderRow, len(entries))
		if err := k.records(c, entries, func(i int, rec *article) {
			page.Rows[i] = ToOrderRow{Row: rowOf(*rec, k.h), Open: entries[i].open, OpenCents: entries[i].openCost,
				Covers: entries[i].covers()}
		}); err != nil {
			return err
		}
		for i, e := range entries {
			if page.Rows[i].In, err = outstandingOf(c, e.id); err != nil {
				return err
			}
			if page.Rows[i].Sales, err = salesByDay(c, e.id, windowOf(k.h.today, sparkDays)); err != nil {
				return err
			}
		}
		page.Drafts, _, err = db.One(c, db.Int, "SELECT count(*) FROM purchase_orders WHERE status = 'draft'")
		return err
	})
	return page, err
}

// salesByDay is what a SKU sold on each of the days, days without sales among them.
func salesByDay(c *db.Conn, id int64, days span) ([]int64, error) {
	sold, err := history(c, id, days)
	if err != nil {
		return nil, err
	}
	all := make([]int64, days.to-days.from+1)
	for _, s := range sold {
		all[s.Date-days.from] = int64(s.Qty)
	}
	return all, nil
}

// orderCount is how many SKUs are to be ordered in a version of the database, on a day.
type orderCount struct {
	version, n int64
	today      exact.Day
}

// CountToOrder counts the SKUs to order beyond open drafts. Every page of the staff shows it, so it reads only what the
// forecast needs, and only after a commit.
func (s *Service) CountToOrder(ctx context.Context) (int64, error) {
	now := orderCount{today: s.db.Today()}
	var err error
	if now.version, err = s.db.Version(); err != nil {
		return 0, err
	}
	if last := s.counted.Load(); last != nil && last.version == now.version && last.today == now.today && !s.db.Trying() {
		return last.n, nil
	}
	if now.n, err = db.Read(ctx, s.db, countToOrder); err == nil && !s.db.Trying() {
		s.counted.Store(&now)
	}
	return now.n, err
}

func countToOrder(c *db.Conn) (n int64, err error) {
	drafted, err := draftedQuantities(c)
	if err != nil {
		return 0, err
	}
	h, since, err := asOfToday(c)
	if err != nil {
		return 0, err
	}
	err = db.Each(c, func(r *db.Row) error {
		id, _, b := scanBasis(r, since)
		b.onOrder += drafted[id]
		if b.sold > 0 && b.need(h).Sign() > 0 && b.status(h) != Healthy {
			n++
		}
		return nil
	}, "SELECT "+basisColumns+" FROM skus WHERE active = 1")
	return n, err
}

// addOpen adds up what is to be ordered beyond what is in drafts, in all and by supplier.
func (page *ToOrder) addOpen(entries []*entry) {
	page.Of = map[string]Share{}
	for _, e := range entries {
		if e.open == 0 {
			continue
		}
		of := page.Of[e.supplier]
		if of.Open == 0 && e.supplier != "" {
			page.Suppliers++
		}
		page.Of[e.supplier] = Share{of.Open + 1, addCents(of.OpenCents, e.openCost)}
		page.Open, page.OpenCents = page.Open+1, addCents(page.OpenCents, e.openCost)
	}
}

// covers is how many days what is open lasts at the average demand.
func (e *entry) covers() int64 {
	if e.sold == 0 || e.open == 0 {
		return 0
	}
	return exact.Mul(e.open, 1000*int64(e.days)).DivFloor(int64(e.sold))
}

// byRunningOut orders by the days until the stock runs out, then by what is to be ordered. What drafts and orders cover
// comes last.
func byRunningOut(a, b *entry) int {
	return cmp.Or(
		cmp.Compare(min(b.open, 1), min(a.open, 1)),
		coverCompare(a.stock, a.sold, int64(a.days), b.stock, b.sold, int64(b.days)),
		cmp.Compare(b.openCost, a.openCost),
		strings.Compare(a.code, b.code))
}

// bySupplier orders by supplier, first the one whose stock runs out first, and within it by running out.
func bySupplier(entries []*entry) {
	slices.SortFunc(entries, byRunningOut)
	first := map[string]int{}
	for i, e := range entries {
		if _, known := first[e.supplier]; !known {
			first[e.supplier] = i
		}
	}
	slices.SortStableFunc(entries, func(a, b *entry) int { return cmp.Compare(first[a.supplier], first[b.supplier]) })
}

// outstandingOf is what of a SKU is still to come, or in drafts, by purchase order.
func outstandingOf(c *db.Conn, sku int64) ([]Outstanding, error) {
	return db.All(c, func(r *db.Row) Outstanding {
		return Outstanding{Number: r.Text(), Supplier: r.Text(), Status: r.Text(), ExpectedDate: r.DayPtr(), Qty: r.Milli()}
	}, `SELECT number, supplier, status, expected_date, ordered - received FROM purchase_order_lines CROSS
		JOIN purchase_orders ON purchase_orders.id = order_id
		WHERE sku_id = ? AND status IN ('draft', 'ordered', 'partial') AND ordered > received`, sku)
}
