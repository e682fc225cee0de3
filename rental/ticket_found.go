package rental

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// ShortTicket are the few fields of a ticket that identify and decide.
type ShortTicket struct {
	ID         int64   `json:"id"`
	Unit       string  `json:"unit"`
	Title      string  `json:"title"`
	Priority   string  `json:"priority"`
	Status     string  `json:"status"`
	AssignedTo *string `json:"assigned_to,omitempty"`
}

func (k Ticket) short() ShortTicket {
	return ShortTicket{k.ID, k.Unit, schema.Shorten(k.Title, 40), k.Priority, k.Status, k.AssignedTo}
}

// FoundTickets is a list of tickets for agents.
type FoundTickets struct {
	Tickets []schema.Row[Ticket, ShortTicket] `json:"tickets"`
	Shown   int                               `json:"shown"`
	Total   int64                             `json:"total"`
	Next    *string                           `json:"next" about:"pass it as after; null at the end"`
	Near    []string                          `json:"near,omitempty" about:"titles similar to q, if nothing matches"`
}

// ticketOrders are the orders besides that of newest first.
var ticketOrders = map[string]func(a, b Ticket) int{
	sortOldest: func(a, b Ticket) int { return cmp.Compare(a.ID, b.ID) },
	"priority": byPriority,
}

// FindTickets is Tickets for agents.
func (s *Service) FindTickets(ctx context.Context, _ db.Caller, f TicketFilter, l schema.Listing, sort string) (
	found FoundTickets, err error) {
	if sort == sortNewest {
		f.Cursor = l.Cursor
	}
	list, err := s.Tickets(ctx, f)
	if err != nil {
		return found, err
	}
	found.Total = list.Total
	found.Tickets, found.Next = pageSorted(list.Tickets, l, Ticket.short, func(k Ticket) int64 { return k.ID }, list.Next,
		ticketOrders[sort])
	found.Shown = len(found.Tickets)
	found.Near, err = s.near(ctx, f.Q, found.Total, "SELECT title FROM tickets ORDER BY id DESC LIMIT 2000")
	return found, err
}

func bindFoundTickets(f *schema.Form, t *TicketFilter, l *schema.Listing, sort *string) {
	*sort = sortNewest
	f.Text(&t.Q, "q", "words of title, description, unit or assignee, or the number", schema.Most(maxName))
	f.Enum(&t.Status, "status", "only tickets with this status", ticketMoves.States(), schema.Folded,
		schema.Alias("in-progress", inProgress))
	f.ID(&t.UnitID, "unit_id", "of this unit", schema.Lookup(unitFor))
	f.Enum(sort, "sort", "priority: the most urgent first", []string{sortNewest, sortOldest, "priority"})
	f.Listing(l)
}

// TicketUpdate is an agent's change of a ticket in one call; nil and "" do not count.
type TicketUpdate struct {
	Status     string
	AssignedTo *string // "" is nobody
	NewPerson  bool    // AssignedTo is a new name
	Note       string
}

// updateTicket assigns a ticket, writes a note to it and moves it, all or nothing. Refused: an
// unknown ticket, an unknown person, a move that is not allowed.
func updateTicket(tx *db.Tx, id int64, u TicketUpdate) (d TicketDetail, err error) {
	was, err := tickets.ByID(&tx.Conn, id)
	if err != nil {
		return d, err
	}
	if err := u.give(tx, was); err != nil {
		return d, err
	}
	if u.Note != "" {
		note, err := insertNote(tx, id, tx.Who().User, false, u.Note)
		if err == nil {
			err = mailTicket(tx, id, note)
		}
		if err != nil {
			return d, err
		}
	}
	if u.Status != "" && u.Status != was.Status {
		if err := moveTicket(tx, was, u.Status); err != nil {
			return d, err
		}
		if u.Note == "" { // one message says both
			if err := mailTicket(tx, id, 0); err != nil {
				return d, err
			}
		}
		if _, err := emitMoved(tx, was, u.Status); err != nil {
			return d, err
		}
	}
	return ticketDetail(&tx.Conn, id)
}

// give assigns the ticket, if the update does.
func (u TicketUpdate) give(tx *db.Tx, was Ticket) error {
	if u.AssignedTo == nil {
		return nil
	}
	to := *u.AssignedTo
	if to != "" && !u.NewPerson {
		known, err := people(&tx.Conn)
		if err != nil {
			return err
		}
		if to, err = schema.Person(known, to); err != nil {
			return err
		}
	}
	return assign(tx, was, to)
}

// people lists who may be given tickets: the service's users, and whom tickets were assigned to.
func people(c *db.Conn) ([]string, error) {
	names, err := db.All(c, db.Text, "SELECT DISTINCT assigned_to FROM tickets WHERE assigned_to IS NOT NULL")
	if err != nil {
		return nil, err
	}
	users, err := db.All(c, db.Text, `SELECT u.name FROM roles r CROSS JOIN users u ON u.id = r.user_id
		WHERE r.service = ? AND u.disabled = 0 AND u.removed_at IS NULL`, "rental")
	return append(names, users...), err
}

