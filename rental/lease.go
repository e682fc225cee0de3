package rental

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/record"
)

// The statuses of a lease, which follow from its days and today.
const (
	upcoming = "upcoming" // before its start_date
	active   = "active"
	ended    = "ended" // after its end_date
)

// Lease lets a unit to its tenants from its start_date to its end_date, inclusive.
type Lease struct {
	ID           int64      `json:"id"`
	UnitID       int64      `json:"unit_id"`
	Unit         string     `json:"unit"`
	Property     string     `json:"property"`
	Tenant       string     `json:"tenant"`
	TenantEmail  *string    `json:"tenant_email"`
	RentCents    int64      `json:"rent_cents" about:"today's rent of a whole period"`
	Frequency    string     `json:"frequency" enum:"weekly,fortnightly,monthly,quarterly,yearly"`
	DueDay       int64      `json:"due_day" about:"the day of the month, in short months the last day; it does not count for weekly and fortnightly leases"`
	StartDate    exact.Day  `json:"start_date"`
	EndDate      *exact.Day `json:"end_date" about:"the last day; null is open-ended"`
	DepositCents int64      `json:"deposit_cents" about:"a note: it posts no charge"`
	Proration    string     `json:"proration" enum:"actual,none" about:"a period cut short by the lease's start or end is charged by its days, or in full"`
	Status       string     `json:"status" enum:"active,ended,upcoming"`
	BalanceCents int64      `json:"balance_cents" about:"what is billed and not paid"`

	OpeningDay          *exact.Day `json:"opening_day,omitempty" about:"the lease was taken over then: nothing due before it is posted"`
	OpeningBalanceCents int64      `json:"opening_balance_cents,omitempty" about:"what was owed then; below 0: paid ahead"`
	OpeningDepositCents int64      `json:"opening_deposit_cents,omitempty" about:"the deposit that was held then"`

	BaseRentCents int64         `json:"base_rent_cents" about:"the rent before the first of rents"`
	Rents         []RentStep    `json:"rents" about:"steps of the rent, by their days"`
	Tenants       []LeaseTenant `json:"tenants"`

	PausedUntil *exact.Day `json:"-"` // no reminders until after this day

	lateMailedOn *exact.Day   // when the newest late message was made
	takeOver     *Opening     // what a file's row says of its opening
	nextPost     *exact.Day   // the first day of the next period to be posted
	nextEvent    *exact.Day   // when the next read posts something
	rentBack     *schema.Undo // takes a change of the rent back
}

// LeaseTenant is one of a lease's tenants.
type LeaseTenant struct {
	ID    int64   `json:"id"`
	Name  string  `json:"name"`
	Email *string `json:"email"`
}

// ofText is a kind of a column that this package reads as one text and never writes.
func ofText[V any](parse func(string) V) *record.Kind[V] {
	return &record.Kind[V]{Scan: func(r *db.Row) V { return parse(r.Text()) }}
}

// lastDayKind stores a lease's end as the day in the indexes; the end is read from its own column.
var lastDayKind = &record.Kind[*exact.Day]{
	Scan:  (*db.Row).DayPtr,
	Value: func(end *exact.Day) any { return lastDay(end) },
	Same:  func(_, _ *exact.Day) bool { return true },
}

