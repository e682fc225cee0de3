package reorder

import (
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// ShelfRow is a SKU, active or not, with its figures.
type ShelfRow struct {
	Row
	Active      bool
	Catalogue   SKU
	Outstanding []Outstanding
}

// Outstanding is what of a SKU is still to come of one purchase order, or stands in a
// draft.
type Outstanding struct {
	Number, Supplier, Status string
	ExpectedDate             *exact.Day
	Qty                      exact.Milli
}

// ShelfQuery narrows and orders the SKUs with their figures: what screens show. Q is
// looked for in SKU, name and barcode, in any case; Status is of active ones; Active is
// "1", "0" or "" for both; Sort is one of ShelfSorts, "" the SKUs' own order.
type ShelfQuery struct {
	Q, Supplier, Status, Active string
	Sort                        string
	Falling                     bool
	schema.Cursor[string]
}

// ShelfSorts are the columns that a shelf can be ordered by.
var ShelfSorts = []string{"sku", "name", "supplier", "stock", "cover", "order", "cost"}

// Shelf is a page of SKUs.
type Shelf struct {
	Rows  []ShelfRow
	Total int64
	Next  string
}

// Shelf lists SKUs with their figures.
func (s *Service) Shelf(ctx context.Context, q ShelfQuery) (page Shelf, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		k, err := s.ranked(c)
		if err != nil {
			return err
		}
		entries, err := k.lookFor(c, q.Q, true)
		if err != nil {
			return err
		}
		if q.Supplier != "" || q.Status != "" || q.Active != "" {
			isSupplier, wanted := named(q.Supplier), ReportQuery{Status: q.Status}
			entries = where(entries, func(e *entry) bool {
				active := e.status != inactive
				return (q.Active == "" || active == (q.Active == "1")) && (q.Supplier == "" || isSupplier(e.supplier)) &&
					(q.Status == "" || active && wanted.wants(statuses[e.status]))
			})
		}
		page.Total = int64(len(entries))
		if entries, err = k.sorted(c, entries, q.Sort, q.Falling); err != nil {
			return err
		}
		entries, page.Next = k.page(entries, q.After, q.Limit)
		page.Rows = make([]ShelfRow, len(entries))
		return k.records(c, entries, func(i int, rec *record) {
			page.Rows[i] = ShelfRow{Row: rowOf(*rec, k.h), Active: rec.Active, Catalogue: rec.SKU}
		})
	})
	return page, err
}

// named reports whether a text is the name, in any case; it folds a text once.
func named(name string) func(text string) bool {
	wanted, known := folded(name), map[string]bool{}
	return func(text string) bool {
		is, told := known[text]
		if !told {
			is = folded(text) == wanted
			known[text] = is
		}
		return is
	}
}

// After returns the rows behind the one with the key, at most limit of them, and the key
// to go on with; "" at the end.
func After[T any](all []T, key string, limit int64, keyOf func(T) string) (page []T, next string) {
	if key != "" {
		if i := slices.IndexFunc(all, func(r T) bool { return keyOf(r) == key }); i >= 0 {
			all = all[i+1:]
		}
	}
	if limit > 0 && int64(len(all)) > limit {
		return all[:limit], keyOf(all[limit-1])
	}
	return all, ""
}

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
		k, err := s.ranked(c)
		if err != nil {
			return err
		}
		asked := ReportQuery{Status: q.Status, Supplier: q.Supplier}
		sums, entries := k.sums(asked), k.entries(asked)
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
		if q.Sort != "" {
			if entries, err = k.sorted(c, entries, q.Sort, q.Falling); err != nil {
				return err
			}
		}
		entries, page.Next = k.page(entries, q.After, q.Limit)
		if page.SKUs, err = k.rows(c, entries); err != nil {
			return err
		}
		page.Drafts, _, err = db.One(c, db.Int, "SELECT count(*) FROM purchase_orders WHERE status = 'draft'")
		return err
	})
	return page, err
}

// ProductPage is all that a SKU's page shows.
type ProductPage struct {
	Product
	Today       exact.Day
	Days        []Sold // of the last days, those without sales too
	Movements   []Movement
	Outstanding []Outstanding
	Channels    []ChannelSold // of the same days
}

