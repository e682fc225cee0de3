package rental

import (
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

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
