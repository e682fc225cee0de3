package reorder

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// ToOrder is the report as a screen shows it.
type ToOrder struct {
	Report
	Total     int64
	Next      string
	Suppliers int // that something is to be ordered from
	Drafts    int64
}

// ToOrderQuery narrows and orders it.
type ToOrderQuery struct {
	Status, Supplier, Sort string
	Falling                bool
	schema.Cursor[string]
}

// ToOrder returns the report page by page, with what stands over it.
func (s *Service) ToOrder(ctx context.Context, q ToOrderQuery) (page ToOrder, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		k, err := rank(c)
		if err != nil {
			return err
		}
		asked := ReportQuery{Status: q.Status, Supplier: q.Supplier}
		sums, entries := k.sums(asked), k.where(asked.wants)
		page.Report = Report{
			Today: k.h.today, ForecastWindowDays: k.h.window, TargetCoverDays: k.h.cover,
			Counts: sums.counts, EstCostCents: sums.all.cents(),
		}
		for _, of := range sums.bySupplier {
			if of.ToOrder > 0 {
				page.Suppliers++
			}
		}
		page.Total = int64(len(entries))
		if q.Sort == "" {
			slices.SortFunc(entries, byRunningOut)
		} else if err := k.sort(c, entries, q.Sort, q.Falling); err != nil {
			return err
		}
		entries, page.Next = pageOf(entries, q.After, q.Limit)
		if page.SKUs, err = k.rows(c, entries); err != nil {
			return err
		}
		page.Drafts, _, err = db.One(c, db.Int, "SELECT count(*) FROM purchase_orders WHERE status = 'draft'")
		return err
	})
	return page, err
}

// byRunningOut orders by the days until the stock runs out, then by what is to be ordered.
func byRunningOut(a, b *entry) int {
	return cmp.Or(
		coverCompare(a.stock, a.sold, int64(a.days), b.stock, b.sold, int64(b.days)),
		cmp.Compare(b.cost, a.cost),
		strings.Compare(a.code, b.code))
}
