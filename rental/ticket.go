package rental

import (
	"cmp"
	"context"
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
	"quartermaster/schema/words"
)

const (
	ticketOpen = "open"
	inProgress = "in_progress"
	resolved   = "resolved"
)

// ticketMoves is the only definition of a ticket's moves.
var ticketMoves = schema.Transitions{
	{Name: ticketOpen, To: []string{inProgress}},
	{Name: inProgress, To: []string{ticketOpen, resolved}},
	{Name: resolved, To: []string{ticketOpen}},
}

// unresolved matches the tickets that somebody still has to do something about, by the index over their states.
const unresolved = "status IN ('" + ticketOpen + "', '" + inProgress + "')"

var priorities = []string{"low", "medium", "high", "urgent"}

// Ticket is a request for a repair in a unit. lease_id is the lease that covered the day on which it was made.
type Ticket struct {
	ID          int64          `json:"id"`
	UnitID      int64          `json:"unit_id"`
	Unit        string         `json:"unit"`
	Property    string         `json:"property"`
	LeaseID     *int64         `json:"lease_id"`
	Title       string         `json:"title"`
	Description *string        `json:"description"`
	Priority    string         `json:"priority" enum:"low,medium,high,urgent"`
	Status      string         `json:"status" enum:"open,in_progress,resolved"`
	Source      string         `json:"source" enum:"api,agent,cli,portal,web"`
	CreatedBy   string         `json:"created_by"`
	CreatedAt   exact.Instant  `json:"created_at"`
	UpdatedAt   exact.Instant  `json:"updated_at"`
	ResolvedAt  *exact.Instant `json:"resolved_at"`
	AssignedTo  *string        `json:"assigned_to"`
}

// TicketMoved is the data of maintenance.status_changed: the ticket and its move.
type TicketMoved struct {
	Ticket
	From string `json:"from"`
	To   string `json:"to"`
}

var tickets = record.New("ticket", "tickets",
	record.ID(func(k *Ticket) *int64 { return &k.ID }).Field(func(f *schema.Form, k *Ticket, _ ...schema.Opt) bool {
		return f.Int(&k.ID, "id", "the ticket; empty is a new one", schema.Range(1, 1_000_000_000_000))
	}),
	record.Text("property", func(k *Ticket) *string { return &k.Property }, "the property's name",
		schema.Most(maxName)).From("p.name"),
	record.Text("unit", func(k *Ticket) *string { return &k.Unit }, "").From("u.name").Field(bindTicketUnit),
	record.Text("title", func(k *Ticket) *string { return &k.Title }, "").Field(bindTitle),
	optional("description", func(k *Ticket) **string { return &k.Description }, "what else is known",
		schema.Most(maxText)).Shown(shown),
	record.Text("priority", func(k *Ticket) *string { return &k.Priority }, "").
		Else(func(k *Ticket) { k.Priority, k.Status = "medium", ticketOpen }).
		Field(func(f *schema.Form, k *Ticket, _ ...schema.Opt) bool { return bindPriority(f, &k.Priority) }),
	record.Enum("status", func(k *Ticket) *string { return &k.Status }, ticketMoves.States(), "how far it is",
		schema.Folded, schema.Alias("in-progress", inProgress)).Once(),
	record.Int("unit_id", func(k *Ticket) *int64 { return &k.UnitID }, ""),
	record.OptInt("lease_id", func(k *Ticket) **int64 { return &k.LeaseID }, ""),
	record.Text("source", func(k *Ticket) *string { return &k.Source }, "").Once(),
	record.Text("created_by", func(k *Ticket) *string { return &k.CreatedBy }, "").Once(),
	record.Moment("created_at", func(k *Ticket) *exact.Instant { return &k.CreatedAt }).Once(),
	record.Moment("updated_at", func(k *Ticket) *exact.Instant { return &k.UpdatedAt }),
	record.OptMoment("resolved_at", func(k *Ticket) **exact.Instant { return &k.ResolvedAt }).Once(),
	record.OptText("assigned_to", func(k *Ticket) **string { return &k.AssignedTo }, "").From("k.assigned_to"),
).Joined("k", "CROSS JOIN units u ON u.id = k.unit_id CROSS JOIN properties p ON p.id = u.property_id").
	Check(func(tx *db.Tx, _, now *Ticket) error { now.UpdatedAt = tx.Now(); return nil })

// Tickets is a page of tickets, newest first.
type Tickets struct {
	Tickets []Ticket `json:"tickets"`
	Next    *int64   `json:"next" about:"where the next page begins: pass it as after; null at the end"`

	Total int64 `json:"-"`
}

// TicketFilter restricts tickets; zero values do not.
type TicketFilter struct {
	schema.Cursor[int64]
	Status string
	UnitID int64
	Q      string // a part of title, description, unit, property or assignee, in any case
}

