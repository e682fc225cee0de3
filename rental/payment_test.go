package rental

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

func TestRecordPayment(t *testing.T) {
	h := open(t, "2026-02-10")
	h.lease("start_date=2026-01-01")
	h.owes(1, "2026-01-01 100000 1-31 January 2026", "2026-02-01 100000 1-28 February 2026")
	got, err := h.post(h.recordPayment(), ann, "1", `{"charge_id":1,"method":"Transfer","paid_date":"2025-12-31"}`)
	h.Must(err)
	charge := `{"id":1,"type":"rent","period":"2026-01","label":"1-31 January 2026","due_date":"2026-01-01","amount_cents":100000,` +
		`"paid":true,"paid_date":"2025-12-31","method":"bank_transfer","period_start":"2026-01-01","period_end":"2026-01-31","paid_cents":100000,"balance_cents":0}`
	totals := `{"billed_cents":200000,"paid_cents":100000,"balance_cents":100000,"credit_cents":0,"deposit_held_cents":0}`
	more := `,"amount_cents":100000,"allocations":[{"charge_id":1,"label":"1-31 January 2026","amount_cents":100000}],"credit_cents":0`
	if s, want := asJSON(t, got), `{"payment_id":1,"charge":`+charge+`,"totals":`+totals+more+`}`; s != want {
		t.Errorf("%s\nwant\n%s", s, want)
	}
	event := h.Texts("SELECT CAST(body AS TEXT) FROM events")
	want := `"data":{"payment_id":1,"lease_id":1,"unit":"U1","property":"House","tenant":"Tenant U1","charge":` + charge + `,"totals":` + totals + more + `}}`
	if len(event) != 1 || !strings.Contains(event[0], want) || !strings.Contains(event[0], `"event":"payment.recorded"`) {
		t.Errorf("events %q, want one with %s", event, want)
	}
	h.owes(1, "2026-01-01 100000 1-31 January 2026 paid 2025-12-31 bank_transfer", "2026-02-01 100000 1-28 February 2026")
	before := h.written()
	_, err = h.post(h.recordPayment(), ann, "1", `{"charge_id":1}`)
	h.Refused(err, fault.Conflict, "charge 1", "paid already", "2025-12-31")
	if h.written() != before {
		t.Error("a refused payment wrote something")
	}
	h.sound()
}

func TestPaymentPostsFirst(t *testing.T) {
	h := open(t, "2026-01-10")
	h.lease("start_date=2026-01-01")
	h.owes(1, "2026-01-01 100000 1-31 January 2026")
	h.On("2026-03-01")
	p, err := h.RecordPayment(ctx, ann, PaymentRequest{LeaseID: 1, ChargeID: 1})
	h.Must(err)
	if p.Totals != (Totals{BilledCents: 300000, PaidCents: 100000, BalanceCents: 200000}) {
		t.Errorf("totals %+v", p.Totals)
	}
	l, err := h.Ledger(ctx, viewer, 1)
	h.Must(err)
	if l.Totals != p.Totals {
		t.Errorf("the ledger's totals %+v are not the payment's %+v", l.Totals, p.Totals)
	}
	if n := h.Number("SELECT count(*) FROM audit WHERE actor = 'system' AND via = 'rest' AND action = 'lease.posted'"); n != 2 {
		t.Errorf("%d postings by the system, want 2", n)
	}
}

