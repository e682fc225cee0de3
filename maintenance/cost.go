package maintenance

import "quartermaster/schema/exact"

// Cost is what a work order costs, in cents.
type Cost struct {
	LaborCents      int64 `json:"labor_cents" about:"labor minutes at the hourly rate: today's rate while the order is open, then that of the day it was closed"`
	PartsTypedCents int64 `json:"parts_typed_cents" about:"the typed parts_cost"`
	PartsUsedCents  int64 `json:"parts_used_cents" about:"parts used on the order, at their unit cost on the day of use"`
	TotalCents      int64 `json:"total_cents" about:"all three"`
}

// The bounds below keep every cost far within 64 bits.
const (
	maxMinutes   = 10_000_000
	maxRate      = 100_000_000         // cents an hour
	maxTyped     = 100_000_000         // currency units
	maxUnitCost  = 10_000_000_000      // cents
	maxQuantity  = 1_000_000_000       // units
	maxReading   = 1_000_000_000_000   // units
	maxUsedCents = 100_000_000_000_000 // all parts used on one order
)

// costOf computes a work order's cost, for all callers. rate is in cents an hour; labor is rounded half up to the cent.
func costOf(minutes, rate, typed, used int64) Cost {
	labor := exact.Mul(minutes, rate).DivRound(60)
	return Cost{LaborCents: labor, PartsTypedCents: typed, PartsUsedCents: used, TotalCents: labor + typed + used}
}

// costOfParts is the cost of qty of a part at its unit cost, rounded half up.
func costOfParts(qty exact.Milli, unitCost int64) int64 {
	return exact.Mul(int64(qty), unitCost).DivRound(1000)
}
