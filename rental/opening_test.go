package rental

import (
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func (h *fixture) opening(o Opening) OpeningDone {
	h.T.Helper()
	done := must(h, ann, setOpenings, []Opening{o})
	return done.Leases[0]
}

// TestLeasesToTakeOverAreOnOnePage takes 2,100 leases over in one act: one page holds them, so that no mark is lost by
// paging.
func TestLeasesToTakeOverAreOnOnePage(t *testing.T) {
	h := open(t, "2026-11-22")
	for range 2_100 {
		h.lease("start_date=2026-11-01")
	}
	leases, next, _, err := h.Openings(ctx, 0, MaxOpenings)
	h.Must(err)
	all := make([]Opening, len(leases))
	on := day(t, "2026-11-01")
	for i, l := range leases {
		all[i] = Opening{LeaseID: l.ID, Day: &on, BalanceCents: 100}
	}
	done, err := do(h, ann, setOpenings, all)
	assert.That(t, err == nil && next == nil && len(done.Leases) == 2_100, "%d taken over: %v", len(done.Leases), err)
}

// TestOpeningBalance computes two leases from March 2024 by hand: 33 months of rent settled elsewhere, 350.00 owed
// and a deposit of 1,800.00, or 200.00 paid ahead.
func TestOpeningBalance(t *testing.T) {
	h := open(t, "2026-11-22")
	id := h.lease("start_date=2024-03-01", "rent_cents=90000")
	l := h.ledger(id)
	assert.Must(t, len(l.Charges) == 33 && l.Totals.BalanceCents == 2_970_000,
		"%d charges, %s", len(l.Charges), asJSON(t, l.Totals))
	on := day(t, "2026-11-01")
	events := len(h.events())
	done := h.opening(Opening{LeaseID: id, Day: &on, BalanceCents: 35_000, DepositCents: 180_000})
	assert.That(t, done.Withdrawn == 32 && done.WithdrawnCents == 2_880_000 && len(h.events()) == events,
		"%s", asJSON(t, done))
	l = h.owes(id, "2026-10-31 35000 Balance on 2026-11-01", "2026-10-31 180000 Deposit held on 2026-11-01 paid 2026-10-31 opening", "2026-11-01 90000 1-30 November 2026")
	if want := (Totals{BilledCents: 305_000, PaidCents: 180_000, BalanceCents: 125_000, DepositHeldCents: 180_000, OpeningCreditCents: 180_000}); l.Totals != want {
		t.Errorf("%s", asJSON(t, l.Totals))
	}
	arrears := h.arrears()
	if arrears.TotalCents != 125_000 || len(arrears.Arrears) != 2 || arrears.Arrears[0].DaysOverdue != 22 || arrears.Arrears[1].DaysOverdue != 21 {
		t.Errorf("%s", asJSON(t, arrears))
	}
	must(h, ann, receive, ReceiptRequest{LeaseID: id, AmountCents: 125_000, PaidDate: "2026-11-20"})
	st, err := h.LeaseStatement(ctx, viewer, id, 2026)
	h.Must(err)
	if st.OpeningBalanceCents != 35_000 || st.ChargedCents != 90_000 || st.ReceivedCents != 125_000 || st.ClosingBalanceCents != 0 {
		t.Errorf("%s", asJSON(t, st))
	}
	_, err = h.LeaseStatement(ctx, viewer, id, 2025)
	h.Refused(err, fault.Invalid, "2026-11-01")
	roll := assert.Value(h.RentRoll(ctx, viewer, new(day(t, "2026-10-01").Month())))(h.T)
	assert.That(t, roll.Totals.BilledCents == 0 && roll.Totals.ReceivedCents == 0,
		"October bills what was taken over: %s", asJSON(t, roll.Totals))
	property := assert.Value(h.PropertyStatement(ctx, viewer, 1, 2026))(h.T)
	assert.That(t, property.ReceivedCents == 125_000 && slices.Contains(property.ByType, TypeReceived{"opening", 35_000}),
		"%s", asJSON(t, property))
	_, err = do(h, ann, setOpenings, []Opening{{LeaseID: id, Day: &on, BalanceCents: 10_000, DepositCents: 180_000}})
	h.Refused(err, fault.Invalid, "35000 are paid")
	h.Refused(refusal2(h, cli, voidCharge, l.Charges[0].ID, "x"), fault.Conflict, "taken over")
	h.sound()

	ahead := h.lease("start_date=2024-03-01", "rent_cents=90000")
	h.opening(Opening{LeaseID: ahead, Day: &on, BalanceCents: -20_000})
	l = h.owes(ahead, "2026-11-01 90000 1-30 November 2026")
	if l.Totals.PaidCents != 20_000 || l.Totals.BalanceCents != 70_000 || l.Totals.OpeningCreditCents != 20_000 {
		t.Errorf("%s", asJSON(t, l.Totals))
	}
	if st, err = h.LeaseStatement(ctx, viewer, ahead, 2026); err != nil || st.OpeningBalanceCents != -20_000 || st.ClosingBalanceCents != 70_000 || st.ReceivedCents != 0 {
		t.Errorf("%s %v", asJSON(t, st), err)
	}
	// Taken over from tomorrow, paid today: the tenant's payment is on the statement, not in the balance taken over.
	must(h, ann, receive, ReceiptRequest{LeaseID: ahead, AmountCents: 10_000, PaidDate: "2026-10-31"})
	if st, err = h.LeaseStatement(ctx, viewer, ahead, 2026); err != nil || st.OpeningBalanceCents != -20_000 ||
		st.ClosingBalanceCents != 60_000 || st.ReceivedCents != 10_000 {
		t.Errorf("%s %v", asJSON(t, st), err)
	}
	h.sound()
}

// TestOpeningIsReplacedAndRemoved moves the opening date back and forth: periods are posted again and withdrawn,
// each once, with their late fees.
func TestOpeningIsReplacedAndRemoved(t *testing.T) {
	h := open(t, "2026-03-20")
	id := h.lease("start_date=2026-01-10", "due_day=1")
	must2(h, cli, setFee, 1, LateFee{GraceDays: 5, Cents: new(int64(1_000)), From: day(t, "2026-01-01")})
	before := h.ledger(id)
	for _, o := range []Opening{
		{LeaseID: id, Day: new(day(t, "2026-03-01")), BalanceCents: 5_000, DepositCents: 100},
		{LeaseID: id, PaidUpTo: new(day(t, "2026-01-31"))},
		{LeaseID: id, Day: new(day(t, "2026-02-02")), BalanceCents: -300_000},
		{LeaseID: id, Day: new(day(t, "2026-05-01"))},
	} {
		h.opening(o)
		h.sound()
	}
	h.owes(id)
	done := h.opening(Opening{LeaseID: id})
	assert.That(t, done.Posted == 0, "%s", asJSON(t, done))
	h.owes(id, lines(before.Charges)...)
	h.opening(Opening{LeaseID: id, Day: new(day(t, "2026-03-01"))})
	done = h.opening(Opening{LeaseID: id})
	assert.That(t, done.Posted == 2 && done.PostedCents == 170_968, "%s", asJSON(t, done))
	h.owes(id, lines(before.Charges)...)
	h.sound()
}

// TestRefusedOpenings: the obstacle is named, and nothing is written.
func TestRefusedOpenings(t *testing.T) {
	h := open(t, "2026-11-22")
	id := h.lease("start_date=2024-03-01")
	must(h, ann, receive, ReceiptRequest{LeaseID: id, AmountCents: 1, PaidDate: "2026-10-30"})
	day := func(s string) *exact.Day { return new(day(t, s)) }
	was := h.written()
	for says, o := range map[string]Opening{
		"payment 1":                 {LeaseID: id, Day: day("2026-11-01")},
		"2026-10-31 and 2026-11-30": {LeaseID: id, PaidUpTo: day("2026-11-10")},
		"2024-03-01, its first":     {LeaseID: id, Day: day("2024-02-29")},
		"2027-11-23":                {LeaseID: id, Day: day("2027-11-24")},
		"need the day":              {LeaseID: id, BalanceCents: 5},
		"not both":                  {LeaseID: id, Day: day("2026-11-01"), PaidUpTo: day("2026-10-31")},
	} {
		h.Refused(refusal(h, ann, setOpenings, []Opening{o}), fault.Invalid, says)
	}
	assert.That(t, h.written() == was, "a refused opening wrote")
	h.Refused(refusal(h, viewer, setOpenings, []Opening{{LeaseID: id}}), fault.Forbidden)
}

// TestLeasesComeWithTheirOpenings imports leases with opening balances, exports them, and imports them into another
// file: the same ledgers. Without an opening the export has no such column.
func TestLeasesComeWithTheirOpenings(t *testing.T) {
	h := open(t, "2026-11-22")
	id := h.lease("start_date=2024-03-01")
	var before strings.Builder
	h.exportTo("leases", &before)
	assert.Lacks(t, before.String(), "opening")
	head := "property,unit,start_date,tenant,rent_cents,"
	h.load("units", "property,name\nHouse,B\nHouse,C\n")
	h.load("leases", head+"opening_day,opening_balance_cents,opening_deposit_cents\nHouse,B,2024-03-01,Tenant U1,90000,2026-11-01,35000,180000\n")
	h.load("leases", head+"paid_up_to\nHouse,C,2024-03-01,Tenant U1,90000,2026-10-31\n")
	got := h.try("leases", head+"paid_up_to\nHouse,C,2024-03-01,Tenant U1,90000,2026-11-10\n")
	assert.That(t, len(got) == 1 && strings.Contains(got[0], "2026-10-31 and 2026-11-30"), "%q", got)
	n := h.Number("SELECT count(*) FROM charges WHERE type = 'rent'")
	assert.That(t, n == 0, "the import posted %d periods", n)
	h.owes(id+2, "2026-11-01 90000 1-30 November 2026")
	b := h.owes(id+1, "2026-10-31 35000 Balance on 2026-11-01", "2026-10-31 180000 Deposit held on 2026-11-01 paid 2026-10-31 opening", "2026-11-01 90000 1-30 November 2026")
	must(h, ann, receive, ReceiptRequest{LeaseID: id + 1, AmountCents: 50_000, PaidDate: "2026-11-20"})
	h.sound()
	// the same
	h.load("leases", head+"opening_day,opening_balance_cents,opening_deposit_cents\nHouse,B,2024-03-01,Tenant U1,90000,2026-11-01,35000,180000\n")
	other := open(t, "2026-11-22")
	for _, name := range tableNames {
		var file strings.Builder
		h.exportTo(name, &file)
		other.load(name, file.String())
	}
	l := other.ledger(other.Number("SELECT l.id FROM leases l JOIN units u ON u.id = l.unit_id WHERE u.name = 'B'"))
	mine := h.ledger(b.Lease.ID)
	assert.That(t, l.Totals == mine.Totals && slices.Equal(lines(l.Charges), lines(mine.Charges)),
		"%s\n%s", asJSON(t, l), asJSON(t, mine))
	other.sound()
}
