package reorder

import (
	"context"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// salesTable is the sales history as CSV. A file replaces the stored sales of its SKUs and days, unless --add adds to
// them; its rows are checked as those of the request.
func (s *Service) salesTable() schema.Table {
	return schema.Table{
		Name: "sales",
		About: "Sales, one row per day and SKU; rows of the same day and SKU are totalled. The totals replace what is " +
			"stored, or are added to it, as you choose. " +
			"With the column channel this applies to each SKU, day and channel.",
		Options: []string{"add"},
		Row: func(f *schema.Form) schema.Put {
			var sold Sale
			f.Day(&sold.Date, "date", "the day, not in the future", schema.Required)
			f.Text(&sold.SKU, "sku", "a SKU of the catalogue, case-sensitive", schema.Required, schema.Most(maxCode),
				schema.NewBy("save_sku"))
			f.Milli(&sold.Qty, "qty", "how much was sold", schema.Required, schema.Range(0, int64(maxQty/1000)))
			var channel string
			f.Text(&channel, "channel", "where it was sold", schema.Most(maxChannel))
			return nil // Load stores
		},
		Load: func(ctx context.Context, d *db.DB, who db.Caller, lines []schema.Line, o schema.LoadOptions) (schema.Loaded,
			error) {
			return New(d).LoadSales(ctx, who, lines, o)
		},
		Together: []string{"sku"}, AnyOrder: true, After: "skus",
		Export: exportSales,
	}
}

// share is a channel's part of a SKU's sales of a day; "" is none.
type share struct {
	Channel string      `json:"channel"`
	Qty     exact.Milli `json:"qty"`
}

// soldShares is a SKU-day with what its channels have of it: first what was sold
// without a channel, unless that is nothing and channels have it all.
type soldShares struct {
	day    exact.Day
	id     int64
	sku    string
	name   string
	qty    exact.Milli
	shares []share
}

const selectShares = `SELECT sales.day, sales.sku_id, sku, skus.name, sales.qty, ifnull(sales_channels.name, ''),
	ifnull(channel_sales.qty, 0) FROM `

// sharesOf adds the SKUs, and what channels have of it, to what sales are read from.
func sharesOf(from string) string {
	return from + ` CROSS JOIN skus ON skus.id = sales.sku_id
		LEFT JOIN channel_sales ON channel_sales.day = sales.day AND channel_sales.sku_id = sales.sku_id
		LEFT JOIN sales_channels ON sales_channels.id = channel_id`
}

// eachSold calls fn for every SKU-day that the query on selectShares gives, which is
// in an order that keeps the shares of a SKU-day together.
func eachSold(c *db.Conn, fn func(soldShares) error, query string, args ...any) error {
	var at soldShares
	rest := exact.Milli(0)
	give := func() error {
		if at.sku == "" {
			return nil
		}
		slices.SortFunc(at.shares, func(a, b share) int { return strings.Compare(a.Channel, b.Channel) })
		if rest > 0 || len(at.shares) == 0 {
			at.shares = append([]share{{"", rest}}, at.shares...)
		}
		return fn(at)
	}
	err := db.Each(c, func(r *db.Row) error {
		day, id, sku, called, qty, name, part := r.Day(), r.Int(), r.Text(), r.Text(), r.Milli(), r.Text(), r.Milli()
		if day != at.day || sku != at.sku {
			if err := give(); err != nil {
				return err
			}
			at, rest = soldShares{day: day, id: id, sku: sku, name: called, qty: qty, shares: at.shares[:0]}, qty
		}
		if name != "" {
			at.shares = append(at.shares, share{name, part})
			rest -= part
		}
		return nil
	}, query, args...)
	if err != nil {
		return err
	}
	return give()
}

func exportSales(c *db.Conn, emit func(cells ...string) error) error {
	return eachSold(c, func(s soldShares) error {
		for _, part := range s.shares {
			qty := part.Qty
			for ; qty > maxQty; qty -= maxQty { // a day may hold more than a row
				if err := emit(s.day.String(), s.sku, maxQty.String(), part.Channel); err != nil {
					return err
				}
			}
			if err := emit(s.day.String(), s.sku, qty.String(), part.Channel); err != nil {
				return err
			}
		}
		return nil
	}, selectShares+sharesOf("sales")+" ORDER BY sales.day, sku")
}

// LoadSales stores the lines of a CSV file, whose cells are date, sku, qty and channel.
func (s *Service) LoadSales(ctx context.Context, who db.Caller, lines []schema.Line, o schema.LoadOptions) (
	schema.Loaded, error) {
	u := newUpload(len(lines))
	u.told = make([]schema.Outcome, len(lines))
	u.byChannel = slices.Contains(o.Columns, "channel")
	for i, l := range lines {
		u.addCells(int32(i), l.Cells)
	}
	done, err := db.Update(ctx, s.db, who, func(tx *db.Tx) (Ingested, error) { return ingest(tx, u, !o.Add) })
	if err != nil {
		return schema.Loaded{}, err
	}
	loaded := schema.Loaded{Errors: []schema.Refused{}}
	refused := make(map[int]bool, len(done.Errors))
	for _, e := range done.Errors {
		loaded.Errors = append(loaded.Errors, schema.Refused{Line: lines[e.Row].Number, Reason: e.Reason})
		refused[e.Row] = true
	}
	for i, o := range u.told {
		if !refused[i] {
			loaded.Note(o, lines[i].Number)
		}
	}
	return loaded, nil
}
