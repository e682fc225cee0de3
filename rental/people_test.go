package rental

import (
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// TestRename renames a property and a unit: their leases follow, used names are refused.
func TestRename(t *testing.T) {
	h := open(t, "2026-11-20")
	id := h.lease("start_date=2026-09-01")
	h.load("properties", "name\nOther\n")
	h.load("units", "property,name\nHouse,B\nOther,U9\n")
	h.Refused(refusal2(h, ann, renameProperty, 1, "Other"), fault.Conflict, "Other", "property 2")
	h.Refused(refusal2(h, ann, renameUnit, 1, "B"), fault.Conflict, "unit 2")
	_, err := do2(h, ann, renameUnit, 1, "U9") // another property's
	h.Must(err)
	done := must2(h, ann, renameProperty, 1, " Court ")
	assert.That(t, done.Was == "House" && done.Name == "Court", "%+v", done)
	l := h.ledger(id)
	assert.That(t, l.Lease.Property == "Court" && l.Lease.Unit == "U9", "%s", asJSON(t, l.Lease))
	h.Refused(refusal2(h, ann, renameProperty, 99, "x"), fault.NotFound)
	h.Refused(refusal2(h, viewer, renameUnit, 1, "x"), fault.Forbidden)
}

// TestFirstDay moves a lease's first day while nothing is paid on it: rent, recurring charges and late fees are posted
// anew.
func TestFirstDay(t *testing.T) {
	h := open(t, "2026-11-20")
	id := h.lease("start_date=2026-09-01")
	must2(h, cli, setFee, 1, LateFee{GraceDays: 5, Cents: new(int64(1_000)), From: day(t, "2026-09-01")})
	must(h, ann, addRecurring, Recurring{LeaseID: id, Type: "utility", Label: "Water", AmountCents: 3_000, From: day(t, "2026-10-01")})
	must2(h, ann, addCharge, id, NewCharge{Type: "repair", Label: "Lock", DueDate: day(t, "2026-09-02"), AmountCents: 500})
	done := must2(h, ann, setFirstDay, id, day(t, "2026-10-16"))
	assert.That(t, done.Withdrawn == 8 && done.Was == day(t, "2026-09-01") && done.Lease.StartDate == day(t, "2026-10-16"),
		"%s", asJSON(t, done))
	h.owes(id, "2026-09-02 500 Lock", "2026-10-16 51613 16-31 October 2026, 16 of 31 days", "2026-10-16 3000 Water", "2026-10-22 1000 Late fee for rent due 2026-10-16",
		"2026-11-01 100000 1-30 November 2026", "2026-11-01 3000 Water", "2026-11-07 1000 Late fee for rent due 2026-11-01")
	h.sound()
	must2(h, ann, setFirstDay, id, day(t, "2027-02-01"))
	h.owes(id, "2026-09-02 500 Lock")
	must2(h, ann, setFirstDay, id, day(t, "2026-11-01"))
	h.sound()
	must(h, ann, receive, ReceiptRequest{LeaseID: id, AmountCents: 1})
	h.Refused(refusal2(h, ann, setFirstDay, id, day(t, "2026-10-01")), fault.Conflict, "payment 1")
	other := h.lease("start_date=2026-09-01", "end_date=2026-10-31")
	h.Refused(refusal2(h, ann, setFirstDay, other, day(t, "2026-11-01")), fault.Invalid, "before start_date")
	h.sound()
}

// TestArrearsByPerson: a tenant with two leases is one row, a forgotten one has no address.
func TestArrearsByPerson(t *testing.T) {
	h := open(t, "2026-11-20")
	h.load("properties", "name\nHouse\n")
	h.load("units", "property,name\nHouse,A\nHouse,B\nHouse,C\n")
	h.load("tenants", "name,email\nAda Brandt,ada@example.org\nBen Okafor,ben@example.org\n")
	h.load("leases", "property,unit,start_date,end_date,tenant,rent_cents\nHouse,A,2026-10-01,,Ada Brandt|Ben Okafor,1000\nHouse,B,2026-11-01,,Ada Brandt,500\nHouse,C,2026-09-01,2026-09-30,Ben Okafor,300\n")
	h.arrears()
	h.Refused(refusal(h, cli, forgetTenant, 2), fault.Conflict, "active")
	must2(h, ann, endEarly, 1, day(t, "2026-11-19"))
	must(h, cli, forgetTenant, 2)
	a := h.arrears()
	got := a.ByPerson()
	assert.Must(t, len(got) == 2 && got[0].Tenant == "forgotten-2" && got[0].Forgotten && got[0].BalanceCents == 300 &&
		got[0].DaysOverdue == 80, "%+v", got)
	if ada := got[1]; ada.TenantID != 1 || ada.Forgotten || ada.BalanceCents != 1000+633+500 || len(ada.Charges) != 3 || ada.DaysOverdue != 50 {
		t.Errorf("%+v", ada)
	}
}

// TestChargesAreChosenByTheirWords: open charges are offered with unit, tenant, words, period and amount.
func TestChargesAreChosenByTheirWords(t *testing.T) {
	h := open(t, "2026-11-20")
	id := h.lease("start_date=2026-11-01")
	h.ledger(id)
	h.Must(h.DB.View(ctx, func(c *db.Conn) error {
		all, err := chargeChoices(c, schema.Find{Most: 50})
		assert.That(t, len(all) == 1 &&
			all[0].Whole() == "House / U1, Tenant U1: rent, 1-30 November 2026, 1,000.00 USD open", "%+v", all)
		return err
	}))
	years, err := h.MoneyYears(ctx, 1)
	assert.That(t, err == nil && len(years) == 1 && years[0] == 2026, "%v %v", years, err)
	must(h, ann, receive, ReceiptRequest{LeaseID: id, AmountCents: 100, PaidDate: "2024-01-01"})
	years, err = h.MoneyYears(ctx, 1)
	assert.That(t, err == nil && len(years) == 3, "%v %v", years, err)
}
