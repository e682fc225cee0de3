package rental

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// rollRow is one line of a rent roll: a unit, and who rents it.
type rollRow struct {
	property, unit, tenant, email, phone, frequency string

	rent, balance    *int64
	start, end, paid *exact.Day
	deposit          int64
}

// rentRollTable is a whole property on one sheet: a row makes the missing property, unit, tenant and lease.
func (s *Service) rentRollTable() schema.Table {
	return schema.Table{
		Foresee: func(ctx context.Context, d *db.DB, _ db.Caller, store func() error) (schema.Foreseen, error) {
			return New(d).foreseeRoll(ctx, store)
		},
		Name: "rent-roll", Sheet: true,
		About: "Houses on one sheet: properties, units, tenants and leases, with what is owed today. A new lease posts no " +
			"rent due until today: " +
			"its balance is taken over. A row without a tenant is a vacant unit. Tenants with one name and different e-mails " +
			"are different people.",
		Row: func(f *schema.Form) schema.Put {
			r := rollRow{frequency: monthly}
			f.Text(&r.property, "property", "the property's name", schema.Required, schema.Most(maxName))
			f.Text(&r.unit, "unit", "the unit's name within the property", schema.Required, schema.Most(maxName))
			f.Text(&r.tenant, "tenant", "the tenant's name; empty or vacant for a vacant unit", schema.Most(maxName))
			f.Text(&r.email, "email", "where to write", schema.Most(maxName))
			f.Text(&r.phone, "phone", "where to call", schema.Most(maxName))
			f.IntPtr(&r.rent, "rent_cents", "the rent of a whole period", schema.Range(0, maxCents))
			f.Enum(&r.frequency, "frequency", "how often rent is due", frequencies, schema.Folded)
			f.DayPtr(&r.start, "start_date", "the lease's first day")
			f.DayPtr(&r.end, "end_date", "the last day; empty is open-ended")
			f.Int(&r.deposit, "deposit_cents", "the deposit agreed on, and held if the lease runs", schema.Range(0, maxCents))
			f.IntPtr(&r.balance, "balance_cents", "what is owed today; below 0: paid ahead", schema.Range(-maxCents, maxCents))
			f.DayPtr(&r.paid, "paid_up_to", "the last day of the last paid period, instead of balance")
			return func(tx *db.Tx) (schema.Outcome, error) { return r.put(tx) }
		},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				return emit(r.Text(), r.Text(), r.Text(), r.Text(), r.Text(), number(r), r.Text(), schema.Cell(r.DayPtr()),
					schema.Cell(r.DayPtr()), number(r), "", "")
			}, `SELECT p.name, u.name, t.name, t.email, t.phone, l.rent_cents, l.frequency, l.start_date, l.end_date,
				l.deposit_cents`+fromLeases+
				` JOIN lease_tenants x ON x.lease_id = l.id AND x.position = 1 JOIN tenants t ON t.id = x.tenant_id
					ORDER BY p.name, u.name, l.start_date`)
		},
	}
}

// put makes what the row names and changes what it says otherwise.
func (r rollRow) put(tx *db.Tx) (o schema.Outcome, err error) {
	add := func(one schema.Outcome, err error) error {
		o.ID, o.New = one.ID, o.New || one.New
		o.Fields = append(o.Fields, one.Fields...)
		return err
	}
	if isVacant(r.tenant) {
		r.tenant = ""
	}
	none := func(string) bool { return false }
	if err := add(properties.Put(tx, Property{Name: r.property}, none)); err != nil {
		return o, err
	}
	if err := add(putUnit(tx, Unit{Property: r.property, Name: r.unit}, none)); err != nil ||
		strings.TrimSpace(r.tenant) == "" {
		return o, err
	}
	switch {
	case r.start == nil:
		return o, fault.Fieldf("start_date", "start_date is empty: enter the lease's first day")
	case r.rent == nil:
		return o, fault.Fieldf("rent_cents", "rent is empty: enter the rent (0 if it is free)")
	}
	called, err := r.putTenant(tx, add)
	if err != nil {
		return o, err
	}
	was, found, _, err := leaseKey{r.property, r.unit, *r.start}.find(&tx.Conn)
	if err != nil {
		return o, err
	}
	l := Lease{Property: r.property, Unit: r.unit, StartDate: *r.start, Tenant: called,
		BaseRentCents: *r.rent, Frequency: r.frequency, EndDate: r.end, DepositCents: r.deposit}
	if !found {
		l.takeOver = r.opening(tx.Today())
	} else if slices.ContainsFunc(was.Tenants, func(t LeaseTenant) bool {
		return t.Name == r.tenant && (r.email == "" || strings.EqualFold(set(t.Email), r.email))
	}) {
		l.Tenant = "" // a sheet names one tenant: the others stay
	}
	return o, add(putLease(tx, l, func(column string) bool {
		return column == "rent_cents" || column == "frequency" || column == "end_date" || column == "deposit_cents"
	}))
}

// isVacant reports whether a sheet's tenant is a word for a vacant unit.
func isVacant(tenant string) bool {
	switch strings.ToLower(strings.Trim(tenant, " -*()")) {
	case "vacant", "vacant unit", "vacant-unrented", "empty", "leer", "leerstand":
		return true
	}
	return false
}

// putTenant makes the tenant, and tells how a lease names them.
func (r rollRow) putTenant(tx *db.Tx, add func(schema.Outcome, error) error) (called string, err error) {
	row := tenantRow{Tenant: Tenant{Name: r.tenant, Email: db.NullText(r.email), Phone: db.NullText(r.phone)}}
	row.has = func(column string) bool {
		return column == "email" && r.email != "" || column == "phone" && r.phone != "" || column == "id" && r.email != ""
	}
	if err := add(putTenant(tx, row)); err != nil {
		return "", err
	}
	if r.email != "" {
		return r.tenant + " <" + r.email + ">", nil
	}
	return r.tenant, nil
}

// opening is the opening of a new lease: today's debt covers all rent due until today. Rent that is only said to be
// paid up to a day is posted from the day after it.
func (r rollRow) opening(today exact.Day) *Opening {
	o := &Opening{DepositCents: r.deposit}
	o.BalanceCents = schema.Or(r.balance, o.BalanceCents)
	next := today + 1
	switch {
	case r.paid != nil && (r.balance == nil || *r.paid > today):
		o.PaidUpTo = r.paid
	case *r.start <= today:
		o.Day = &next
	case o.BalanceCents != 0:
		o.Day = r.start
	default:
		return nil
	}
	return o
}

// foreseeRoll says how many leases a sheet takes over, and what they owe then.
func (s *Service) foreseeRoll(ctx context.Context, store func() error) (f schema.Foreseen, err error) {
	count := func() (n, owed int64, err error) {
		err = s.db.View(ctx, func(c *db.Conn) error {
			n, owed, err = LeaseFilter{}.sum(c)
			return err
		})
		return n, owed, err
	}
	leases, owed, err := count()
	if err != nil {
		return f, err
	}
	if err := store(); err != nil {
		return f, err
	}
	after, owing, err := count()
	if err != nil || after == leases {
		return f, err
	}
	took := TakenOver{Leases: after - leases, BalanceCents: owing - owed}
	return schema.Foreseen{WouldPost: took, Text: func(m schema.Money) string {
		return fmt.Sprintf("This file would create %s %s in total today",
			exact.Plural(took.Leases, "lease, which owes", "leases, which owe"), m(took.BalanceCents))
	}}, nil
}

// TakenOver is the result of importing a rent roll.
type TakenOver struct {
	Leases       int64 `json:"leases"`
	BalanceCents int64 `json:"balance_cents"`
}
