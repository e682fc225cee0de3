package rental

import (
	"slices"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// TestRecurringChargesAndTheirEnd: those of posted periods at once, one with each later period, and withdrawn with the
// periods of an early end.
func TestRecurringChargesAndTheirEnd(t *testing.T) {
	h := open(t, "2026-03-20")
	id := h.lease("start_date=2026-01-01")
	done := must(h, cli, addRecurring, Recurring{LeaseID: id, Type: "utility", Label: "Water", AmountCents: 4_500, From: day(t, "2026-02-01")})
	assert.That(t, len(done.Posted) == 2 && done.Totals.BilledCents == 309_000, "%s", asJSON(t, done))
	_, err := do(h, cli, addRecurring, Recurring{LeaseID: id, Type: "utility", Label: "Water", AmountCents: 1, From: day(t, "2026-03-01")})
	h.Refused(err, fault.Conflict, "recurring charge 1")
	h.On("2026-04-02")
	l := h.ledger(id)
	assert.EqualSlices(t, lines(l.Charges)[5:], []string{"2026-04-01 100000 1-30 April 2026", "2026-04-01 4500 Water"})
	ended := must2(h, cli, stopRecurring, done.Recurring.ID, day(t, "2026-03-31"))
	assert.That(t, len(ended.Withdrawn) == 1, "%s", asJSON(t, ended))
	over := must2(h, cli, endEarly, id, day(t, "2026-02-14"))
	if len(over.Withdrawn) != 3 || over.Cut.AmountCents != 50_000 { // March with its water, and April
		t.Errorf("%s", asJSON(t, over))
	}
	h.sound()
	must(h, cli, cancelLease, id)
	_, err = h.Ledger(ctx, viewer, id)
	h.Refused(err, fault.NotFound, "lease 1")
	h.sound()
}

// TestRentSteps: for unposted periods that start on the day or later.
func TestRentSteps(t *testing.T) {
	h := open(t, "2026-03-20")
	id := h.lease("start_date=2026-01-01")
	l := must3(h, cli, setRent, id, day(t, "2026-02-01"), new(int64(120_000)))
	assert.That(t, l.RentCents == 120_000 && l.BaseRentCents == 100_000 && len(l.Rents) == 1, "%s", asJSON(t, l))
	h.On("2026-04-01")
	h.owes(id, "2026-01-01 100000 1-31 January 2026", "2026-02-01 100000 1-28 February 2026", "2026-03-01 100000 1-31 March 2026", "2026-04-01 120000 1-30 April 2026")
	must3(h, cli, setRent, id, day(t, "2026-02-01"), nil)
	h.Refused(refusal3(h, cli, setRent, id, day(t, "2026-02-01"), nil), fault.Invalid, "none")
	h.sound()
}

// TestSeveralTenantsAndForgetting: two tenants of one name, two of one lease, and a forgotten one, whose name and
// e-mail are nowhere any more.
func TestSeveralTenantsAndForgetting(t *testing.T) {
	h := open(t, "2026-03-20")
	h.load("properties", "name\nHouse\n")
	h.load("units", "property,name\nHouse,A\n")
	h.load("tenants", "name,email,phone,id\nAda,ada@example.org,555 01,\nAda,other@example.org,,\nBen,,,\n")
	got := h.try("tenants", "name,email\nAda,third@example.org\n")
	assert.That(t, len(got) == 1 && strings.Contains(got[0], "ada@example.org"), "%q", got)
	got = h.try("leases", "property,unit,start_date,tenant,rent_cents\nHouse,A,2026-01-01,Ada,1\n")
	assert.That(t, len(got) == 1 && strings.Contains(got[0], "2 tenants are named"), "%q", got)
	h.load("leases", "property,unit,start_date,tenant,rent_cents,end_date\nHouse,A,2026-01-01,Ada <ada@example.org>|Ben,100000,2026-02-28\n")
	l := h.ledger(1)
	assert.That(t, l.Lease.Tenant == "Ada & Ben" && *l.Lease.TenantEmail == "ada@example.org" && len(l.Lease.Tenants) == 2,
		"%s", asJSON(t, l.Lease))
	assert.Contains(t, h.export("leases"), "Ada <ada@example.org>|Ben")
	must(h, ann, receive, ReceiptRequest{LeaseID: 1, AmountCents: 250_000})
	must(h, cli, returnCredit, PayoutRequest{LeaseID: 1})
	h.Refused(refusal3(h, cli, reversePayment, 1, "x", nil), fault.Conflict, "returned as credit")
	f := must(h, cli, forgetTenant, 1)
	for _, where := range []string{"SELECT CAST(body AS TEXT) FROM events", "SELECT changes FROM audit", "SELECT name || ' ' || email FROM tenants WHERE id <> 2"} {
		for _, text := range h.Texts(where) {
			assert.That(t, !strings.Contains(text, "ada@example.org") && !strings.Contains(text, `"Ada & Ben"`) &&
				!strings.Contains(text, "555 01"), "%s still knows %s", where, text)
		}
	}
	if list, err := h.Leases(ctx, viewer, LeaseFilter{Tenant: "forgotten"}); err != nil || len(list.Leases) != 1 || list.Leases[0].Tenant != f.Name+" & Ben" {
		t.Errorf("%s %v", asJSON(t, list), err)
	}
	h.sound()
}

// TestForgottenEverywhere writes a tenant's name, e-mail and phone into every text field, changes them, and searches
// every row of every table for the old and the new ones.
func TestForgottenEverywhere(t *testing.T) {
	h := open(t, "2026-03-20")
	h.load("properties", "name,address\nHouse,c/o Ada Brandt Street 1\n")
	h.load("units", "property,name,notes\nHouse,A,key with ada brandt (555 01)\nHouse,B,\n")
	h.load("tenants", "name,email,phone,id\nAda Brandt,ada@example.org,555 01,1\nBen Brandt,ben@example.org,,2\n")
	h.Must(db.Exec(ctx, h.DB, cli, func(tx *db.Tx) error {
		row := tenantRow{byID: true, has: func(string) bool { return true },
			Tenant: Tenant{ID: 1, Name: "Ada Maria Brandt", Email: new("ada.brandt@example.org"), Phone: new("555 02")}}
		_, err := putTenant(tx, row)
		return err
	}))
	h.load("leases", "property,unit,start_date,tenant,rent_cents,end_date\nHouse,A,2026-01-01,Ada Maria Brandt|Ben Brandt,100000,2026-02-28\nHouse,B,2026-01-01,Ben Brandt,100000,\n")
	must(h, ann, receive, ReceiptRequest{LeaseID: 1, AmountCents: 150_000})
	must3(h, cli, reversePayment, 1, "Ada Maria Brandt's bank returned it", nil)
	must2(h, cli, addCharge, 1, NewCharge{Type: "other", Label: "Key for Ada Maria Brandt", DueDate: day(t, "2026-02-01"), AmountCents: 500})
	asAda := db.Caller{Service: "rental", User: "portal", Role: "member", Scope: "full", Via: "portal", Subject: 1}
	k := must(h, asAda, reportProblem, Problem{Title: "Call Ada Maria Brandt", Description: "555 02 or ada.brandt@example.org", Priority: "low"})
	must2(h, asAda, addPortalNote, k.ID, "It is me, ada maria brandt")
	other := must(h, ann, createTicket, NewTicket{UnitID: 2, Title: "Door", Description: "ADA MARIA BRANDT has the key, Ben Brandt not"})
	must2(h, ann, addTicketNote, other.ID, "write to ada@example.org; not to ben@example.org")
	must(h, ann, h.invite, 1)
	f := must(h, cli, forgetTenant, 1)
	assert.That(t, f.OwesCents == 200_500, "%+v", f)
	kept := ""
	for _, table := range h.Texts("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'") {
		for _, column := range h.Texts("SELECT name FROM pragma_table_info('" + table + "')") {
			for _, text := range h.Texts("SELECT ifnull(CAST(" + column + " AS TEXT), '') FROM " + table) {
				kept += text + "\n"
				for _, trace := range []string{"ada maria", "ada brandt", "ada@example", "ada.brandt@", "555 0"} {
					assert.Lacks(t, strings.ToLower(text), trace, "%s.%s still knows %s", table, column, text)
				}
			}
		}
	}
	for _, stays := range []string{"Ben Brandt not", "ben@example.org", "forgotten-1 & Ben Brandt", "Key for forgotten-1"} {
		assert.Contains(t, kept, stays, "is gone")
	}
	h.sound()
}

// TestTenantUploadLimits: ten reports and twenty notes an hour, 100 MB of photos, without their location.
func TestTenantUploadLimits(t *testing.T) {
	h := open(t, "2026-03-20")
	h.lease("start_date=2026-01-01")
	tenant := db.Caller{Service: "rental", User: "portal", Role: "member", Scope: "full", Via: "portal", Subject: 1}
	photo := slices.Concat([]byte("\xff\xd8\xff\xe1\x00\x10Exif\x00\x00GPS 48 N\xff\xd9"), make([]byte, 100))
	var first Ticket
	for i := range maxReports {
		k := must(h, tenant, reportProblem, Problem{Title: "Leak", Priority: "low", Photo: schema.File{Data: photo}})
		if i == 0 {
			first = k
		}
	}
	_, err := do(h, tenant, reportProblem, Problem{Title: "Leak", Priority: "low"})
	h.Refused(err, fault.Limited, "10 reports within an hour")
	for range maxNotes {
		must2(h, tenant, addPortalNote, first.ID, "again")
	}
	h.Refused(refusal2(h, tenant, addPortalNote, first.ID, "again"), fault.Limited, "20 notes within an hour")
	for _, image := range h.Texts("SELECT CAST(image AS TEXT) FROM ticket_photos") {
		assert.Lacks(t, image, "GPS", "a photo still tells the place")
	}
	h.On("2026-03-21")
	h.Must(db.Exec(ctx, h.DB, db.Bookkeeping(), func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE ticket_photos SET image = zeroblob(?) WHERE id = 1", maxPhotos-10)
		return err
	}))
	_, err = do(h, tenant, reportProblem, Problem{Title: "Leak", Priority: "low", Photo: schema.File{Data: photo}})
	h.Refused(err, fault.Invalid, "100 MB")
	must(h, tenant, reportProblem, Problem{Title: "Leak", Priority: "low"})
}

