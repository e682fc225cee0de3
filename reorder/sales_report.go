package reorder

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// SalesReportQuery says what to add up: sales from From to To, inclusive, by one of salesBy, in the order of one of
// salesSorts.
type SalesReportQuery struct {
	By, Sort     string
	From, To     *exact.Day // nil: the forecast window that ends today
	After        string
	Limit        int64
	Short, Asked bool
}

var (
	salesBy    = []string{"sku", "supplier", "month", "channel"}
	salesSorts = []string{"most", "least", "value"}
)

// SalesReport is what was sold, by SKU, supplier, month or channel. On the first page there are
// also the sum of all and the active SKUs that never sold.
type SalesReport struct {
	From      exact.Day                             `json:"from"`
	To        exact.Day                             `json:"to"`
	Sold      *exact.Milli                          `json:"sold,omitempty" about:"in all, on the first page"`
	CostCents *int64                                `json:"cost_cents,omitempty" about:"what was sold at unit cost, in all, on the first page"`
	NeverSold *NeverSold                            `json:"never_sold,omitempty" about:"active SKUs that never sold, on the first page"`
	Rows      []schema.Row[SalesRow, ShortSalesRow] `json:"rows"`
	Total     int                                   `json:"total" about:"rows that match"`
	Shown     int                                   `json:"shown" about:"rows given"`
	Next      *string                               `json:"next" about:"pass it as after; null at the end"`
}

// SalesRow is one SKU, supplier, month (2026-11) or channel ("" is none). Stock is of active SKUs
// now, null by month and channel.
type SalesRow struct {
	Key             string         `json:"key"`
	Name            string         `json:"name" about:"of a SKU"`
	Sold            exact.Milli    `json:"sold"`
	CostCents       int64          `json:"cost_cents" about:"what was sold at unit cost"`
	LastSold        *exact.Day     `json:"last_sold" about:"in these days"`
	StockValueCents *int64         `json:"stock_value_cents"`
	DaysOfCover     *exact.Decimal `json:"days_of_cover" about:"of a SKU: how long the stock lasts if it sells as in these days; null without sales"`

	stock exact.Milli
}

// ShortSalesRow is what of a row tells how it sold.
type ShortSalesRow struct {
	Key       string      `json:"key"`
	Sold      exact.Milli `json:"sold"`
	CostCents int64       `json:"cost_cents"`
}

func (r SalesRow) short() ShortSalesRow { return ShortSalesRow{r.Key, r.Sold, r.CostCents} }

// NeverSold is the active SKUs that never sold.
type NeverSold struct {
	SKUs            int      `json:"skus"`
	StockValueCents int64    `json:"stock_value_cents"`
	Most            []string `json:"most" about:"at most 20, most stock value first"`
}

// SalesReport adds sales up. It reads every SKU-day of the days: 300,000 take 0.2 seconds.
func (s *Service) SalesReport(ctx context.Context, q SalesReportQuery) (rep SalesReport, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		set, err := settingsOf(c)
		if err != nil {
			return err
		}
		days := windowOf(c.Today(), set.ForecastWindowDays)
		days.to = schema.Or(q.To, days.to)
		if q.From != nil {
			days.from = *q.From
		} else if q.To != nil {
			days = windowOf(days.to, set.ForecastWindowDays)
		}
		if days.to < days.from {
			return fault.Fieldf("to", "to: %s is before from, %s", days.to, days.from)
		}
		skus, err := articles.All(c, "ORDER BY id")
		if err != nil {
			return err
		}
		sum := &salesSum{by: q.By, days: days, skus: skus, rows: map[string]*SalesRow{}}
		if err := sum.read(c); err != nil {
			return err
		}
		rep, err = sum.page(q)
		return err
	})
	return rep, err
}

// salesSum adds sales up.
type salesSum struct {
	by    string
	days  span
	skus  []article // by id
	rows  map[string]*SalesRow
	sold  exact.Milli
	cents int64
}

