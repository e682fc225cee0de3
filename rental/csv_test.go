package rental

import (
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// TestCSVComesBackUnchanged: an import into the same file writes nothing; an import into an empty one gives the same
// seven files and ledgers, also with changed rents, ended and extended leases.
func TestCSVComesBackUnchanged(t *testing.T) {
	h := open(t, "2026-03-14")
	first := h.lease("start_date=2025-11-11", "due_day=1", "end_date=2026-03-14")
	h.lease("start_date=2024-02-29", "frequency=weekly", "rent_cents=23456")
	h.lease("start_date=2025-12-31", "frequency=quarterly", "proration=none", "due_day=15", "deposit_cents=9")
	h.lease("start_date=2027-01-01", "frequency=yearly")
	h.Must(h.row("properties", "name=Annex, west", "address=1 Hill\n\"Top\""))
	h.Must(h.row("units", "property=Annex, west", "name=1", "market_rent_cents=12345", "notes=has, comma"))
	h.arrears()
	h.payDue(first, "2025-12-01")
	h.Must(h.row("leases", "property=House", "unit=U1", "start_date=2025-11-11", "end_date=", "rent_cents=120000"))
	h.On("2026-05-02")
	for i, label := range []string{"Key", "Lamp", "Oven"} {
		c := must2(h, cli, addCharge, first, NewCharge{"repair", int64(i), day(t, "2026-04-04"), label})
		if label != "Key" {
			must(h, ann, recordPayment, PaymentRequest{LeaseID: first, ChargeID: c.Charge.ID, PaidDate: "2026-04-05", Method: "card"})
		}
	}
	h.owes(first, "2025-11-11 66667 11-30 November 2025, 20 of 30 days", "2025-12-01 100000 1-31 December 2025 paid 2025-12-01 cash",
		"2026-01-01 100000 1-31 January 2026", "2026-02-01 100000 1-28 February 2026", "2026-03-01 45161 1-14 March 2026, 14 of 31 days",
		"2026-03-15 65806 15-31 March 2026, 17 of 31 days", "2026-04-01 120000 1-30 April 2026",
		"2026-04-04 0 Key", "2026-04-04 1 Lamp paid 2026-04-05 card", "2026-04-04 2 Oven paid 2026-04-05 card", "2026-05-01 120000 1-31 May 2026")
	reversed := h.payDue(first, "2026-01-01")
	must3(h, cli, reversePayment, reversed, "bounced", nil)
	third := h.Number("SELECT id FROM leases WHERE frequency = 'quarterly'")
	_, err := h.end(third, "2026-04-20")
	h.Must(err)
	h.arrears()
	must(h, ann, createTicket, NewTicket{UnitID: 2, Title: "Tap", Description: "two\nlines"})
	h.sound()

	files := map[string]string{}
	for _, name := range tableNames {
		files[name] = h.export(name)
	}
	before := h.written()
	for _, name := range tableNames {
		if name == "payments" {
			var old []string // a file without the last two columns is read as before
			for line := range strings.Lines(files[name]) {
				cells := strings.Split(strings.TrimSpace(line), ",")
				old = append(old, strings.Join(cells[:len(cells)-2], ","))
			}
			refusals := h.try(name, strings.Join(old, "\n"))
			assert.That(t, len(refusals) == strings.Count(files[name], "\n")-1 &&
				strings.Contains(refusals[0], "was paid already"), "payments again: %q", refusals)
		}
		h.load(name, files[name])
	}
	assert.That(t, h.written() == before, "importing what was exported wrote something")

	other := open(t, "2026-05-02")
	for _, name := range tableNames {
		other.load(name, files[name])
	}
	for _, name := range tableNames {
		assert.Equal(t, other.export(name), files[name], "%s", name)
	}
	other.sound()
	for _, unit := range []string{"U1", "U2", "U3", "U4"} {
		find := "SELECT l.id FROM leases l JOIN units u ON u.id = l.unit_id WHERE u.name = ?"
		a := h.ledger(h.Number(find, unit))
		b := other.ledger(other.Number(find, unit))
		assert.That(t, slices.Equal(lines(a.Charges), lines(b.Charges)) && a.Totals == b.Totals,
			"%s: %q\nand %q", unit, lines(a.Charges), lines(b.Charges))
	}
	// Both continue alike.
	h.On("2027-06-01")
	other.On("2027-06-01")
	a := h.arrears()
	b := other.arrears()
	assert.That(t, a.TotalCents == b.TotalCents && a.Buckets == b.Buckets, "arrears %+v and %+v", a.Buckets, b.Buckets)
	h.sound()
	other.sound()
}

// TestMoneyComesBackUnchanged imports a month's ledger into an empty file: parts, credit, returned credit, deposits,
// late fees, voided fees, steps of rent and recurring charges. Both files are the same and continue alike.
func TestMoneyComesBackUnchanged(t *testing.T) {
	h := open(t, "2026-01-01")
	one, two := h.lease("start_date=2026-01-01"), h.lease("start_date=2026-01-01")
	must2(h, cli, setFee, 1, LateFee{GraceDays: 5, Cents: new(int64(2_500)), From: day(t, "2026-01-01")})
	must3(h, cli, setRent, one, day(t, "2026-03-01"), new(int64(110_000)))
	must(h, cli, addRecurring, Recurring{LeaseID: one, Type: "utility", Label: "Water", AmountCents: 3_000, From: day(t, "2026-02-01"), To: new(day(t, "2026-05-31"))})
	must2(h, cli, addCharge, two, NewCharge{"deposit", 50_000, day(t, "2026-01-01"), "Deposit"})
	h.On("2026-01-20") // both have a late fee
	l := h.ledger(one)
	must2(h, cli, voidCharge, l.Charges[1].ID, "they asked kindly")
	for _, p := range []ReceiptRequest{{one, 180_000, "cash", "2026-01-20"}, {two, 152_500, "card", "2026-01-20"}} {
		must(h, ann, receive, p)
	}
	must(h, cli, returnCredit, PayoutRequest{LeaseID: one, AmountCents: new(int64(70_000)), Method: "card"})
	h.On("2026-02-10")
	l = h.ledger(two)
	must3(h, cli, payFromDeposit, l.Charges[3].ID, new(int64(20_000)), nil)
	must(h, cli, returnDeposit, PayoutRequest{LeaseID: two, AmountCents: new(int64(10_000))})
	h.sound()

	other, files := open(t, "2026-02-10"), map[string]string{}
	for _, name := range tableNames {
		files[name] = h.export(name)
		before := h.written()
		if h.load(name, files[name]); h.written() != before {
			t.Errorf("%s: importing what was exported wrote something", name)
		}
	}
	for _, name := range tableNames {
		other.load(name, files[name])
	}
	other.sound()
	for _, on := range []string{"2026-02-10", "2026-07-20"} {
		h.On(on)
		other.On(on)
		for _, house := range []*fixture{h, other} {
			house.arrears()
		}
		for _, name := range tableNames {
			got, want := other.export(name), h.export(name)
			assert.That(t, got == want, "%s on %s came back as\n%s\nand not\n%s", name, on, got, want)
		}
		for _, id := range []int64{one, two} {
			a := assert.Value(h.LeaseStatement(ctx, viewer, id, 2026))(h.T)
			b := assert.Value(other.LeaseStatement(ctx, viewer, id, 2026))(h.T)
			if a.ClosingBalanceCents != b.ClosingBalanceCents || a.CreditReturnedCents != b.CreditReturnedCents || a.ReceivedCents != b.ReceivedCents || a.DepositHeldCents != b.DepositHeldCents {
				t.Errorf("lease %d: %s and %s", id, asJSON(t, a), asJSON(t, b))
			}
		}
	}
	if !strings.Contains(files["charges"], "late_fee,2026-01-07,Late fee for rent due 2026-01-01,0\n") || !strings.Contains(files["payments"], "credit_returned,2026-01-20,cash,2026-01-20,card,70000,1\n") {
		t.Errorf("%s%s", files["charges"], files["payments"])
	}
}

func TestChargeRows(t *testing.T) {
	h := open(t, "2026-03-20")
	id := h.lease("start_date=2026-01-01")
	refusals := h.try("charges", "property,unit,lease_start,type,due_date,label,amount_cents\n"+
		"House,U1,2026-01-01,rent,2026-02-01,1-28 February 2026,90000\n"+ // posted so, after January by its terms
		"House,U1,2026-01-01,rent,2026-02-01,1-28 February 2026,90000\n"+ // the same again
		"House,U1,2026-01-01,rent,2026-02-01,1-28 February 2026,90001\n"+
		"House,U1,2026-01-01,rent,2026-01-01,January,100000\n"+
		"House,U1,2026-01-01,rent,2026-02-15,Half February,1\n"+
		"House,U1,2026-01-01,rent,2026-03-02,March,1\n"+
		"House,U1,2026-01-01,rent,2026-03-01,March,1\n"+
		"House,U1,2026-01-01,rent,2026-04-01,1-30 April 2026,1\n"+
		"House,U1,2026-01-02,other,2026-04-01,x,1\n"+
		"House,U1,2026-01-01,other,2026-04-01,x,1\n"+
		"House,U1,2026-01-01,other,2026-04-01,x,2\n"+
		"House,U1,2026-01-01,other,2026-04-01,y,\n"+
		"House,U1,2026-01-01,gift,2026-04-01,y,1\n"+
		"House,U1,2026-01-01,other,2026-04-01,,1\n"+
		"House,U1,2026-01-01,other,2026-04-01,z,1000000000001\n")
	for i, says := range []string{"is posted with 90000", `is posted as "1-31 January 2026"`, "no billing period of the lease begins on 2026-02-15",
		"no billing period of the lease begins on 2026-03-02", `is called "1-31 March 2026", not "March"`, "in the future",
		"no lease of the unit", "amount_cents is empty", "deposit", "label is missing", "amount_cents"} {
		assert.Must(t, len(refusals) == 11 && strings.Contains(refusals[i], says),
			"%d refusals:\n%s\nwant %q in %d", len(refusals), strings.Join(refusals, "\n"), says, i)
	}
	h.owes(id, "2026-01-01 100000 1-31 January 2026", "2026-02-01 90000 1-28 February 2026", "2026-03-01 100000 1-31 March 2026", "2026-04-01 2 x")
	h.payDue(id, "2026-04-01")
	refusals = h.try("charges", "property,unit,lease_start,type,due_date,label,amount_cents\nHouse,U1,2026-01-01,other,2026-04-01,x,3\nHouse,U1,2026-01-01,other,2026-04-01,x,2\n")
	assert.That(t, len(refusals) == 1 && strings.Contains(refusals[0], "is paid, so it stays 2"), "%q", refusals)
	refusals = h.try("charges", "property,unit,lease_start,type,due_date,label\nHouse,U1,2026-01-01,other,2026-04-01,x\nHouse,U1,2026-01-01,other,2026-04-01,new\n")
	assert.That(t, len(refusals) == 1 && strings.Contains(refusals[0], "amount_cents is missing"), "%q", refusals)
	h.sound()
}

func TestPaymentRows(t *testing.T) {
	h := open(t, "2026-03-20")
	id := h.lease("start_date=2026-01-01")
	refusals := h.try("payments", "property,unit,lease_start,type,due_date,method,paid_date\n"+
		"House,U1,2026-01-01,rent,2026-02-01,transfer,2026-02-03\n"+ // posts due charges first
		"House,U1,2026-01-01,rent,2026-02-01,cash,2026-02-04\n"+
		"House,U1,2026-01-01,rent,2026-04-01,cash,2026-02-04\n"+
		"House,U1,2026-01-01,repair,2026-02-01,cash,2026-02-04\n"+
		"House,U1,2026-01-05,rent,2026-02-01,cash,2026-02-04\n"+
		"House,U1,2026-01-01,rent,2026-03-01,shells,soon\n")
	for i, says := range []string{"was paid already, on 2026-02-03", "no rent charge of the lease is due on 2026-04-01", "no repair charge", "no lease of the unit"} {
		assert.Must(t, len(refusals) == 4 && strings.Contains(refusals[i], says), "%q, want %q in %d", refusals, says, i)
	}
	for _, label := range []string{"Key", "Lamp"} {
		must2(h, cli, addCharge, id, NewCharge{"repair", 1, day(t, "2026-03-18"), label})
	}
	refusals = h.try("payments", "property,unit,lease_start,type,due_date,method,paid_date,label\n"+
		"House,U1,2026-01-01,repair,2026-03-18,cash,2026-03-19,\nHouse,U1,2026-01-01,repair,2026-03-18,cash,2026-03-19,Oven\n"+
		"House,U1,2026-01-01,repair,2026-03-18,cash,2026-03-19,Lamp\n")
	assert.That(t, len(refusals) == 2 && strings.Contains(refusals[0], "2 repair charges") &&
		strings.Contains(refusals[1], `the label "Oven"`), "%q", refusals)
	h.owes(id, "2026-01-01 100000 1-31 January 2026", "2026-02-01 100000 1-28 February 2026 paid 2026-02-03 bank_transfer",
		"2026-03-01 100000 1-31 March 2026 paid 2026-03-20 other",
		"2026-03-18 1 Key", "2026-03-18 1 Lamp paid 2026-03-19 cash")
	assert.EqualSlices(t, h.events(), []string{"payment.recorded", "payment.recorded", "payment.recorded"}, "events")
	h.sound()
}

func TestPeopleAndPlaces(t *testing.T) {
	h := open(t, "2026-03-20")
	h.load("properties", "name,address\nHouse,1 Hill\n")
	h.load("units", "property,name,market_rent_cents,notes\nHouse,A,5,n\n")
	h.load("tenants", "name,email,phone\nAda,a@example.org,1\n")
	before := h.written()
	h.load("properties", "name\nHouse\n")
	h.load("units", "property,name\nHouse,A\n")
	h.load("tenants", "name,phone\nAda,1\n")
	assert.That(t, h.written() == before, "rows that change nothing wrote something")
	h.load("properties", "name,address\nHouse,\n")
	h.load("units", "property,name,notes\nHouse,A,\n")
	h.load("tenants", "name,email\nAda,\n")
	for name, want := range map[string]string{"properties": "name,address,late_fee_grace_days,late_fee_cents,late_fee_percent,late_fee_from\nHouse,,,,,\n", "units": "property,name,market_rent_cents,notes\nHouse,A,5,\n", "tenants": "name,email,phone,id\nAda,,1,1\n"} {
		assert.Equal(t, h.export(name), want)
	}
	refusals := slices.Concat(h.try("properties", "name,address\n,x\n"), h.try("units", "property,name,market_rent_cents\nHome,A,1\nHouse,,1\nHouse,A,-1\n"), h.try("tenants", "name\n \n"))
	for i, says := range []string{"name is missing", "no property named", "name is missing", "market_rent_cents", "name is"} {
		assert.Must(t, len(refusals) == 5 && strings.Contains(refusals[i], says), "%q, want %q in %d", refusals, says, i)
	}
}
