package reorder

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// classDays is over how many days, today included, sales decide a SKU's class.
const classDays = 365

// unsoldDays are the ages for which what lies unsold is added up.
var unsoldDays = []int64{90, 180, 365}

// StockFigures is what the stock of the active SKUs is worth, and how it moves.
type StockFigures struct {
	Today      exact.Day       `json:"today"`
	ValueCents int64           `json:"value_cents" about:"stock x unit cost, half up a SKU, of all active SKUs"`
	Suppliers  []SupplierValue `json:"suppliers" about:"most value first"`
	Classes    []ClassFigures  `json:"classes" about:"by cost of what was sold in the last 365 days, most first: A while what came before is under 80 % of all, B under 95 %, else C"`
	Unsold     []UnsoldFigures `json:"unsold" about:"cumulative: of so many days and more"`
	SKUs       []StockFigure   `json:"skus" about:"most value first"`
}

// AsList returns the rows by SKU.
func (figs StockFigures) AsList() any {
	return struct {
		SKUs []StockFigure `json:"skus"`
	}{figs.SKUs}
}

// SupplierValue is what of the stock one supplier delivered.
type SupplierValue struct {
	Supplier   string `json:"supplier"`
	ValueCents int64  `json:"value_cents"`
}

// ClassFigures is one class of SKUs.
type ClassFigures struct {
	Class         string `json:"class" enum:"A,B,C"`
	SKUs          int64  `json:"skus"`
	SoldCostCents int64  `json:"sold_cost_cents"`
}

// UnsoldFigures is what did not sell for so many days and more.
type UnsoldFigures struct {
	Days       int64 `json:"days"`
	SKUs       int64 `json:"skus"`
	ValueCents int64 `json:"value_cents"`
}

// StockFigure is one SKU's part.
type StockFigure struct {
	SKU        string `json:"sku"`
	Name       string `json:"name"`
	ValueCents int64  `json:"value_cents"`
	Class      string `json:"class" enum:"A,B,C"`
	UnsoldDays int64  `json:"unsold_days" about:"since the last sale, or since the SKU was made"`

	soldCost int64
	supplier string
}

// StockFigures computes the figures of today.
func (s *Service) StockFigures(ctx context.Context) (StockFigures, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (StockFigures, error) { return stockFigures(c) })
}

func stockFigures(c *db.Conn) (StockFigures, error) {
	today := c.Today()
	figs := StockFigures{Today: today}
	sold, err := soldInYear(c, windowOf(today, classDays))
	if err != nil {
		return figs, err
	}
	recs, err := db.All(c, scan, "SELECT "+columns+" FROM skus WHERE active = 1 ORDER BY sku")
	if err != nil {
		return figs, err
	}
	if err := sold.findEarlier(c, recs); err != nil {
		return figs, err
	}
	figs.SKUs = make([]StockFigure, 0, len(recs))
	for _, rec := range recs {
		at := sold[rec.id]
		last := rec.CreatedAt.Day(c.Zone())
		if at.qty > 0 || at.last != 0 {
			last = at.last
		}
		figs.SKUs = append(figs.SKUs, StockFigure{
			SKU: rec.Code, Name: rec.Name, ValueCents: costOf(rec.CurrentStock, rec.UnitCostCents), supplier: rec.Supplier,
			soldCost: costOf(at.qty, rec.UnitCostCents), UnsoldDays: max(0, int64(today-last)),
		})
	}
	figs.classify()
	figs.addUp()
	return figs, nil
}

// costOf is a quantity's cost in cents, half up.
func costOf(qty exact.Milli, unitCost int64) int64 {
	return exact.Mul(int64(qty), unitCost).DivRound(1000)
}

// yearSales is what each SKU sold in the year, by its id, and on which day last.
type yearSales map[int64]soldSince

type soldSince struct {
	qty  exact.Milli
	last exact.Day // 0: not known
}

func soldInYear(c *db.Conn, year span) (yearSales, error) {
	sold := yearSales{}
	err := db.Each(c, func(r *db.Row) error {
		id, qty, last := r.Int(), r.Milli(), r.Day()
		sold[id] = soldSince{qty, last}
		return nil
	}, "SELECT sku_id, sum(qty), max(day) FROM sales WHERE day BETWEEN ? AND ? AND qty > 0 GROUP BY sku_id", year.from, year.to)
	return sold, err
}

// findEarlier adds the day of the last sale of SKUs that sold before the year only.
func (sold yearSales) findEarlier(c *db.Conn, recs []record) error {
	before := windowOf(c.Today(), classDays).from
	wanted := map[int64]bool{}
	for _, rec := range recs {
		if _, inYear := sold[rec.id]; !inYear && rec.firstSold < before {
			wanted[rec.id] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	return db.Each(c, func(r *db.Row) error {
		if id, last := r.Int(), r.Day(); wanted[id] {
			sold[id] = soldSince{last: last}
		}
		return nil
	}, "SELECT sku_id, max(day) FROM sales WHERE day < ? AND qty > 0 GROUP BY sku_id", before)
}

// classify sets each SKU's class.
func (figs *StockFigures) classify() {
	bySales := make([]*StockFigure, len(figs.SKUs))
	total := int64(0)
	for i := range figs.SKUs {
		bySales[i] = &figs.SKUs[i]
		total = addCents(total, figs.SKUs[i].soldCost)
	}
	slices.SortFunc(bySales, func(a, b *StockFigure) int {
		return cmp.Or(cmp.Compare(b.soldCost, a.soldCost), strings.Compare(a.SKU, b.SKU))
	})
	figs.Classes = []ClassFigures{{Class: "A"}, {Class: "B"}, {Class: "C"}}
	before := int64(0)
	for _, k := range bySales {
		at := 2
		for i, percent := range []int64{80, 95} {
			if k.soldCost > 0 && exact.Mul(before, 100).Cmp(exact.Mul(total, percent)) < 0 {
				at = i
				break
			}
		}
		before = addCents(before, k.soldCost)
		class := &figs.Classes[at]
		k.Class = class.Class
		class.SKUs++
		class.SoldCostCents = addCents(class.SoldCostCents, k.soldCost)
	}
}

// addUp fills in the sums over the SKUs, and puts what is worth most first.
func (figs *StockFigures) addUp() {
	bySupplier := map[string]int64{}
	for _, days := range unsoldDays {
		figs.Unsold = append(figs.Unsold, UnsoldFigures{Days: days})
	}
	for _, k := range figs.SKUs {
		figs.ValueCents = addCents(figs.ValueCents, k.ValueCents)
		bySupplier[k.supplier] = addCents(bySupplier[k.supplier], k.ValueCents)
		for i := range figs.Unsold {
			if u := &figs.Unsold[i]; k.UnsoldDays >= u.Days {
				u.SKUs++
				u.ValueCents = addCents(u.ValueCents, k.ValueCents)
			}
		}
	}
	figs.Suppliers = []SupplierValue{}
	for _, name := range slices.Sorted(maps.Keys(bySupplier)) {
		figs.Suppliers = append(figs.Suppliers, SupplierValue{name, bySupplier[name]})
	}
	slices.SortStableFunc(figs.Suppliers, func(a, b SupplierValue) int { return cmp.Compare(b.ValueCents, a.ValueCents) })
	slices.SortStableFunc(figs.SKUs, func(a, b StockFigure) int { return cmp.Compare(b.ValueCents, a.ValueCents) })
}