// read adds up the sales of the days, and the stock.
func (s *salesSum) read(c *db.Conn) error {
	if s.by == "sku" || s.by == "supplier" {
		for i := range s.skus {
			if rec := &s.skus[i]; rec.Active {
				row := s.row(rec, 0, "")
				row.addStock(rec)
			}
		}
	}
	if s.by == "channel" {
		return eachSold(c, func(at soldShares) error {
			i, found := s.find(at.id)
			for _, part := range at.shares {
				if found && part.Qty > 0 {
					s.add(s.row(&s.skus[i], at.day, part.Channel), &s.skus[i], at.day, part.Qty)
				}
			}
			return nil
		}, selectShares+sharesOf("sales")+" WHERE sales.day BETWEEN ? AND ? ORDER BY sales.day, sku", s.days.from, s.days.to)
	}
	return db.Each(c, func(r *db.Row) error {
		day, id, qty := r.Day(), r.Int(), r.Milli()
		if i, found := s.find(id); found {
			s.add(s.row(&s.skus[i], day, ""), &s.skus[i], day, qty)
		}
		return nil
	}, "SELECT day, sku_id, qty FROM sales WHERE day BETWEEN ? AND ? AND qty > 0", s.days.from, s.days.to)
}

func (s *salesSum) find(id int64) (int, bool) {
	return slices.BinarySearchFunc(s.skus, id, func(rec article, id int64) int { return cmp.Compare(rec.id, id) })
}

// row is the row that a sale belongs to.
func (s *salesSum) row(rec *article, day exact.Day, channel string) *SalesRow {
	key, name := rec.Code, rec.Name
	switch s.by {
	case "supplier":
		key, name = rec.Supplier, ""
	case "month":
		key, name = day.String()[:len("2026-11")], ""
	case "channel":
		key, name = channel, ""
	}
	row := s.rows[key]
	if row == nil {
		row = &SalesRow{Key: key, Name: name}
		s.rows[key] = row
	}
	return row
}

func (r *SalesRow) addStock(rec *article) {
	value := costOf(rec.CurrentStock, rec.UnitCostCents)
	if r.StockValueCents != nil {
		value = addCents(value, *r.StockValueCents)
	}
	r.StockValueCents, r.stock = &value, rec.CurrentStock
}

func (s *salesSum) add(row *SalesRow, rec *article, day exact.Day, qty exact.Milli) {
	cents := costOf(qty, rec.UnitCostCents)
	row.Sold += qty
	row.CostCents = addCents(row.CostCents, cents)
	if row.LastSold == nil || *row.LastSold < day {
		row.LastSold = &day
	}
	s.sold += qty
	s.cents = addCents(s.cents, cents)
}

// page orders the rows and gives a page of them.
func (s *salesSum) page(q SalesReportQuery) (SalesReport, error) {
	rep := SalesReport{From: s.days.from, To: s.days.to}
	rows := make([]SalesRow, 0, len(s.rows))
	for _, r := range s.rows {
		if s.by == "sku" && r.Sold > 0 && r.StockValueCents != nil {
			days := exact.Mul(int64(r.stock), int64(s.days.to-s.days.from)+1)
			r.DaysOfCover = &exact.Decimal{Unscaled: days.MulInt(100).DivRound(int64(r.Sold)), Places: 2}
		}
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(a, b SalesRow) int {
		first := 0
		switch {
		case s.by == "month":
		case q.Sort == "least":
			first = cmp.Compare(a.Sold, b.Sold)
		case q.Sort == "value":
			first = cmp.Compare(b.CostCents, a.CostCents)
		default:
			first = cmp.Compare(b.Sold, a.Sold)
		}
		return cmp.Or(first, strings.Compare(a.Key, b.Key))
	})
	rep.Total = len(rows)
	if q.After != "" {
		at := slices.IndexFunc(rows, func(r SalesRow) bool { return r.Key == q.After })
		if at < 0 {
			return rep, fault.Fieldf("after",
				"after: %s is no longer in the report; ask for it from its beginning", schema.Quote(q.After))
		}
		rows = rows[at+1:]
	} else {
		rep.Sold, rep.CostCents, rep.NeverSold = &s.sold, &s.cents, neverSold(s.skus)
	}
	page := rows[:min(len(rows), int(min(q.Limit, int64(len(rows)))))]
	rep.Rows = schema.Fit(page, q.Short, SalesRow.short, q.Asked, schema.AnswerBytes*2/3)
	if rep.Shown = len(rep.Rows); rep.Shown < len(rows) {
		rep.Next = &rows[rep.Shown-1].Key
	}
	return rep, nil
}