// TestStatements: a year's sums, and those of a property.
func TestStatements(t *testing.T) {
	h := open(t, "2026-12-20")
	id := h.lease("start_date=2026-11-01")
	must(h, ann, receive, ReceiptRequest{LeaseID: id, AmountCents: 250_000, PaidDate: "2026-12-31"})
	h.On("2027-01-15")
	for year, want := range map[int64][4]int64{2026: {0, 200_000, 250_000, -50_000}, 2027: {-50_000, 100_000, 0, 50_000}, 2025: {}} {
		st := assert.Value(h.LeaseStatement(ctx, viewer, id, year))(h.T)
		assert.Equal(t, [4]int64{st.OpeningBalanceCents, st.ChargedCents, st.ReceivedCents, st.ClosingBalanceCents}, want,
			"%d", year)
	}
	p := assert.Value(h.PropertyStatement(ctx, viewer, 1, 2026))(h.T)
	if p.ReceivedCents != 250_000 || len(p.ByType) != 1 || p.ByType[0].ReceivedCents != 250_000 || p.CreditCents != 0 {
		t.Errorf("%s", asJSON(t, p))
	}
}

// TestPagedLists: lease filters and the agents' paged lists.
func TestPagedLists(t *testing.T) {
	h := open(t, "2026-03-20")
	for range 3 {
		h.lease("start_date=2026-01-01", "end_date=2026-06-30")
	}
	for query, want := range map[string]int{"property=hou": 3, "property=1": 3, "property=x": 0, "tenant=u2": 1, "tenant=3": 1, "ends_before=2026-06-30": 0, "ends_before=2026-07-01": 3} {
		got := assert.Value(h.get(h.listLeases(), viewer, "", query))(h.T)
		n := len(got.(Leases).Leases)
		assert.That(t, n == want, "%s: %d leases, want %d", query, n, want)
	}
	got, err := h.tool("arrears_report", reader, `{"detail":"short"}`)
	h.Must(err)
	if s := asJSON(t, got); !strings.Contains(s, `{"lease_id":1,"unit":"U1","tenant":"Tenant U1","tenant_email":"U1@example.org","due_date":"2026-01-01","days_overdue":78,"balance_cents":100000}`) || !strings.Contains(s, `"total_cents":900000`) {
		t.Errorf("%s", s)
	}
	next := ""
	for page := range 3 {
		got := assert.Value(h.tool("lease_detail", reader, `{"lease_id":1,"limit":1`+next+`}`))(h.T)
		l := got.(LedgerForAgents)
		assert.Must(t, len(l.Charges) == 1 && l.Total == 3 && (l.Next == nil) == (page == 2),
			"page %d: %s", page, asJSON(t, l))
		if l.Next != nil {
			next = `,"after":"` + *l.Next + `"`
		}
	}
	_, err = h.tool("list_units", reader, `{"property":"Castle"}`)
	h.Refused(err, fault.Invalid, "Castle", "House")
	for _, op := range h.Declare().Tools() {
		assert.That(t, len(op.About) <= 400, "%s: its description has %d characters", op.Tool, len(op.About))
		for _, a := range op.Args(schema.Tool) {
			assert.That(t, a.About != "", "%s: %s is not described", op.Tool, a.Name)
		}
	}
}
