package rental

import (
	"fmt"
	"slices"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func TestArrearsBucketsAndOrder(t *testing.T) {
	h := open(t, "2026-11-20")
	id := h.lease("start_date=2026-11-21") // upcoming: owes no rent yet
	for days, cents := range map[int]int64{0: 1, 1: 10, 30: 100, 31: 1_000, 60: 10_000, 61: 100_000, 90: 1_000_000, 91: 10_000_000, 400: 100_000_000, -1: 1_000_000_000} {
		must2(h, cli, addCharge, id, NewCharge{"other", cents, day(t, "2026-11-20") - exact.Day(days), fmt.Sprintf("%d days", days)})
	}
	a := h.arrears()
	var got []string
	for _, r := range a.Arrears {
		got = append(got, fmt.Sprintf("%s %d", r.Label, r.DaysOverdue))
	}
	want := []string{"400 days 400", "91 days 91", "90 days 90", "61 days 61", "60 days 60", "31 days 31", "30 days 30", "1 days 1"}
	assert.EqualSlices(t, got, want)
	if want := (Buckets{110, 11_000, 1_100_000, 110_000_000}); a.Buckets != want || a.TotalCents != 111_111_110 {
		t.Errorf("%+v, total %d", a.Buckets, a.TotalCents)
	}
	b := a.Buckets
	assert.That(t, b.Days1To30+b.Days31To60+b.Days61To90+b.DaysOver90 == a.TotalCents, "the buckets are not the total")
	l := h.ledger(id)
	if l.Totals.BalanceCents != a.TotalCents+1_000_000_001 { // due today and tomorrow: owed, not overdue
		t.Errorf("balance %d", l.Totals.BalanceCents)
	}
}

func TestArrearsNamesEachLeasesOwn(t *testing.T) {
	h := open(t, "2026-11-20")
	for range 3 {
		h.lease("start_date=2026-09-01")
	}
	h.arrears()
	must(h, ann, recordPayment, PaymentRequest{LeaseID: 2, ChargeID: h.Number("SELECT id FROM charges WHERE lease_id = 2 AND due_date = ?", int64(day(t, "2026-10-01")))})
	a := h.arrears()
	var got []string
	for _, r := range a.Arrears {
		got = append(got, fmt.Sprintf("%s %d %s %s", r.DueDate, r.LeaseID, r.Tenant, *r.TenantEmail))
		if unit := fmt.Sprintf("U%d", r.LeaseID); r.Unit != unit || r.Tenant != "Tenant "+unit {
			t.Errorf("lease %d is said to be of %s in %s", r.LeaseID, r.Tenant, r.Unit)
		}
	}
	assert.That(t, len(got) == 8 && slices.IsSorted(dueDates(a)), "%q", got)
	h.sound()
}

func dueDates(a Arrears) (all []string) {
	for _, r := range a.Arrears {
		all = append(all, r.DueDate.String())
	}
	return all
}

func TestRentRoll(t *testing.T) {
	h := open(t, "2026-11-20")
	h.lease("start_date=2026-10-01")
	h.lease("start_date=2026-11-16", "due_day=1") // 15 of 30 days
	h.Must(h.row("properties", "name=Annex"))
	h.Must(h.row("units", "property=Annex", "name=Z"))
	h.arrears()
	october := h.Number("SELECT id FROM charges WHERE due_date = ?", int64(day(t, "2026-10-01")))
	november := h.Number("SELECT id FROM charges WHERE lease_id = 1 AND due_date = ?", int64(day(t, "2026-11-01")))
	for charge, paid := range map[int64]string{october: "2026-11-02", november: "2026-12-01"} {
		must(h, ann, recordPayment, PaymentRequest{LeaseID: 1, ChargeID: charge, PaidDate: paid})
	}
	roll, err := h.tool("rent_roll", reader, `{}`)
	h.Must(err)
	zero := `"billed_cents":0,"collected_cents":0,"outstanding_cents":0,"received_cents":0,"lease_id":null,"tenant":null}`
	want := `{"month":"2026-11","totals":{"billed_cents":150000,"collected_cents":100000,"outstanding_cents":50000,"received_cents":100000},"units":[` +
		`{"unit_id":3,"unit":"Z","property":"Annex",` + zero + `,` +
		`{"unit_id":1,"unit":"U1","property":"House","billed_cents":100000,"collected_cents":100000,"outstanding_cents":0,"received_cents":100000,"lease_id":1,"tenant":"Tenant U1"},` +
		`{"unit_id":2,"unit":"U2","property":"House","billed_cents":50000,"collected_cents":0,"outstanding_cents":50000,"received_cents":0,"lease_id":2,"tenant":"Tenant U2"}],"shown":3,"total":3,"next":null}`
	assert.Equal(t, asJSON(t, roll), want)
	for month, totals := range map[string]Collection{
		"2026-10": {100000, 100000, 0, 0}, "2026-12": {0, 0, 0, 100000}, "2026-09": {}, "9999-12": {}, "0001-01": {},
	} {
		roll := assert.Value(h.tool("rent_roll", reader, `{"month":"`+month+`"}`))(h.T)
		got := roll.(FoundRoll)
		assert.That(t, *got.Totals == totals && got.Month.String() == month, "%s: %+v, want %+v", month, got.Totals, totals)
	}
	_, err = h.tool("rent_roll", reader, `{"month":"2026-13"}`)
	h.Refused(err, fault.Invalid, "month")
}
