package rental

import (
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
)

func TestPaymentPostsFirst(t *testing.T) {
	h := open(t, "2026-01-10")
	h.lease("start_date=2026-01-01")
	h.owes(1, "2026-01-01 100000 1-31 January 2026")
	h.On("2026-03-01")
	p := must(h, ann, recordPayment, PaymentRequest{LeaseID: 1, ChargeID: 1})
	assert.That(t, p.Totals == (Totals{BilledCents: 300000, PaidCents: 100000, BalanceCents: 200000}),
		"totals %+v", p.Totals)
	l := h.ledger(1)
	assert.That(t, l.Totals == p.Totals, "the ledger's totals %+v are not the payment's %+v", l.Totals, p.Totals)
	n := h.Number("SELECT count(*) FROM audit WHERE actor = 'system' AND via = 'rest' AND action = 'lease.posted'")
	assert.That(t, n == 2, "%d postings by the system, want 2", n)
}

// TestDefaultCurrency records a payment in dollars, the default currency.
func TestDefaultCurrency(t *testing.T) {
	h := open(t, "2026-02-10")
	h.lease("start_date=2026-01-01")
	_, err := do(h, ann, recordMoney, MoneyIn{LeaseID: 1, AmountCents: 100000, Currency: "CHF"})
	h.Refused(err, fault.Invalid, "rents are in USD here, not in \"CHF\"")
	must(h, ann, recordMoney, MoneyIn{LeaseID: 1, AmountCents: 100000, Currency: "USD"})
	h.owes(1, "2026-01-01 100000 1-31 January 2026 paid 2026-02-10 other", "2026-02-01 100000 1-28 February 2026")
}

// TestADoubtfulPaymentAsks: more than three times what is open; where nothing is open, nothing is asked.
func TestADoubtfulPaymentAsks(t *testing.T) {
	for _, c := range []struct {
		open, amount int64
		asks         bool
	}{{100_000, 300_000, false}, {100_000, 300_001, true}, {0, 300_001, false}, {1, 3, false}, {1, 4, true}} {
		p := Payment{AmountCents: c.amount, Allocations: []Allocation{{AmountCents: c.open}}}
		q := doubtPayment(p, func(int64) string { return "" })
		assert.That(t, (q.Title != "") == c.asks, "%d of %d: %+v", c.amount, c.open, q)
	}
}