// leases are read with the names around them, as they stand today.
var leases = record.New("lease", "leases",
	record.ID(func(l *Lease) *int64 { return &l.ID }),
	record.Int("unit_id", func(l *Lease) *int64 { return &l.UnitID }, "").Once(),
	record.Text("property", func(l *Lease) *string { return &l.Property }, "").From("p.name").Told().
		Field(func(f *schema.Form, l *Lease, _ ...schema.Opt) bool {
			k := bindLeaseKey(f, "start_date")
			l.Property, l.Unit, l.StartDate = k.property, k.unit, k.start
			return true
		}),
	record.Text("unit", func(l *Lease) *string { return &l.Unit }, "").From("u.name").InFile().Told(),
	record.Day("start_date", func(l *Lease) *exact.Day { return &l.StartDate }, "").Once().InFile().Told(),
	record.Text("tenant", func(l *Lease) *string { return &l.Tenant }, "").From("''").Field(bindLeaseTenant),
	record.Of("last_day", func(l *Lease) **exact.Day { return &l.EndDate }, lastDayKind, ""),
	record.OptDay("end_date", func(l *Lease) **exact.Day { return &l.EndDate },
		"the last day; empty is open-ended").Told(),
	record.Int("rent_cents", func(l *Lease) *int64 { return &l.BaseRentCents }, "").Field(bindRent).Told(),
	record.Enum("frequency", func(l *Lease) *string { return &l.Frequency }, frequencies, "how often rent is due",
		schema.Folded).
		Else(func(l *Lease) { l.Frequency, l.Proration = monthly, byDays }).Told(),
	record.Int("due_day", func(l *Lease) *int64 { return &l.DueDay }, "").Field(bindDueDay).Told(),
	record.Int("deposit_cents", func(l *Lease) *int64 { return &l.DepositCents },
		"the deposit agreed on; it posts no charge", schema.Range(0, maxCents)).Told(),
	record.Enum("proration", func(l *Lease) *string { return &l.Proration }, prorations,
		"a period cut short by the start or end is charged by its days, or in full", schema.Folded).Told(),
	record.OptDay("opening_day", func(l *Lease) **exact.Day { return &l.OpeningDay }, "").From("l.opening_day").
		Field(func(f *schema.Form, l *Lease, _ ...schema.Opt) bool {
			l.takeOver = bindLeaseOpening(f)
			return l.takeOver != nil
		}),
	record.Int("opening_balance_cents", func(l *Lease) *int64 { return &l.OpeningBalanceCents },
		"").From("l.opening_cents").InFile(),
	record.Int("opening_deposit_cents", func(l *Lease) *int64 { return &l.OpeningDepositCents }, "").
		From("l.opening_deposit_cents").InFile(),
	record.OptDay("paused_until", func(l *Lease) **exact.Day { return &l.PausedUntil }, "").From("l.paused_until"),
	record.OptDay("late_mailed_on", func(l *Lease) **exact.Day { return &l.lateMailedOn }, "").From("l.late_mailed_on"),
	record.OptDay("next_post_day", func(l *Lease) **exact.Day { return &l.nextPost }, ""),
	record.OptDay("next_event_day", func(l *Lease) **exact.Day { return &l.nextEvent }, "").Once(),
	record.Int("balance_cents", func(l *Lease) *int64 { return &l.BalanceCents }, "").
		From("(SELECT coalesce(sum(c.amount_cents - c.paid_cents), 0) FROM charges c WHERE c.lease_id = l.id AND "+
			"c.paid_date IS NULL)"),
	record.Of("rents", func(l *Lease) *[]RentStep { return &l.Rents }, ofText(parseSteps), "").From(stepsColumn),
	record.Of("tenants", func(l *Lease) *[]LeaseTenant { return &l.Tenants }, ofText(parseTenants),
		"").From(tenantsColumn),
).Joined("l", joinsOfLease).Sorted("p.name, u.name, l.start_date").
	Derive(func(l *Lease) { l.Tenant, l.TenantEmail = namesOf(l.Tenants) }).
	Standing(func(c *db.Conn, l *Lease) {
		today := c.Today()
		l.RentCents = rentOn(l.BaseRentCents, l.Rents, min(max(today, l.StartDate), lastDay(l.EndDate)))
		l.Status = statusOn(today, l.StartDate, l.EndDate)
	})

const (
	joinsOfLease = "CROSS JOIN units u ON u.id = l.unit_id CROSS JOIN properties p ON p.id = u.property_id"
	fromLeases   = " FROM leases l " + joinsOfLease
)

// statusOn is a lease's status on a day; end is its last day, nil when it has none.
func statusOn(today, start exact.Day, end *exact.Day) string {
	switch {
	case today < start:
		return upcoming
	case end != nil && today > *end:
		return ended
	}
	return active
}

// unposted reports whether charges of the lease must be posted by today.
func (l Lease) unposted(today exact.Day) bool { return l.nextEvent != nil && *l.nextEvent <= today }

// Leases is a page of leases by id.
type Leases struct {
	Leases []Lease `json:"leases"`
	Next   *int64  `json:"next" about:"where the next page begins: pass it as after; null at the end"`
	Standing
}

// NextPeriod is the first day of the next period to be posted; nil if there is none.
func (l Lease) NextPeriod() *exact.Day { return l.nextPost }

func (l Lease) terms() terms {
	return terms{Start: l.StartDate, End: l.EndDate, Frequency: l.Frequency, DueDay: l.DueDay, Rent: l.BaseRentCents,
		Steps:     l.Rents,
		Proration: l.Proration}
}
