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
	_, err := do2(h, ann, renameProperty, 1, "Other")
	h.Refused(err, fault.Conflict, "Other", "property 2")
	_, err = do2(h, ann, renameUnit, 1, "B")
	h.Refused(err, fault.Conflict, "unit 2")
	_, err = do2(h, ann, renameUnit, 1, "U9") // another property's
	h.Must(err)
	done, err := do2(h, ann, renameProperty, 1, " Court ")
	h.Must(err)
	assert.That(t, done.Was == "House" && done.Name == "Court", "%+v", done)
	l, err := h.Ledger(ctx, viewer, id)
	h.Must(err)
	assert.That(t, l.Lease.Property == "Court" && l.Lease.Unit == "U9", "%s", asJSON(t, l.Lease))
	_, err = do2(h, ann, renameProperty, 99, "x")
	h.Refused(err, fault.NotFound)
	_, err = do2(h, viewer, renameUnit, 1, "x")
	h.Refused(err, fault.Forbidden)
}

// TestFirstDay moves a lease's first day while nothing is paid on it: rent, recurring charges and late fees are posted
// anew.
func TestFirstDay(t *testing.T) {
	h := open(t, "2026-11-20")
	id := h.lease("start_date=2026-09-01")
	_, err := do2(h, cli, setFee, 1, LateFee{GraceDays: 5, Cents: new(int64(1_000)), From: day(t, "2026-09-01")})
	h.Must(err)
	_, err = do(h, ann, addRecurring, Recurring{LeaseID: id, Type: "utility", Label: "Water", AmountCents: 3_000, From: day(t, "2026-10-01")})
	h.Must(err)
	_, err = do2(h, ann, addCharge, id, NewCharge{Type: "repair", Label: "Lock", DueDate: day(t, "2026-09-02"), AmountCents: 500})
	h.Must(err)
	done, err := do2(h, ann, setFirstDay, id, day(t, "2026-10-16"))
	h.Must(err)
	assert.That(t, done.Withdrawn == 8 && done.Was == day(t, "2026-09-01") && done.Lease.StartDate == day(t, "2026-10-16"),
		"%s", asJSON(t, done))
	h.owes(id, "2026-09-02 500 Lock", "2026-10-16 51613 16-31 October 2026, 16 of 31 days", "2026-10-16 3000 Water", "2026-10-22 1000 Late fee for rent due 2026-10-16",
		"2026-11-01 100000 1-30 November 2026", "2026-11-01 3000 Water", "2026-11-07 1000 Late fee for rent due 2026-11-01")
	h.sound()
	_, err = do2(h, ann, setFirstDay, id, day(t, "2027-02-01"))
	h.Must(err)
	h.owes(id, "2026-09-02 500 Lock")
	_, err = do2(h, ann, setFirstDay, id, day(t, "2026-11-01"))
	h.Must(err)
	h.sound()
	_, err = do(h, ann, receive, ReceiptRequest{LeaseID: id, AmountCents: 1})
	h.Must(err)
	_, err = do2(h, ann, setFirstDay, id, day(t, "2026-10-01"))
	h.Refused(err, fault.Conflict, "payment 1")
	other := h.lease("start_date=2026-09-01", "end_date=2026-10-31")
	_, err = do2(h, ann, setFirstDay, other, day(t, "2026-11-01"))
	h.Refused(err, fault.Invalid, "before start_date")
	h.sound()
}

// TestArrearsByPerson: a tenant with two leases is one row, a forgotten one has no address.
func TestArrearsByPerson(t *testing.T) {
	h := open(t, "2026-11-20")
	h.load("properties", "name\nHouse\n")
	h.load("units", "property,name\nHouse,A\nHouse,B\nHouse,C\n")
	h.load("tenants", "name,email\nAda Brandt,ada@example.org\nBen Okafor,ben@example.org\n")
	h.load("leases", "property,unit,start_date,end_date,tenant,rent_cents\nHouse,A,2026-10-01,,Ada Brandt|Ben Okafor,1000\nHouse,B,2026-11-01,,Ada Brandt,500\nHouse,C,2026-09-01,2026-09-30,Ben Okafor,300\n")
	_, err := h.Arrears(ctx, viewer)
	h.Must(err)
	_, err = do(h, cli, forgetTenant, 2)
	h.Refused(err, fault.Conflict, "active")
	_, err = do2(h, ann, endEarly, 1, day(t, "2026-11-19"))
	h.Must(err)
	_, err = do(h, cli, forgetTenant, 2)
	h.Must(err)
	a, err := h.Arrears(ctx, viewer)
	h.Must(err)
	got := a.ByPerson()
	if len(got) != 2 || got[0].Tenant != "forgotten-2" || !got[0].Forgotten || got[0].BalanceCents != 300 || got[0].DaysOverdue != 80 {
		t.Fatalf("%+v", got)
	}
	if ada := got[1]; ada.TenantID != 1 || ada.Forgotten || ada.BalanceCents != 1000+633+500 || len(ada.Charges) != 3 || ada.DaysOverdue != 50 {
		t.Errorf("%+v", ada)
	}
}

// TestChargesAreChosenByTheirWords: open charges are offered with unit, tenant, words, period and amount.
func TestChargesAreChosenByTheirWords(t *testing.T) {
	h := open(t, "2026-11-20")
	id := h.lease("start_date=2026-11-01")
	_, err := h.Ledger(ctx, viewer, id)
	h.Must(err)
	h.Must(h.DB.View(ctx, func(c *db.Conn) error {
		all, err := chargeChoices(c, schema.Find{Most: 50})
		if len(all) != 1 || all[0].Whole() != "House / U1, Tenant U1: rent, 1-30 November 2026, 1,000.00 USD open" {
			t.Errorf("%+v", all)
		}
		return err
	}))
	years, err := h.MoneyYears(ctx, 1)
	assert.That(t, err == nil && len(years) == 1 && years[0] == 2026, "%v %v", years, err)
	_, err = do(h, ann, receive, ReceiptRequest{LeaseID: id, AmountCents: 100, PaidDate: "2024-01-01"})
	h.Must(err)
	years, err = h.MoneyYears(ctx, 1)
	assert.That(t, err == nil && len(years) == 3, "%v %v", years, err)
}
