package reorder

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// model is the fixture's sales, stored in the simplest way.
type model map[string]map[exact.Day]exact.Milli

// agrees compares every SKU's sales and demand days with the model.
func (m model) agrees(s *fixture, step string) {
	s.T.Helper()
	rep := val(s.Report(context.Background(), ReportQuery{Status: All}))
	for _, r := range rep.SKUs {
		var sold exact.Milli
		first := never
		for d, qty := range m[r.SKU] {
			if d <= rep.Today && d > rep.Today-exact.Day(rep.ForecastWindowDays) {
				sold += qty
			}
			if qty > 0 {
				first = min(first, d)
			}
		}
		days := rep.ForecastWindowDays
		if since := int64(rep.Today-first) + 1; first <= rep.Today && since < days {
			days = min(max(since, 7), days)
		}
		assert.Must(s.T, r.SoldInWindow == sold && r.DemandDays == days,
			"%s, on %s over %d days: %s sold %s in %d days, want %s in %d", step, rep.Today, rep.ForecastWindowDays, r.SKU,
			r.SoldInWindow, r.DemandDays, sold, days)
	}
}

// TestIncrementalWindow moves and jumps the clock, either way, between uploads, counts and changes of the settings. The
// incremental sums must always equal the sums of the sales.
func TestIncrementalWindow(t *testing.T) {
	for seed := range uint64(6) {
		s, m := open(t), model{}
		r := rand.New(rand.NewPCG(seed, 4))
		var skus []string
		for i := range 8 {
			skus = append(skus, fmt.Sprintf("S%d", i))
			s.sku("sku,current_stock", fmt.Sprintf("S%d,%d", i, r.IntN(100)))
			m[skus[i]] = map[exact.Day]exact.Milli{}
		}
		today := day(t, "2024-02-25")
		s.On(today.String())
		s.accept()
		for step := range 120 {
			var what string
			switch r.IntN(10) {
			case 0:
				today += exact.Day(r.IntN(90))
				what = "days pass"
			case 1:
				today -= exact.Day(r.IntN(60))
				what = "the clock is set back"
				s.On(today.String())
				s.accept()
			case 2, 3:
				today++
				what = "a day passes"
			case 4:
				what = "a count"
				s.On(today.String())
				s.stock(skus[r.IntN(len(skus))], fmt.Sprint(r.IntN(50)))
			case 5:
				what = "settings"
				s.On(today.String())
				days := 1 + r.Int64N(60)
				val(s.ChangeSettings(context.Background(), cli, SettingsChange{ForecastWindowDays: &days}))
			default:
				what = "an upload"
				s.On(today.String())
				m.upload(s, r, skus, today)
			}
			s.On(today.String())
			m.agrees(s, fmt.Sprintf("seed %d, step %d, %s", seed, step, what))
			s.sound()
		}
	}
}

// upload posts random rows and applies them to the model.
func (m model) upload(s *fixture, r *rand.Rand, skus []string, today exact.Day) {
	replace := r.IntN(2) == 0
	totals := model{}
	var rows []string
	for range r.IntN(30) {
		sku, d, qty := skus[r.IntN(len(skus))], today-exact.Day(r.IntN(70)), exact.Milli(r.IntN(4)*r.IntN(3000))
		rows = append(rows, fmt.Sprintf(`{"date":"%s","sku":"%s","qty":%s}`, d, sku, qty))
		if totals[sku] == nil {
			totals[sku] = map[exact.Day]exact.Milli{}
		}
		totals[sku][d] += qty
	}
	got := s.upload(fmt.Sprintf(`{"replace":%v,"rows":[%s]}`, replace, strings.Join(rows, ",")))
	stored := 0
	for sku, days := range totals {
		for d, qty := range days {
			if _, is := m[sku][d]; is {
				stored++
			}
			if replace {
				m[sku][d] = 0
			}
			m[sku][d] += qty
		}
	}
	if got.Imported != len(rows) || replace && *got.ReplacedDays != stored {
		s.T.Fatalf("%d rows, %d SKU-days stored before: %s", len(rows), stored, asJSON(s.T, got))
	}
}

