package rental

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
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
	if _, err := do(h, admin, setReminders, ReminderChange{BeforeDays: new(int64(3))}); err != nil {
		t.Fatal(err)
	}
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

// model implements rules 12 and 13 a second time from the ledgers, without the program's code.
type model struct {
	before, gap, least int64
	late               []int64
	marks              map[int64]map[int]bool // by charge: steps
	last               map[int64]exact.Day    // by lease: the last late message
	told               map[string]bool        // "lease day"
	paused             map[int64]exact.Day
	address            map[int64]string // by lease: "", blocked, or one
	ended              map[int64]exact.Day
}

// due is what a lease's tenant must get on a day: lines in the format of said, and what to note.
func (m *model) due(h *fixture, l Ledger, today exact.Day) (lines []string, note func()) {
	id := l.Lease.ID
	open, oldest, kind := int64(0), exact.Day(0), 0
	var listed []Charge
	for _, c := range l.Charges {
		if c.AmountCents-c.PaidCents <= 0 || c.DueDate >= today {
			continue
		}
		if len(listed) == 0 {
			oldest = c.DueDate
		}
		listed, open = append(listed, c), open+c.AmountCents-c.PaidCents
		for k := len(m.late); k >= 1; k-- {
			if int64(c.DueDate)+m.late[k-1] <= int64(today) {
				if !m.marks[c.ID][k] && k > kind {
					kind = k
				}
				break
			}
		}
	}
	common := func(late bool, open int64) string {
		last, mailed := m.last[id]
		until, held := m.paused[id]
		end, ends := m.ended[id]
		switch {
		case late && mailed && int64(today)-int64(last) < m.gap:
			return "gap"
		case late && open < m.least:
			return "small"
		case held && today <= until:
			return "paused"
		case m.address[id] == "":
			return "no_address"
		case strings.HasPrefix(m.address[id], "blocked"):
			return "blocked"
		case ends && today > end:
			return "ended"
		}
		return ""
	}
	var notes []func()
	if kind > 0 {
		why := common(true, open)
		lines = append(lines, fmt.Sprintf("%d late-%d %d %s %d %s %s", id, kind, open, oldest, today-oldest, m.address[id], why))
		if why == "" {
			notes = append(notes, func() {
				m.last[id] = today
				for _, c := range listed {
					for k := range m.late {
						if int64(c.DueDate)+m.late[k] <= int64(today) {
							if m.marks[c.ID] == nil {
								m.marks[c.ID] = map[int]bool{}
							}
							m.marks[c.ID][k+1] = true
						}
					}
				}
			})
		}
	}
	if m.before > 0 {
		for i, cents := range h.willOwe(id, today, m.before) {
			d := today + exact.Day(i)
			key := fmt.Sprint(id, d)
			if cents <= 0 || m.told[key] {
				continue
			}
			why := common(false, cents)
			lines = append(lines, fmt.Sprintf("%d reminder %d %s %d %s %s", id, cents, d, d-today, m.address[id], why))
			if why == "" {
				notes = append(notes, func() { m.told[key] = true })
			}
		}
	}
	return lines, func() {
		for _, n := range notes {
			n()
		}
	}
}

var errTakenBack = errors.New("taken back")

// willOwe is the open amount of each day's charges after posting day by day: it posts, reads and rolls back.
func (h *fixture) willOwe(lease int64, first exact.Day, days int64) (all []int64) {
	h.T.Helper()
	err := db.Exec(ctx, h.DB, db.Bookkeeping(), func(tx *db.Tx) error {
		for on := first; on <= first+exact.Day(days); on++ {
			if err := catchUpTo(tx, lease, on); err != nil {
				return err
			}
			cents, _, err := db.One(&tx.Conn, db.Int, `SELECT coalesce(sum(amount_cents - paid_cents), 0) FROM charges WHERE lease_id = ? AND due_date = ?
				AND (type = 'rent' OR recurring_id IS NOT NULL)`, lease, on)
			if err != nil {
				return err
			}
			all = append(all, cents)
		}
		return errTakenBack
	})
	assert.Must(h.T, errors.Is(err, errTakenBack), "%v", err)
	return all
}

