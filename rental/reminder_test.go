package rental

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// setUpMail lets messages be queued; nothing sends them here.
func (h *fixture) setUpMail() {
	h.T.Helper()
	h.Must(db.Exec(ctx, h.DB, db.Bookkeeping(), func(tx *db.Tx) error { return tx.SetSetting(mail.SettingHost, "smtp.example.com") }))
}

var admin = db.Caller{Service: "rental", User: "adam", Role: "admin", Scope: "full", Via: "web"}

// said are reminders as texts: "1 late-1 99500 2026-11-01 5 ada@example.org gap".
func said(all []Reminder) (lines []string) {
	for _, r := range all {
		line := fmt.Sprintf("%d %s %d", r.LeaseID, set(r.Kind), r.OpenCents)
		if r.OldestDue != nil {
			line += fmt.Sprintf(" %s %d", r.OldestDue, *r.Days)
		}
		lines = append(lines, line+" "+set(r.To)+" "+set(r.Reason))
	}
	slices.Sort(lines)
	return lines
}

// run lists the reminders due on a day, sends them, and returns "kind open" of the sent ones.
func (h *fixture) run(on string) string {
	h.T.Helper()
	h.On(on)
	due := assert.Value(h.RemindersDue(ctx, viewer, nil))(h.T)
	sent := must(h, ann, sendReminders, nil)
	a, b := said(due.Reminders), said(append(slices.Clone(sent.Sent), sent.Skipped...))
	assert.That(h.T, slices.Equal(a, b) && due.TotalCents == sent.TotalCents, "on %s: due %q, sent %q", on, a, b)
	var all []string
	for _, r := range sent.Sent {
		all = append(all, fmt.Sprintf("%s %d", *r.Kind, r.OpenCents))
	}
	for _, r := range sent.Skipped {
		all = append(all, *r.Kind+" "+*r.Reason)
	}
	return strings.Join(all, ", ")
}

// ada owes rent and water since 2026-11-01.
func (h *fixture) ada(cells ...string) int64 {
	h.T.Helper()
	h.setUpMail()
	id := h.lease(append([]string{"start_date=2026-11-01", "rent_cents=95000"}, cells...)...)
	must2(h, cli, addCharge, id, NewCharge{"utility", 4500, day(h.T, "2026-11-01"), "Water"})
	return id
}

