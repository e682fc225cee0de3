package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestPaymentMethodAndDay: REST accepts any method and day of a payment.
func TestPaymentMethodAndDay(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	id := l.Lease("start_date=2026-06-30", "frequency=weekly")
	for i, c := range []struct{ rest, method, paid string }{
		{``, "other", "2026-11-20"},
		{`,"method":"cash"`, "cash", "2026-11-20"},
		{`,"method":"bank_transfer","paid_date":"2026-07-07"`, "bank_transfer", "2026-07-07"},
		{`,"method":"transfer","paid_date":""`, "bank_transfer", "2026-11-20"},
		{`,"method":"card","paid_date":"2024-02-29"`, "card", "2024-02-29"},
		{`,"method":"check","paid_date":"2026-02-29"`, "check", "2026-11-20"},
		{`,"method":"cheque","paid_date":"20.11.2026"`, "check", "2026-11-20"},
		{`,"method":"direct_debit","paid_date":"2030-01-01"`, "direct_debit", "2030-01-01"},
		{`,"method":"online","paid_date":20261101`, "online", "2026-11-20"},
		{`,"method":"other","paid_date":["2026-11-01"]`, "other", "2026-11-20"},
		{`,"method":"goat","paid_date":"2026-11-31"`, "other", "2026-11-20"},
		{`,"method":null,"paid_date":null`, "other", "2026-11-20"},
		{`,"method":{"a":1},"paid_date":true`, "other", "2026-11-20"},
		{`,"method":" Cash ","paid_date":" 2026-11-19 "`, "cash", "2026-11-19"},
		{`,"method":"standing-order"`, "bank_transfer", "2026-11-20"},
		{`,"method":" WIRE "`, "bank_transfer", "2026-11-20"},
		{`,"method":"Bank Transfer"`, "bank_transfer", "2026-11-20"},
	} {
		c0 := l.Ledger(id).Charges[i]
		p := l.Pay(id, c0.DueDate, c.rest)
		assert.That(t, p.Charge.ID == c0.ID && *p.Charge.Method == c.method && *p.Charge.PaidDate == c.paid &&
			p.Totals.Paid == int64(i+1)*100000, "%s: %+v, want %s on %s", c.rest, p, c.method, c.paid)
	}
	l.Sound()
}

// TestTwoPeopleRecordTheSamePayment: at once, they get one 201, one 409, one payment, one event.
func TestTwoPeopleRecordTheSamePayment(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t, "--webhook-allow-private")
	r := receive(l)
	id := l.Lease("start_date=2026-09-04", "frequency=weekly")
	people := []string{l.Key("rental", "ann", "member", "full"), l.Key("rental", "bob", "admin", "full")}
	charges := l.Ledger(id).Charges
	for _, c := range charges {
		var answers [2]apptest.Answer
		var both sync.WaitGroup
		start := make(chan struct{})
		for i, key := range people {
			both.Go(func() {
				<-start
				answers[i] = l.Do("rental", "POST", fmt.Sprintf("/api/leases/%d/payments", id), key, fmt.Sprintf(`{"charge_id":%d,"method":"cash"}`, c.ID))
			})
		}
		close(start)
		both.Wait()
		slices.SortFunc(answers[:], func(a, b apptest.Answer) int { return a.Status - b.Status })
		assert.Must(t, answers[0].Status == http.StatusCreated, "nobody was first: %v", answers)
		l.Refused(answers[1], 409, fmt.Sprintf("charge %d ", c.ID), c.Label, "paid already, on 2026-11-20")
	}
	rows := strings.Count(export(l, "payments"), "\n") - 1
	assert.That(t, rows == len(charges), "%d payments of %d charges", rows, len(charges))
	paid := map[int64]bool{}
	for range charges {
		e := eventOf(l, r)
		var data apptest.Payment
		e.read(t, &data)
		assert.That(t, e.Event == "payment.recorded" && !paid[data.Charge.ID],
			"the event %s of charge %d, which has had its event: %v", e.Event, data.Charge.ID, paid)
		paid[data.Charge.ID] = true
	}
	delivered(l, r, len(charges))
	recorded := 0
	for _, e := range l.Trail() {
		if strings.Contains(e, " rest payment.recorded ") {
			recorded++
		}
	}
	assert.That(t, recorded == len(charges), "%d entries of %d payments in the audit trail", recorded, len(charges))
	l.Sound()
}

