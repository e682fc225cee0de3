package rental

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

func TestLedgerPostsDueChargesOnce(t *testing.T) {
	h := open(t, "2026-03-14")
	id := h.lease("start_date=2026-01-15", "due_day=1")
	want := []string{
		"2026-01-15 54839 15-31 January 2026, 17 of 31 days",
		"2026-02-01 100000 1-28 February 2026",
		"2026-03-01 100000 1-31 March 2026",
	}
	l := h.owes(id, want...)
	if l.Totals != (Totals{BilledCents: 254839, PaidCents: 0, BalanceCents: 254839}) || l.Lease.BalanceCents != 254839 {
		t.Errorf("totals %+v, balance %d", l.Totals, l.Lease.BalanceCents)
	}
	first := asJSON(t, l)
	before := h.written()
	l = h.owes(id, want...)
	if again := asJSON(t, l); again != first || h.written() != before {
		t.Errorf("a second reading wrote, or differs: %s", again)
	}
	h.On("2026-03-31")
	h.owes(id, want...)
	if h.written() != before {
		t.Error("a day on which nothing is due wrote something")
	}
	h.On("2026-04-01")
	h.owes(id, append(want, "2026-04-01 100000 1-30 April 2026")...)
	h.sound()
}

func TestLedgerShape(t *testing.T) {
	h := open(t, "2026-03-01")
	id := h.lease("start_date=2026-03-01", "end_date=2026-03-31", "deposit_cents=5")
	got, err := h.get(h.ledger(), viewer, "1")
	h.Must(err)
	want := `{"lease":{"id":1,"unit_id":1,"unit":"U1","property":"House","tenant":"Tenant U1","tenant_email":"U1@example.org",` +
		`"rent_cents":100000,"frequency":"monthly","due_day":1,"start_date":"2026-03-01","end_date":"2026-03-31","deposit_cents":5,` +
		`"proration":"actual","status":"active","balance_cents":100000,"base_rent_cents":100000,"rents":[],"tenants":[{"id":1,"name":"Tenant U1","email":"U1@example.org"}]},"charges":[{"id":1,"type":"rent","period":"2026-03",` +
		`"label":"1-31 March 2026","due_date":"2026-03-01","amount_cents":100000,"paid":false,"paid_date":null,"method":null,` +
		`"period_start":"2026-03-01","period_end":"2026-03-31","paid_cents":0,"balance_cents":100000}],` +
		`"totals":{"billed_cents":100000,"paid_cents":0,"balance_cents":100000,"credit_cents":0,"deposit_held_cents":0}}`
	if s := asJSON(t, got); id != 1 || s != want {
		t.Errorf("%s\nwant\n%s", s, want)
	}
	detail, err := h.tool("lease_detail", reader, `{"lease_id":1}`)
	h.Must(err)
	if s := asJSON(t, detail); s != strings.TrimSuffix(want, "}")+`,"payments_total":0,"shown":1,"total":1,"next":null}` {
		t.Errorf("lease_detail differs from the ledger: %s", s)
	}
	_, err = h.get(h.ledger(), viewer, "2")
	h.Refused(err, fault.NotFound, "lease 2")
	_, err = h.get(h.ledger(), viewer, "x")
	h.Refused(err, fault.NotFound)
	empty := h.lease("start_date=2026-04-01")
	l, err := h.Ledger(ctx, viewer, empty)
	h.Must(err)
	if s := asJSON(t, l); !strings.Contains(s, `"charges":[]`) || !strings.Contains(s, `"status":"upcoming"`) {
		t.Errorf("an upcoming lease: %s", s)
	}
}

func TestPostingIsTheSystemsOwnAct(t *testing.T) {
	h := open(t, "2026-03-01")
	id := h.lease("start_date=2026-01-01")
	_, err := h.Ledger(ctx, reader, id)
	h.Must(err)
	got := h.Texts("SELECT actor || ' ' || via || ' ' || action || ' ' || subject || ' ' || changes FROM audit WHERE actor <> 'cli'")
	want := []string{`system mcp lease.posted lease:1 {"charges":3,"from":"2026-01-01","to":"2026-03-31","amount_cents":300000}`}
	if !slices.Equal(got, want) {
		t.Errorf("audit %q, want %q", got, want)
	}
	if e := h.events(); len(e) != 0 {
		t.Errorf("posting emitted %q", e)
	}
}