func TestPaymentRefusals(t *testing.T) {
	h := open(t, "2026-02-10")
	h.lease("start_date=2026-01-01")
	h.lease("start_date=2026-01-01")
	h.owes(1, "2026-01-01 100000 1-31 January 2026", "2026-02-01 100000 1-28 February 2026")
	h.owes(2, "2026-01-01 100000 1-31 January 2026", "2026-02-01 100000 1-28 February 2026")
	before := h.written()
	for _, c := range []struct {
		id, body string
		kind     fault.Kind
		says     string
	}{
		{"1", `{}`, fault.Invalid, "charge_id is missing"},
		{"1", `{"charge_id":"1"}`, fault.Invalid, "charge_id"},
		{"1", `{"charge_id":1.5}`, fault.Invalid, "charge_id"},
		{"1", `{"charge_id":null}`, fault.Invalid, "charge_id"},
		{"1", `{"charge_id":[1]}`, fault.Invalid, "charge_id"},
		{"1", `{"charge_id":99999999999999999999999}`, fault.Invalid, "charge_id"},
		{"1", `{"charge_id":3}`, fault.Invalid, "not a charge of lease 1"},
		{"1", `{"charge_id":0}`, fault.Invalid, "not a charge of lease 1"},
		{"1", `{"charge_id":-1}`, fault.Invalid, "not a charge of lease 1"},
		{"1", `{"charge_id":1,"amount_cents":100001}`, fault.Invalid, "open of charge 1 (1-31 January 2026): 100000"},
		{"9", `{"charge_id":1}`, fault.NotFound, "lease 9"},
		{"9", `{}`, fault.Invalid, "charge_id"},
		{"0", `{"charge_id":1}`, fault.NotFound, ""},
	} {
		_, err := h.post(h.recordPayment(), ann, c.id, c.body)
		h.Refused(err, c.kind, c.says)
	}
	for _, who := range []db.Caller{viewer, reader} {
		_, err := h.RecordPayment(ctx, who, PaymentRequest{LeaseID: 1, ChargeID: 1})
		h.Refused(err, fault.Forbidden)
	}
	if h.written() != before {
		t.Error("a refused payment wrote something")
	}
}

// TestMethodAndDayAreNeverRefused: with any values the payment is recorded.
func TestMethodAndDayAreNeverRefused(t *testing.T) {
	h := open(t, "2026-11-20")
	h.lease("start_date=2026-12-01")
	for i, c := range []struct{ body, method, paid string }{
		{``, "other", "2026-11-20"},
		{`,"method":null,"paid_date":null`, "other", "2026-11-20"},
		{`,"method":7,"paid_date":7`, "other", "2026-11-20"},
		{`,"method":["cash"],"paid_date":{"a":1}`, "other", "2026-11-20"},
		{`,"method":"seashells","paid_date":"yesterday"`, "other", "2026-11-20"},
		{`,"method":"","paid_date":""`, "other", "2026-11-20"},
		{`,"method":"cash","paid_date":"2026-02-29"`, "cash", "2026-11-20"},
		{`,"method":"cash","paid_date":"2024-02-29"`, "cash", "2024-02-29"},
		{`,"method":" CARD ","paid_date":" 2026-11-21 "`, "card", "2026-11-21"},
		{`,"method":"cheque","paid_date":"2031-01-01"`, "check", "2031-01-01"},
		{`,"method":"transfer","paid_date":"2026-1-1"`, "bank_transfer", "2026-11-20"},
		{`,"method":"direct_debit","paid_date":"1999-12-31"`, "direct_debit", "1999-12-31"},
		{`,"method":"online"`, "online", "2026-11-20"}, {`,"method":"check"`, "check", "2026-11-20"},
		{`,"method":"Bank Transfer"`, "bank_transfer", "2026-11-20"}, {`,"method":"standing-order"`, "bank_transfer", "2026-11-20"},
		{`,"method":" WIRE "`, "bank_transfer", "2026-11-20"}, {`,"method":"Bank-transfer"`, "bank_transfer", "2026-11-20"},
		{`,"method":"bank_transfer"`, "bank_transfer", "2026-11-20"}, {`,"method":"other"`, "other", "2026-11-20"},
	} {
		made, err := h.AddCharge(ctx, cli, 1, NewCharge{"other", 1, day(t, "2026-11-20"), fmt.Sprint(i)})
		h.Must(err)
		got, err := h.post(h.recordPayment(), ann, "1", fmt.Sprintf(`{"charge_id":%d%s}`, made.Charge.ID, c.body))
		h.Must(err)
		p := got.(Payment)
		if *p.Charge.Method != c.method || p.Charge.PaidDate.String() != c.paid {
			t.Errorf("%s: %s on %s, want %s on %s", c.body, *p.Charge.Method, p.Charge.PaidDate, c.method, c.paid)
		}
	}
	h.sound()
}

