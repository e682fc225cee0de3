package reorder

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
)

func day(t testing.TB, s string) exact.Day {
	t.Helper()
	d, ok := exact.ParseDay(s)
	assert.Must(t, ok, "%q is not a day", s)
	return d
}

func milli(t testing.TB, s string) exact.Milli {
	t.Helper()
	m, err := exact.ParseMilli(s)
	assert.OK(t, err, "%q", s)
	return m
}

// show writes figures in one line, for the tables below.
func show(f figures) string {
	left, out := "null", "null"
	if f.daysLeft != nil {
		left = f.daysLeft.String()
	}
	if f.runsOut != nil {
		out = f.runsOut.String()
	}
	return fmt.Sprintf("%s /%d avg %s point %s left %s out %s need %s order %d cost %d",
		f.status, f.demandDays, f.average, f.point, left, out, f.need, f.suggested, f.cost)
}

// TestForecast: every line was worked out by hand.
func TestForecast(t *testing.T) {
	// 60 sold in 30 days is 2 a day; 7 + 3 days make a reorder point of 20; need is 2 x (7 + 3 + 30) = 80 minus stock and
	// orders.
	steady := func(change func(*basis)) basis {
		b := basis{stock: 100_000, sold: 60_000, firstSold: day(t, "2026-01-01"), lead: 7, safety: 3, pack: 1, unitCost: 250}
		change(&b)
		return b
	}
	for _, c := range []struct {
		name string
		b    basis
		want string
	}{
		{"healthy", steady(func(*basis) {}),
			"healthy /30 avg 2 point 20 left 50 out 2027-01-09 need -20 order 0 cost 0"},
		{"exactly at the reorder point", steady(func(b *basis) { b.stock = 20_000 }),
			"below /30 avg 2 point 20 left 10 out 2026-11-30 need 60 order 60 cost 15000"},
		{"a thousandth above it", steady(func(b *basis) { b.stock = 20_001 }),
			"near /30 avg 2 point 20 left 10 out 2026-11-30 need 60 order 60 cost 15000"},
		{"a thousandth below it", steady(func(b *basis) { b.stock = 19_999 }),
			"below /30 avg 2 point 20 left 10 out 2026-11-29 need 60 order 61 cost 15250"},
		{"exactly a quarter above", steady(func(b *basis) { b.stock = 25_000 }),
			"near /30 avg 2 point 20 left 12.5 out 2026-12-02 need 55 order 55 cost 13750"},
		{"a thousandth more than a quarter above", steady(func(b *basis) { b.stock = 25_001 }),
			"healthy /30 avg 2 point 20 left 12.5 out 2026-12-02 need 55 order 0 cost 0"},
		{"nothing left", steady(func(b *basis) { b.stock = 0 }),
			"below /30 avg 2 point 20 left 0 out 2026-11-20 need 80 order 80 cost 20000"},
		{"never sold, some there", steady(func(b *basis) { b.sold, b.firstSold = 0, never }),
			"healthy /30 avg 0 point 0 left null out null need -100 order 0 cost 0"},
		{"never sold, a thousandth there", steady(func(b *basis) { b.sold, b.firstSold, b.stock = 0, never, 1 }),
			"healthy /30 avg 0 point 0 left null out null need 0 order 0 cost 0"},
		{"never sold, none there", steady(func(b *basis) { b.sold, b.firstSold, b.stock = 0, never, 0 }),
			"below /30 avg 0 point 0 left null out null need 0 order 0 cost 0"},
		{"never sold, none there, a minimum order",
			steady(func(b *basis) { b.sold, b.firstSold, b.stock, b.moq = 0, never, 0, 5000 }),
			"below /30 avg 0 point 0 left null out null need 0 order 0 cost 0"},
		{"enough is coming", steady(func(b *basis) { b.stock, b.onOrder = 20_000, 60_000 }),
			"below /30 avg 2 point 20 left 10 out 2026-11-30 need 0 order 0 cost 0"},
		{"a thousandth too little is coming", steady(func(b *basis) { b.stock, b.onOrder = 20_000, 59_999 }),
			"below /30 avg 2 point 20 left 10 out 2026-11-30 need 0 order 1 cost 250"},
		{"more than enough is coming", steady(func(b *basis) { b.stock, b.onOrder, b.moq = 20_000, 60_005, 12_000 }),
			"below /30 avg 2 point 20 left 10 out 2026-11-30 need 0 order 0 cost 0"},
		{"whole packs", steady(func(b *basis) { b.stock, b.pack = 20_000, 12 }),
			"below /30 avg 2 point 20 left 10 out 2026-11-30 need 60 order 60 cost 15000"},
		{"whole packs, one unit more", steady(func(b *basis) { b.stock, b.pack = 19_000, 12 }),
			"below /30 avg 2 point 20 left 9.5 out 2026-11-29 need 61 order 72 cost 18000"},
		{"minimum order above the need", steady(func(b *basis) { b.stock, b.moq = 20_000, 100_000 }),
			"below /30 avg 2 point 20 left 10 out 2026-11-30 need 60 order 100 cost 25000"},
		{"minimum order in packs", steady(func(b *basis) { b.stock, b.moq, b.pack = 20_000, 60_001, 12 }),
			"below /30 avg 2 point 20 left 10 out 2026-11-30 need 60 order 72 cost 18000"},
		{"no lead time, no safety", steady(func(b *basis) { b.stock, b.lead, b.safety = 1, 0, 0 }),
			"healthy /30 avg 2 point 0 left 0 out 2026-11-20 need 60 order 0 cost 0"},
		{"first sold today: spread over 7 days",
			steady(func(b *basis) { b.sold, b.firstSold, b.stock = 7000, day(t, "2026-11-20"), 10_000 }),
			"below /7 avg 1 point 10 left 10 out 2026-11-30 need 30 order 30 cost 7500"},
		{"first sold 6 days ago: 7 days", steady(func(b *basis) { b.sold, b.firstSold = 7000, day(t, "2026-11-14") }),
			"healthy /7 avg 1 point 10 left 100 out 2027-02-28 need -60 order 0 cost 0"},
		{"first sold 7 days ago: 8 days", steady(func(b *basis) { b.sold, b.firstSold = 8000, day(t, "2026-11-13") }),
			"healthy /8 avg 1 point 10 left 100 out 2027-02-28 need -60 order 0 cost 0"},
		{"first sold on the window's second day",
			steady(func(b *basis) { b.sold, b.firstSold = 29_000, day(t, "2026-10-23") }),
			"healthy /29 avg 1 point 10 left 100 out 2027-02-28 need -60 order 0 cost 0"},
		{"first sold on the window's first day",
			steady(func(b *basis) { b.sold, b.firstSold = 30_000, day(t, "2026-10-22") }),
			"healthy /30 avg 1 point 10 left 100 out 2027-02-28 need -60 order 0 cost 0"},
		{"first sold the day before the window",
			steady(func(b *basis) { b.sold, b.firstSold = 30_000, day(t, "2026-10-21") }),
			"healthy /30 avg 1 point 10 left 100 out 2027-02-28 need -60 order 0 cost 0"},
		{"first sale lies in the future: the clock was set back",
			steady(func(b *basis) { b.sold, b.firstSold = 0, day(t, "2026-11-21") }),
			"healthy /30 avg 0 point 0 left null out null need -100 order 0 cost 0"},
		// 1 / 30 is 0.03333; x 10 is 0.33333; 0.1 / (1/30) is 3 days.
		{"thirds", steady(func(b *basis) { b.sold, b.stock = 1000, 100 }),
			"below /30 avg 0.0333 point 0.33 left 3 out 2026-11-23 need 1.23 order 2 cost 500"},
		// 0.0015 a day; 0.0015 x 10 is 0.015: half up 0.02.
		{"halves round up", steady(func(b *basis) { b.sold, b.stock = 45, 14 }),
			"below /30 avg 0.0015 point 0.02 left 9.33 out 2026-11-29 need 0.05 order 1 cost 250"},
		// The point is 0.015 exactly, and 15 thousandths are at it.
		{"the rounded point is not compared", steady(func(b *basis) { b.sold, b.stock = 45, 16 }),
			"near /30 avg 0.0015 point 0.02 left 10.67 out 2026-11-30 need 0.04 order 1 cost 250"},
		// need is 80.0 - 80.005 = -0.005: half up -0.00, which is 0.
		{"a negative half rounds up", steady(func(b *basis) { b.stock = 80_005 }),
			"healthy /30 avg 2 point 20 left 40 out 2026-12-30 need 0 order 0 cost 0"},
		{"a cost beyond an int64 is its largest", steady(func(b *basis) {
			b.stock, b.sold, b.unitCost = 0, 30*maxDayTotal, maxUnitCost
		}), "below /30 avg 1000000000000 point 10000000000000 left 0 out 2026-11-20 need 40000000000000 order " +
			"40000000000000 cost 9223372036854775807"},
	} {
		h := horizon{today: day(t, "2026-11-20"), window: 30, cover: 30}
		assert.Equal(t, show(forecast(c.b, h)), c.want, "%s", c.name)
	}
}

