package rental

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// sortedBy sorts stably by a key.
func sortedBy[T any, K cmp.Ordered](all []T, key func(T) K) []T {
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	return all
}

// firstOf is a text cut to so many characters.
func firstOf(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return strings.TrimRight(string(runes[:most-3]), " ") + "..."
}

// ShortUnit are the few fields of a unit that identify and decide.
type ShortUnit struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

// AgentUnit is a unit with until when it is let, and from when again.
type AgentUnit struct {
	Unit
	LeaseEnd  *exact.Day `json:"lease_end"`
	NextLease *exact.Day `json:"next_lease_start"`
}

// AgentUnits is a list of units for agents.
type AgentUnits struct {
	Units []schema.Row[AgentUnit, ShortUnit] `json:"units"`
	Shown int64                              `json:"shown"`
	Total int64                              `json:"total"`
	Next  *string                            `json:"next" about:"pass it as after; null at the end"`
}

func (s *Service) toolUnits() schema.Op {
	shorten := func(u AgentUnit) ShortUnit { return ShortUnit{u.ID, u.Name, u.Status} }
	return schema.Op{
		Name: "list_units",
		About: "List the units with their lease and tenant of a day, today's unless on says another. A unit is occupied exactly when a lease covers the day. " +
			"lease_end null: open-ended; next_lease_start: the first one after that day. detail short: id, name, status.",
		Response: AgentUnits{Units: schema.Rows([]AgentUnit{{Unit: exampleUnit()}}, false, shorten), Shown: 1, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var u UnitFilter
			var short bool
			f.Enum(&u.Status, "status", "only the units that are so on the day", unitStatuses)
			f.Text(&u.Property, "property", "only those of properties with this part of a name, in any case", schema.Most(maxName))
			f.DayPtr(&u.On, "on", "another day than today, such as the first of next month")
			asked := f.Limit(&u.Limit)
			f.After(&u.After)
			f.Short(&short)
			return func(ctx context.Context, _ db.Caller) (any, error) {
				if err := s.known(ctx, u.Property, ""); err != nil {
					return nil, err
				}
				list, total, more, err := s.unitsForAgents(ctx, u)
				rows, next := fitting(list, short, shorten, asked, func(u AgentUnit) int64 { return u.ID }, schema.NextText(more))
				return AgentUnits{rows, int64(len(rows)), total, next}, err
			}
		},
	}
}

// unitsForAgents lists the units that match, with how many match in all and
// the id after which the next page begins.
func (s *Service) unitsForAgents(ctx context.Context, f UnitFilter) (list []AgentUnit, total int64, more *int64, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		units, err := s.unitsOf(c, f)
		if err != nil {
			return err
		}
		if total, err = s.countUnits(c, f); err != nil {
			return err
		}
		list, more = make([]AgentUnit, len(units.Units)), units.Next
		for i, u := range units.Units {
			list[i].Unit = u
			if u.LeaseID != nil {
				if list[i].LeaseEnd, _, err = db.One(c, (*db.Row).DayPtr, "SELECT end_date FROM leases WHERE id = ?", *u.LeaseID); err != nil {
					return err
				}
			}
			if list[i].NextLease, _, err = db.One(c, (*db.Row).DayPtr, "SELECT min(start_date) FROM leases WHERE unit_id = ? AND start_date > ?", u.ID, f.day(c)); err != nil {
				return err
			}
		}
		return nil
	})
	return list, total, more, err
}

// ShortTicket are the few fields of a ticket that identify and decide.
type ShortTicket struct {
	ID       int64  `json:"id"`
	Title    string `json:"title"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

// AgentTickets is a list of tickets for agents.
type AgentTickets struct {
	Tickets []schema.Row[Ticket, ShortTicket] `json:"tickets"`
	Shown   int64                             `json:"shown"`
	Total   int64                             `json:"total"`
	Next    *string                           `json:"next" about:"pass it as after; null at the end"`
}

func (s *Service) toolTickets() schema.Op {
	shorten := func(k Ticket) ShortTicket { return ShortTicket{k.ID, firstOf(k.Title, 18), k.Priority, k.Status} }
	return schema.Op{
		Name:     "list_tickets",
		About:    "List the maintenance tickets, newest first. detail short: id, title, priority, status.",
		Response: AgentTickets{Tickets: schema.Rows([]Ticket{exampleTicket()}, false, shorten), Shown: 1, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var t TicketFilter
			var short bool
			f.Enum(&t.Status, "status", "only the tickets that are so", ticketMoves.States(), schema.Alias("in-progress", inProgress))
			f.ID(&t.UnitID, "unit_id", "only the tickets of this unit")
			asked := f.Limit(&t.Limit)
			f.After(&t.After)
			f.Short(&short)
			return func(ctx context.Context, _ db.Caller) (any, error) {
				list, err := s.Tickets(ctx, t)
				rows, next := fitting(list.Tickets, short, shorten, asked, func(k Ticket) int64 { return k.ID }, schema.NextText(list.Next))
				return AgentTickets{rows, int64(len(rows)), list.Total, next}, err
			}
		},
	}
}

// ShortProperty are the few fields of a property that identify and decide.
type ShortProperty struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// AgentProperties is a list of properties for agents.
type AgentProperties struct {
	Properties []schema.Row[Property, ShortProperty] `json:"properties"`
	Shown      int64                                 `json:"shown"`
	Total      int64                                 `json:"total"`
	Next       *string                               `json:"next" about:"pass it as after; null at the end"`
}

func (s *Service) toolProperties() schema.Op {
	shorten := func(p Property) ShortProperty { return ShortProperty{p.ID, p.Name} }
	return schema.Op{
		Name:     "list_properties",
		About:    "List the properties with their unit counts and occupancy today (occupied / all, 0 to 1). detail short: id, name.",
		Response: AgentProperties{Properties: schema.Rows([]Property{exampleProperty()}, false, shorten), Shown: 1, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var p PropertyFilter
			var short bool
			asked := f.Limit(&p.Limit)
			f.After(&p.After)
			f.Short(&short)
			return func(ctx context.Context, _ db.Caller) (any, error) {
				list, err := s.Properties(ctx, p)
				rows, next := fitting(list.Properties, short, shorten, asked, func(p Property) int64 { return p.ID }, schema.NextText(list.Next))
				return AgentProperties{rows, int64(len(rows)), list.Total, next}, err
			}
		},
	}
}

func exampleRoll() RentRoll {
	sums := Collection{BilledCents: 95_000, CollectedCents: 95_000, ReceivedCents: 190_000}
	return RentRoll{Month: exampleDay("2026-11-01").Month(), Totals: sums, Units: []UnitRoll{{UnitID: 2, Unit: "2A", Property: "Harbour House", Collection: sums}}}
}

func exampleUnit() Unit {
	lease, tenant, notes := int64(4), "Ada Brandt", "Second floor, left"
	return Unit{ID: 2, PropertyID: 1, Property: "Harbour House", Name: "2A", Status: occupied, LeaseID: &lease, Tenant: &tenant, MarketRentCents: 95_000, Notes: &notes}
}

func exampleProperty() Property {
	address := "12 Harbour Street"
	return Property{ID: 1, Name: "Harbour House", Address: &address, UnitCount: 7, OccupiedCount: 5, VacantCount: 2, Occupancy: exact.Decimal{Unscaled: 7143, Places: 4}}
}
