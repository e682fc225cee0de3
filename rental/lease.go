package rental

import (
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// The statuses of a lease, which follow from its days and today.
const (
	upcoming = "upcoming" // before its start_date
	active   = "active"
	ended    = "ended" // after its end_date
)

// Lease lets a unit to its tenants from its start_date to its end_date, both included.
type Lease struct {
	ID           int64      `json:"id"`
	UnitID       int64      `json:"unit_id"`
	Unit         string     `json:"unit"`
	Property     string     `json:"property"`
	Tenant       string     `json:"tenant"`
	TenantEmail  *string    `json:"tenant_email"`
	RentCents    int64      `json:"rent_cents" about:"today's rent of a whole period"`
	Frequency    string     `json:"frequency" enum:"weekly,fortnightly,monthly,quarterly,yearly"`
	DueDay       int64      `json:"due_day" about:"the day of the month, clipped to short months; it does not count for weekly and fortnightly leases"`
	StartDate    exact.Day  `json:"start_date"`
	EndDate      *exact.Day `json:"end_date" about:"the last day; null is open-ended"`
	DepositCents int64      `json:"deposit_cents" about:"a note: it posts no charge"`
	Proration    string     `json:"proration" enum:"actual,none" about:"how a period is charged that the lease's start or end cuts short: by its days, or in full"`
	Status       string     `json:"status" enum:"active,ended,upcoming"`
	BalanceCents int64      `json:"balance_cents" about:"what is billed and not paid"`

	OpeningDay          *exact.Day `json:"opening_day,omitempty" about:"the lease was taken over then: nothing due before it is posted"`
	OpeningBalanceCents int64      `json:"opening_balance_cents,omitempty" about:"what was owed then; below 0: paid ahead"`
	OpeningDepositCents int64      `json:"opening_deposit_cents,omitempty" about:"the deposit that was held then"`

	BaseRentCents int64         `json:"base_rent_cents" about:"the rent before the first of rents"`
	Rents         []RentStep    `json:"rents" about:"steps of the rent, by their days"`
	Tenants       []LeaseTenant `json:"tenants"`

	PausedUntil *exact.Day `json:"-"` // no reminders until after this day

	lateMailedOn *exact.Day // when the newest late message was made
	takeOver     *Opening   // what a file's row says of its opening
	nextPost     *exact.Day // the first day of the next period to be posted
	nextEvent    *exact.Day // when looking at the lease posts something next
}

// LeaseTenant is one of a lease's tenants.
type LeaseTenant struct {
	ID    int64   `json:"id"`
	Name  string  `json:"name"`
	Email *string `json:"email"`
}

// leaseSets are the columns of a lease that a change writes, with their values: one list
// for INSERT, UPDATE and scanLease. The last day is its end's, for the index.
const leaseSets db.Columns = "rent_cents, frequency, due_day, end_date, last_day, deposit_cents, proration"

func (l Lease) sets() []any {
	return []any{l.BaseRentCents, l.Frequency, l.DueDay, l.EndDate, lastDay(l.EndDate), l.DepositCents, l.Proration}
}

// leaseColumns and fromLeases read a lease l with the names around it.
var leaseColumns = `l.id, l.unit_id, u.name, p.name, l.start_date, l.next_post_day, l.next_event_day, l.opening_day, l.opening_cents,
		l.opening_deposit_cents, l.paused_until, l.late_mailed_on, ` + leaseSets.Of("l") + `,
		(SELECT coalesce(sum(c.amount_cents - c.paid_cents), 0) FROM charges c WHERE c.lease_id = l.id AND c.paid_date IS NULL), ` +
	stepsColumn + ", " + tenantsColumn

const fromLeases = " FROM leases l CROSS JOIN units u ON u.id = l.unit_id CROSS JOIN properties p ON p.id = u.property_id"

// scanLease reads a lease as it stands on a day.
func scanLease(today exact.Day) func(*db.Row) Lease {
	return func(r *db.Row) Lease {
		l := Lease{ID: r.Int(), UnitID: r.Int(), Unit: r.Text(), Property: r.Text(), StartDate: r.Day(), nextPost: r.DayPtr(), nextEvent: r.DayPtr(),
			OpeningDay: r.DayPtr(), OpeningBalanceCents: r.Int(), OpeningDepositCents: r.Int(), PausedUntil: r.DayPtr(), lateMailedOn: r.DayPtr(),
			BaseRentCents: r.Int(), Frequency: r.Text(), DueDay: r.Int(), EndDate: r.DayPtr()}
		_ = r.Day() // the last day is told by the end
		l.DepositCents, l.Proration, l.BalanceCents = r.Int(), r.Text(), r.Int()
		l.Rents = parseSteps(r.Text())
		l.Tenants = parseTenants(r.Text())
		l.Tenant, l.TenantEmail = namesOf(l.Tenants)
		l.RentCents = rentOn(l.BaseRentCents, l.Rents, min(max(today, l.StartDate), lastDay(l.EndDate)))
		l.Status = statusOn(today, l.StartDate, l.EndDate)
		return l
	}
}

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

// unposted reports whether something of the lease is to be posted by today.
func (l Lease) unposted(today exact.Day) bool { return l.nextEvent != nil && *l.nextEvent <= today }

// findLease returns the lease with the id, or a refusal that there is none.
func findLease(c *db.Conn, id int64) (Lease, error) {
	l, found, err := db.One(c, scanLease(c.Today()), "SELECT "+leaseColumns+fromLeases+" WHERE l.id = ?", id)
	if err == nil && !found {
		err = fault.NotFoundf("there is no lease %d", id)
	}
	return l, err
}

// Leases is a page of leases by id.
type Leases struct {
	Leases []Lease `json:"leases"`
	Next   *int64  `json:"next" about:"where the next page begins: pass it as after; null at the end"`
	Standing
}

// leasePage selects at most ?2 leases after id ?1. The page's ids come first, so that
// names and balances are looked up for them alone.
var leasePage = "SELECT " + leaseColumns + strings.Replace(fromLeases, "leases l",
	"(SELECT id FROM leases WHERE id > ?1 ORDER BY id LIMIT ?2) x CROSS JOIN leases l ON l.id = x.id", 1) + " ORDER BY l.id"

func (l Lease) terms() terms {
	return terms{Start: l.StartDate, End: l.EndDate, Frequency: l.Frequency, DueDay: l.DueDay, Rent: l.BaseRentCents, Steps: l.Rents,
		Proration: l.Proration}
}