// ChannelSold is what a channel sold.
type ChannelSold struct {
	Channel string
	Qty     exact.Milli
}

// ProductPage returns one SKU with the sales of the last days and what moved its stock.
func (s *Service) ProductPage(ctx context.Context, sku string, days int64) (p ProductPage, err error) {
	if p.Product, err = s.Product(ctx, sku, days); err != nil {
		return p, err
	}
	if p.Movements, err = s.Movements(ctx, sku, 30); err != nil {
		return p, err
	}
	err = s.db.View(ctx, func(c *db.Conn) error {
		p.Today = c.Today()
		rec, err := find(c, sku)
		if err != nil {
			return err
		}
		window := windowOf(p.Today, days)
		for d, i := window.from, 0; d <= window.to; d++ {
			at := Sold{Date: d}
			if i < len(p.History) && p.History[i].Date == d {
				at.Qty = p.History[i].Qty
				i++
			}
			p.Days = append(p.Days, at)
		}
		p.Outstanding, err = db.All(c, func(r *db.Row) Outstanding {
			return Outstanding{Number: r.Text(), Supplier: r.Text(), Status: r.Text(), ExpectedDate: r.DayPtr(), Qty: r.Milli()}
		}, `SELECT number, supplier, status, expected_date, ordered - received FROM purchase_order_lines CROSS JOIN purchase_orders ON purchase_orders.id = order_id
			WHERE sku_id = ? AND status IN ('draft', 'ordered', 'partial') AND ordered > received`, rec.id)
		if err != nil {
			return err
		}
		p.Channels, err = db.All(c, func(r *db.Row) ChannelSold { return ChannelSold{r.Text(), r.Milli()} },
			`WITH RECURSIVE days (day) AS (VALUES (?1) UNION ALL SELECT day + 1 FROM days WHERE day < ?2)
			SELECT name, sum(qty) FROM days CROSS JOIN channel_sales ON channel_sales.day = days.day AND sku_id = ?3
				CROSS JOIN sales_channels ON sales_channels.id = channel_id GROUP BY name`, window.from, window.to, rec.id)
		return err
	})
	return p, err
}

// Cells is the SKU as a row of its table; SKUColumns are their names.
func (k SKU) Cells() []string { return k.cells() }

// SKUColumns are the columns of the catalogue as CSV.
func (s *Service) SKUColumns() []string {
	var names []string
	for _, a := range s.skuTable().Columns() {
		names = append(names, a.Name)
	}
	return names
}

// Cells is the supplier as a row of its table; SupplierColumns are their names.
func (k Supplier) Cells() []string { return k.cells() }

// SupplierColumns are the columns of the suppliers as CSV.
func (s *Service) SupplierColumns() []string {
	var names []string
	for _, a := range s.supplierTable().Columns() {
		names = append(names, a.Name)
	}
	return names
}

// SupplierChoices lists the suppliers to choose from, ChannelChoices the channels.
func SupplierChoices(c *db.Conn) ([]schema.Choice, error) {
	names, err := supplierNames(c)
	if err != nil || len(names) > mostChoices {
		return nil, err
	}
	all := make([]schema.Choice, len(names))
	for i, name := range names {
		all[i] = schema.Choice{Value: name, Text: name}
	}
	return all, nil
}

// ChannelChoices lists the channels to choose from.
func ChannelChoices(c *db.Conn) ([]schema.Choice, error) { return anyChannel(c) }

// KnownSupplier returns the supplier's record, or an empty one when none is kept.
func (s *Service) KnownSupplier(ctx context.Context, name string) (one Supplier, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		one, _, err = lookUpSupplier(c, name)
		return err
	})
	return one, err
}

// SupplierNames are the names that SKUs and records give suppliers, in order.
func (s *Service) SupplierNames(ctx context.Context) ([]string, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) ([]string, error) { return supplierNames(c) })
}

func supplierNames(c *db.Conn) ([]string, error) {
	return db.All(c, db.Text, "SELECT DISTINCT supplier FROM skus WHERE supplier <> '' UNION SELECT name FROM suppliers ORDER BY 1")
}