// TestForecastOverLeapDays: a window over a leap day includes it.
func TestForecastOverLeapDays(t *testing.T) {
	for _, c := range []struct {
		today, first string
		window, want int64
	}{
		{"2024-03-01", "2024-02-28", 30, 7},
		{"2024-03-08", "2024-02-28", 30, 10}, // 28, 29 February and 1 to 8 March
		{"2026-03-08", "2026-02-28", 30, 9},  // no 29 February
		{"2024-12-31", "2024-01-01", 365, 365},
		{"2024-12-30", "2024-01-01", 365, 365}, // 365 days: the whole window
		{"2024-12-29", "2024-01-01", 365, 364},
		{"2026-11-20", "2026-11-20", 1, 1}, // at least 7, but never more than the window
		{"2026-11-20", "2026-11-18", 5, 5},
	} {
		b := basis{sold: 1000, firstSold: day(t, c.first), pack: 1}
		if got := b.demandDays(horizon{today: day(t, c.today), window: c.window}); got != c.want {
			t.Errorf("first sold %s, seen on %s over %d days: %d demand days, want %d", c.first, c.today, c.window, got, c.want)
		}
	}
}

func TestRunsOutPastTheCalendar(t *testing.T) {
	h := horizon{today: day(t, "9999-12-30"), window: 1, cover: 1}
	b := basis{stock: 1999, sold: 1000, firstSold: day(t, "9999-01-01"), pack: 1}
	if f := forecast(b, h); f.runsOut == nil || f.runsOut.String() != "9999-12-31" {
		t.Errorf("1.999 days from 9999-12-30 run out on %v, want 9999-12-31", f.runsOut)
	}
	b.stock = 2000
	if f := forecast(b, h); f.runsOut != nil || f.daysLeft.String() != "2" {
		t.Errorf("2 days from 9999-12-30 run out on %v after %v, want null after 2", f.runsOut, f.daysLeft)
	}
}

