package rental

import "quartermaster/schema/exact"

// The documents' examples are of one lease and of one charge.

func exampleDay(s string) exact.Day {
	d, _ := exact.ParseDay(s)
	return d
}

func exampleLease() Lease {
	email := "ada@example.org"
	return Lease{ID: 4, UnitID: 2, Unit: "2A", Property: "Harbour House", Tenant: "Ada Brandt", TenantEmail: &email,
		RentCents: 95_000, BaseRentCents: 90_000, Rents: []RentStep{{From: exampleDay("2026-06-01"), RentCents: 95_000}},
		Tenants: []LeaseTenant{{ID: 3, Name: "Ada Brandt", Email: &email}}, Frequency: monthly, DueDay: 1,
		StartDate:    exampleDay("2026-01-15"),
		DepositCents: 190_000, Proration: byDays, Status: active, BalanceCents: 95_000}
}

func exampleCharge() Charge {
	first, last := exampleDay("2026-11-01"), exampleDay("2026-11-30")
	return Charge{ID: 41, Type: rent, Period: first.Month(), Label: "1-30 November 2026", DueDate: first,
		AmountCents: 95_000, BalanceCents: 95_000,
		PeriodStart: &first, PeriodEnd: &last}
}

// examplePaid is the same charge, paid.
func examplePaid() Charge {
	c := exampleCharge()
	paid, method := exampleDay("2026-11-20"), "bank_transfer"
	c.Paid, c.PaidDate, c.Method = true, &paid, &method
	c.PaidCents, c.BalanceCents = c.AmountCents, 0
	return c
}

var (
	exampleOwed   = Totals{BilledCents: 95_000, BalanceCents: 95_000}
	examplePaidUp = Totals{BilledCents: 95_000, PaidCents: 95_000}
)

func exampleAllocations() []Allocation {
	c := exampleCharge()
	return []Allocation{{ChargeID: c.ID, Label: c.Label, AmountCents: c.AmountCents}}
}

func examplePayment() Payment {
	return Payment{PaymentID: 9, LeaseID: 4, Charge: new(examplePaid()), Totals: examplePaidUp, AmountCents: 95_000,
		Allocations: exampleAllocations()}
}
