package reorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// saveSKU makes or changes a SKU as its row in a file does: the stock goes by the one
// guarded path.
func (s *Service) saveSKU() schema.Op {
	op := skuTable().Save(s.db, schema.Op{
		Rare:   []string{"supplier_sku", "barcode", "unit", "safety_stock_days", "active"},
		Groups: []schema.Group{{Title: "How it is ordered", Fields: []string{"pack_size", "moq"}}},
		Name:   "save_sku",
		Keys:   []string{"sku"},
		About: "Create or change a SKU: only the given fields; an empty one becomes its default. An inactive SKU is " +
			"in no report.",
		Idempotent: true, Response: sample.SKU,
		Example: `reorder skus save TEA-1 --name "Green tea" --supplier Leaf --unit-cost-cents 320 --pack-size 12` + "\n" +
			"reorder skus save TEA-1 --active=false",
		Print: func(w io.Writer, answer any) { printSKU(w, answer.(SKU)) },
		Did:   func(answer any, _ schema.Money) string { return fmt.Sprintf("SKU %s is saved.", answer.(SKU).Code) },
		Leads: func(answer any) string { return skuPage(answer.(SKU).Code) },
	})
	op.Bind = record.Saves(s.db, articles, putSKU, func(c *db.Conn, now article, _ int64) (SKU, error) {
		rec, err := find(c, now.Code)
		return rec.SKU, err
	})
	return op
}

func printSKU(w io.Writer, k SKU) {
	active := ""
	if !k.Active {
		active = ", inactive"
	}
	fmt.Fprintf(w, "%s: %s, %s in stock%s\n", k.Code, k.Name, k.CurrentStock, active)
}

func printSKUs(w io.Writer, answer any) {
	schema.Tabulate(w, "SKU|NAME|SUPPLIER|STOCK|ON ORDER|UNIT COST|ACTIVE", answer.(Catalogue).SKUs, func(k SKU) []any {
		active := "yes"
		if !k.Active {
			active = "no"
		}
		return []any{k.Code, k.Name, k.Supplier, k.CurrentStock.String(), k.OnOrder.String(), amount(k.UnitCostCents), active}
	})
}

func printProduct(w io.Writer, p Product) {
	fmt.Fprintf(w, "%s: %s\n", p.SKU, p.Name)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-16s %s\n", name, value)
		}
	}
	row("supplier", p.Supplier)
	row("supplier's SKU", p.SupplierSKU)
	row("barcode", p.Barcode)
	row("stock", p.CurrentStock.String()+" "+p.Unit)
	row("status", p.Status)
	row("on order", p.OnOrder.String())
	row("sold a day", p.AvgDailyDemand.String())
	row("reorder at", p.ReorderPoint.String())
	if p.DaysOfStock != nil {
		row("days left", p.DaysOfStock.String())
	}
	row("runs out", schema.Cell(p.StockoutDate))
	row("buy", strconv.FormatInt(p.SuggestedQty, 10))
	row("unit cost", amount(p.UnitCostCents))
	if !p.Active {
		row("active", "no")
	}
	schema.Tabulate(w, "DATE|SOLD", p.History, func(d Sold) []any { return []any{d.Date.String(), d.Qty.String()} })
}

// Sales is a page of the sales history, newest day first, then by SKU.
type Sales struct {
	Sales []DaySale `json:"sales"`
	Next  *string   `json:"next" about:"pass it as after; null at the end"`
	Total int64     `json:"total" about:"how many there are in all"`

	only string // the one channel that was asked for
}

// DaySale is what a SKU sold on a day.
type DaySale struct {
	Date     exact.Day   `json:"date"`
	SKU      string      `json:"sku"`
	Name     string      `json:"name"`
	Qty      exact.Milli `json:"qty"`
	Channels []share     `json:"channels" about:"what of it was sold where; an empty channel is none"`
}

// ShareSold is what one channel sold of a SKU on a day: a row of the table sales.
type ShareSold struct {
	Date    exact.Day   `json:"date"`
	SKU     string      `json:"sku"`
	Qty     exact.Milli `json:"qty"`
	Channel string      `json:"channel"`
}