// TestAResentPaymentIsTheSamePayment: with an Idempotency-Key a client that lost the answer gets it again instead of a
// conflict.
func TestAResentPaymentIsTheSamePayment(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Lease("start_date=2026-10-01")
	l.Ledger(1)
	send := func(key, body string) apptest.Answer {
		return l.Do("rental", "POST", "/api/leases/1/payments", l.Keys["rental"], body, "Idempotency-Key: "+key)
	}
	first := send("oct", `{"charge_id":1}`)
	again := send("oct", `{"charge_id":1}`)
	if first.Status != 201 || again.Status != 201 || again.Body != first.Body || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("first %d %s, again %d %s", first.Status, first.Body, again.Status, again.Body)
	}
	l.Refused(send("oct", `{"charge_id":2}`), 409)
	l.Refused(send("other", `{"charge_id":1}`), 409, "paid already")
	assert.Equal(t, l.Ledger(1).Totals, (apptest.Totals{Billed: 200000, Paid: 100000, Balance: 100000}))
}

// TestViewersReadPostsDueCharges: any reader's request posts due charges, as the system's own action; a viewer's writes
// stay refused.
func TestViewersReadPostsDueCharges(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	for range 5 {
		l.Lease("start_date=2026-11-01")
	}
	viewer, reader := l.Key("rental", "vera", "viewer", "full"), l.Key("rental", "rolf", "admin", "read")
	read := func(key, path string) {
		t.Helper()
		a := l.Do("rental", "GET", path, key, "")
		assert.Must(t, a.Status == 200, "%s: %d %s", path, a.Status, a.Body)
	}
	posted := func(want ...string) {
		t.Helper()
		var got []string
		for _, e := range l.Trail() {
			if strings.Contains(e, "lease.posted") {
				got = append(got, e)
			}
		}
		assert.EqualSlices(t, got, want, "posted")
	}
	posted()
	read(viewer, "/api/leases/2/ledger")
	posted("system rest lease.posted lease:2")
	read(reader, "/api/leases/3/ledger")
	posted("system rest lease.posted lease:2", "system rest lease.posted lease:3")
	_, refusal := l.ToolAs("rental", viewer, "lease_detail", `{"lease_id":1}`)
	assert.That(t, refusal == "", "%v", refusal)
	posted("system rest lease.posted lease:2", "system rest lease.posted lease:3", "system mcp lease.posted lease:1")
	read(reader, "/api/leases?limit=4")
	posted("system rest lease.posted lease:2", "system rest lease.posted lease:3", "system mcp lease.posted lease:1", "system rest lease.posted lease:4")
	read(viewer, "/api/arrears")
	posted("system rest lease.posted lease:2", "system rest lease.posted lease:3", "system mcp lease.posted lease:1", "system rest lease.posted lease:4",
		"system rest lease.posted lease:5")
	for _, c := range []struct{ key, says string }{{viewer, "role viewer"}, {reader, "read-only"}} {
		for _, path := range []string{"/api/leases/1/payments", "/api/maintenance", "/api/maintenance/1/status"} {
			l.Refused(l.Do("rental", "POST", path, c.key, `{}`), 403, c.says)
		}
	}
	l.Sound()
}

// TestReversedPayment: the charge is unpaid again, and the payment is kept with the reason.
func TestReversedPayment(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	id := l.Lease("start_date=2026-10-01")
	wrong := l.Pay(id, "2026-10-01", `,"method":"check","paid_date":"2026-10-05"`)
	l.Pay(id, "2026-11-01", `,"method":"cash","paid_date":"2026-11-02"`)
	received := func() string {
		roll, refusal := l.Tool("rental", "rent_roll", `{"month":"2026-10"}`)
		assert.Must(t, refusal == "", "%v", refusal)
		sums := roll["totals"].(map[string]any)
		return fmt.Sprint(sums["collected_cents"], sums["outstanding_cents"], sums["received_cents"])
	}
	assert.Equal(t, received(), "100000 0 100000", "before")
	l.Rental("reverse-payment", fmt.Sprint(wrong.ID), "--reason", "the check bounced")
	l.Owes(id, "2026-10-01 100000 1-31 October 2026", "2026-11-01 100000 1-30 November 2026 paid 2026-11-02 cash")
	assert.Equal(t, received(), "0 100000 0", "after")
	a := l.Arrears()
	assert.That(t, a.Total == 100000 && len(a.Arrears) == 1 && a.Arrears[0].DaysOverdue == 50, "%+v", a)
	assert.Lacks(t, export(l, "payments"), "2026-10-05", "the voided payment is exported")
	again := l.Pay(id, "2026-10-01", `,"method":"transfer"`)
	assert.That(t, again.ID != wrong.ID, "the payment's id came back")
	l.Refuses(1, []string{fmt.Sprintf("payment %d was reversed already", wrong.ID)}, "reverse-payment", fmt.Sprint(wrong.ID), "--reason", "again")
	if trail := l.MustCLI("audit", "--service", "rental", "--json"); !strings.Contains(trail, `"action":"payment.reversed","subject":"payment:1","changes":{"charge_id":1,"reason":"the check bounced"}`) {
		t.Errorf("the audit trail: %s", trail)
	}
	l.Sound()
}
