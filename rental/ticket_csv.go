package rental

import (
	"maps"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// ticketTable is the tickets as CSV.
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

// dayIn is the day of an instant in the shop's zone.
func dayIn(tx *db.Tx, at exact.Instant) exact.Day { return at.Day(tx.Zone()) }