// Shares returns the sales as the table's rows, so that what was listed imports unchanged:
// of the one channel alone, if they were asked for by it.
func (s Sales) Shares() []ShareSold {
	shares := []ShareSold{}
	for _, d := range s.Sales {
		for _, part := range d.Channels {
			if s.only == "" || part.Channel == s.only {
				shares = append(shares, ShareSold{d.Date, d.SKU, part.Qty, part.Channel})
			}
		}
	}
	return shares
}

// AsList returns the shares.
func (s Sales) AsList() any {
	return struct {
		Sales []ShareSold `json:"sales"`
	}{s.Shares()}
}

// SalesQuery narrows the sales: to a SKU, a channel, days from and to, both included.
type SalesQuery struct {
	SKU, Channel string
	From, To     *exact.Day
	After        string
	Limit        int64 // 0 is all
}

// Sales lists the sales history.
func (s *Service) Sales(ctx context.Context, q SalesQuery) (page Sales, err error) {
	page.Sales, page.only = []DaySale{}, q.Channel
	err = s.db.View(ctx, func(c *db.Conn) error {
		from, where, args, err := q.narrow(c)
		if err != nil {
			return err
		}
		count := "SELECT count(*) FROM "
		if q.SKU == "" && q.Channel == "" {
			count = "SELECT coalesce(sum(skus), 0) FROM sales_days AS "
		}
		if page.Total, _, err = db.One(c, db.Int, count+from+where, args...); err != nil {
			return err
		}
		if day, sku, ok := parseSaleKey(q.After); ok {
			where, args = where+" AND (sales.day < ? OR sales.day = ? AND sku > ?)", append(args, day, day, sku)
		}
		query := selectShares + sharesOf(from) + where
		if q.Limit > 0 && q.Limit < math.MaxInt64 { // so that shares are read of the page's SKU-days alone
			query = "WITH page AS (SELECT sales.day, sku_id FROM " + from + " CROSS JOIN skus ON skus.id = sku_id" + where +
				" ORDER BY sales.day DESC, sku LIMIT ?) " + selectShares + sharesOf("page CROSS JOIN sales USING (day, sku_id)")
			args = append(args, q.Limit+1)
		}
		err = eachSold(c, func(at soldShares) error {
			if n := int64(len(page.Sales)); q.Limit > 0 && n == q.Limit {
				next := page.Sales[n-1].Date.String() + " " + page.Sales[n-1].SKU
				page.Next = &next
				return errEnough
			}
			page.Sales = append(page.Sales, DaySale{at.day, at.sku, at.name, at.qty, append([]share(nil), at.shares...)})
			return nil
		}, query+" ORDER BY sales.day DESC, sku", args...)
		if errors.Is(err, errEnough) {
			err = nil
		}
		return err
	})
	return page, err
}

// narrow is what the query reads sales from, and which of them. A SKU is looked up on each
// day: sales are ordered by day.
func (q SalesQuery) narrow(c *db.Conn) (from, where string, args []any, err error) {
	first, last := exact.Day(-1<<30), exact.Day(1<<30)
	first = schema.Or(q.From, first)
	last = schema.Or(q.To, last)
	from, where, args = "sales", " WHERE sales.day BETWEEN ? AND ?", []any{first, last}
	if q.SKU != "" {
		rec, err := find(c, q.SKU)
		if err != nil {
			return "", "", nil, err
		}
		from = "sales_days AS d CROSS JOIN sales ON sales.day = d.day"
		where, args = " WHERE d.day BETWEEN ? AND ? AND sales.sku_id = ?", append(args, rec.id)
	}
	if q.Channel != "" {
		where += ` AND EXISTS (SELECT 1 FROM channel_sales AS part CROSS JOIN sales_channels AS named
			ON named.id = part.channel_id
			WHERE part.day = sales.day AND part.sku_id = sales.sku_id AND named.name = ?)`
		args = append(args, q.Channel)
	}
	return from, where, args, nil
}

// errEnough ends a list that has as many rows as were asked for.
var errEnough = errors.New("enough rows")

func bindSales(f *schema.Form, q *SalesQuery) {
	f.Text(&q.Channel, "channel", "only days on which this channel sold", schema.Most(maxChannel),
		schema.Choices(anyChannel))
	f.DayPtr(&q.From, "from", "the first day")
	f.DayPtr(&q.To, "to", "the last day")
	paging(f, &q.Limit, &q.After, maxCode+11)
}