// TestRemindersAsTheyAreDue: the worked examples and their edge cases.
func TestRemindersAsTheyAreDue(t *testing.T) {
	type step struct{ on, want string }
	pay := func(cents int64, on string) func(*fixture, int64) {
		return func(h *fixture, id int64) {
			must(h, ann, receive, ReceiptRequest{LeaseID: id, AmountCents: cents, PaidDate: on})
		}
	}
	pause := func(until string) func(*fixture, int64) {
		return func(h *fixture, id int64) {
			on := day(h.T, until)
			must2(h, ann, pauseReminders, id, &on)
		}
	}
	none := func(*fixture, int64) {}
	for _, c := range []struct {
		name  string
		first []step
		then  func(*fixture, int64)
		steps []step
	}{
		{"the first step, once", []step{{"2026-11-05", ""}, {"2026-11-06", "late-1 99500"}, {"2026-11-06", ""}}, none, nil},
		{"a part is paid between", []step{{"2026-11-06", "late-1 99500"}, {"2026-11-07", ""}}, pay(50000, "2026-11-07"),
			[]step{{"2026-11-15", "late-2 49500"}, {"2026-12-01", "late-3 49500"}, {"2026-12-04", ""}, {"2026-12-06", "late-1 144500"}}},
		{"the first run is late", []step{{"2026-11-20", "late-2 99500"}, {"2026-11-21", ""}}, none, []step{{"2026-11-30", ""}, {"2026-12-01", "late-3 99500"}}},
		{"all is paid", []step{{"2026-11-06", "late-1 99500"}}, pay(99500, "2026-11-07"), []step{{"2026-11-15", ""}, {"2026-11-30", ""}}},
		{"paused to its last day", nil, pause("2026-11-10"), []step{{"2026-11-06", "late-1 paused"}, {"2026-11-10", "late-1 paused"}, {"2026-11-11", "late-1 99500"}}},
		{"less than is asked for", nil, pay(99401, "2026-11-02"), []step{{"2026-11-06", "late-1 small"}}},
		{"as much as is asked for", nil, pay(99400, "2026-11-02"), []step{{"2026-11-06", "late-1 100"}}},
		{"the gap of a late first run", []step{{"2026-11-14", "late-1 99500"}}, none, []step{{"2026-11-15", "late-2 gap"}, {"2026-11-17", "late-2 gap"}, {"2026-11-18", "late-2 99500"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := open(t, "2026-11-02")
			id := h.ada()
			for _, s := range c.first {
				assert.Equal(t, h.run(s.on), s.want, "on %s", s.on)
			}
			c.then(h, id)
			for _, s := range c.steps {
				assert.Equal(t, h.run(s.on), s.want, "on %s", s.on)
			}
			h.sound()
		})
	}
}

// TestRemindersBeforeRentIsDue: for future rent with its other charges, less credit, once per due date.
func TestRemindersBeforeRentIsDue(t *testing.T) {
	h := open(t, "2026-11-20")
	id := h.ada()
	assert.Equal(t, h.run("2026-11-27"), "late-2 99500")
	_, err := do(h, admin, setReminders, ReminderChange{BeforeDays: new(int64(3))})
	assert.OK(t, err)
	h.Must(h.row("recurring", "property=House", "unit=U1", "lease_start=2026-11-01", "type=utility", "label=Garage", "amount_cents=2000", "from=2026-12-01"))
	if got := h.run("2026-11-28"); got != "reminder 97000" { // three days before 12-01
		t.Error(got)
	}
	assert.Equal(t, h.run("2026-11-29"), "")
	must(h, ann, receive, ReceiptRequest{LeaseID: id, AmountCents: 99500 + 97000 + 500, PaidDate: "2026-12-01"})
	if got := h.run("2026-12-29"); got != "reminder 96500" { // 500 is credit
		t.Error(got)
	}
	if got := h.run("2027-01-29"); got != "reminder 97000, late-2 96500" && got != "late-2 96500, reminder 97000" {
		t.Error(got)
	}
	if got := h.run("2027-03-01"); !strings.Contains(got, "reminder 97000") { // on the day itself, when it is posted
		t.Error(got)
	}
}

// TestRemindersOfNamedLeases: a named lease that has ended is reminded; one without debt is skipped and reported.
func TestRemindersOfNamedLeases(t *testing.T) {
	h := open(t, "2026-11-02")
	id := h.ada("end_date=2026-11-04")
	clean := h.lease("start_date=2027-01-01")
	assert.Equal(t, h.run("2026-11-20"), "late-2 ended")
	v := must(h, ann, sendReminders, []int64{clean})
	if _, err := v.Refusals(); err == nil || len(v.Sent) != 0 || len(v.Skipped) != 1 || *v.Skipped[0].Reason != notDue || v.Skipped[0].Kind != nil {
		t.Errorf("%+v %v", v, err)
	}
	v = must(h, ann, sendReminders, []int64{id, clean})
	_, err := v.Refusals()
	assert.That(t, err == nil && len(v.Sent) == 1 && *v.Sent[0].Kind == "late-2", "%+v %v", v, err)
	h.Refused(refusal(h, ann, sendReminders, []int64{99}), fault.NotFound, "99")
}

// TestRemindersToSeveralTenants: each with an address gets one; the sum counts once; a block applies to the address.
func TestRemindersToSeveralTenants(t *testing.T) {
	h := open(t, "2026-11-02")
	h.setUpMail()
	h.load("properties", "name\nHouse\n")
	h.load("units", "property,name,market_rent_cents\nHouse,A,1\n")
	h.load("tenants", "name,email\nAda,ada@example.org\nBen,\nCleo,Cleo@Example.org\n")
	h.load("leases", "property,unit,start_date,tenant,rent_cents\nHouse,A,2026-11-01,Ada|Ben|Cleo,95000\n")
	h.Must(db.Exec(ctx, h.DB, db.Bookkeeping(), func(tx *db.Tx) error { return mail.Block(tx, "cleo@example.org", "bounced") }))
	assert.Equal(t, h.run("2026-11-06"), "late-1 95000, late-1 blocked")
	all := h.Texts("SELECT kind || ' ' || address || ' ' || person || ' ' || record || ' ' || state FROM mails")
	assert.That(t, slices.Equal(all, []string{"late-1 ada@example.org tenant:1 House/A queued"}), "%q", all)
	h.load("tenants", "name,email,id\nAda,,1\nCleo,,3\n")
	assert.Equal(t, h.run("2026-11-15"), "late-2 no_address")
	h.load("tenants", "name,email,id\nBen,ben@example.org,2\nCleo,cleo@example.com,3\n")
	assert.Equal(t, h.run("2026-11-15"), "late-2 95000, late-2 95000")
	v, err := h.RemindersDue(ctx, viewer, nil)
	assert.That(t, err == nil && v.TotalCents == 0 && len(v.Reminders) == 0, "%+v %v", v, err)
}

func TestSetRemindersRefuses(t *testing.T) {
	h := open(t, "2026-11-02")
	_, err := do(h, admin, setReminders, ReminderChange{GapDays: new(int64(5))})
	assert.That(t, fault.Is(err, fault.Conflict), "%v", err)
	for _, bad := range [][]string{{""}, {"0"}, {"5", "5"}, {"14,5"}, {"1", "2", "3", "4"}, {"366"}, {"x"}} {
		_, err := parseLateDays(bad)
		assert.That(t, fault.Is(err, fault.Invalid), "%q: %v", bad, err)
	}
	days, err := parseLateDays([]string{"5,14", "365"})
	assert.That(t, err == nil && slices.Equal(days, []int64{5, 14, 365}), "%v %v", days, err)
}

// TestDoctorNamesMarksWithoutACharge: a mark is deleted with its charge; a leftover one is named.
func TestDoctorNamesMarksWithoutACharge(t *testing.T) {
	h := open(t, "2026-11-02")
	id := h.ada()
	h.run("2026-11-06")
	water := h.Number("SELECT id FROM charges WHERE label = 'Water'")
	must2(h, cli, voidCharge, water, "mistake")
	assert.Equal(t, h.Number("SELECT count(*) FROM late_marks"), 1, "marks of lease %d", id)
	h.sound()
	h.raw("DROP TABLE late_marks")
	h.raw("CREATE TABLE late_marks (charge_id INTEGER PRIMARY KEY, step INTEGER) STRICT")
	h.raw("INSERT INTO late_marks VALUES (999, 1)")
	all := h.breaches()
	assert.That(t, len(all) == 1 && strings.Contains(all[0], "charge 999, which there is not"), "%q", all)
}
