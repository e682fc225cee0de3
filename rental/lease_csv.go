package rental

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// firstStart bounds a lease's beginning, so that a typing error does not post a thousand years of rent.
var firstStart = exact.DateOf(1900, 1, 1)

// leaseTable is the leases as CSV. It also makes leases, changes their terms and moves their end.
func leaseTable() schema.Table {
	t := leases.Table("leases", "Who rents what, from when to when, and for how much.")
	t.Row = leases.Rows(putLease)
	t.Export = func(c *db.Conn, emit func(...string) error) error {
		shared, err := sharedNames(c)
		if err != nil {
			return err
		}
		return leases.Each(c, func(l *Lease) error { return emit(l.cells(shared)...) },
			"ORDER BY p.name, u.name, l.start_date")
	}
	t.Foresee = func(ctx context.Context, d *db.DB, who db.Caller, store func() error) (schema.Foreseen, error) {
		return New(d).foreseePosting(ctx, who, store)
	}
	t.Written = func(c *db.Conn) (int, error) { // the opening's columns once a lease has one; never paid_up_to
		n := len(t.Columns()) - 1
		_, have, err := db.One(c, db.Int, "SELECT 1 FROM leases WHERE opening_day IS NOT NULL LIMIT 1")
		if !have {
			n -= 3
		}
		return n, err
	}
	named := func(c *db.Conn, cell func(string) string) (Lease, bool, error) {
		day, _ := exact.ParseDay(strings.TrimSpace(cell("start_date")))
		return leases.One(c, "WHERE p.name = ? AND u.name = ? AND l.start_date = ?",
			strings.TrimSpace(cell("property")), strings.TrimSpace(cell("unit")), day)
	}
	t.Find = func(c *db.Conn, cell func(string) string) ([]string, bool, error) {
		l, found, err := named(c, cell)
		if err != nil || !found {
			return nil, false, err
		}
		shared, err := sharedNames(c)
		return l.cells(shared), true, err
	}
	t.Page = func(c *db.Conn, cell func(string) string) (string, error) {
		l, found, err := named(c, cell)
		if err != nil || !found {
			return "/leases", err
		}
		return leasePath(l.ID), nil
	}
	return t
}

// leaseKey is how a row names a lease.
type leaseKey struct {
	property, unit string
	start          exact.Day
}

// bindLeaseKey binds the three columns that name a lease; start is what the file calls
// the lease's first day.
func bindLeaseKey(f *schema.Form, start string) (k leaseKey) {
	f.Text(&k.property, "property", "the property's name", schema.Most(maxName),
		func(a *schema.Arg) { a.Required = f.Surface() != schema.Page })
	f.Text(&k.unit, "unit", "the unit's name within the property", schema.Required, schema.Most(maxName),
		schema.Help("Where it is let."),
		schema.Choices(unitNames), schema.PartOf("property"), schema.NewBy("save_unit"))
	if f.Surface() == schema.Page && k.unit != "" && k.property == "" {
		f.Refuse("unit", "Choose a unit.") // a name alone does not say of which property
	}
	f.Day(&k.start, start, "the lease's first day", schema.Required)
	return k
}

// find returns the lease that the key names, if there is one, and its unit.
func (k leaseKey) find(c *db.Conn) (l Lease, found bool, unit int64, err error) {
	if unit, err = findUnit(c, k.property, k.unit); err != nil {
		return l, false, 0, err
	}
	l, found, err = leases.One(c, "WHERE l.unit_id = ? AND l.start_date = ?", unit, k.start)
	return l, found, unit, err
}

// lease returns the lease that the key names; an unknown one is invalid.
func (k leaseKey) lease(c *db.Conn) (Lease, error) {
	l, found, _, err := k.find(c)
	if err == nil && !found {
		err = fault.Fieldf("lease_start", "lease_start: no lease of the unit %s of %s starts on %s", schema.Quote(k.unit),
			schema.Quote(k.property), k.start)
	}
	return l, err
}

// cells is the lease as a row of the table, whose last column, paid_up_to, is for imports.
func (l Lease) cells(shared map[string]bool) []string {
	l.Tenant = tenantCell(l.Tenants, shared)
	return append(leases.Cells(l), "")
}

