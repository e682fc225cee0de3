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

// unsoldDays are the ages for which unsold stock is added up.
var unsoldDays = []int64{90, 180, 365}

// StockFigures is the value of the active SKUs' stock, and its movement.
type StockFigures struct {
	Today      exact.Day       `json:"today"`
	ValueCents int64           `json:"value_cents" about:"stock x unit cost of all active SKUs, rounded half up for each"`
	Suppliers  []SupplierValue `json:"suppliers" about:"most value first"`
	Classes    []ClassFigures  `json:"classes" about:"by cost of sales in the last 365 days, the largest first: A while the SKUs before it are under 80 % of all, B under 95 %, else C"`
	Unsold     []UnsoldFigures `json:"unsold" about:"cumulative: unsold for so many days or more"`
	SKUs       []*StockFigure  `json:"skus" about:"most value first"`
}

// AsList returns the rows by SKU.
func (figs StockFigures) AsList() any {
	return struct {
		SKUs []*StockFigure `json:"skus"`
	}{figs.SKUs}
}

// SupplierValue is the value of one supplier's stock.
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

// UnsoldFigures is the stock that did not sell for at least so many days.
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
	UnsoldDays int64  `json:"unsold_days" about:"since the last sale; for a SKU that never sold, since the shop's first sale, or since it was created if that was earlier"`

	soldCost int64
	supplier string
}

// StockFigures computes the figures of today.
func (s *Service) StockFigures(ctx context.Context) (StockFigures, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (StockFigures, error) { return stockFigures(c) })
}

func stockFigures(c *db.Conn) (StockFigures, error) {
	today, since, err := yearAsOfToday(c)
	if err != nil {
		return StockFigures{}, err
	}
	figs := StockFigures{Today: today, SKUs: []*StockFigure{}}
	begun, hasSales, err := db.One(c, (*db.Row).Day, "SELECT day FROM sales_days WHERE day >= ? ORDER BY day LIMIT 1",
		exact.MinDay)
	if err != nil {
		return figs, err
	}
	err = db.Each(c, func(r *db.Row) error {
		id, made, last, stock, cost := r.Int(), r.Instant(), r.Day(), r.Milli(), r.Int()
		if last == neverYet {
			last = made.Day(c.Zone())
			if hasSales {
				last = min(last, begun)
			}
		}
		figs.SKUs = append(figs.SKUs, &StockFigure{
			ValueCents: costOf(stock, cost), soldCost: costOf(r.Milli()+since[id], cost), UnsoldDays: max(0, int64(today-last)),
			SKU: r.Text(), Name: r.Text(), supplier: r.Text(),
		})
		return nil
	}, "SELECT id, created_at, ifnull(last_sold, ?), current_stock, unit_cost_cents, sold_year, sku, name, supplier "+
		"FROM skus WHERE active = 1", neverYet)
	if err != nil {
		return figs, err
	}
	figs.classify()
	figs.addUp()
	return figs, nil
}

// costOf is a quantity's cost in cents, half up.
func costOf(qty exact.Milli, unitCost int64) int64 {
	return exact.Mul(int64(qty), unitCost).DivRound(1000)
}

// classify sets each SKU's class.
func (figs *StockFigures) classify() {
	total := int64(0)
	for _, k := range figs.SKUs {
		total = addCents(total, k.soldCost)
	}
	figs.sort(func(k *StockFigure) int64 { return k.soldCost })
	figs.Classes = []ClassFigures{{Class: "A"}, {Class: "B"}, {Class: "C"}}
	before := int64(0)
	for _, k := range figs.SKUs {
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

// addUp fills in the sums over the SKUs, and sorts by value, largest first.
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
	figs.sort(func(k *StockFigure) int64 { return k.ValueCents })
}

// sort sorts the SKUs by cents, the largest first. Codes are compared only where the cents are equal.
func (figs *StockFigures) sort(cents func(*StockFigure) int64) {
	slices.SortFunc(figs.SKUs, func(a, b *StockFigure) int {
		if n := cmp.Compare(cents(b), cents(a)); n != 0 {
			return n
		}
		return strings.Compare(a.SKU, b.SKU)
	})
}

// After returns at most limit rows after the one with the key, and the key of the last one; "" at the end.
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
