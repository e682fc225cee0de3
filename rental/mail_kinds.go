package rental

import (
	"strconv"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// fillReceipt fills in what a payment paid.
func fillReceipt(c *db.Conn, w *mail.Writer, r mail.Row) (v mail.Content, err error) {
	got, err := receiptOf(c, r.Number())
	if err != nil {
		return untrue(v, err)
	}
	if toTenant(got.Lease, r, &v) {
		return v, nil
	}
	var rows [][]string
	for _, a := range got.Allocations {
		x, err := findCharge(c, got.Lease.ID, a.ChargeID)
		if err != nil {
			return v, err
		}
		rows = append(rows, blockRow(w, x, a.AmountCents))
	}
	credit := mail.Value{}
	if got.Payment.CreditCents > 0 {
		credit = mail.Text(w.Money(got.Payment.CreditCents))
	}
	v.Values = map[string]mail.Value{"amount": mail.Text(w.Money(got.Payment.AmountCents)),
		"day":     mail.Text(w.Day(got.Payment.PaidDate)),
		"charges": mail.Rows(rows), "credit": credit, "unit": unitValue(got.Lease),
		"link": portal(w, "/receipts/"+strconv.FormatInt(got.Payment.ID, 10))}
	return v, nil
}

// mailReceipt queues the receipt of a payment that was just recorded.
func mailReceipt(tx *db.Tx, l Lease, payment int64) error {
	n := strconv.FormatInt(payment, 10)
	_, err := queueTenants(tx, receiptKind, l, mail.Row{Subject: db.Subject("payment", payment), Record: n})
	return err
}

func newestReceipt(c *db.Conn) (mail.Row, bool, error) {
	id, found, err := db.One(c, db.Int, "SELECT id FROM payments WHERE voided_at IS NULL AND method NOT IN "+
		"('deposit', 'opening') ORDER BY id DESC LIMIT 1")
	return mail.Row{Subject: db.Subject("payment", id), Record: strconv.FormatInt(id, 10)}, found, err
}

// numbered finds a record for a preview by its number.
func numbered(noun string) func(*db.Conn, string) (mail.Row, error) {
	return func(_ *db.Conn, name string) (mail.Row, error) {
		id, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			return mail.Row{}, fault.NotFoundf("there is no %s %q; name it by its number", noun, name)
		}
		return mail.Row{Subject: db.Subject(noun, id), Record: name}, nil
	}
}

// fillStatement fills in the statement of the year that the row notes; for a preview of this one.
func fillStatement(c *db.Conn, w *mail.Writer, r mail.Row) (v mail.Content, err error) {
	l, err := findLease(c, r.Number())
	if err != nil {
		return untrue(v, err)
	}
	if toTenant(l, r, &v) {
		return v, nil
	}
	year, err := strconv.ParseInt(r.Note, 10, 64)
	if err != nil {
		year = yearOf(c.Today())
	}
	st, err := statementOf(c, l, year)
	if err != nil {
		return untrue(v, err)
	}
	var charges, payments [][]string
	for _, x := range st.Charges {
		charges = append(charges, blockRow(w, x, x.AmountCents))
	}
	for _, m := range st.Payments {
		payments = append(payments, []string{w.Day(m.PaidDate), w.Word(methodWords[m.Method]), w.Money(m.AmountCents)})
	}
	v.Values = map[string]mail.Value{"year": mail.Text(w.Count(year)), "charges": mail.Rows(charges),
		"payments": mail.Rows(payments),
		"closing":  mail.Text(w.Money(st.ClosingBalanceCents)), "unit": unitValue(l), "link": portal(w, "")}
	return v, nil
}

// methodWords are ways of paying as messages call them.
var methodWords = map[string]string{"cash": "Cash", "bank_transfer": "Bank transfer", "card": "Card", "check": "Check",
	"direct_debit": "Direct " +
		"debit", "online": "Online", otherMethod: "Other", byDeposit: "Deposit", "opening": "Taken over"}

// ticketWords are what a ticket is, as messages say it.
var ticketWords = map[string]string{ticketOpen: "Open", inProgress: "In progress", resolved: "Resolved"}

// fillTicket fills in a ticket's state; the row names the written note, if there was one.
func fillTicket(c *db.Conn, w *mail.Writer, r mail.Row) (v mail.Content, err error) {
	k, err := tickets.ByID(c, r.Number())
	if err != nil {
		return untrue(v, err)
	}
	if k.LeaseID == nil {
		return mail.Content{Untrue: "the ticket's lease is gone"}, nil
	}
	l, err := findLease(c, *k.LeaseID)
	if err != nil {
		return untrue(v, err)
	}
	if toTenant(l, r, &v) {
		return v, nil
	}
	note, _, err := db.One(c, db.Text, "SELECT text FROM ticket_notes WHERE id = ? AND ticket_id = ?", r.Note, k.ID)
	v.Values = map[string]mail.Value{"title": mail.Text(k.Title), "status": mail.Text(w.Word(ticketWords[k.Status])),
		"note": mail.Text(note),
		"unit": unitValue(l), "link": portal(w, "/tickets/"+strconv.FormatInt(k.ID, 10))}
	return v, err
}

// mailTicket notifies the tenants that staff moved their ticket, or wrote the note to it; 0 is none.
func mailTicket(tx *db.Tx, ticket, note int64) error {
	k, err := tickets.ByID(&tx.Conn, ticket)
	if err != nil || k.Source != "portal" || k.LeaseID == nil {
		return err
	}
	l, err := findLease(&tx.Conn, *k.LeaseID)
	if err != nil {
		return err
	}
	r := mail.Row{Subject: db.Subject("ticket", k.ID), Record: strconv.FormatInt(k.ID, 10)}
	if note != 0 {
		r.Note = strconv.FormatInt(note, 10)
	}
	_, err = queueTenants(tx, ticketKind, l, r)
	return err
}

func newestTicket(c *db.Conn) (mail.Row, bool, error) {
	id, found, err := db.One(c, db.Int, "SELECT id FROM tickets WHERE lease_id IS NOT NULL ORDER BY id DESC LIMIT 1")
	return mail.Row{Subject: db.Subject("ticket", id), Record: strconv.FormatInt(id, 10)}, found, err
}
