package rental

import (
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// firstStart bounds when a lease may begin, so that a slip of the pen does not post a
// thousand years of rent.
var firstStart = exact.DateOf(1900, 1, 1)

// leaseTable is the leases as CSV. It is also the way to make a lease, to change its
// terms and to move its end out.
func (s *Service) leaseTable() schema.Table {
	return schema.Table{
		Name: "leases", About: "Who rents what, from when to when, and for how much.",
		Row: func(f *schema.Form) schema.Put {
			key, edits := bindLeaseKey(f, "start_date"), bindLease(f)
			return func(tx *db.Tx) error { return putLease(tx, key, edits) }
		},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				return emit(r.Text(), r.Text(), r.Day().String(), r.Text(), cell(r.DayPtr()), number(r), r.Text(), number(r), number(r), r.Text())
			}, `SELECT p.name, u.name, l.start_date, t.name, l.end_date, l.rent_cents, l.frequency, l.due_day, l.deposit_cents, l.proration`+
				fromLeases+" ORDER BY p.name, u.name, l.start_date")
		},
	}
}

func number(r *db.Row) string { return strconv.FormatInt(r.Int(), 10) }

// leaseKey is how a row names a lease.
type leaseKey struct {
	property, unit string
	start          exact.Day
}

// bindLeaseKey binds the three columns that name a lease; start is what the file calls
// the lease's first day.
func bindLeaseKey(f *schema.Form, start string) (k leaseKey) {
	f.Text(&k.property, "property", "the property's name", schema.Required, schema.Most(maxName))
	f.Text(&k.unit, "unit", "the unit's name within the property", schema.Required, schema.Most(maxName))
	f.Day(&k.start, start, "the lease's first day", schema.Required)
	return k
}

// find gives the lease that the key names, if there is one, and its unit.
func (k leaseKey) find(c *db.Conn) (l Lease, found bool, unit int64, err error) {
	if unit, err = findUnit(c, k.property, k.unit); err != nil {
		return l, false, 0, err
	}
	l, found, err = db.One(c, scanLease(c.Today()), "SELECT "+leaseColumns+fromLeases+" WHERE l.unit_id = ? AND l.start_date = ?", unit, k.start)
	return l, found, unit, err
}

// lease gives the lease that the key names; an unknown one is invalid.
func (k leaseKey) lease(c *db.Conn) (Lease, error) {
	l, found, _, err := k.find(c)
	if err == nil && !found {
		err = fault.Invalidf("lease_start: no lease of the unit %s of %s starts on %s", schema.Quote(k.unit), schema.Quote(k.property), k.start)
	}
	return l, err
}

// bindLease binds the columns besides the key: what the row makes of a lease.
func bindLease(f *schema.Form) (edits []func(*Lease)) {
	column := func(name string, edit func(*Lease)) {
		if f.Given(name) {
			edits = append(edits, edit)
		}
	}
	var tenant string
	f.Text(&tenant, "tenant", "the tenant's name", schema.Most(maxName))
	if f.Given("tenant") && tenant == "" {
		f.Refuse("tenant", "tenant is empty: a lease needs a tenant's name")
	}
	column("tenant", func(l *Lease) { l.Tenant = tenant })
	var end *exact.Day
	f.DayPtr(&end, "end_date", "the last day; empty is open-ended")
	column("end_date", func(l *Lease) { l.EndDate = end })
	var rent *int64
	f.IntPtr(&rent, "rent_cents", "the rent of a whole period, in cents", schema.Range(0, maxCents))
	if f.Given("rent_cents") && rent == nil {
		f.Refuse("rent_cents", "rent_cents is empty: a lease needs its rent in cents, 0 if it costs nothing")
	}
	column("rent_cents", func(l *Lease) { l.RentCents = *rent })
	frequency := monthly
	f.Enum(&frequency, "frequency", "how often rent is due", frequencies, schema.Folded)
	column("frequency", func(l *Lease) { l.Frequency = frequency })
	var dueDay *int64
	f.IntPtr(&dueDay, "due_day", "the day of the month, clipped to short months; empty is the day of start_date", schema.Range(1, 31))
	column("due_day", func(l *Lease) {
		if l.DueDay = dayOfMonth(l.StartDate); dueDay != nil {
			l.DueDay = *dueDay
		}
	})
	var deposit int64
	f.Int(&deposit, "deposit_cents", "the deposit, a note that posts no charge", schema.Range(0, maxCents))
	column("deposit_cents", func(l *Lease) { l.DepositCents = deposit })
	proration := byDays
	f.Enum(&proration, "proration", "how a period that the start or the end cuts short is charged: by its days, or in full", prorations, schema.Folded)
	column("proration", func(l *Lease) { l.Proration = proration })
	return edits
}