// neverSold adds up the active SKUs that never sold.
func neverSold(skus []article) *NeverSold {
	never := &NeverSold{Most: []string{}}
	var rows []article
	for _, rec := range skus {
		if rec.Active && rec.lastSold == neverYet {
			rows = append(rows, rec)
			never.StockValueCents = addCents(never.StockValueCents, costOf(rec.CurrentStock, rec.UnitCostCents))
		}
	}
	never.SKUs = len(rows)
	slices.SortFunc(rows, func(a, b article) int {
		return cmp.Or(cmp.Compare(costOf(b.CurrentStock, b.UnitCostCents), costOf(a.CurrentStock, a.UnitCostCents)),
			strings.Compare(a.Code, b.Code))
	})
	for _, rec := range rows[:min(len(rows), 20)] {
		never.Most = append(never.Most, rec.Code)
	}
	return never
}

func (s *Service) salesReport() schema.Op {
	value, sold, cost := int64(5760), exact.Milli(63_000), int64(20_160)
	last := sampleDay.today - 1
	row := SalesRow{Key: sample.Code, Name: sample.Name, Sold: sold, CostCents: cost, LastSold: &last,
		StockValueCents: &value,
		DaysOfCover:     &exact.Decimal{Unscaled: 857, Places: 2}}
	return schema.Op{
		Name: "sales_report", Says: "What was sold",
		About: "What was sold, by SKU, supplier, month or channel, in the last forecast_window_days unless from and to say " +
			"otherwise. " +
			"cost is at unit cost; stock value and days of cover are of now. never_sold are active SKUs without any sale ever.",
		Example: "reorder sales report --by supplier --from 2026-01-01 --json",
		Response: SalesReport{
			From: sampleDay.today - 29, To: sampleDay.today, Sold: &sold, CostCents: &cost,
			NeverSold: &NeverSold{1, 1200, []string{"CUP-OLD"}},
			Rows:      schema.Rows([]SalesRow{row}, false, SalesRow.short), Total: 1, Shown: 1,
		},
		Bind: schema.Reads(func(f *schema.Form, q *SalesReportQuery) {
			*q = SalesReportQuery{By: salesBy[0], Sort: salesSorts[0], Asked: true}
			f.Enum(&q.By, "by", "what to add up by", salesBy)
			f.DayPtr(&q.From, "from", "the first day")
			f.DayPtr(&q.To, "to", "the last day (default: today)")
			f.Enum(&q.Sort, "sort", "most or least sold, or most cost first; months are in their order", salesSorts)
			if f.Surface() == schema.Tool {
				q.Asked = f.Limit(&q.Limit)
				f.Short(&q.Short)
				f.Text(&q.After, "after", "next of the previous page", schema.Most(maxName))
			} else {
				paging(f, &q.Limit, &q.After, maxName)
			}
		}, s.SalesReport),
		Print: func(w io.Writer, answer any) {
			schema.Tabulate(w, "WHAT|NAME|SOLD|COST|LAST SOLD|STOCK VALUE|DAYS OF COVER", answer.(SalesReport).Rows,
				func(row schema.Row[SalesRow, ShortSalesRow]) []any {
					r, value, cover := row.Full, "", ""
					if r.StockValueCents != nil {
						value = amount(*r.StockValueCents)
					}
					if r.DaysOfCover != nil {
						cover = r.DaysOfCover.String()
					}
					return []any{r.Key, r.Name, r.Sold.String(), amount(r.CostCents), schema.Cell(r.LastSold), value, cover}
				})
		},
	}
}