// TestReadingWritesNothing: a read on a later day shows that day's figures and writes nothing.
func TestReadingWritesNothing(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,20")
	s.upload(`{"rows":[{"date":"2026-10-22","sku":"A","qty":30},{"date":"2026-11-20","sku":"A","qty":30}]}`)
	before := val(s.DB.Version())
	s.On("2026-11-21")
	rep := val(s.Report(context.Background(), ReportQuery{Status: All}))
	got := rep.SKUs[0].SoldInWindow
	assert.That(t, got == 30_000, "the day after the first sale left the window %s are sold, want 30", got)
	p := val(s.Product(context.Background(), "A", 365))
	list := val(s.Products(context.Background(), ProductQuery{Limit: 10}))
	assert.That(t, p.SoldInWindow == 30_000 && list.Products[0].Full.SoldInWindow == 30_000,
		"product %s, list %s", p.SoldInWindow, list.Products[0].Full.SoldInWindow)
	after, err := s.DB.Version()
	assert.That(t, err == nil && after == before, "reading wrote (%v)", err)
}

// TestEveryWriteMovesTheWindow: the first write on a later day moves the window, also an edit of a SKU.
func TestEveryWriteMovesTheWindow(t *testing.T) {
	one := exact.Milli(1000)
	for name, write := range map[string]func(*fixture, int) error{
		"an edit": func(s *fixture, n int) error {
			return s.row(skuTable(), "sku,lead_time_days", fmt.Sprintf("A,%d", 8+n))
		},
		"a new SKU": func(s *fixture, n int) error { return s.row(skuTable(), "sku", fmt.Sprint("C", n)) },
		"a count": func(s *fixture, n int) error {
			_, err := s.Adjust(context.Background(), cli, Adjustment{SKU: "A", Delta: &one})
			return err
		},
		"an order": func(s *fixture, n int) error { _, err := s.create("Acme", true, "A=1"); return err },
		"a line of an order": func(s *fixture, n int) error {
			return s.row(s.orderTable(), "number,sku,ordered,status", fmt.Sprintf("X,A,%d,ordered", 1+n))
		},
		"settings": func(s *fixture, n int) error {
			_, err := s.ChangeSettings(context.Background(), cli, SettingsChange{})
			return err
		},
		"an upload": func(s *fixture, n int) error {
			_, err := s.call(s.ingestSales(), schema.REST, `{"rows":[{"date":"2026-11-01","sku":"A","qty":1}]}`)
			return err
		},
	} {
		s := open(t)
		s.sku("sku,current_stock", "A,20")
		s.sku("sku,current_stock", "B,20")
		s.upload(`{"rows":[{"date":"2026-10-22","sku":"A","qty":30},{"date":"2026-10-23","sku":"B","qty":30},{"date":"2026-11-20","sku":"A","qty":30}]}`)
		for n, d := range []string{"2026-11-21", "2026-11-22", "2026-11-10"} {
			s.On(d)
			if n == 2 { // back
				if err := write(s, n); !fault.Is(err, fault.Unavailable) {
					t.Errorf("%s by a clock that was set back: %v, want it unavailable", name, err)
				}
				s.sound()
				s.accept()
			}
			s.Must(write(s, n))
			s.sound()
			sum := s.record("B").sold
			assert.That(t, (sum == 0) == (d == "2026-11-22"), "%s on %s: B's sum is %s", name, d, sum)
		}
	}
}

// TestFutureSalesDoNotCount: the clock was set back, so stored sales of future days do not count.
func TestFutureSalesDoNotCount(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,20")
	s.upload(`{"rows":[{"date":"2026-11-20","sku":"A","qty":30},{"date":"2026-11-10","sku":"A","qty":3}]}`)
	s.On("2026-11-15")
	s.accept()
	s.stock("A", "19")
	rep := val(s.Report(context.Background(), ReportQuery{Status: All}))
	if r := rep.SKUs[0]; r.SoldInWindow != 3000 || r.DemandDays != 7 {
		t.Errorf("on the 15th %s are sold in %d days, want 3 in 7", r.SoldInWindow, r.DemandDays)
	}
	s.sound()
	s.On("2026-11-20")
	rep = val(s.Report(context.Background(), ReportQuery{Status: All}))
	if r := rep.SKUs[0]; r.SoldInWindow != 33_000 || r.DemandDays != 11 {
		t.Errorf("on the 20th %s are sold in %d days, want 33 in 11", r.SoldInWindow, r.DemandDays)
	}
}