func dayOfMonth(d exact.Day) int64 {
	_, _, day := d.Date()
	return int64(day)
}

// unsaid is the rent of a new lease of which nobody has said it.
const unsaid = -1

// putLease makes the lease of that key or changes the one that is there. What stays as
// it was is not written.
func putLease(tx *db.Tx, k leaseKey, edits []func(*Lease)) error {
	was, found, unit, err := k.find(&tx.Conn)
	if err != nil {
		return err
	}
	now := was
	if !found {
		now = Lease{UnitID: unit, StartDate: k.start, RentCents: unsaid, Frequency: monthly, DueDay: dayOfMonth(k.start), Proration: byDays}
	}
	for _, edit := range edits {
		edit(&now)
	}
	switch {
	case now.StartDate < firstStart:
		return fault.Invalidf("start_date: %s is out of range; it takes a day from %s on", now.StartDate, firstStart)
	case now.EndDate != nil && *now.EndDate < now.StartDate:
		return fault.Invalidf("end_date: %s lies before start_date %s", now.EndDate, now.StartDate)
	case !found && now.Tenant == "":
		return fault.Invalidf("tenant is missing: a new lease needs a tenant's name")
	case !found && now.RentCents == unsaid:
		return fault.Invalidf("rent_cents is missing: a new lease needs its rent in cents")
	}
	tenant, err := findTenant(&tx.Conn, now.Tenant)
	if err != nil {
		return err
	}
	if err := checkFree(&tx.Conn, now); err != nil {
		return err
	}
	if found {
		return changeLease(tx, was, now, tenant)
	}
	id, err := tx.Insert(`INSERT INTO leases (unit_id, tenant_id, start_date, end_date, last_day, rent_cents, frequency, due_day, deposit_cents,
		proration, next_post_day) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, unit, tenant, now.StartDate, now.EndDate, lastDay(now.EndDate),
		now.RentCents, now.Frequency, now.DueDay, now.DepositCents, now.Proration, now.StartDate)
	if err != nil {
		return err
	}
	made := map[string]any{"property": k.property, "unit": k.unit, "start_date": k.start}
	for _, f := range now.facts() {
		made[f.name] = f.value
	}
	return tx.Audit("lease.created", subject("lease", id), made)
}

// lastDay is a lease's last day, for an open-ended one the last of all days.
func lastDay(end *exact.Day) exact.Day {
	if end == nil {
		return exact.MaxDay
	}
	return *end
}

// checkFree refuses a lease of a unit that another lease covers on the same day.
func checkFree(c *db.Conn, l Lease) error {
	type other struct {
		id         int64
		start, end string
	}
	o, found, err := db.One(c, func(r *db.Row) other {
		x := other{r.Int(), r.Day().String(), "open-ended"}
		if end := r.DayPtr(); end != nil {
			x.end = "until " + end.String()
		}
		return x
	}, "SELECT id, start_date, end_date FROM leases WHERE unit_id = ? AND start_date <= ? AND last_day >= ? AND id <> ?",
		l.UnitID, lastDay(l.EndDate), l.StartDate, l.ID)
	if err == nil && found {
		err = fault.Invalidf("the unit is let on these days already: lease %d from %s, %s; two leases may not cover the same day of one unit", o.id, o.start, o.end)
	}
	return err
}
