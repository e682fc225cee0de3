package store

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
)

// tallied are the sums of a day, month or product in one currency, added up again.
type tallied struct{ orders, sold, tax, refunded int64 }

// TestFiguresMatchARecomputation: after any sales, refunds and void orders, the figures by day, month and product equal
// a recomputation from orders and refunds, and add up to the totals and the stats. Days begin with an hour of UTC, with
// half an hour, and with either in turn.
func TestFiguresMatchARecomputation(t *testing.T) {
	pick := rand.New(rand.NewPCG(16, 5))
	for round, name := range []string{"UTC", "America/New_York", "Asia/Kolkata", "UTC", "Australia/Lord_Howe", "Europe/Berlin"} {
		zone := val(time.LoadLocation(name))
		s := newFixtureIn(t, zone)
		byRefs := map[string][]Refund{}
		for range 40 {
			s.pass(time.Duration(pick.Int64N(int64(40 * time.Hour))))
			s.randomSale(pick)
		}
		page := val(s.Orders(background, OrderFilter{}))
		for range 25 {
			s.pass(time.Duration(pick.Int64N(int64(30 * time.Hour))))
			o := page.Orders[pick.IntN(len(page.Orders))]
			part := amount(1 + pick.Int64N(max(1, o.TotalCents)))
			if pick.IntN(3) == 0 {
				part = nil
			}
			_, _ = do3(s, cli, refundOrder, o.OrderRef, part, "") // more than the rest is refused
		}
		val(do2(s, cli, voidOrder, page.Orders[pick.IntN(len(page.Orders))].OrderRef, "a mistake"))
		page = val(s.Orders(background, OrderFilter{}))
		for _, o := range page.Orders {
			byRefs[o.OrderRef] = val(s.Refunds(background, o.OrderRef))
		}
		first, last := page.Orders[len(page.Orders)-1].PaidAt.Day(zone), s.now().Day(zone)
		ranges := []FiguresOf{{}, {From: &first}, {To: &last}}
		from, to := first+exact.Day(pick.IntN(20)), last-exact.Day(pick.IntN(20))
		if from <= to {
			ranges = append(ranges, FiguresOf{From: &from, To: &to})
		}
		for _, f := range ranges {
			for _, f.By = range []string{byDay, byMonth, byProduct} {
				s.agrees(fmt.Sprintf("round %d, %+v", round, f), f, page.Orders, byRefs)
			}
		}
	}
}