func TestRacingPaymentsOfOneCharge(t *testing.T) {
	h := open(t, "2026-11-20")
	h.lease("start_date=2026-11-01")
	h.owes(1, "2026-11-01 100000 1-30 November 2026")
	const racers = 16
	errs := make([]error, racers)
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() {
			_, errs[i] = h.RecordPayment(ctx, ann, PaymentRequest{LeaseID: 1, ChargeID: 1, Method: methods[i%len(methods)]})
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !fault.Is(err, fault.Conflict) {
			t.Errorf("a loser got %v", err)
		}
	}
	if n := h.Number("SELECT count(*) FROM payments"); won != 1 || n != 1 || len(h.events()) != 1 {
		t.Errorf("%d won, %d payments, events %q", won, n, h.events())
	}
	h.sound()
}

func TestReversal(t *testing.T) {
	h := open(t, "2026-11-20")
	h.lease("start_date=2026-11-01")
	h.owes(1, "2026-11-01 100000 1-30 November 2026")
	pay := func(method string) {
		t.Helper()
		_, err := h.RecordPayment(ctx, ann, PaymentRequest{LeaseID: 1, ChargeID: 1, Method: method, PaidDate: "2026-11-05"})
		h.Must(err)
	}
	pay("cash")
	_, err := h.ReversePayment(ctx, cli, 1, "  ", nil)
	h.Refused(err, fault.Invalid, "reason is empty")
	_, err = h.ReversePayment(ctx, cli, 2, "typo", nil)
	h.Refused(err, fault.NotFound, "payment 2")
	_, err = h.ReversePayment(ctx, viewer, 1, "typo", nil)
	h.Refused(err, fault.Forbidden)
	r, err := h.ReversePayment(ctx, cli, 1, " bounced ", nil)
	h.Must(err)
	if r.Reason != "bounced" || r.Charge.Paid || r.Charge.PaidDate != nil || r.Charge.Method != nil || r.Totals != (Totals{BilledCents: 100000, PaidCents: 0, BalanceCents: 100000}) {
		t.Errorf("%s", asJSON(t, r))
	}
	_, err = h.ReversePayment(ctx, cli, 1, "again", nil)
	h.Refused(err, fault.Conflict, "reversed already")
	h.sound()
	roll, err := h.RentRoll(ctx, viewer, nil)
	h.Must(err)
	if roll.Totals.ReceivedCents != 0 || roll.Totals.OutstandingCents != 100000 {
		t.Errorf("a voided payment is received: %+v", roll.Totals)
	}
	pay("card")
	h.owes(1, "2026-11-01 100000 1-30 November 2026 paid 2026-11-05 card")
	got := h.Texts("SELECT id || ' ' || method || ' ' || coalesce(void_reason, 'stands') FROM payments ORDER BY id")
	if want := []string{"1 cash bounced", "2 card stands"}; !slices.Equal(got, want) {
		t.Errorf("payments %q, want %q", got, want)
	}
	if e := h.events(); !slices.Equal(e, []string{"payment.recorded", "payment.recorded"}) {
		t.Errorf("events %q", e)
	}
	h.sound()
}

