package rental

import (
	"cmp"
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// sortedBy sorts stably by a key.
func sortedBy[T any, K cmp.Ordered](all []T, key func(T) K) []T {
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
	return all
}

// ShortUnit are the few fields of a unit that identify and decide.
type ShortUnit struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
}

// AgentUnits is a list of units for agents.
type AgentUnits struct {
	Units []schema.Row[Unit, ShortUnit] `json:"units"`
	Shown int64                         `json:"shown"`
	Total int64                         `json:"total"`
	Next  *string                       `json:"next" about:"pass it as after; null at the end"`
}

func (s *Service) toolUnits() schema.Op {
	shorten := func(u Unit) ShortUnit { return ShortUnit{u.ID, u.Name, u.Status} }
	return schema.Op{
		Name: "list_units", Tool: "list_units",
		About:    "List the units with the lease and tenant of today. A unit is occupied exactly when a lease covers today. detail short: id, name, status.",
		Response: AgentUnits{Units: schema.Rows([]Unit{exampleUnit()}, false, shorten), Shown: 1, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var u UnitFilter
			var limit, after int64
			var short bool
			f.Enum(&u.Status, "status", "only the units that are so today", unitStatuses)
			f.Text(&u.Property, "property", "only those of properties with this part of a name, in any case", schema.Most(maxName))
			f.Limit(&limit)
			f.After(&after)
			f.Short(&short)
			return func(ctx context.Context, _ db.Caller) (any, error) {
				if err := s.known(ctx, u.Property, ""); err != nil {
					return nil, err
				}
				list, err := s.Units(ctx, u, after, limit)
				return AgentUnits{schema.Rows(list.Units, short, shorten), int64(len(list.Units)), list.Total, schema.NextText(list.Next)}, err
			}
		},
	}
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
	shorten := func(k Ticket) ShortTicket { return ShortTicket{k.ID, k.Title, k.Priority, k.Status} }
	return schema.Op{
		Name: "list_tickets", Tool: "list_tickets",
		About:    "List the maintenance tickets, newest first. detail short: id, title, priority, status.",
		Response: AgentTickets{Tickets: schema.Rows([]Ticket{exampleTicket()}, false, shorten), Shown: 1, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var t TicketFilter
			var limit, after int64
			var short bool
			f.Enum(&t.Status, "status", "only the tickets that are so", ticketMoves.States(), schema.Alias("in-progress", inProgress))
			f.ID(&t.UnitID, "unit_id", "only the tickets of this unit")
			f.Limit(&limit)
			f.After(&after)
			f.Short(&short)
			return func(ctx context.Context, _ db.Caller) (any, error) {
				list, err := s.Tickets(ctx, t, after, limit)
				return AgentTickets{schema.Rows(list.Tickets, short, shorten), int64(len(list.Tickets)), list.Total, schema.NextText(list.Next)}, err
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
		Name: "list_properties", Tool: "list_properties",
		About:    "List the properties with their unit counts and occupancy today (occupied / all, 0 to 1). detail short: id, name.",
		Response: AgentProperties{Properties: schema.Rows([]Property{exampleProperty()}, false, shorten), Shown: 1, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var limit, after int64
			var short bool
			f.Limit(&limit)
			f.After(&after)
			f.Short(&short)
			return func(ctx context.Context, _ db.Caller) (any, error) {
				list, err := s.Properties(ctx, "", after, limit)
				return AgentProperties{schema.Rows(list.Properties, short, shorten), int64(len(list.Properties)), list.Total, schema.NextText(list.Next)}, err
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