func (f TicketFilter) where() (w db.Where) {
	w.And(f.Status != "", "k.status = ?", f.Status)
	w.And(f.UnitID != 0, "k.unit_id = ?", f.UnitID)
	w.And(f.Q != "", "(has_words(?, k.title, k.description, p.name || ' / ' || u.name, k.assigned_to) OR k.id = ?)", f.Q,
		words.Number(f.Q, "ticket"))
	return w
}

// Tickets lists the tickets that match, newest first.
func (s *Service) Tickets(ctx context.Context, f TicketFilter) (list Tickets, err error) {
	w := f.where()
	err = s.db.View(ctx, func(c *db.Conn) (err error) {
		if list.Total, err = tickets.Count(c, "WHERE 1"+w.Text, w.Args...); err != nil {
			return err
		}
		w.And(f.After != 0, "k.id < ?", f.After)
		all, err := tickets.All(c, "WHERE 1"+w.Text+" ORDER BY k.id DESC LIMIT ?", append(w.Args, f.Fetch())...)
		list.Tickets, list.Next = schema.Cut(all, f.Limit, func(k Ticket) int64 { return k.ID })
		return err
	})
	return list, err
}

// NewTicket are a new ticket's fields; an empty priority is medium.
type NewTicket struct {
	UnitID      int64
	Title       string
	Description string
	Priority    string
}

// sources are the origins of a ticket, by its caller's interface.
var sources = map[string]string{"rest": "api", "mcp": "agent", "cli": "cli", "portal": "portal", "web": "web"}

// createTicket raises a ticket against a unit and emits maintenance.created. An
// unknown unit is invalid.
func createTicket(tx *db.Tx, n NewTicket) (Ticket, error) {
	_, found, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM units WHERE id = ?", n.UnitID)
	if err == nil && !found {
		err = fault.Fieldf("unit_id", "unit_id: there is no unit %d", n.UnitID)
	}
	if err != nil {
		return Ticket{}, err
	}
	return insertTicket(tx, 0, n, "open")
}

// insertTicket makes a ticket, with the id that it already has elsewhere if it is not
// 0. An open one emits maintenance.created; any other is history.
func insertTicket(tx *db.Tx, id int64, n NewTicket, status string) (k Ticket, err error) {
	lease, err := leaseOn(&tx.Conn, n.UnitID, tx.Today())
	if err != nil {
		return k, err
	}
	return storeTicket(tx, id, lease, n, status)
}

func storeTicket(tx *db.Tx, id int64, lease *int64, n NewTicket, status string) (k Ticket, err error) {
	var resolvedAt *exact.Instant
	if status == resolved {
		resolvedAt = new(tx.Now())
	}
	n.Priority = cmp.Or(n.Priority, "medium")
	k = Ticket{ID: id, UnitID: n.UnitID, LeaseID: lease, Title: n.Title, Description: db.NullText(n.Description),
		Priority: n.Priority,
		Status:   status, Source: sources[tx.Who().Via], CreatedBy: tx.Who().User, CreatedAt: tx.Now(),
		ResolvedAt: resolvedAt}
	if id, err = tickets.Insert(tx, &k); err != nil {
		return k, err
	}
	if k, err = tickets.ByID(&tx.Conn, id); err != nil {
		return k, err
	}
	if err := tx.Audit("ticket.created", db.Subject("ticket", id), k); err != nil || status != "open" {
		return k, err
	}
	if k.Source == "portal" {
		if err := notifyTicket(tx, "tickets", "", k); err != nil {
			return k, err
		}
	}
	return k, tx.Emit("maintenance.created", k)
}

// advanceTicket moves a ticket along and emits maintenance.status_changed. Resolving
// stamps resolved_at, reopening clears it. An unknown ticket is not found, a move that
// is not allowed is invalid and the refusal names those that are.
func advanceTicket(tx *db.Tx, ticket int64, status string) (Ticket, error) {
	was, err := tickets.ByID(&tx.Conn, ticket)
	if err != nil {
		return Ticket{}, err
	}
	if err := moveTicket(tx, was, status); err != nil {
		return Ticket{}, err
	}
	if err := mailTicket(tx, was.ID, 0); err != nil {
		return Ticket{}, err
	}
	return emitMoved(tx, was, status)
}

// emitMoved emits that a ticket moved from where it was, and gives the ticket as it is.
func emitMoved(tx *db.Tx, was Ticket, to string) (Ticket, error) {
	k, err := tickets.ByID(&tx.Conn, was.ID)
	if err != nil {
		return Ticket{}, err
	}
	return k, tx.Emit("maintenance.status_changed", TicketMoved{Ticket: k, From: was.Status, To: to})
}

func moveTicket(tx *db.Tx, k Ticket, status string) error {
	if err := ticketMoves.Check("ticket", k.Status, status); err != nil {
		return err
	}
	var resolvedAt *exact.Instant
	if status == resolved {
		resolvedAt = new(tx.Now())
	}
	tx.Do("UPDATE tickets SET status = ?, updated_at = ?, resolved_at = ? WHERE id = ?", status, tx.Now(),
		resolvedAt, k.ID)
	return tx.Audit("ticket.status", db.Subject("ticket", k.ID), map[string]string{"from": k.Status, "to": status})
}