func bindLeaseTenant(f *schema.Form, l *Lease, _ ...schema.Opt) bool {
	given := f.Text(&l.Tenant, "tenant", "the tenant's name, or Name <e-mail>; several are separated by |",
		schema.Most(maxText),
		schema.Help("Who rents it."), schema.Apart("|"), schema.Choices(tenantNames), schema.Any, schema.Usual,
		schema.NewBy("save_tenant"))
	if f.Given("tenant") && l.Tenant == "" {
		f.Refuse("tenant", "tenant is empty: enter the tenant's name")
	}
	return given
}

func bindRent(f *schema.Form, l *Lease, _ ...schema.Opt) bool {
	var rent *int64
	f.IntPtr(&rent, "rent_cents", "the rent of a whole period, in cents", schema.Range(0, maxCents), schema.Usual)
	if l.BaseRentCents = noRent; rent != nil {
		l.BaseRentCents = *rent
	}
	if f.Given("rent_cents") && rent == nil {
		refusal := "rent_cents is empty: enter the rent in cents (0 if it is free)"
		if f.Surface() == schema.Page {
			refusal = "Enter the rent (0 if it is free)."
		}
		f.Refuse("rent_cents", "%s", refusal)
	}
	return rent != nil
}

func bindDueDay(f *schema.Form, l *Lease, _ ...schema.Opt) bool {
	var day *int64
	f.IntPtr(&day, "due_day", "the day of the month, in short months the last day; empty is the day of start_date",
		schema.Range(1, 31))
	if l.DueDay = dayOfMonth(l.StartDate); day != nil {
		l.DueDay = *day
	}
	return day != nil
}

// bindLeaseOpening binds the columns of an opening balance; nil if the row has none of them.
func bindLeaseOpening(f *schema.Form) *Opening {
	o := &Opening{}
	f.DayPtr(&o.Day, "opening_day", "taken over on this day: nothing due before it is posted")
	f.Int(&o.BalanceCents, "opening_balance_cents", "what was owed on that day, in cents; below 0: paid ahead",
		schema.Range(-maxCents, maxCents))
	f.Int(&o.DepositCents, "opening_deposit_cents", "the deposit that was held on that day, in cents",
		schema.Range(0, maxCents))
	f.DayPtr(&o.PaidUpTo, "paid_up_to", "instead of opening_day: the last day of the last paid period")
	if !f.Given("opening_day") && o.PaidUpTo == nil {
		return nil
	}
	return o
}

func dayOfMonth(d exact.Day) int64 {
	_, _, day := d.Date()
	return int64(day)
}

// noRent is the rent of a new lease for which none was given.
const noRent = -1

// putLease makes the lease that the row names, or applies the given columns to it. Unchanged columns are not written.
func putLease(tx *db.Tx, row Lease, given func(column string) bool) (o schema.Outcome, err error) {
	was, found, unit, err := leaseKey{row.Property, row.Unit, row.StartDate}.find(&tx.Conn)
	if err != nil {
		return o, err
	}
	now := was
	if !found {
		now = newLease(unit, row.StartDate)
	}
	leases.Edit(&now, row, given)
	if row.Tenant != "" {
		if now.Tenants, err = findTenants(&tx.Conn, row.Tenant); err != nil {
			return o, err
		}
	}
	id := was.ID
	if found {
		o.Fields = schema.Changed(was.ID, now.differences(was)).Fields
		err = changeLease(tx, was, now)
	} else {
		o.New = true
		id, err = insertLease(tx, now)
	}
	if err != nil {
		return o, err
	}
	opened, err := openAsFile(tx, id, row.takeOver)
	if opened {
		o.Fields = append(o.Fields, "opening_date")
	}
	return o, err
}

// newLease is a lease with its defaults.
func newLease(unit int64, start exact.Day) Lease {
	return Lease{UnitID: unit, StartDate: start, nextPost: &start, nextEvent: &start, BaseRentCents: noRent,
		Frequency: monthly, DueDay: dayOfMonth(start), Proration: byDays}
}

func (l Lease) check(c *db.Conn) error {
	switch {
	case l.StartDate < firstStart:
		return fault.Fieldf("start_date", "start_date: %s is out of range; it takes a day from %s on", l.StartDate,
			firstStart)
	case l.EndDate != nil && *l.EndDate < l.StartDate:
		return fault.Fieldf("end_date", "end_date: %s lies before start_date %s", l.EndDate, l.StartDate)
	case len(l.Tenants) == 0:
		return fault.Fieldf("tenant", "tenant is missing: enter the tenant's name")
	case l.BaseRentCents == noRent:
		return fault.Fieldf("rent_cents", "rent_cents is missing: enter the rent in cents (0 if it is free)")
	}
	return checkFree(c, l)
}