func TestAddCharge(t *testing.T) {
	h := open(t, "2026-11-20")
	h.lease("start_date=2026-11-01")
	due := day(t, "2026-11-10")
	for _, c := range []struct {
		n    NewCharge
		kind fault.Kind
		says string
	}{
		{NewCharge{rent, 5, due, "x"}, fault.Invalid, "rent is posted by itself"},
		{NewCharge{"fine", 5, due, "x"}, fault.Invalid, "deposit, late_fee, utility, repair, other"},
		{NewCharge{"other", -1, due, "x"}, fault.Invalid, "amount_cents: -1 is out of range"},
		{NewCharge{"other", maxCents + 1, due, "x"}, fault.Invalid, "to 1000000000000"},
		{NewCharge{"other", 5, due, " "}, fault.Invalid, "label is empty"},
		{NewCharge{"other", 5, due, strings.Repeat("x", 201)}, fault.Invalid, "at most 200"},
		{NewCharge{"other", 5, 1 << 30, "x"}, fault.Invalid, "due_date"},
	} {
		_, err := h.AddCharge(ctx, cli, 1, c.n)
		h.Refused(err, c.kind, c.says)
	}
	_, err := h.AddCharge(ctx, cli, 2, NewCharge{"other", 5, due, "x"})
	h.Refused(err, fault.NotFound, "lease 2")
	got, err := h.AddCharge(ctx, cli, 1, NewCharge{"repair", maxCents, due, " Window "})
	h.Must(err)
	if want := (Totals{BilledCents: maxCents + 100000, BalanceCents: maxCents + 100000}); got.Totals != want || got.Charge.PeriodStart != nil {
		t.Errorf("%s", asJSON(t, got))
	}
	_, err = h.AddCharge(ctx, cli, 1, NewCharge{"repair", 5, due, "Window"})
	h.Refused(err, fault.Conflict, "charge 2", "another label")
	for i := range 3 { // of one type and day, each with its own label
		_, err = h.AddCharge(ctx, cli, 1, NewCharge{"repair", 5, due, fmt.Sprint("Door ", i)})
		h.Must(err)
	}
	h.owes(1, "2026-11-01 100000 1-30 November 2026", "2026-11-10 1000000000000 Window", "2026-11-10 5 Door 0", "2026-11-10 5 Door 1", "2026-11-10 5 Door 2")
	h.sound()
}

func TestIdempotencyKeyGivesTheFirstPaymentAgain(t *testing.T) {
	h := open(t, "2026-11-20")
	h.lease("start_date=2026-11-01")
	h.owes(1, "2026-11-01 100000 1-30 November 2026")
	ask := func() db.Caller {
		return ann.Asking(&db.Request{Key: "k", Route: "POST /api/leases/1/payments", Render: func(a any) (int, []byte, error) {
			return 201, []byte(asJSON(t, a)), nil
		}})
	}
	first, err := h.RecordPayment(ctx, ask(), PaymentRequest{LeaseID: 1, ChargeID: 1})
	h.Must(err)
	_, err = h.RecordPayment(ctx, ask(), PaymentRequest{LeaseID: 1, ChargeID: 1})
	again, ok := err.(*db.Replay)
	if !ok || string(again.Body) != asJSON(t, first) {
		t.Errorf("got %v, want the first answer again", err)
	}
	if len(h.events()) != 1 {
		t.Errorf("events %q", h.events())
	}
}

// TestDefaultCurrency records a payment in dollars, the default currency.
func TestDefaultCurrency(t *testing.T) {
	h := open(t, "2026-02-10")
	h.lease("start_date=2026-01-01")
	_, err := h.RecordMoney(ctx, ann, MoneyIn{LeaseID: 1, AmountCents: 100000, Currency: "CHF"})
	h.Refused(err, fault.Invalid, "rents are in USD here, not in \"CHF\"")
	_, err = h.RecordMoney(ctx, ann, MoneyIn{LeaseID: 1, AmountCents: 100000, Currency: "USD"})
	h.Must(err)
	h.owes(1, "2026-01-01 100000 1-31 January 2026 paid 2026-02-10 other", "2026-02-01 100000 1-28 February 2026")
}