// TestFiguresByProductWorkedByHand: shares of a discount, a tax and refunds, at the edges of a month in which clocks
// change.
func TestFiguresByProductWorkedByHand(t *testing.T) {
	s := newFixtureIn(t, val(time.LoadLocation("Europe/Berlin")))
	sell := func(at string, n NewOrder) string {
		t.Helper()
		s.At(val(time.Parse(time.RFC3339, at)))
		n.Email = "a@b.c"
		return val(do(s, cli, recordOrder, n)).OrderRef
	}
	one := func(sku string, qty, cents int64) NewLine { return NewLine{SKU: sku, Qty: qty, Unit: &cents} }
	sell("2027-02-28T22:59:59Z", NewOrder{Lines: []NewLine{one("BOOK", 1, 7)}}) // the last second of February
	// Of the discount 34, 33 and 33, of the tax 17, 17 and 16.
	shared := sell("2027-03-28T00:59:59Z", NewOrder{Lines: []NewLine{one("BOOK", 1, 100), one("PLUGIN:pro", 1, 100),
		one("YEAR", 1, 100)}, Discount: 100, Tax: 50})
	sell("2027-03-28T01:00:00Z", NewOrder{Lines: []NewLine{one("YEAR", 1, 0), one("BOOK", 1, 0), one("YEAR", 1, 0)},
		Tax: 9}) // nothing to go by: all of the tax is of the first
	sell("2027-03-28T01:00:00Z", NewOrder{Lines: []NewLine{one("BOOK", 2, 1900)}, Currency: "EUR"})
	void := sell("2027-03-31T21:59:58Z", NewOrder{Lines: []NewLine{one("BOOK", 3, 500), one("YEAR", 1, 500)}, Tax: 11})
	sell("2027-03-31T21:59:59Z", NewOrder{Lines: []NewLine{one("BOOK", 1, 2), one("YEAR", 1, 1)}, Discount: 1}) // 1 and 0
	april := sell("2027-03-31T22:00:00Z", NewOrder{Lines: []NewLine{one("YEAR", 1, 40)}})                       // its first second
	val(do2(s, cli, voidOrder, void, "a mistake"))
	val(do3(s, cli, refundOrder, shared, amount(10), "")) // 4, 3 and 3, in April
	val(do3(s, cli, refundOrder, shared, amount(1), ""))  // 1, 0 and 0
	val(do3(s, cli, refundOrder, april, nil, ""))
	by := func(from, to string) string {
		first, _ := exact.ParseDay(from)
		last, _ := exact.ParseDay(to)
		f := val(s.Figures(background, FiguresOf{From: &first, To: &last, By: byProduct}))
		var lines []string
		for _, r := range append(f.Rows, f.Totals...) {
			lines = append(lines, fmt.Sprintf("%s %s %d %d %d %d", r.Label(), r.Currency, r.Orders, r.SoldCents, r.TaxCents,
				r.RefundedCents))
		}
		return strings.Join(lines, "\n")
	}
	equal(t, "March", by("2027-03-01", "2027-03-31"), "BOOK EUR 1 3800 0 0\nBOOK USD 3 84 17 0\nPLUGIN USD 1 84 17 0\n"+
		"YEAR USD 3 93 25 0\nin all EUR 1 3800 0 0\nin all USD 3 261 59 0")
	equal(t, "the day of 23 hours", by("2027-03-28", "2027-03-28"), "BOOK EUR 1 3800 0 0\nBOOK USD 2 83 17 0\n"+
		"PLUGIN USD 1 84 17 0\nYEAR USD 2 92 25 0\nin all EUR 1 3800 0 0\nin all USD 2 259 59 0")
	equal(t, "April", by("2027-04-01", "2027-04-30"), "BOOK USD 0 0 0 5\nPLUGIN USD 0 0 0 3\nYEAR USD 1 40 0 43\n"+
		"in all USD 1 40 0 51")
	equal(t, "February", by("2027-02-01", "2027-02-28"), "BOOK USD 1 7 0 0\nin all USD 1 7 0 0")
	equal(t, "May", by("2027-05-01", "2027-05-31"), "")
}

func (s *fixture) randomSale(pick *rand.Rand) {
	s.T.Helper()
	n := NewOrder{Email: fmt.Sprintf("%d@b.c", pick.IntN(9)), Currency: []string{"USD", "EUR", "JPY"}[pick.IntN(3)]}
	for range 1 + pick.IntN(4) {
		unit := pick.Int64N([]int64{1, 20, 5000, maxPrice / 12}[pick.IntN(4)])
		n.Lines = append(n.Lines, NewLine{SKU: []string{"YEAR", "BOOK", "PLUGIN:pro"}[pick.IntN(3)], Qty: 1 + pick.Int64N(3), Unit: &unit})
	}
	switch pick.IntN(4) {
	case 0:
		n.Total = amount(pick.Int64N(9000))
	case 1:
		n.Total, n.Tax = amount(500+pick.Int64N(9000)), pick.Int64N(500)
	case 2:
		n.Total, n.Tax = amount(maxPrice-pick.Int64N(9000)), pick.Int64N(maxPrice/2)
	}
	_, err := do(s, cli, recordOrder, n)
	assert.OK(s.T, err)
}