func sampleSales() Sales {
	return Sales{Sales: []DaySale{{sampleDay.today - 1, sample.Code, sample.Name, 2500,
		[]share{{"", 500}, {"web", 2000}}}}}
}

func printSales(w io.Writer, answer any) {
	schema.Tabulate(w, "DATE|SKU|SOLD|CHANNELS", answer.(Sales).Sales, func(d DaySale) []any {
		channels := ""
		for _, part := range d.Channels {
			if part.Channel != "" {
				channels += part.Channel + " " + part.Qty.String() + " "
			}
		}
		return []any{d.Date.String(), d.SKU, d.Qty.String(), channels}
	})
}

func (s *Service) listSales() schema.Op {
	return schema.Op{
		Name: "list_sales", About: "The sales history, newest day first, with what each channel sold.",
		Response: sampleSales(),
		Example:  "reorder sales list --from 2026-11-01 --channel web",
		Bind: schema.Reads(func(f *schema.Form, q *SalesQuery) {
			f.Text(&q.SKU, "sku", "only this SKU", schema.Most(maxCode), schema.Choices(anySKU))
			bindSales(f, q)
		}, s.Sales),
		Print: printSales,
	}
}

func (s *Service) skuSales() schema.Op {
	return schema.Op{
		Name: "sku_sales", About: "One SKU's sales, newest day first, with what each channel sold.", Response: sampleSales(),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "reorder sales show TEA-1 --from 2026-11-01",
		Bind: schema.Reads(func(f *schema.Form, q *SalesQuery) {
			f.Text(&q.SKU, "sku", "the SKU, in its exact case", schema.Required, schema.Most(maxCode),
				schema.Example(sample.Code), schema.Choices(anySKU))
			bindSales(f, q)
		}, s.Sales),
		Print: printSales,
	}
}

func (s *Service) stockFigures() schema.Op {
	return schema.Op{
		Name: "stock_figures",
		About: "The stock value of active SKUs by supplier; classes A, B and C by cost of sales in the last 365 days; and " +
			"unsold stock.",
		Response: StockFigures{
			Today: sampleDay.today, ValueCents: 5760, Suppliers: []SupplierValue{{sample.Supplier, 5760}},
			Classes: []ClassFigures{{"A", 1, 20_160}, {"B", 0, 0}, {"C", 0, 0}}, Unsold: []UnsoldFigures{{90, 0, 0}, {180, 0, 0},
				{365, 0, 0}},
			SKUs: []*StockFigure{{SKU: sample.Code, Name: sample.Name, ValueCents: 5760, Class: "A", UnsoldDays: 1}},
		},
		Example: "reorder figures --json",
		Bind:    schema.Asks(s.StockFigures),
		Print:   schema.Printed(printFigures),
	}
}

func printFigures(w io.Writer, figs StockFigures) {
	fmt.Fprintf(w, "stock on %s: %s\n", figs.Today, amount(figs.ValueCents))
	schema.Tabulate(w, "SUPPLIER|VALUE", figs.Suppliers,
		func(v SupplierValue) []any { return []any{v.Supplier, amount(v.ValueCents)} })
	schema.Tabulate(w, "CLASS|SKUS|SOLD IN 365 DAYS", figs.Classes, func(k ClassFigures) []any {
		return []any{k.Class, strconv.FormatInt(k.SKUs, 10), amount(k.SoldCostCents)}
	})
	schema.Tabulate(w, "UNSOLD FOR|SKUS|VALUE", figs.Unsold, func(u UnsoldFigures) []any {
		return []any{fmt.Sprintf("%d days", u.Days), strconv.FormatInt(u.SKUs, 10), amount(u.ValueCents)}
	})
	schema.Tabulate(w, "SKU|NAME|VALUE|CLASS|UNSOLD DAYS", figs.SKUs, func(k *StockFigure) []any {
		return []any{k.SKU, k.Name, amount(k.ValueCents), k.Class, strconv.FormatInt(k.UnsoldDays, 10)}
	})
}