// TestForecastAgainstRationals compares every figure with an independent calculation in exact rationals, following the
// contract.
func TestForecastAgainstRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 20))
	upTo := func(most int64) int64 { // of every size
		n := r.Int64N(most) + 1
		return n >> r.IntN(60) % (most + 1)
	}
	today := day(t, "2026-11-20")
	for range 20_000 {
		h := horizon{today: today, window: 1 + r.Int64N(365), cover: 1 + r.Int64N(365)}
		b := basis{
			stock: exact.Milli(upTo(1e12)), onOrder: exact.Milli(upTo(1e12) * r.Int64N(2)),
			moq:  exact.Milli(upTo(1e12) * r.Int64N(2)),
			lead: upTo(3650), safety: upTo(3650), pack: max(1, upTo(1000)), unitCost: upTo(1e6),
			firstSold: today - exact.Day(r.Int64N(500)-20),
		}
		if r.IntN(4) > 0 && b.firstSold <= today {
			b.sold = exact.Milli(upTo(1e12))
		}
		if r.IntN(3) == 0 { // stock exactly at, or a thousandth off, the point or a quarter above it
			at := b.point().MulInt(4 + r.Int64N(2)).DivFloor(4 * b.demandDays(h))
			b.stock = exact.Milli(max(0, min(1e12, at+r.Int64N(3)-1)))
		}
		got, want := show(forecast(b, h)), reference(b, h)
		assert.Must(t, got == want, "%+v, %+v:\n got %s\nwant %s", b, h, got, want)
	}
}

