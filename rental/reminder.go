package rental

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/mail"
)

// ReminderSettings say when tenants are reminded.
type ReminderSettings struct {
	BeforeDays int64   `json:"before_days" about:"how many days before rent is due tenants are reminded of it; 0: not at all"`
	LateDays   []int64 `json:"late_days" about:"days after the due day until the first, second and third step"`
	GapDays    int64   `json:"gap_days" about:"the fewest days between two late messages of a lease"`
	LeastCents int64   `json:"least_cents" about:"no message if less than this amount is owed, in cents"`
}

// settingReminders stores them, as JSON; defaults without it.
const settingReminders = "rental.reminders"

func reminderSettings(c *db.Conn) (s ReminderSettings, err error) {
	s = ReminderSettings{LateDays: []int64{5, 14, 30}, GapDays: 4, LeastCents: 100}
	kept, err := c.Setting(settingReminders)
	if err == nil && kept != "" {
		err = json.Unmarshal([]byte(kept), &s)
	}
	return s, err
}

// step is the highest step that a charge due on a day has reached today; 0: none.
func (s ReminderSettings) step(due, today exact.Day) (step int64) {
	for i, days := range s.LateDays {
		if int64(today-due) >= days {
			step = int64(i) + 1
		}
	}
	return step
}

// Why a lease's tenant is not reminded of a reached step.
const (
	inGap      = "gap"        // the lease's last late message is too new
	tooSmall   = "small"      // less is open than is asked for
	heldBack   = "paused"     // until a day
	noAddress  = "no_address" // of no tenant
	isBlocked  = "blocked"    // the address
	leaseEnded = "ended"      // the lease, unless it is named
	notDue     = "not_due"    // a lease that was named, and nothing to remind of
)

// kindReminder is for charges due soon; lateKind for a step of overdue ones.
const kindReminder = "reminder"

func lateKind(step int64) string { return "late-" + strconv.FormatInt(step, 10) }

// Reminder is one message due to a tenant, or why there is none. The open amount is the lease's, repeated for each of
// its tenants.
type Reminder struct {
	LeaseID   int64      `json:"lease_id"`
	Property  string     `json:"property"`
	Unit      string     `json:"unit"`
	Tenant    string     `json:"tenant"`
	To        *string    `json:"to"`
	Kind      *string    `json:"kind" enum:"reminder,late-1,late-2,late-3"`
	OpenCents int64      `json:"open_cents"`
	OldestDue *exact.Day `json:"oldest_due"`
	Days      *int64     `json:"days" about:"since the oldest overdue charge was due; of a reminder, until it is due"`
	Reason    *string    `json:"reason" enum:"gap,small,paused,no_address,blocked,ended,not_due" about:"why it is not sent; null when it is"`

	tenant int64
	told   *telling
}

// Reachable reports whether the lease has a tenant to write to.
func (r Reminder) Reachable() bool { return r.told.lease.Reachable() }

// telling is a reminder of a lease; the rows of its tenants share it.
type telling struct {
	lease   Lease
	step    int64 // 0 is of what is due soon
	day     exact.Day
	open    int64
	charges []lateCharge
	why     string // why it is not sent; "" if it is, or if the address decides
	over    bool   // the lease has ended and is not named
}

// lateCharge is an overdue charge with the highest step that was mailed for it.
type lateCharge struct {
	Charge
	marked int64
}

// overdueMarked reads overdue charges, lease by lease; of one lease unless it is 0.
func overdueMarked(c *db.Conn, lease int64) ([]lateCharge, error) {
	query := "SELECT " + chargeColumns + `, ifnull(m.step, 0) FROM charges c INDEXED BY charges_unpaid
		LEFT JOIN late_marks m ON m.charge_id = c.id WHERE c.paid_date IS NULL AND c.due_date < ?
		AND c.amount_cents > c.paid_cents`
	args := []any{c.Today()}
	if lease != 0 {
		query, args = query+" AND c.lease_id = ?", append(args, lease)
	}
	all, err := db.All(c, func(r *db.Row) lateCharge {
		return lateCharge{Charge: scanCharge(r), marked: r.Int()}
	}, query, args...)
	slices.SortFunc(all, func(a, b lateCharge) int {
		return cmp.Or(cmp.Compare(a.lease, b.lease), cmp.Compare(a.DueDate, b.DueDate), cmp.Compare(a.ID, b.ID))
	})
	return all, err
}

