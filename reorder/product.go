package reorder

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Product is all data of one SKU: its row, the rest of its catalogue fields and its sales day by day.
type Product struct {
	Row
	SupplierSKU   string        `json:"supplier_sku"`
	Barcode       string        `json:"barcode"`
	UnitCostCents int64         `json:"unit_cost_cents"`
	PackSize      int64         `json:"pack_size"`
	MOQ           exact.Milli   `json:"moq"`
	Active        bool          `json:"active" about:"an inactive SKU is in no report and raises no alarm"`
	CreatedAt     exact.Instant `json:"created_at"`
	UpdatedAt     exact.Instant `json:"updated_at"`
	History       []Sold        `json:"history" about:"days with sales, oldest first; with by: week the weeks, by their Monday"`
	Total         exact.Milli   `json:"total" about:"sold in all of the history"`

	DaysWithoutStock int64 `json:"days_without_stock" about:"of the last 90 days, today included"`
}

// Sold is what a SKU sold on a day.
type Sold struct {
	Date exact.Day   `json:"date"`
	Qty  exact.Milli `json:"qty"`
}

// Product returns one SKU, active or not, with the sales of the last days, today's
// included. Refused: an unknown SKU.
func (s *Service) Product(ctx context.Context, sku string, days int64) (p Product, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		rec, err := find(c, sku)
		if err != nil {
			return err
		}
		h, d, err := asOfToday(c)
		if err != nil {
			return err
		}
		rec.sold += d[rec.id]
		p = productOf(rec, h)
		p.History, err = history(c, rec.id, windowOf(h.today, days))
		if err != nil {
			return err
		}
		for _, d := range p.History {
			p.Total += d.Qty
		}
		p.DaysWithoutStock, err = emptyDays(c, rec, windowOf(h.today, 90))
		return err
	})
	return p, err
}

func productOf(rec article, h horizon) Product {
	return Product{
		Row: rowOf(rec, h), SupplierSKU: rec.SupplierSKU, Barcode: rec.Barcode, UnitCostCents: rec.UnitCostCents,
		PackSize: rec.PackSize, MOQ: rec.MOQ, Active: rec.Active, CreatedAt: rec.CreatedAt, UpdatedAt: rec.UpdatedAt,
	}
}

// history looks the SKU up on each of the days: sales lie by day.
func history(c *db.Conn, id int64, days span) ([]Sold, error) {
	return db.All(c, func(r *db.Row) Sold { return Sold{r.Day(), r.Milli()} },
		`WITH RECURSIVE days (day) AS (VALUES (?1) UNION ALL SELECT day + 1 FROM days WHERE day < ?2)
		SELECT sales.day, qty FROM days CROSS JOIN sales ON sales.day = days.day AND sku_id = ?3 WHERE qty > 0`,
		days.from, days.to, id)
}

// ProductPage is all that a SKU's page shows.
type ProductPage struct {
	Product
	Today       exact.Day
	Days        []Sold // of the last days, those without sales too
	Movements   []Movement
	Outstanding []Outstanding
	Channels    []ChannelSold // of the same days
	Cover       int64         // days that an order lasts beside lead time and safety stock
	Sells       exact.Decimal // in all of these days; 2 decimals
	Drafted     exact.Milli   // in open drafts
	Open        int64         // units to order beyond those
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
	if p.Movements, err = s.Movements(ctx, sku, 2*days); err != nil {
		return p, err
	}
	err = s.db.View(ctx, func(c *db.Conn) error {
		p.Today = c.Today()
		rec, err := find(c, sku)
		if err != nil {
			return err
		}
		if err := p.order(c, rec); err != nil {
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
		p.Channels, err = db.All(c, func(r *db.Row) ChannelSold { return ChannelSold{r.Text(), r.Milli()} },
			`WITH RECURSIVE days (day) AS (VALUES (?1) UNION ALL SELECT day + 1 FROM days WHERE day < ?2)
			SELECT name, sum(qty) FROM days CROSS JOIN channel_sales ON channel_sales.day = days.day AND sku_id = ?3
				CROSS JOIN sales_channels ON sales_channels.id = channel_id GROUP BY name`, window.from, window.to, rec.id)
		return err
	})
	return p, err
}

// order reads what is on its way, and the steps from there to what is to be ordered.
func (p *ProductPage) order(c *db.Conn, rec article) (err error) {
	if p.Outstanding, err = outstandingOf(c, rec.id); err != nil {
		return err
	}
	h, since, err := asOfToday(c)
	if err != nil {
		return err
	}
	b := rec.basis()
	b.sold += since[rec.id]
	for _, o := range p.Outstanding {
		if o.Status == Draft {
			p.Drafted += o.Qty
		}
	}
	p.Cover = h.cover
	p.Sells = exact.Decimal{Unscaled: exact.Mul(int64(b.sold), b.lead+b.safety+h.cover).DivRound(10 * b.demandDays(h)),
		Places: 2}
	b.onOrder += p.Drafted
	p.Open, _ = b.order(h, p.Status)
	return nil
}

func (s *Service) productDetail() schema.Op {
	p := productOf(sample, sampleDay)
	p.History, p.Total = []Sold{{sampleDay.today - 2, 2000}, {sampleDay.today - 1, 2500}}, 4500
	return schema.Op{
		Name: "product_detail", Says: "Show a product",
		Example: "reorder skus show TEA-1", Print: schema.Printed(printProduct),
		About: "One product with its forecast, its catalogue fields and its recent sales by day, or by week " +
			"(history_days: 56 is eight weeks). total is the quantity sold in that time.",
		Response: p,
		Bind: func(f *schema.Form) schema.Handler {
			sku, days := "", int64(90)
			f.Text(&sku, "sku", "the SKU, in its exact case", schema.Required, schema.Most(maxCode), schema.Example(sample.Code))
			f.Int(&days, "history_days", "how many days of sales to give, today's included", schema.Range(1, 365))
			by := "day"
			f.Enum(&by, "by", "sales by day, or added up by week, named by its Monday", []string{"day", "week"})
			return func(ctx context.Context, _ db.Caller) (any, error) {
				p, err := s.Product(ctx, sku, days)
				if by == "week" {
					p.History = byWeek(p.History)
				}
				return p, s.nearest(ctx, err, sku)
			}
		},
		Refuses: []fault.Kind{fault.NotFound},
	}
}

// byWeek adds days up by the Monday that their week begins on.
func byWeek(days []Sold) []Sold {
	weeks := []Sold{}
	for _, d := range days {
		monday := d.Date - (d.Date%7+7+3)%7 // day 0, 1970-01-01, was a Thursday
		if n := len(weeks); n > 0 && weeks[n-1].Date == monday {
			weeks[n-1].Qty += d.Qty
			continue
		}
		weeks = append(weeks, Sold{monday, d.Qty})
	}
	return weeks
}