// agrees compares figures with a recomputation that knows only orders, lines and refunds.
func (s *fixture) agrees(what string, f FiguresOf, orders []Order, refunds map[string][]Refund) {
	s.T.Helper()
	got, err := s.Figures(background, f)
	assert.OK(s.T, err)
	within := func(at exact.Instant) bool {
		d := at.Day(s.DB.Zone())
		return (f.From == nil || d >= *f.From) && (f.To == nil || d <= *f.To)
	}
	rows, totals := map[string]tallied{}, map[string]tallied{}
	add := func(m map[string]tallied, key string, x tallied) {
		t := m[key]
		m[key] = tallied{t.orders + x.orders, t.sold + x.sold, t.tax + x.tax, t.refunded + x.refunded}
	}
	period := func(at exact.Instant) string {
		if f.By == byMonth {
			return at.Day(s.DB.Zone()).Month().String()
		}
		return at.Day(s.DB.Zone()).String()
	}
	for _, o := range orders {
		if o.Status == statusVoid {
			continue
		}
		if within(o.PaidAt) {
			x := tallied{1, o.TotalCents, o.TaxCents, 0}
			add(totals, o.Currency, x)
			if f.By != byProduct {
				add(rows, period(o.PaidAt)+" "+o.Currency, x)
			}
			seen := map[string]bool{}
			for i, part := range byHand(o.DiscountCents, o.Items) {
				if f.By == byProduct {
					one := tallied{1, o.Items[i].TotalCents - part + byHand(o.TaxCents, o.Items)[i], byHand(o.TaxCents, o.Items)[i], 0}
					if seen[o.Items[i].SKU] {
						one.orders = 0
					}
					seen[o.Items[i].SKU] = true
					add(rows, o.Items[i].SKU+" "+o.Currency, one)
				}
			}
		}
		for _, r := range refunds[o.OrderRef] {
			if !within(r.At) || r.Cents == 0 {
				continue
			}
			add(totals, o.Currency, tallied{refunded: r.Cents})
			if f.By != byProduct {
				add(rows, period(r.At)+" "+o.Currency, tallied{refunded: r.Cents})
				continue
			}
			for i, part := range byHand(r.Cents, o.Items) {
				add(rows, o.Items[i].SKU+" "+o.Currency, tallied{refunded: part})
			}
		}
	}
	is := func(list []Figure, label func(Figure) string) map[string]tallied {
		m := map[string]tallied{}
		for _, r := range list {
			assert.That(s.T, r.NetCents == r.SoldCents-r.RefundedCents, "%s: net of %+v", what, r)
			add(m, label(r)+r.Currency, tallied{r.Orders, r.SoldCents, r.TaxCents, r.RefundedCents})
		}
		return m
	}
	now := is(got.Rows, func(r Figure) string { return r.Label() + " " })
	assert.That(s.T, reflect.DeepEqual(now, rows), "%s:\n got %v\nwant %v", what, now, rows)
	now = is(got.Totals, func(Figure) string { return "" })
	assert.That(s.T, reflect.DeepEqual(now, totals), "%s: in all\n got %v\nwant %v", what, now, totals)
	if f.From == nil && f.To == nil {
		stats, err := s.Stats(background)
		assert.OK(s.T, err)
		for _, r := range stats.Revenue {
			assert.That(s.T, totals[r.Currency].sold == r.GrossCents && totals[r.Currency].refunded == r.RefundedCents,
				"%s: stats say %+v, figures %+v", what, r, totals[r.Currency])
		}
	}
}

// byHand shares an amount over lines in proportion to their amounts: cent by cent to the line furthest behind its
// share, the first of equal ones.
func byHand(amount int64, items []Item) []int64 {
	var whole int64
	for _, i := range items {
		whole += i.TotalCents
	}
	parts := make([]int64, len(items))
	if whole == 0 {
		parts[0] = amount
		return parts
	}
	left := amount
	for n, i := range items {
		parts[n] = exact.Mul(amount, i.TotalCents).DivFloor(whole)
		left -= parts[n]
	}
	for range left {
		behind, most := 0, exact.Mul(-1, whole)
		for n, i := range items {
			if rest := exact.Mul(amount, i.TotalCents).Sub(exact.Mul(parts[n], whole)); rest.Cmp(most) > 0 {
				behind, most = n, rest
			}
		}
		parts[behind]++
	}
	return parts
}