// late is what a reminder says of a lease's overdue charges: the highest step that one of them has reached and that was
// not mailed for it; nil if there is none.
func (s ReminderSettings) late(charges []lateCharge, today exact.Day) *telling {
	t := &telling{day: charges[0].DueDate, charges: charges}
	for _, x := range charges {
		t.open += x.BalanceCents
		if step := s.step(x.DueDate, today); step > x.marked {
			t.step = max(t.step, step)
		}
	}
	if t.step == 0 {
		return nil
	}
	return t
}

// reminders are all messages due to tenants today, including those that a reason prevents; of the named leases alone,
// if there are any. Due charges of the leases are posted.
func reminders(c *db.Conn, named []int64) (all []Reminder, err error) {
	s, err := reminderSettings(c)
	if err != nil {
		return nil, err
	}
	told, err := tellings(c, s, named)
	if err != nil {
		return nil, err
	}
	for _, t := range told {
		t.judge(s, c.Today(), slices.Contains(named, t.lease.ID))
		rows, err := t.rows(c)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	for _, lease := range named {
		if !slices.ContainsFunc(all, func(r Reminder) bool { return r.LeaseID == lease }) {
			l, err := leases.ByID(c, lease)
			if err != nil {
				return nil, err
			}
			all = append(all, Reminder{LeaseID: l.ID, Property: l.Property, Unit: l.Unit, Tenant: l.Tenant, To: l.TenantEmail,
				Reason: new(notDue)})
		}
	}
	return all, nil
}

// tellings are the overdue ones, longest first, then those due soon.
func tellings(c *db.Conn, s ReminderSettings, named []int64) (all []*telling, err error) {
	only := int64(0)
	if len(named) == 1 {
		only = named[0]
	}
	charges, err := overdueMarked(c, only)
	if err != nil {
		return nil, err
	}
	for len(charges) > 0 {
		n := 1
		for n < len(charges) && charges[n].lease == charges[0].lease {
			n++
		}
		if t := s.late(charges[:n], c.Today()); t != nil && (len(named) == 0 || slices.Contains(named, charges[0].lease)) {
			t.lease.ID = charges[0].lease
			all = append(all, t)
		}
		charges = charges[n:]
	}
	slices.SortStableFunc(all, func(a, b *telling) int { return cmp.Compare(a.day, b.day) })
	soon, err := dueSoon(c, s, named)
	if err != nil {
		return nil, err
	}
	all = append(all, soon...)
	for _, t := range all {
		if t.lease, err = leases.ByID(c, t.lease.ID); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// judge finds why a lease is not reminded, apart from its tenants' addresses.
func (t *telling) judge(s ReminderSettings, today exact.Day, named bool) {
	l := t.lease
	switch {
	case t.step > 0 && l.lateMailedOn != nil && int64(today-*l.lateMailedOn) < s.GapDays:
		t.why = inGap
	case t.step > 0 && t.open < s.LeastCents:
		t.why = tooSmall
	case l.PausedUntil != nil && today <= *l.PausedUntil:
		t.why = heldBack
	case !slices.ContainsFunc(l.Tenants, func(x LeaseTenant) bool { return x.address() != "" }):
		t.why = noAddress
	}
	t.over = l.Status == ended && !named
}

// address is the tenant's address; "" if there is none.
func (t LeaseTenant) address() string {
	if t.Forgotten() {
		return ""
	}
	return set(t.Email)
}

// rows are one for each tenant with an address; one for all without any.
func (t *telling) rows(c *db.Conn) (all []Reminder, err error) {
	l, kind, days := t.lease, lateKind(t.step), int64(c.Today()-t.day)
	if t.step == 0 {
		kind, days = kindReminder, -days
	}
	row := Reminder{LeaseID: l.ID, Property: l.Property, Unit: l.Unit, Tenant: l.Tenant, Kind: &kind, OpenCents: t.open,
		OldestDue: &t.day, Days: &days, told: t}
	for _, x := range l.Tenants {
		to := x.address()
		if to == "" {
			continue
		}
		one := row
		one.Tenant, one.To, one.tenant = x.Name, &to, x.ID
		bad, err := mail.Unsendable(c, to)
		switch {
		case err != nil:
			return nil, err
		case t.why != "":
			one.Reason = &t.why
		case bad != "":
			one.Reason = new(isBlocked)
		case t.over:
			one.Reason = new(leaseEnded)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		row.Reason = &t.why
		all = append(all, row)
	}
	return all, nil
}

// totalOpen sums the amounts of the rows to send, each lease and kind once.
func totalOpen(all []Reminder) (cents int64) {
	var last *telling
	for _, r := range all {
		if r.Reason == nil && r.told != last {
			cents, last = cents+r.OpenCents, r.told
		}
	}
	return cents
}
