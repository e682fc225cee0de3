package rental

import (
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// TestLateFeesGoByTheDaysOfThePayments computes one lease by hand: rent 1000.00 due on the 1st, 5 days of grace, 5
// percent of the amount open then.
func TestLateFeesGoByTheDaysOfThePayments(t *testing.T) {
	h := open(t, "2026-03-01")
	id := h.lease("start_date=2026-03-01")
	must2(h, cli, setFee, 1, LateFee{GraceDays: 5, Percent: new(exact.Milli(5_000)), From: day(t, "2026-03-01")})
	h.On("2026-03-06")
	h.owes(id, "2026-03-01 100000 1-31 March 2026")
	h.On("2026-03-20")
	h.owes(id, "2026-03-01 100000 1-31 March 2026", "2026-03-07 5000 Late fee for rent due 2026-03-01")

	// A part arrived within the grace and is recorded now: the fee is on the rest, 599.90, and half a cent is rounded up.
	part := must(h, ann, recordPayment, PaymentRequest{LeaseID: id, ChargeID: 1, AmountCents: new(int64(40_010)), PaidDate: "2026-03-06", Method: "cash"})
	h.owes(id, "2026-03-01 100000 1-31 March 2026", "2026-03-07 3000 Late fee for rent due 2026-03-01")

	// The rest arrived within the grace too, with 20.10 more: no fee, and 20.10 credit.
	all := must(h, ann, receive, ReceiptRequest{LeaseID: id, AmountCents: 62_000, PaidDate: "2026-03-04", Method: "cash"})
	l := h.owes(id, "2026-03-01 100000 1-31 March 2026 paid 2026-03-06 cash")
	if l.Totals.CreditCents != 2_010 || all.CreditCents != 2_010 || len(all.Allocations) != 1 || all.Allocations[0].AmountCents != 59_990 {
		t.Errorf("%s %s", asJSON(t, l.Totals), asJSON(t, all))
	}

	// It bounced: the fee is due again, in the past, and so is the rent.
	must3(h, cli, reversePayment, part.PaymentID, "bounced", nil)
	l = h.owes(id, "2026-03-01 100000 1-31 March 2026", "2026-03-07 1900 Late fee for rent due 2026-03-01")
	if l.Charges[0].PaidCents != 62_000 || l.Totals.CreditCents != 0 { // the credit went to the rent at once
		t.Errorf("%s", asJSON(t, l))
	}

	// A voided one is not posted again.
	must2(h, cli, voidCharge, l.Charges[1].ID, "they asked kindly")
	must3(h, cli, reversePayment, all.PaymentID, "bounced too", nil)
	h.owes(id, "2026-03-01 100000 1-31 March 2026")
	h.sound()
}

// TestPaymentThatRemovesALateFee: one payment on account, recorded after the fee was posted, dated within the
// grace, over the rent, the fee and more. It pays the rent; then the fee is removed and the rest is credit.
func TestPaymentThatRemovesALateFee(t *testing.T) {
	h := open(t, "2026-03-01")
	id := h.lease("start_date=2026-03-01")
	must2(h, cli, setFee, 1, LateFee{GraceDays: 5, Cents: new(int64(2_500)), From: day(t, "2026-03-01")})
	h.On("2026-03-20")
	h.owes(id, "2026-03-01 100000 1-31 March 2026", "2026-03-07 2500 Late fee for rent due 2026-03-01")
	p := must(h, ann, receive, ReceiptRequest{LeaseID: id, AmountCents: 110_000, PaidDate: "2026-03-06", Method: "cash"})
	if h.owes(id, "2026-03-01 100000 1-31 March 2026 paid 2026-03-06 cash"); p.CreditCents != 10_000 || p.Charge == nil {
		t.Errorf("%s", asJSON(t, p))
	}
	h.sound()
}

// TestMoneyInParts: a payment on account, credit used for new charges, a deposit used and returned, and obstacles to a
// reversal.
func TestMoneyInParts(t *testing.T) {
	h := open(t, "2026-03-01")
	id := h.lease("start_date=2026-03-01")
	must2(h, cli, addCharge, id, NewCharge{"deposit", 150_000, day(t, "2026-03-01"), "Deposit"})
	p := must(h, ann, receive, ReceiptRequest{LeaseID: id, AmountCents: 300_000, Method: "transfer", PaidDate: "2026-03-01"})
	if p.Charge != nil || len(p.Allocations) != 2 || p.CreditCents != 50_000 || p.Totals.DepositHeldCents != 150_000 {
		t.Errorf("%s", asJSON(t, p))
	}
	h.On("2026-04-01")
	l := h.ledger(id)
	if c := l.Charges[2]; c.PaidCents != 50_000 || c.Paid || l.Totals != (Totals{BilledCents: 350_000, PaidCents: 300_000, BalanceCents: 50_000, DepositHeldCents: 150_000}) {
		t.Errorf("%s", asJSON(t, l))
	}
	used := must3(h, cli, payFromDeposit, l.Charges[2].ID, nil, nil)
	if used.AmountCents != 50_000 || *used.Charge.Method != "deposit" || used.Totals.DepositHeldCents != 100_000 {
		t.Errorf("%s", asJSON(t, used))
	}
	_, err := do(h, cli, returnDeposit, PayoutRequest{LeaseID: id, AmountCents: new(int64(100_001))})
	h.Refused(err, fault.Invalid, "amount_cents", "100000")
	must(h, cli, returnDeposit, PayoutRequest{LeaseID: id, AmountCents: new(int64(60_000))})
	h.Refused(refusal3(h, cli, reversePayment, p.PaymentID, "bounced", nil), fault.Conflict, "deposit")
	e := h.events()
	assert.That(t, len(e) == 1, "events %q", e)
	h.Refused(refusal(h, cli, cancelLease, id), fault.Conflict, "payment 1")
	h.sound()
}
