package rental

import (
	"context"
	"fmt"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// TicketNote is a note on a ticket.
type TicketNote struct {
	ID     int64         `json:"id"`
	At     exact.Instant `json:"at"`
	Author string        `json:"author"`
	Tenant bool          `json:"tenant" about:"written at the portal"`
	Text   string        `json:"text"`
}

// TicketPhoto is a picture that came with a ticket.
type TicketPhoto struct {
	ID   int64         `json:"id"`
	At   exact.Instant `json:"at"`
	Type string        `json:"type"`
}

// TicketDetail is a ticket with its notes and photos, oldest first.
type TicketDetail struct {
	Ticket
	Notes  []TicketNote  `json:"notes"`
	Photos []TicketPhoto `json:"photos"`
}

// TicketDetail returns one ticket with its notes; an unknown one is not found.
func (s *Service) TicketDetail(ctx context.Context, id int64) (TicketDetail, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (TicketDetail, error) { return ticketDetail(c, id) })
}

func ticketDetail(c *db.Conn, id int64) (d TicketDetail, err error) {
	if d.Ticket, err = tickets.ByID(c, id); err != nil {
		return d, err
	}
	d.Notes, err = db.All(c, func(r *db.Row) TicketNote {
		return TicketNote{r.Int(), r.Instant(), r.Text(), r.Bool(), r.Text()}
	}, "SELECT id, at, author, tenant, text FROM ticket_notes WHERE ticket_id = ? ORDER BY id", id)
	if err != nil {
		return d, err
	}
	d.Photos, err = db.All(c, func(r *db.Row) TicketPhoto { return TicketPhoto{r.Int(), r.Instant(), r.Text()} },
		"SELECT id, at, type FROM ticket_photos WHERE ticket_id = ? ORDER BY id", id)
	return d, err
}

// addTicketNote writes a note to a ticket. An unknown ticket is not found.
func addTicketNote(tx *db.Tx, ticket int64, text string) (TicketDetail, error) {
	if _, err := tickets.ByID(&tx.Conn, ticket); err != nil {
		return TicketDetail{}, err
	}
	note, err := insertNote(tx, ticket, tx.Who().User, false, text)
	if err != nil {
		return TicketDetail{}, err
	}
	if err := mailTicket(tx, ticket, note); err != nil {
		return TicketDetail{}, err
	}
	return ticketDetail(&tx.Conn, ticket)
}

func insertNote(tx *db.Tx, ticket int64, author string, tenant bool, text string) (id int64, err error) {
	id, err = tx.Insert("INSERT INTO ticket_notes (ticket_id, at, author, tenant, text) VALUES (?, ?, ?, ?, ?)", ticket,
		tx.Now(), author, tenant, text)
	if err != nil {
		return 0, err
	}
	tx.Do("UPDATE tickets SET updated_at = ? WHERE id = ?", tx.Now(), ticket)
	return id, tx.Audit("ticket.note", db.Subject("ticket", ticket), map[string]string{"text": text})
}

// assignTicket assigns a ticket; an empty name clears it.
func assignTicket(tx *db.Tx, ticket int64, to string) (Ticket, error) {
	was, err := tickets.ByID(&tx.Conn, ticket)
	if err != nil {
		return was, err
	}
	if err := assign(tx, was, to); err != nil {
		return was, err
	}
	k, err := tickets.ByID(&tx.Conn, ticket)
	if err == nil && to != "" {
		err = notifyTicket(tx, "jobs", to, k)
	}
	return k, err
}

// assign assigns a ticket; the same person again changes nothing.
func assign(tx *db.Tx, was Ticket, to string) error {
	if set(was.AssignedTo) == to {
		return nil
	}
	tx.Do("UPDATE tickets SET assigned_to = ?, updated_at = ? WHERE id = ?", db.NullText(to), tx.Now(),
		was.ID)
	return tx.Audit("ticket.assigned", db.Subject("ticket", was.ID), map[string]*string{"from": was.AssignedTo,
		"to": db.NullText(to)})
}

func exampleTicketDetail() TicketDetail {
	return TicketDetail{Ticket: exampleTicket(),
		Notes: []TicketNote{{ID: 1, At: exact.Instant(1_795_210_000), Author: "ann",
			Text: "The plumber comes on Thursday."}},
		Photos: []TicketPhoto{{ID: 1, At: exact.Instant(1_795_209_900), Type: "image/jpeg"}}}
}

func bindTicketID(f *schema.Form, p *int64) {
	f.ID(p, "ticket_id", "the ticket", schema.Positional("TICKET_ID"), schema.Required, schema.Example(7),
		schema.Choices(ticketChoices))
}