func (s *Service) updateTicket() schema.Op {
	return schema.Op{
		Name: "update_ticket", Writes: true, Says: "Change a ticket",
		About:    "Assign a maintenance ticket, write a note to it and move it, in one step: " + ticketMoves.Prose() + ".",
		Response: exampleTicketDetail(), Refuses: []fault.Kind{fault.NotFound},
		Did:   func(a any, _ schema.Money) string { return "Ticket " + a.(TicketDetail).Title + " is changed." },
		Leads: func(a any) string { return ticketPath(a.(TicketDetail).ID) },
		Bind: schema.Writes2(s.db, func(f *schema.Form, id *int64, u *TicketUpdate) {
			var to string
			f.ID(id, "ticket_id", "the ticket", schema.Required, schema.Lookup(ticketFor), schema.Example(7),
				schema.Choices(ticketChoices))
			f.Enum(&u.Status, "status",
				"the new status", ticketMoves.States(), schema.Folded, schema.Alias("in-progress", inProgress))
			if f.Text(&to, "assigned_to", "who; empty: nobody", schema.Most(maxName), schema.Example("Joe"),
				schema.ChoicesFor(ticketPeople), schema.Any) {
				to = strings.TrimSpace(to)
				u.AssignedTo = &to
			}
			f.Bool(&u.NewPerson, "new_person", "true: assigned_to is a new name")
			f.Text(&u.Note, "note", "a note", schema.Most(maxText))
			if !f.Describing() && *u == (TicketUpdate{}) {
				f.Refuse("status", "nothing to change: give status, assigned_to or note")
			}
		}, updateTicket),
	}
}

// byPriority puts the most urgent first.
func byPriority(a, b Ticket) int {
	return cmp.Compare(slices.Index(priorities, b.Priority), slices.Index(priorities, a.Priority))
}

func ticketTable() schema.Table {
	t := tickets.Table("tickets", "Maintenance tickets. A row without an id is a new ticket.")
	t.Row = tickets.Rows(putTicket)
	return t
}

func bindTicketUnit(f *schema.Form, k *Ticket, _ ...schema.Opt) bool {
	given := f.Text(&k.Unit, "unit", "the unit's name within the property", schema.Most(maxName))
	if f.Given("property") != f.Given("unit") {
		f.Refuse("property", "give both columns, property and unit, or neither")
	}
	return given
}

func bindTitle(f *schema.Form, k *Ticket, _ ...schema.Opt) bool {
	given := f.Text(&k.Title, "title", "what is wrong, in a few words", schema.Most(maxName))
	if f.Given("title") && k.Title == "" {
		f.Refuse("title", "title is empty: a text is needed")
	}
	return given
}

// putTicket makes a ticket with the status that the row says, or changes the one of
// its id. Of the new ones only those that are open emit an event: the others are
// history.
func putTicket(tx *db.Tx, now Ticket, given func(column string) bool) (o schema.Outcome, err error) {
	var was Ticket
	found := false
	if now.ID != 0 {
		if was, found, err = tickets.One(&tx.Conn, "WHERE k.id = ?", now.ID); err != nil {
			return o, err
		}
	}
	moves := given("property")
	if moves {
		if now.UnitID, err = findUnit(&tx.Conn, now.Property, now.Unit); err != nil {
			return o, err
		}
	}
	if found {
		is := was
		changes := tickets.Edit(&is, now, func(column string) bool { return given(column) || column == "unit_id" && moves })
		if given("status") {
			is.Status = now.Status
		}
		return ticketOutcome(was, is, changes), changeTicket(tx, was, is, changes)
	}
	switch {
	case now.UnitID == 0:
		return o, fault.Invalidf("property and unit are missing: a new ticket needs both")
	case now.Title == "":
		return o, fault.Invalidf("title is missing: say in a few words what is wrong")
	}
	o.New = true
	_, err = insertTicket(tx, now.ID, NewTicket{UnitID: now.UnitID, Title: now.Title, Description: set(now.Description),
		Priority: now.Priority}, now.Status)
	return o, err
}

// ticketOutcome names the columns of the file in which a ticket differs.
func ticketOutcome(was, is Ticket, changes record.Changes) schema.Outcome {
	fields := maps.Clone(changes)
	if was.Status != is.Status {
		fields["status"] = [2]any{}
	}
	if was.UnitID != is.UnitID {
		delete(fields, "unit_id")
		fields["unit"] = [2]any{}
	}
	return schema.Changed(was.ID, fields)
}

// changeTicket sets new facts of a ticket, moves it as the moves allow and, if it moved,
// emits maintenance.status_changed.
func changeTicket(tx *db.Tx, was, is Ticket, changes record.Changes) error {
	moved := was.Status != is.Status
	if moved {
		if err := moveTicket(tx, was, is.Status); err != nil {
			return err
		}
	}
	if err := editTicket(tx, was, is, changes); err != nil || !moved {
		return err
	}
	_, err := emitMoved(tx, was, is.Status)
	return err
}

// editTicket sets new facts of a ticket besides its status. One that comes to another
// unit belongs to the lease that covered that unit when it was made.
func editTicket(tx *db.Tx, was, is Ticket, changes record.Changes) (err error) {
	if len(changes) == 0 {
		return nil
	}
	if was.UnitID != is.UnitID {
		if is.LeaseID, err = leaseOn(&tx.Conn, is.UnitID, dayIn(tx, was.CreatedAt)); err != nil {
			return err
		}
	}
	if err := tickets.Update(tx, &was, &is); err != nil {
		return err
	}
	return tx.Audit("ticket.changed", db.Subject("ticket", was.ID), changes)
}

func dayIn(tx *db.Tx, at exact.Instant) exact.Day { return at.Day(tx.Zone()) }