func exampleTicket() Ticket {
	lease, about, at := int64(4), "Drips since Monday.", exact.Instant(1_795_209_900)
	return Ticket{ID: 7, UnitID: 2, Unit: "2A", Property: "Harbour House", LeaseID: &lease, Title: "Kitchen tap drips",
		Description: &about, Priority: "medium", Status: "open", Source: "api", CreatedBy: "ann", CreatedAt: at,
		UpdatedAt: at}
}

func (s *Service) listTickets() schema.Op {
	return schema.Op{
		About:    "List the maintenance tickets, newest first.",
		Response: Tickets{Tickets: []Ticket{exampleTicket()}}, Says: "Which tickets there are",
		AgentAbout:    "Maintenance tickets, newest first. detail short: id, unit, title, priority, status, assignee.",
		AgentResponse: FoundTickets{Tickets: schema.Rows([]Ticket{exampleTicket()}, false, Ticket.short), Shown: 1, Total: 1},
		Bind: schema.Agents(schema.Does3(bindFoundTickets, s.FindTickets), schema.Reads(func(f *schema.Form,
			t *TicketFilter) {
			f.Enum(&t.Status, "status", "only tickets with this status", ticketMoves.States(),
				schema.Alias("in-progress", "in_progress"))
			f.ID(&t.UnitID, "unit_id", "only the tickets of this unit", schema.Positional("UNIT_ID"), schema.Lookup(lookupUnit),
				schema.Choices(unitChoices))
			bindCursor(f, &t.Cursor)
		}, s.Tickets)),
		Name: "list_tickets", Print: printTickets, Example: "rental tickets list --status open",
	}
}

// bindPriority binds a ticket's priority with the spellings that people use.
func bindPriority(f *schema.Form, p *string) bool {
	return f.Enum(p, "priority", "how soon; normal counts as medium and emergency as urgent", priorities,
		schema.Folded, schema.Help("How soon"), schema.Alias("normal", "medium"), schema.Alias("emergency", "urgent"))
}

func (s *Service) createTicket() schema.Op {
	return schema.Op{
		Writes: true, Creates: true, Says: "Open a ticket",
		About: "Open a maintenance ticket for a unit.", Response: exampleTicket(),
		Name: "create_ticket", Example: `rental ticket create 'Harbour House/2A' --title "Kitchen tap drips"`,
		Did: func(a any, _ schema.Money) string {
			return fmt.Sprintf("Ticket %d is open: %s.", a.(Ticket).ID, a.(Ticket).Title)
		},
		Leads: leadsTicket,
		Bind: schema.Writes(s.db, func(f *schema.Form, n *NewTicket) {
			n.Priority = "medium"
			named := lookupUnit
			if f.Surface() == schema.Tool {
				named = unitFor
			}
			f.ID(&n.UnitID, "unit_id", "the unit", schema.Positional("UNIT_ID"), schema.Required, schema.Example(2),
				schema.Lookup(named), schema.Choices(unitChoices), schema.NewBy("save_unit"))
			f.Text(&n.Title, "title", "what is wrong, in a few words", schema.Required, schema.Most(maxName),
				schema.Example("Kitchen tap drips"))
			f.Text(&n.Description, "description", "what else is known", schema.Most(maxText), schema.Lines,
				schema.Example("Drips since Monday."))
			bindPriority(f, &n.Priority)
		}, createTicket),
	}
}

func (s *Service) advanceTicket() schema.Op {
	return schema.Op{
		Writes: true, Says: "Move a ticket",
		About:    "Change a ticket's status: " + ticketMoves.Prose() + ".",
		Response: exampleTicket(), Refuses: []fault.Kind{fault.NotFound},
		Name: "advance_ticket", Example: "rental ticket move 7 resolved",
		Did: func(a any, _ schema.Money) string {
			return fmt.Sprintf("Ticket %d is %s.", a.(Ticket).ID, a.(Ticket).Status)
		},
		Leads: leadsTicket,
		Bind: schema.Writes2(s.db, func(f *schema.Form, ticket *int64, status *string) {
			opts := []schema.Opt{schema.Positional("TICKET_ID"), schema.InPath("id"), schema.Example(7),
				schema.Choices(ticketChoices)}
			if f.Surface() == schema.Tool {
				opts = append(opts, schema.Required, schema.Lookup(ticketFor))
			}
			f.ID(ticket, "ticket_id", "the ticket", opts...)
			f.Enum(status, "status", "the new status", ticketMoves.States(), schema.Required, schema.Folded,
				schema.Alias("in-progress", "in_progress"))
		}, advanceTicket),
	}
}

func leadsTicket(a any) string { return ticketPath(a.(Ticket).ID) }
