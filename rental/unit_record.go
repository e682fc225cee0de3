package rental

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// UnitRecord is a unit with all that its page shows.
type UnitRecord struct {
	Unit
	Leases  []Lease     // all there were and will be, latest first
	Months  []UnitMonth // the last eleven, this one, and the next twelve
	Tickets Tickets     // the last ten
	Standing
}

// aroundMonths is how many months before this one, and after it, a unit's page shows.
const aroundMonths = 12

// UnitRecord returns one unit; an unknown one is not found. What is due of its leases is
// posted first.
func (s *Service) UnitRecord(ctx context.Context, who db.Caller, id int64) (v UnitRecord, err error) {
	v.Standing, err = s.upToDate(ctx, who, func(c *db.Conn, r *reading) (err error) {
		v = UnitRecord{}
		if v.Unit, err = unitByID(c, id); err != nil {
			return err
		}
		v.Leases, err = db.All(c, scanLease(c.Today()), "SELECT "+leaseColumns+` FROM units u CROSS JOIN properties p
			ON p.id = u.property_id
			CROSS JOIN leases l ON l.unit_id = u.id WHERE u.id = ? ORDER BY l.start_date DESC`, id)
		r.await(unpostedOf(v.Leases, c.Today()))
		this := c.Today().Month()
		spans := make([]leaseSpan, len(v.Leases))
		for i, l := range v.Leases {
			spans[i] = leaseSpan{l.StartDate, lastDay(l.EndDate)}
		}
		v.Months = letIn(spans, this-aroundMonths+1, this+aroundMonths)
		return err
	})
	if err != nil {
		return v, err
	}
	v.Tickets, err = s.Tickets(ctx, TicketFilter{UnitID: id, Cursor: schema.First(10)})
	return v, err
}

// leaseSpan is the days that a lease covers.
type leaseSpan struct{ start, last exact.Day }

// letIn is how many days of each month the leases cover.
func letIn(spans []leaseSpan, first, end exact.Month) (months []UnitMonth) {
	for m := first; m <= end; m++ {
		x := UnitMonth{Month: m, Of: m.Days()}
		for _, s := range spans {
			if days := int(min(s.last, m.Last())-max(s.start, m.First())) + 1; days > 0 {
				x.Days += days
			}
		}
		months = append(months, x)
	}
	return months
}