func TestManyReadersPostOnce(t *testing.T) {
	h := open(t, "2026-11-20")
	id := h.lease("start_date=2020-01-31", "frequency=weekly")
	other := h.lease("start_date=2021-05-05")
	var wg sync.WaitGroup
	ledgers := make([]string, 24)
	for i := range ledgers {
		wg.Go(func() {
			if i%3 == 0 {
				if _, err := h.Arrears(ctx, viewer); err != nil {
					t.Error(err)
				}
			}
			l, err := h.Ledger(ctx, viewer, id)
			if err != nil {
				t.Error(err)
			}
			ledgers[i] = asJSON(t, l)
		})
	}
	wg.Wait()
	for _, l := range ledgers[1:] {
		if l != ledgers[0] {
			t.Fatal("two readers saw different ledgers")
		}
	}
	if n := h.Number("SELECT count(*) FROM charges WHERE lease_id = ?", id); n != 356 { // 31 January 2020 + 355 weeks is 18 November 2026
		t.Errorf("%d charges, want 356", n)
	}
	if n := h.Number("SELECT count(*) FROM audit WHERE action = 'lease.posted'"); n != 2 {
		t.Errorf("%d postings of two leases, %d and %d", n, id, other)
	}
	h.sound()
}

// TestUniqueKeyPreventsDoublePosting bypasses the service's own check.
func TestUniqueKeyPreventsDoublePosting(t *testing.T) {
	h := open(t, "2026-03-01")
	id := h.lease("start_date=2026-03-01")
	h.owes(id, "2026-03-01 100000 1-31 March 2026")
	err := db.Exec(ctx, h.DB, cli, func(tx *db.Tx) error {
		if _, err := tx.Exec("UPDATE leases SET next_post_day = start_date, next_event_day = start_date"); err != nil {
			return err
		}
		return post(tx, id)
	})
	if err == nil || !strings.Contains(err.Error(), "UNIQUE") {
		t.Errorf("posting a period twice gave %v", err)
	}
	h.owes(id, "2026-03-01 100000 1-31 March 2026")
	h.sound()
}

func TestEndedLeaseKeepsItsDebt(t *testing.T) {
	h := open(t, "2026-06-01")
	id := h.lease("start_date=2026-01-01", "end_date=2026-03-14")
	l := h.owes(id, "2026-01-01 100000 1-31 January 2026", "2026-02-01 100000 1-28 February 2026",
		"2026-03-01 45161 1-14 March 2026, 14 of 31 days")
	if l.Lease.Status != ended || l.Totals.BalanceCents != 245161 {
		t.Errorf("%s, balance %d", l.Lease.Status, l.Totals.BalanceCents)
	}
	h.On("2036-06-01")
	a, err := h.Arrears(ctx, viewer)
	h.Must(err)
	if a.TotalCents != 245161 || len(a.Arrears) != 3 || a.Buckets != (Buckets{DaysOver90: 245161}) {
		t.Errorf("ten years later: %+v", a)
	}
}

func TestFiveWeeklyChargesInAMonthOfFive(t *testing.T) {
	h := open(t, "2026-03-31")
	id := h.lease("start_date=2026-03-02", "frequency=weekly", "rent_cents=25000", "due_day=9")
	l := h.owes(id, "2026-03-02 25000 2-8 March 2026", "2026-03-09 25000 9-15 March 2026", "2026-03-16 25000 16-22 March 2026",
		"2026-03-23 25000 23-29 March 2026", "2026-03-30 25000 30 March-5 April 2026")
	for _, c := range l.Charges {
		if c.Period.String() != "2026-03" {
			t.Errorf("charge due %s has the period %s", c.DueDate, c.Period)
		}
	}
	roll, err := h.RentRoll(ctx, viewer, nil)
	h.Must(err)
	if roll.Totals.BilledCents != 125000 {
		t.Errorf("rent roll: %+v", roll.Totals)
	}
}

// TestNothingToPostTakesNoLock: while another writes, ledgers, arrears and lists without due charges can be read.
func TestNothingToPostTakesNoLock(t *testing.T) {
	h := open(t, "2026-03-01")
	id := h.lease("start_date=2026-03-01")
	h.owes(id, "2026-03-01 100000 1-31 March 2026")
	writing, read, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- db.Exec(ctx, h.DB, cli, func(tx *db.Tx) error {
			if _, err := tx.Exec("UPDATE leases SET deposit_cents = 1"); err != nil {
				return err
			}
			close(writing)
			<-read
			return tx.Audit("lease.changed", "lease:1", nil)
		})
	}()
	<-writing
	h.owes(id, "2026-03-01 100000 1-31 March 2026")
	for _, look := range []func() error{
		func() error { _, err := h.Arrears(ctx, viewer); return err },
		func() error { _, err := h.RentRoll(ctx, viewer, nil); return err },
		func() error { _, err := h.Leases(ctx, viewer, LeaseFilter{}); return err },
	} {
		h.Must(look())
	}
	close(read)
	h.Must(<-done)
}