func insertLease(tx *db.Tx, l Lease) (id int64, err error) {
	if err := l.check(&tx.Conn); err != nil {
		return 0, err
	}
	if id, err = leases.Insert(tx, &l); err != nil {
		return 0, err
	}
	setTenants(tx, id, l.Tenants)
	if l, err = leases.ByID(&tx.Conn, id); err != nil {
		return 0, err
	}
	made := leases.Told(&l).(map[string]any)
	made["tenant"], made["tenants"] = l.Tenant, l.tenantIDs()
	return id, tx.Audit("lease.created", db.Subject("lease", id), made)
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
		err = fault.Fieldf("start_date", "the unit is let on these days already, by lease %d from %s, %s; two leases may "+
			"not cover the same day of one unit", o.id, o.start, o.end)
	}
	return err
}

func sharedNames(c *db.Conn) (map[string]bool, error) {
	shared := map[string]bool{}
	return shared, db.Each(c, func(r *db.Row) error {
		shared[r.Text()] = true
		return nil
	}, "SELECT name FROM tenants GROUP BY name HAVING count(*) > 1")
}

// tenantCell names a lease's tenants as a file does.
func tenantCell(tenants []LeaseTenant, shared map[string]bool) string {
	names := make([]string, len(tenants))
	for i, t := range tenants {
		if names[i] = t.Name; shared[t.Name] {
			names[i] = t.Name + " <" + set(t.Email) + ">"
		}
	}
	return strings.Join(names, "|")
}

// WouldPost is what the leases of a file would post at the next read.
type WouldPost struct {
	Leases       int64 `json:"leases"`
	Charges      int64 `json:"charges"`
	AmountCents  int64 `json:"amount_cents"`
	OverdueCents int64 `json:"overdue_cents"`
}

var errForeseen = errors.New("nothing of it is kept")

// foreseePosting stores a file's leases in a trial and returns what those that are fully posted before would post.
func (s *Service) foreseePosting(ctx context.Context, who db.Caller, store func() error) (f schema.Foreseen,
	err error) {
	pending := map[int64]bool{}
	err = s.db.View(ctx, func(c *db.Conn) error {
		ids, err := toPost(c)
		for _, id := range ids {
			pending[id] = true
		}
		return err
	})
	if err != nil {
		return f, err
	}
	if err := store(); err != nil {
		return f, err
	}
	var sum WouldPost
	err = db.Exec(ctx, s.db, db.System(who), func(tx *db.Tx) error {
		newest, err := db.Number(&tx.Conn, "SELECT coalesce(max(id), 0) FROM charges")
		if err != nil {
			return err
		}
		ids, err := toPost(&tx.Conn)
		for _, id := range ids {
			if err == nil && !pending[id] {
				err = catchUp(tx, id)
			}
		}
		if err != nil {
			return err
		}
		sum, _, err = db.One(&tx.Conn, func(r *db.Row) WouldPost {
			return WouldPost{Leases: r.Int(), Charges: r.Int(), AmountCents: r.Int(), OverdueCents: r.Int()}
		}, `SELECT count(DISTINCT lease_id), count(*), coalesce(sum(amount_cents), 0),
			coalesce(sum(iif(due_date < ?2, amount_cents - paid_cents, 0)), 0) FROM charges WHERE id > ?1`, newest, tx.Today())
		return cmp.Or(err, errForeseen)
	})
	if !errors.Is(err, errForeseen) {
		return f, err
	}
	if sum.Charges == 0 {
		return f, nil
	}
	f = schema.Foreseen{WouldPost: sum, Text: func(m schema.Money) string {
		return fmt.Sprintf("This file would post %s, %s, of it %s overdue", exact.Plural(sum.Charges, "charge", "charges"),
			m(sum.AmountCents), m(sum.OverdueCents))
	}}
	if sum.OverdueCents > 0 {
		f.Column, f.Label = "opening_day", "Take these leases over from"
	}
	return f, nil
}