func (s *Service) ticketDetail() schema.Op {
	return schema.Op{
		Name: "ticket_detail", About: "One maintenance ticket with its notes.", Response: exampleTicketDetail(),
		Refuses: []fault.Kind{fault.NotFound},
		Bind:    schema.Reads(bindTicketID, s.TicketDetail),
		Print:   schema.Printed(printTicket), Example: "rental tickets show 7",
	}
}

func (s *Service) addTicketNote() schema.Op {
	return schema.Op{
		Name: "add_ticket_note", Writes: true, Creates: true, About: "Write a note to a maintenance ticket.",
		Response: exampleTicketDetail(), Refuses: []fault.Kind{fault.NotFound},
		Bind: schema.Writes2(s.db, func(f *schema.Form, id *int64, text *string) {
			bindTicketID(f, id)
			f.Text(text, "text", "the note", schema.Required, schema.Most(maxText), schema.Lines, schema.Label("Note"),
				schema.Example("The plumber comes on Thursday."))
		}, addTicketNote),
		Example: `rental ticket note 7 --text "The plumber comes on Thursday."`,
		Did: func(a any, _ schema.Money) string {
			return fmt.Sprintf("The note is added to ticket %d.", a.(TicketDetail).ID)
		},
		Leads: func(a any) string { return ticketPath(a.(TicketDetail).ID) },
	}
}

func (s *Service) assignTicket() schema.Op {
	return schema.Op{
		Name: "assign_ticket", Writes: true, Idempotent: true, About: "Assign a maintenance ticket; an empty name assigns " +
			"nobody.", Response: exampleTicket(), Refuses: []fault.Kind{fault.NotFound},
		Bind: schema.Writes2(s.db, func(f *schema.Form, id *int64, to *string) {
			bindTicketID(f, id)
			f.Text(to, "assigned_to", "who", schema.Most(maxName), schema.Clear(new(bool)), schema.Example("Joe"),
				schema.ChoicesFor(ticketPeople), schema.Any)
		}, assignTicket),
		Example: "rental ticket assign 7 --assigned-to Joe",
		Did: schema.Said(func(k Ticket) string {
			if k.AssignedTo == nil {
				return fmt.Sprintf("Nobody is assigned to ticket %d.", k.ID)
			}
			return fmt.Sprintf("Ticket %d is assigned to %s.", k.ID, *k.AssignedTo)
		}),
		Leads: leadsTicket,
	}
}

// ticketPeople suggests assignees: the caller, then users and earlier assignees.
func ticketPeople(c *db.Conn, who db.Caller, f schema.Find) ([]schema.Choice, error) {
	names, err := db.All(c, db.Text, `SELECT ?1 UNION ALL SELECT name
		FROM (SELECT u.name FROM roles r CROSS JOIN users u ON u.id = r.user_id
		WHERE r.service = 'rental' AND r.role <> 'viewer' AND u.disabled = 0 ORDER BY u.name)
		UNION ALL SELECT * FROM (SELECT DISTINCT assigned_to FROM tickets WHERE assigned_to IS NOT NULL ORDER BY assigned_to)`, who.User)
	return schema.People(who.User, names, err)(c, f)
}

// The titles of notices, which the shop may put into its own words.
const (
	assignedTitle = "Assigned to you"
	tenantTitle   = "From a tenant"
)

// Notices are what users of the service can be mailed of.
func (s *Service) Notices() []mail.Notice {
	return []mail.Notice{
		{Name: "jobs", Service: "rental", Title: assignedTitle, Tell: tellAssigned},
		{Name: "tickets", Service: "rental", Title: tenantTitle, Tell: tellTicket},
	}
}

// notifyTicket tells users of a ticket: notice is jobs, for the one it is assigned to now, or tickets.
func notifyTicket(tx *db.Tx, notice, user string, k Ticket) error {
	return mail.Notify(tx, mail.Told{Notice: notice, User: user, Service: "rental", Subject: db.Subject("ticket", k.ID),
		Record: k.Title})
}

func tellTicket(c *db.Conn, _ *mail.Writer, r mail.Row, _ string) ([]string, string, bool, error) {
	k, is, err := ticketOf(c, r)
	return k.cells(), ticketPath(k.ID), is, err
}

func tellAssigned(c *db.Conn, _ *mail.Writer, r mail.Row, user string) ([]string, string, bool, error) {
	k, is, err := ticketOf(c, r)
	return k.cells(), ticketPath(k.ID), is && strings.EqualFold(set(k.AssignedTo), user), err
}

// cells are the ticket as a row of a message.
func (k Ticket) cells() []string { return []string{k.Title, k.Unit, k.Priority, k.Status} }

// ticketOf reads the ticket that a notice is about; false for one that is gone or resolved.
func ticketOf(c *db.Conn, r mail.Row) (k Ticket, is bool, err error) {
	k, err = tickets.ByID(c, r.Number())
	if fault.Is(err, fault.NotFound) {
		return k, false, nil
	}
	return k, err == nil && k.Status != resolved, err
}