// TestRemindersEqualANaiveModel compares 10,000 random ledgers on random days with the model.
func TestRemindersEqualANaiveModel(t *testing.T) {
	t.Parallel()
	const leases, days = 500, 3
	files := uint64(20)
	if testing.Short() { // with the race detector
		files = 1
	}
	for seed := range files {
		r := rand.New(rand.NewPCG(seed, 12))
		h := open(t, "2026-11-02")
		h.setUpMail()
		m := &model{before: r.Int64N(15) * r.Int64N(2), gap: 1 + r.Int64N(9), least: r.Int64N(30_000), marks: map[int64]map[int]bool{},
			last: map[int64]exact.Day{}, told: map[string]bool{}, paused: map[int64]exact.Day{}, address: map[int64]string{}, ended: map[int64]exact.Day{}}
		for at := int64(0); len(m.late) < 1+r.IntN(3); {
			at += 1 + r.Int64N(20)
			m.late = append(m.late, at)
		}
		must(h, admin, setReminders, ReminderChange{&m.before, &m.gap, &m.least, m.late})
		today := day(t, "2026-11-02")
		h.randomLeases(r, m, today, leases)
		for range days {
			today += exact.Day(1 + r.IntN(12))
			h.On(today.String())
			h.randomPayments(r, m, today, leases)
			assert.Must(t, h.comparesWith(m, today, leases),
				"seed %d, %s: before %d, gap %d, least %d, late %v", seed, today, m.before, m.gap, m.least, m.late)
		}
		h.sound()
	}
}

// randomLeases makes leases of every frequency, some with an end, with tenants with and without an address.
func (h *fixture) randomLeases(r *rand.Rand, m *model, today exact.Day, n int) {
	var units, tenants, all, every strings.Builder
	units.WriteString("property,name,market_rent_cents\n")
	tenants.WriteString("name,email\n")
	all.WriteString("property,unit,start_date,tenant,rent_cents,frequency,due_day,end_date\n")
	every.WriteString("property,unit,lease_start,type,label,amount_cents,from\n")
	for i := range n {
		id := int64(i + 1)
		start, end := today-exact.Day(r.IntN(60)), ""
		if r.IntN(5) == 0 {
			m.ended[id] = start + exact.Day(r.IntN(100))
			end = m.ended[id].String()
		}
		m.address[id] = []string{"", "blocked%d@example.org", "t%d@example.org", "t%d@example.org"}[r.IntN(4)]
		if m.address[id] != "" {
			m.address[id] = fmt.Sprintf(m.address[id], id)
		}
		fmt.Fprintf(&units, "House,%d,1\n", id)
		fmt.Fprintf(&tenants, "Tenant %d,%s\n", id, m.address[id])
		fmt.Fprintf(&all, "House,%d,%s,Tenant %d,%d,%s,%d,%s\n", id, start, id, r.IntN(60_000), frequencies[r.IntN(3)], 1+r.IntN(31), end)
		if r.IntN(4) == 0 {
			fmt.Fprintf(&every, "House,%d,%s,utility,Water,%d,%s\n", id, start, 1+r.IntN(5000), today+exact.Day(r.IntN(30)-15))
		}
		if r.IntN(8) == 0 {
			m.paused[id] = today + exact.Day(r.IntN(30))
		}
	}
	h.load("properties", "name\nHouse\n")
	h.load("units", units.String())
	h.load("tenants", tenants.String())
	h.load("leases", all.String())
	h.load("recurring", every.String())
	h.Must(db.Exec(ctx, h.DB, db.Bookkeeping(), func(tx *db.Tx) error {
		for id, address := range m.address {
			if strings.HasPrefix(address, "blocked") {
				h.Must(mail.Block(tx, address, ""))
			}
			if until, is := m.paused[id]; is {
				_, err := tx.Exec("UPDATE leases SET paused_until = ? WHERE id = ?", until, id)
				h.Must(err)
			}
		}
		return nil
	}))
}

// randomPayments makes a third of the tenants pay: too little, or ahead.
func (h *fixture) randomPayments(r *rand.Rand, m *model, today exact.Day, n int) {
	h.Must(db.Exec(ctx, h.DB, cli, func(tx *db.Tx) error {
		for id := int64(1); id <= int64(n); id++ {
			if r.IntN(3) == 0 {
				if _, err := receive(tx, ReceiptRequest{LeaseID: id, AmountCents: 1 + r.Int64N(90_000), PaidDate: today.String()}); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// comparesWith sends due reminders and reports whether the model agrees.
func (h *fixture) comparesWith(m *model, today exact.Day, n int) bool {
	h.T.Helper()
	due := assert.Value(h.RemindersDue(ctx, viewer, nil))(h.T)
	var want []string
	var notes []func()
	for id := int64(1); id <= int64(n); id++ {
		l := h.ledger(id)
		lines, note := m.due(h, l, today)
		want, notes = append(want, lines...), append(notes, note)
	}
	slices.Sort(want)
	sent := must(h, ann, sendReminders, nil)
	for _, note := range notes {
		note()
	}
	for _, got := range [][]string{said(due.Reminders), said(append(sent.Sent, sent.Skipped...))} {
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				h.T.Errorf("got\n%s\nwant\n%s", strings.Join(got[min(i, len(got)):min(i+3, len(got))], "\n"), strings.Join(want[min(i, len(want)):min(i+3, len(want))], "\n"))
				return false
			}
		}
	}
	return true
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
