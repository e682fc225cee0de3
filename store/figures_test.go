package store

import (
	"fmt"
	"math/rand/v2"
	"reflect"
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

func (s *fixture) randomSale(pick *rand.Rand) {
	s.T.Helper()
	n := NewOrder{Email: fmt.Sprintf("%d@b.c", pick.IntN(9)), Currency: []string{"USD", "EUR", "JPY"}[pick.IntN(3)]}
	for range 1 + pick.IntN(4) {
		unit := pick.Int64N(5000)
		n.Lines = append(n.Lines, NewLine{SKU: []string{"YEAR", "BOOK", "PLUGIN:pro"}[pick.IntN(3)], Qty: 1 + pick.Int64N(3), Unit: &unit})
	}
	if pick.IntN(2) == 0 {
		n.Total = amount(pick.Int64N(9000))
	}
	_, err := do(s, cli, recordOrder, n)
	must(s.T, err)
}

// agrees compares figures with a recomputation that knows only orders, lines and refunds.
func (s *fixture) agrees(what string, f FiguresOf, orders []Order, refunds map[string][]Refund) {
	s.T.Helper()
	got, err := s.Figures(background, f)
	must(s.T, err)
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
		must(s.T, err)
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
		parts[n] = amount * i.TotalCents / whole
		left -= parts[n]
	}
	for range left {
		behind, most := 0, int64(-1)
		for n, i := range items {
			if rest := amount*i.TotalCents - parts[n]*whole; rest > most {
				behind, most = n, rest
			}
		}
		parts[behind]++
	}
	return parts
}
