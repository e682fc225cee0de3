package rental

import (
	"fmt"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

var boss = func() db.Caller {
	who := ann
	who.Role = "admin"
	return who
}()

// pay receives an amount for a lease on a day.
func (h *fixture) pay(lease, cents int64, on string) int64 {
	h.T.Helper()
	p := must(h, ann, receive, ReceiptRequest{LeaseID: lease, AmountCents: cents, Method: "bank_transfer", PaidDate: on})
	return p.PaymentID
}

// spend enters an expense of Harbour House: "category cents day [unit]".
func (h *fixture) spend(said string) Expense {
	h.T.Helper()
	f := append(strings.Fields(said), "")
	var cents int64
	_, err := fmt.Sscan(f[1], &cents)
	h.Must(err)
	e := must(h, ann, addExpense, NewExpense{Property: "Harbour House", Unit: f[3], Category: f[0], AmountCents: &cents, Day: new(day(h.T, f[2]))})
	return e
}

func (h *fixture) year(year int64) YearReport {
	h.T.Helper()
	y := assert.Value(h.YearReport(ctx, viewer, year, ""))(h.T)
	return y
}

// figures are the figures of a year: "section item cents" of the property and "unit section cents" of its units.
func figures(y YearReport) (all []string) {
	for _, r := range y.Rows() {
		all = append(all, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %d", r.Unit, r.Section, r.Item, r.Cents)), " "))
	}
	return all
}

// harbour is the property of the contract's seventh example, in 2025, on 30 December.
func harbour(t *testing.T) (h *fixture, a, b int64) {
	h = open(t, "2025-12-30")
	h.bank()
	h.Must(h.row("properties", "name=Harbour House"))
	for _, unit := range []string{"1A", "2A"} {
		h.Must(h.row("units", "property=Harbour House", "name="+unit))
		h.Must(h.row("tenants", "name=Tenant "+unit))
	}
	h.Must(h.row("leases", "property=Harbour House", "unit=1A", "tenant=Tenant 1A", "start_date=2025-02-01", "rent_cents=95000"))
	h.Must(h.row("leases", "property=Harbour House", "unit=2A", "tenant=Tenant 2A", "start_date=2025-02-01", "end_date=2025-11-30", "rent_cents=48000"))
	a, b = 1, 2
	for month := 2; month <= 12; month++ {
		h.pay(a, 95_000, fmt.Sprintf("2025-%02d-01", month))
	}
	h.pay(a, 95_000, "2025-12-29") // for January
	deposit := must2(h, ann, addCharge, b, NewCharge{Type: "deposit", AmountCents: 60_000, DueDate: day(t, "2025-02-01"), Label: "Deposit"})
	fee := must2(h, ann, addCharge, b, NewCharge{Type: lateFee, AmountCents: 2500, DueDate: day(t, "2025-05-01"), Label: "Late fee"})
	for _, charge := range []int64{deposit.Charge.ID, fee.Charge.ID} {
		must(h, ann, recordPayment, PaymentRequest{LeaseID: b, ChargeID: charge, Method: "cash", PaidDate: "2025-05-02"})
	}
	h.pay(b, 430_000, "2025-10-01")
	ledger := h.ledger(b)
	left := int64(50_000) // of the deposit for rent
	for _, c := range ledger.Charges {
		if c.Type == rent && !c.Paid && left > 0 {
			n := min(left, c.BalanceCents)
			must3(h, ann, payFromDeposit, c.ID, &n, new(day(t, "2025-12-01")))
			left -= n
		}
	}
	must(h, ann, returnDeposit, PayoutRequest{LeaseID: b, Day: new(day(t, "2025-12-05")), Method: "bank_transfer"})
	for _, e := range []string{"insurance 82000 2025-01-15", "repairs 34000 2025-06-12 1A", "utilities 66000 2025-08-01", "capital 200000 2025-09-01"} {
		h.spend(e)
	}
	h.sound()
	return h, a, b
}

// TestAYear is the contract's seventh example, figure by figure.
func TestAYear(t *testing.T) {
	h, _, _ := harbour(t)
	want := []string{"received 1632500", "income rent 1475000", "from_deposits rent 50000", "income late_fee 2500", "advance 95000", "income 1622500",
		"spent insurance 82000", "spent repairs 34000", "spent utilities 66000", "spent 182000", "result 1440500", "capital 200000",
		"deposits received 60000", "deposits used 50000", "deposits returned 10000",
		"1A income 1140000", "1A spent 34000", "1A result 1106000", "2A income 482500", "2A result 482500"}
	assert.EqualSlices(t, figures(h.year(2025)), want)
	y := h.year(2024)
	assert.That(t, len(y.Properties) == 0 && y.Totals.IncomeCents == 0, "%s", asJSON(t, y))
	one, err := h.YearReport(ctx, viewer, 2025, "harbour house")
	h.Must(err)
	assert.That(t, asJSON(t, one.Properties) == asJSON(t, h.year(2025).Properties), "%s", asJSON(t, one))
	list, _, err := h.Years(ctx, viewer, "")
	h.Must(err)
	assert.That(t, len(list) == 1 && asJSON(t, list[0]) == asJSON(t, h.year(2025)), "%s", asJSON(t, list))
}

// TestAClosedYear is the contract's eighth example: later changes do not affect a closed year.
func TestAClosedYear(t *testing.T) {
	h, a, b := harbour(t)
	h.Refused(refusal(h, boss, closeYear, 2025), fault.Invalid, "2025 is not over")
	h.On("2026-01-08")
	before := must(h, boss, closeYear, 2025)
	was := asJSON(t, h.year(2025))
	assert.That(t, asJSON(t, before) == was && before.Closed, "%s\n%s", asJSON(t, before), was)
	h.Refused(refusal(h, boss, closeYear, 2025), fault.Invalid, "closed already")
	for _, refused := range []func() error{
		func() error {
			_, err := do(h, ann, receive, ReceiptRequest{LeaseID: a, AmountCents: 1, PaidDate: "2025-12-31"})
			return err
		},
		func() error {
			_, err := do(h, ann, returnCredit, PayoutRequest{LeaseID: a, AmountCents: new(int64(1)), Day: new(day(t, "2025-12-31"))})
			return err
		},
		func() error {
			_, err := do(h, ann, addExpense, NewExpense{Category: "other", AmountCents: new(int64(1)), Day: new(day(t, "2025-12-31"))})
			return err
		},
		func() error {
			_, err := do(h, ann, setOpenings, []Opening{{LeaseID: a, Day: new(day(t, "2025-12-31"))}})
			return err
		},
	} {
		if err := refused(); err == nil || !strings.Contains(err.Error(), "2026-01-01") && !strings.Contains(err.Error(), "no credit") {
			t.Errorf("%v", err)
		}
	}
	// A line of the closed year is booked on the first open day.
	h.imports(mt940("0.00", "901.00", "2025-12-30 +901.00 Tenant 1A||"+PaymentReference(a)))
	done := must(h, ann, bookLines, Bookings{Certain: true})
	l := done.Lines[0]
	assert.That(t, l.State == lineBooked && l.BookedOn != nil && l.BookedOn.String() == "2026-01-01", "%s", asJSON(t, l))
	// The payment of 29 December is returned.
	payment := h.Number("SELECT id FROM payments WHERE paid_date = ?", int64(day(t, "2025-12-29")))
	h.Refused(refusal3(h, ann, reversePayment, payment, "bounced", new(day(t, "2025-12-31"))), fault.Invalid, "2026-01-01")
	must3(h, ann, reversePayment, payment, "bounced", nil)
	now := asJSON(t, h.year(2025))
	assert.That(t, now == was, "2025 is\n%s\nand was\n%s", now, was)
	if y := h.year(2026); y.Totals.ReturnedCents != 95_000 || y.Totals.ReceivedCents != 90_100 || y.Totals.ResultCents != -4900 {
		t.Errorf("%s", asJSON(t, y))
	}
	// A charge of the closed year is posted as before, and paid in the open one; a reversed use of the deposit counts
	// today.
	use := h.Number("SELECT min(id) FROM payments WHERE method = 'deposit' AND voided_at IS NULL")
	must3(h, ann, reversePayment, use, "a mistake", nil)
	must2(h, ann, addCharge, b, NewCharge{Type: "repair", AmountCents: 700, DueDate: day(t, "2025-11-30"), Label: "Key"})
	h.pay(b, 700, "2026-01-08")
	now = asJSON(t, h.year(2025))
	assert.That(t, now == was, "2025 is\n%s\nand was\n%s", now, was)
	// An expense of the closed year is reversed today.
	back := must3(h, ann, reverseExpense, 2, "not ours", nil)
	assert.That(t, back.Day.String() == "2026-01-08" && back.AmountCents == -34_000, "%s", asJSON(t, back))
	h.Refused(refusal3(h, ann, reverseExpense, 2, "again", nil), fault.Conflict, "reversed already")
	h.Refused(refusal3(h, ann, reverseExpense, back.ID, "again", nil), fault.Conflict, "itself")
	h.sound()
	h.Refused(refusal2(h, boss, openYear, 2024, "x"), fault.Invalid, "only 2025")
	must2(h, boss, openYear, 2025, "an invoice was forgotten")
	h.spend("legal 1000 2025-12-30")
	h.sound()
}

// TestRecurringExpenses is the second half of the eighth example: each date once; a day that a month lacks is its last.
func TestRecurringExpenses(t *testing.T) {
	h := open(t, "2026-04-30")
	h.Must(h.row("properties", "name=Harbour House"))
	x := must2(h, ann, addRecurringExpense, NewExpense{Property: "Harbour House", Category: "Insurance", AmountCents: new(int64(5500))}, RecurringExpense{Frequency: monthly, From: day(t, "2026-01-31"), To: new(day(t, "2026-04-30"))})
	for want, sum := range map[int]int64{0: 0, 4: 22_000} {
		if want == 0 {
			continue
		}
		done := assert.Value(db.Update(ctx, h.DB, ann, postExpenses))(h.T)
		var days []string
		for _, e := range done.Expenses {
			days = append(days, e.Day.String())
		}
		if done.Entered != want || done.SumCents != sum || strings.Join(days, " ") != "2026-01-31 2026-02-28 2026-03-31 2026-04-30" {
			t.Errorf("%s", asJSON(t, done))
		}
	}
	done, err := db.Update(ctx, h.DB, ann, postExpenses)
	h.Must(err)
	assert.That(t, done.Entered == 0, "%s", asJSON(t, done))
	_, err = do2(h, ann, endRecurringExpense, x.ID, day(t, "2026-05-01"))
	h.Refused(err, fault.Conflict, "ends on 2026-04-30 already")
	for _, f := range frequencies {
		y := must2(h, ann, addRecurringExpense, NewExpense{Category: "other", AmountCents: new(int64(-1))}, RecurringExpense{Frequency: f, From: day(t, "2024-02-29")})
		must2(h, ann, endRecurringExpense, y.ID, day(t, "2025-03-01"))
	}
	done = assert.Value(db.Update(ctx, h.DB, ann, postExpenses))(h.T)
	want := 53 + 27 + 13 + 5 + 2
	assert.That(t, done.Entered == want, "%d entered, not %d", done.Entered, want)
	h.sound()
}

// TestExpensesAndTheBank: a line is booked as an expense, linked with one, proposed as one, and freed again.
func TestExpensesAndTheBank(t *testing.T) {
	h := open(t, "2026-11-22")
	h.bank()
	h.Must(h.row("properties", "name=Harbour House"))
	h.Must(h.row("properties", "name=Other House"))
	h.Must(h.row("units", "property=Other House", "name=1A"))
	h.imports(mt940("0.00", "-950.00", "2026-11-02 -340.00 Novak|DE9|Invoice 1", "2026-11-03 -55.00 Insurer|DE8|contract", "2026-11-09 -555.00 Novak|DE9|Invoice 2"))
	_, err := do(h, ann, addExpense, NewExpense{Property: "Harbour House", Unit: "Other House/1A", Category: "repairs", LineID: new(int64(1))})
	h.Refused(err, fault.Invalid, "another house")
	_, err = do(h, ann, addExpense, NewExpense{Category: "repairs", LineID: new(int64(1)), AmountCents: new(int64(1))})
	h.Refused(err, fault.Invalid, "340")
	_, err = do(h, ann, addExpense, NewExpense{Category: "sweets", LineID: new(int64(1))})
	h.Refused(err, fault.Invalid, "bank_fees")
	_, err = do(h, ann, addExpense, NewExpense{Category: "other", AmountCents: new(int64(0))})
	h.Refused(err, fault.Invalid, "0 is not an expense")
	e := must(h, ann, addExpense, NewExpense{Property: "Harbour House", Category: "repairs", LineID: new(int64(1)), Payee: new("Novak")})
	assert.That(t, e.AmountCents == 34_000 && e.Day.String() == "2026-11-02" && e.LineID != nil, "%s", asJSON(t, e))
	_, err = do(h, ann, addExpense, NewExpense{Category: "repairs", LineID: new(int64(1))})
	h.Refused(err, fault.Conflict, "booked already by expense 1")
	by := must(h, ann, addExpense, NewExpense{Category: "insurance", AmountCents: new(int64(5500)), Day: new(day(t, "2026-11-10"))})
	list := assert.Value(h.BankLines(ctx, viewer, LineFilter{State: lineFree}))(h.T)
	for _, l := range list.Lines {
		c := l.Candidates[0]
		if set(l.Match) != proposed || l.ID == 2 && (*c.ExpenseID != by.ID || *l.Act != actLink) || l.ID == 3 && (*c.ExpenseID != e.ID || *l.Act != actExpense || *c.Like().Payee != "Novak") {
			t.Errorf("%s", asJSON(t, l))
		}
	}
	h.Refused(refusal(h, ann, linked, Link{LineIDs: []int64{3}, ExpenseIDs: []int64{by.ID}}), fault.Invalid, "both sums")
	must(h, ann, linked, Link{LineIDs: []int64{2}, ExpenseIDs: []int64{by.ID}})
	h.sound()
	must2(h, ann, unsettle, 2, "another one")
	must2(h, ann, unsettle, 1, "not ours")
	assert.Equal(t, h.Number("SELECT sum(amount_cents) FROM expenses"), 5500)
	l, _ := findLineOf(h, 1)
	assert.That(t, l.State == lineFree, "%s", asJSON(t, l))
	h.Refused(refusal(h, boss, setCategories, []string{"garden", "Repairs"}), fault.Invalid, "Repairs")
	must(h, boss, setCategories, []string{"garden", "lift"})
	must(h, ann, addExpense, NewExpense{Category: "Garden", AmountCents: new(int64(-1))})
	h.Refused(refusal(h, boss, setCategories, []string{"lift"}), fault.Conflict, "garden")
	h.sound()
}

// TestAPaymentOfSeveralReturned: the bank returns one of several payments of a line; the rest stays paid.
func TestAPaymentOfSeveralReturned(t *testing.T) {
	h := open(t, "2026-11-22")
	h.bank()
	a, b := h.let("1Z", "Ada", "2026-11-01", 50_000), h.let("2Z", "Ben", "2026-11-01", 45_000)
	one, two := h.pay(a, 50_000, "2026-11-03"), h.pay(b, 45_000, "2026-11-03")
	h.imports(mt940("0.00", "450.00", "2026-11-04 +950.00 Both||", "2026-11-20 -500.00 Both||Return"))
	must(h, ann, linked, Link{LineIDs: []int64{1}, PaymentIDs: []int64{one, two}})
	must2(h, ann, bookReturn, 2, one)
	l, _ := findLineOf(h, 1)
	assert.That(t, l.State == lineLinked, "%s", asJSON(t, l))
	h.sound()
	h.Refused(refusal2(h, ann, unsettle, 1, "x"), fault.Conflict, "the bank returned its payment 1")
}

func TestEntriesOfADay(t *testing.T) {
	d := func(s string) exact.Day { return day(t, s) }
	for _, c := range []struct {
		typ, due, counted, paid, want string
	}{
		{rent, "2025-12-31", "", "2025-12-29", "income rent"}, {rent, "2026-01-01", "", "2025-12-29", "advance "}, {rent, "2025-12-01", "2026-02-01", "2025-12-29", "advance "},
		{"deposit", "2025-03-01", "", "2025-12-29", "deposit "}, {"deposit", "2026-01-01", "", "2025-12-29", "advance "}, {"", "", "", "2025-12-29", "advance "},
	} {
		a := allocated{}
		if c.typ != "" {
			a.typ, a.due = &c.typ, d(c.due)
		}
		if c.counted != "" {
			a.counted = new(d(c.counted))
		}
		what, name := a.as(d(c.paid))
		assert.That(t, what+" "+name == c.want, "%v is %s %s", c, what, name)
	}
}

// TestMoneyMoves: accounts, recurring expenses and expenses export and import unchanged into an empty file. A second
// import changes nothing, and entered expenses are not entered again.
func TestMoneyMoves(t *testing.T) {
	h, _, _ := harbour(t)
	h.On("2026-03-01")
	for range 2 {
		h.spend("repairs 700 2026-01-05 2A")
	}
	must3(h, ann, reverseExpense, 2, "not ours", nil)
	must2(h, ann, addRecurringExpense, NewExpense{Property: "Harbour House", Category: "cleaning", AmountCents: new(int64(900))}, RecurringExpense{Frequency: monthly, From: day(t, "2026-01-31")})
	_, err := db.Update(ctx, h.DB, ann, postExpenses)
	h.Must(err)
	other := open(t, "2026-03-01")
	for _, table := range []string{"properties", "units", "bank-accounts", "recurring-expenses", "expenses"} {
		text := h.export(table)
		for range 2 {
			other.load(table, text)
		}
		assert.Equal(t, other.export(table), text, "%s", table)
	}
	done := assert.Value(db.Update(ctx, other.DB, ann, postExpenses))(h.T)
	assert.That(t, done.Entered == 0, "%s", asJSON(t, done))
	if a, b := h.year(2026), other.year(2026); a.Totals.SpentCents != b.Totals.SpentCents || a.Totals.SpentCents != 700*2+900*2 {
		t.Errorf("%d and %d", a.Totals.SpentCents, b.Totals.SpentCents)
	}
	other.load("recurring-expenses", strings.Replace(h.export("recurring-expenses"), ",2026-01-31,,", ",2026-01-31,2026-02-28,", 1))
	other.On("2026-06-01")
	if done, err = db.Update(ctx, other.DB, ann, postExpenses); err != nil || done.Entered != 0 {
		t.Errorf("%v %s", err, asJSON(t, done))
	}
	other.sound()
}
