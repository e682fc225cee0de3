package rental

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// ticketTable is the tickets as CSV.
func (s *Service) ticketTable() schema.Table {
	return schema.Table{
		Name: "tickets", About: "Maintenance tickets. A row without an id is a new one.",
		Row: func(f *schema.Form) schema.Put {
			var id *int64
			f.IntPtr(&id, "id", "the ticket; empty is a new one", schema.Range(1, 1_000_000_000_000))
			key, edits := bindTicket(f)
			return func(tx *db.Tx) (schema.Outcome, error) { return putTicket(tx, id, key, edits) }
		},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				return emit(number(r), r.Text(), r.Text(), r.Text(), r.Text(), r.Text(), r.Text())
			}, "SELECT k.id, p.name, u.name, k.title, k.description, k.priority, k.status"+fromTickets+" ORDER BY k.id")
		},
	}
}

// ticketUnit is the unit that a row names, if it has the columns.
type ticketUnit struct {
	property, unit string
	given          bool
}

// bindTicket binds the columns besides the id: what the row makes of a ticket.
func bindTicket(f *schema.Form) (at ticketUnit, edits []func(*Ticket)) {
	column := func(name string, edit func(*Ticket)) {
		if f.Given(name) {
			edits = append(edits, edit)
		}
	}
	f.Text(&at.property, "property", "the property's name", schema.Most(maxName))
	f.Text(&at.unit, "unit", "the unit's name within the property", schema.Most(maxName))
	if at.given = f.Given("property"); at.given != f.Given("unit") {
		f.Refuse("property", "property and unit belong together: give both columns or none")
	}
	var title, description string
	f.Text(&title, "title", "what is wrong, in a few words", schema.Most(maxName))
	if f.Given("title") && title == "" {
		f.Refuse("title", "title is empty: a text is needed")
	}
	column("title", func(k *Ticket) { k.Title = title })
	f.Text(&description, "description", "what else is known", schema.Most(maxText))
	column("description", func(k *Ticket) { k.Description = db.NullText(description) })
	priority, status := "medium", "open"
	bindPriority(f, &priority)
	column("priority", func(k *Ticket) { k.Priority = priority })
	f.Enum(&status, "status", "how far it is", ticketMoves.States(), schema.Folded, schema.Alias("in-progress", "in_progress"))
	column("status", func(k *Ticket) { k.Status = status })
	return at, edits
}

// putTicket makes a ticket with the status that the row says, or changes the one of
// that id. Of the new ones only those that are open emit an event: the others are
// history.
func putTicket(tx *db.Tx, id *int64, at ticketUnit, edits []func(*Ticket)) (o schema.Outcome, err error) {
	now, found := Ticket{Priority: "medium", Status: "open"}, false
	if id != nil {
		k, there, err := db.One(&tx.Conn, scanTicket, "SELECT "+ticketColumns+fromTickets+" WHERE k.id = ?", *id)
		if err != nil {
			return o, err
		}
		if found = there; found {
			now = k
		} else {
			now.ID = *id
		}
	}
	was := now
	if at.given {
		unit, err := findUnit(&tx.Conn, at.property, at.unit)
		if err != nil {
			return o, err
		}
		now.UnitID = unit
	}
	for _, edit := range edits {
		edit(&now)
	}
	if found {
		o.Fields = ticketChanges(was, now)
		return o, changeTicket(tx, was, now)
	}
	switch {
	case now.UnitID == 0:
		return o, fault.Invalidf("property and unit are missing: a new ticket needs them")
	case now.Title == "":
		return o, fault.Invalidf("title is missing: a new ticket needs one")
	}
	o.New = true
	_, err = insertTicket(tx, now.ID, NewTicket{UnitID: now.UnitID, Title: now.Title, Description: set(now.Description), Priority: now.Priority}, now.Status)
	return o, err
}

// changeTicket sets new facts of a ticket, moves it as the moves allow and, if it moved,
// emits maintenance.status_changed.
func changeTicket(tx *db.Tx, was, now Ticket) error {
	if was.Status == now.Status {
		return editTicket(tx, was, now)
	}
	if err := moveTicket(tx, was, now.Status); err != nil {
		return err
	}
	if err := editTicket(tx, was, now); err != nil {
		return err
	}
	_, err := emitMoved(tx, was, now.Status)
	return err
}

// factsOf are the facts of a ticket besides its status that differ.
func factsOf(was, now Ticket) map[string][2]any {
	diff := map[string][2]any{}
	note := func(name string, was, now any) {
		if was != now {
			diff[name] = [2]any{was, now}
		}
	}
	note("unit_id", was.UnitID, now.UnitID)
	note("title", was.Title, now.Title)
	note("description", set(was.Description), set(now.Description))
	note("priority", was.Priority, now.Priority)
	return diff
}

// ticketChanges names the columns in which a ticket differs.
func ticketChanges(was, now Ticket) []string {
	diff := factsOf(was, now)
	if was.Status != now.Status {
		diff["status"] = [2]any{was.Status, now.Status}
	}
	if moved, has := diff["unit_id"]; has {
		delete(diff, "unit_id")
		diff["unit"] = moved
	}
	return schema.Changed(was.ID, diff).Fields
}

// editTicket sets new facts of a ticket besides its status. One that comes to another
// unit belongs to the lease that covered that unit when it was made.
func editTicket(tx *db.Tx, was, now Ticket) error {
	diff := factsOf(was, now)
	if len(diff) == 0 {
		return nil
	}
	if was.UnitID != now.UnitID {
		var err error
		if now.LeaseID, err = leaseOn(&tx.Conn, now.UnitID, dayIn(tx, was.CreatedAt)); err != nil {
			return err
		}
	}
	now.UpdatedAt = tx.Now()
	if err := tx.UpdateRow("tickets", was.ID, ticketSets, now.sets()...); err != nil {
		return err
	}
	return tx.Audit("ticket.changed", db.Subject("ticket", was.ID), diff)
}

// dayIn is the day of an instant in the shop's zone.
func dayIn(tx *db.Tx, at exact.Instant) exact.Day { return at.Day(tx.Zone()) }