// reference is the contract's text in rationals.
func reference(b basis, h horizon) string {
	rat := func(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }
	times := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }
	over := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }
	units := func(m exact.Milli) *big.Rat { return big.NewRat(int64(m), 1000) }

	days := h.window
	windowStart := int64(h.today) - h.window + 1
	if first := int64(b.firstSold); first >= windowStart && first <= int64(h.today) {
		days = int64(h.today) - first + 1
		if days < 7 {
			days = 7
		}
		if days > h.window {
			days = h.window
		}
	}
	avg := over(units(b.sold), rat(days))
	point := times(avg, rat(b.lead+b.safety))
	status := "healthy"
	if units(b.stock).Cmp(point) <= 0 {
		status = "below"
	} else if units(b.stock).Cmp(times(point, big.NewRat(5, 4))) <= 0 {
		status = "near"
	}
	left, out := "null", "null"
	if avg.Sign() > 0 {
		l := over(units(b.stock), avg)
		left = rounded(l, 2)
		whole := new(big.Int).Quo(l.Num(), l.Denom())
		if until := new(big.Int).Add(whole, big.NewInt(int64(h.today))); until.Cmp(big.NewInt(int64(exact.MaxDay))) <= 0 {
			out = exact.Day(until.Int64()).String()
		}
	}
	need := times(avg, rat(b.lead+b.safety+h.cover))
	need.Sub(need, units(b.stock)).Sub(need, units(b.onOrder))
	order := new(big.Int)
	if status != "healthy" && need.Sign() > 0 {
		want := need
		if units(b.moq).Cmp(want) > 0 {
			want = units(b.moq)
		}
		packs := over(want, rat(b.pack))
		n, rest := new(big.Int).QuoRem(packs.Num(), packs.Denom(), new(big.Int))
		if rest.Sign() > 0 {
			n.Add(n, big.NewInt(1))
		}
		order.Mul(n, big.NewInt(b.pack))
	}
	cost := new(big.Int).Mul(order, big.NewInt(b.unitCost))
	return fmt.Sprintf("%s /%d avg %s point %s left %s out %s need %s order %s cost %s",
		status, days, rounded(avg, 4), rounded(point, 2), left, out, rounded(need, 2), order, cost)
}

// rounded writes x half up with at most places decimals, without trailing zeros.
func rounded(x *big.Rat, places int) string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	y := new(big.Rat).Mul(x, new(big.Rat).SetInt(scale))
	y.Add(y, big.NewRat(1, 2))
	n := new(big.Int).Div(y.Num(), y.Denom()) // Euclidean: downwards, as the denominator is positive
	s := new(big.Rat).SetFrac(n, scale).FloatString(places)
	for s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s
}

func TestOrderOfCover(t *testing.T) {
	type cover struct {
		stock, sold exact.Milli
		days        int64
	}
	for _, c := range []struct {
		a, b cover
		want int
	}{
		{cover{10_000, 60_000, 30}, cover{11_000, 60_000, 30}, -1},
		{cover{10_000, 60_000, 30}, cover{20_000, 120_000, 30}, 0},
		{cover{10_000, 60_000, 30}, cover{10_000, 14_000, 7}, 0},                 // 5 days each
		{cover{10_000_000, 3_000_001, 30}, cover{10_000_000, 3_000_000, 30}, -1}, // equal when rounded
		{cover{1e12, 1, 365}, cover{1e12, 2, 365}, 1},                            // beyond 64 bits
		{cover{0, 0, 30}, cover{1e12, 1, 365}, 1},                                // no demand comes last, even without stock
		{cover{0, 0, 30}, cover{5000, 0, 30}, 0},
	} {
		got := coverCompare(c.a.stock, c.a.sold, c.a.days, c.b.stock, c.b.sold, c.b.days)
		back := coverCompare(c.b.stock, c.b.sold, c.b.days, c.a.stock, c.a.sold, c.a.days)
		assert.That(t, got == c.want && back == -c.want,
			"%v against %v: %d, and %d the other way; want %d", c.a, c.b, got, back, c.want)
	}
}
