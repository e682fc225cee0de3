package reorder

import (
	"quartermaster/schema/exact"
)

// The statuses of a SKU, most urgent first.
const (
	Below   = "below"   // at or under the reorder point
	Near    = "near"    // within a quarter above it
	Healthy = "healthy" // above that
	Out     = "out"     // without stock; of lists only, beside the three
)

var statuses = []string{Below, Near, Healthy}

// fewestDemandDays is how many days a SKU's demand is spread over at least: a SKU that was first sold yesterday has not
// sold "twice a day" forever.
const fewestDemandDays = 7

// never stands for the first sale's day of a SKU without sales.
const never = exact.MaxDay + 1

// neverYet stands for the last sale's day of a SKU without sales.
const neverYet = exact.MinDay - 1

// horizon is shared by the forecasts of all SKUs.
type horizon struct {
	today  exact.Day
	window int64 // forecast_window_days: the window is the days that end today, today included
	cover  int64 // target_cover_days

	empty map[int64]int64 // days without stock by SKU id; nil if the setting counts them
}

// basis is all that one SKU's forecast follows from.
//
// Sizes, so that no product below leaves its integer: stock and moq at most 10^12
// thousandths, a day's sales at most 10^15 (maxDayTotal), so that 365 days hold at
// most 3.65 x 10^17; times at most 3,650 days each; on order at most 10^15. Products
// are 128 bits wide, and as a SKU's sales are spread over at least as many days as it
// sold on, every shown figure but a cost fits an int64. A cost beyond it is shown as
// the largest int64.
type basis struct {
	id        int64
	stock     exact.Milli
	onOrder   exact.Milli
	sold      exact.Milli // in the window
	firstSold exact.Day   // first day with a quantity above 0, or never
	lead      int64       // days
	safety    int64       // days
	pack      int64       // units, at least 1
	moq       exact.Milli
	unitCost  int64 // cents
}

// demandDays is the number of days over which the window's sales are spread: the whole window, or for a SKU first sold
// inside it the days since then, inclusive, but at least fewestDemandDays (and never more than the window). The setting
// may exclude the days without stock.
func (b basis) demandDays(h horizon) int64 {
	days := int64(h.today-b.firstSold) + 1
	if days < 1 || days >= h.window { // not sold yet as of today; or sold all through
		days = h.window
	}
	return min(max(days-h.empty[b.id], fewestDemandDays), h.window)
}

// point is the reorder point times the demand days, in thousandths: average daily
// demand x (lead time + safety stock), left undivided so that it is exact.
func (b basis) point() exact.Int128 { return exact.Mul(int64(b.sold), b.lead+b.safety) }

// status compares the stock with the reorder point: below if it is at or under it, near if it is at most a quarter
// above.
func (b basis) status(h horizon) string {
	have, point := exact.Mul(int64(b.stock), b.demandDays(h)), b.point()
	switch {
	case have.Cmp(point) <= 0:
		return Below
	case have.MulInt(4).Cmp(point.MulInt(5)) <= 0:
		return Near
	}
	return Healthy
}

// figures are one SKU's displayed forecast. Rounding (half up) happens only here, for display; nothing is computed from
// a rounded figure.
type figures struct {
	status     string
	demandDays int64
	average    exact.Decimal  // sold a day, 4 decimals
	point      exact.Decimal  // 2 decimals
	daysLeft   *exact.Decimal // 2 decimals; nil without demand
	runsOut    *exact.Day     // nil without demand, or past the calendar's last day
	need       exact.Decimal  // 2 decimals; negative if there is more than enough
	suggested  int64          // units
	cost       int64          // cents
}

// forecast computes a SKU's figures.
func forecast(b basis, h horizon) figures {
	days := b.demandDays(h)
	f := figures{
		status: b.status(h), demandDays: days,
		average: exact.Decimal{Unscaled: exact.Mul(int64(b.sold), 10).DivRound(days), Places: 4},
		point:   exact.Decimal{Unscaled: b.point().DivRound(10 * days), Places: 2},
	}
	if b.sold > 0 {
		stockDays := exact.Mul(int64(b.stock), days)
		f.daysLeft = &exact.Decimal{Unscaled: stockDays.MulInt(100).DivRound(int64(b.sold)), Places: 2}
		if left := stockDays.DivFloor(int64(b.sold)); left <= int64(exact.MaxDay-h.today) {
			out := h.today + exact.Day(left) // #nosec G115 -- it was compared with the end of the calendar
			f.runsOut = &out
		}
	}
	f.need = exact.Decimal{Unscaled: b.need(h).DivRound(10 * days), Places: 2}
	f.suggested, f.cost = b.order(h, f.status)
	return f
}

// need is average daily demand x (lead + safety + cover) - stock - on order, times the
// demand days.
func (b basis) need(h horizon) exact.Int128 {
	return exact.Mul(int64(b.sold), b.lead+b.safety+h.cover).Sub(exact.Mul(int64(b.stock+b.onOrder), b.demandDays(h)))
}

// order is how many units to order of a SKU of the status, and what they cost in cents.
func (b basis) order(h horizon, status string) (suggested, cost int64) {
	need := b.need(h)
	if status == Healthy || need.Sign() <= 0 {
		return 0, 0
	}
	suggested = b.packs(need, b.demandDays(h)) * b.pack
	return suggested, exact.Mul(suggested, b.unitCost).DivRound(1)
}

// packs is the larger of the need (given times days) and the minimum order, rounded up
// to whole packs.
func (b basis) packs(need exact.Int128, days int64) int64 {
	thousandths := 1000 * b.pack
	return max(need.DivCeil(days*thousandths), exact.Mul(int64(b.moq), 1).DivCeil(thousandths))
}

// coverCompare orders by days of cover, fewest first; a SKU without demand comes last. 0 if both are equal.
func coverCompare(aStock, aSold exact.Milli, aDays int64, bStock, bSold exact.Milli, bDays int64) int {
	switch {
	case aSold == 0 && bSold == 0:
		return 0
	case aSold == 0:
		return 1
	case bSold == 0:
		return -1
	}
	a := exact.Mul(int64(aStock)*aDays, int64(bSold)) // at most 10^12 x 365 x 3.65 x 10^17: 128 bits hold it
	b := exact.Mul(int64(bStock)*bDays, int64(aSold))
	return a.Cmp(b)
}

// Limits of stored values, so that every sum and product fits (see basis).
const (
	maxQty      = exact.Milli(1_000_000_000_000)     // 10^9 units: a stock, a minimum order, a row's quantity
	maxDayTotal = exact.Milli(1_000_000_000_000_000) // 10^12 units: a SKU's sales of one day, and what is on order
	maxDays     = int64(3650)                        // lead time, safety stock
	maxPack     = int64(1_000_000_000)               // units
	maxUnitCost = int64(10_000_000_000)              // cents
	maxMinOrder = int64(1_000_000_000_000)           // cents
)
