package rental

import (
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
	"quartermaster/schema/session"
)

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

// newest finds the newest record for a preview.
func newest(noun, query string) func(c *db.Conn) (mail.Row, bool, error) {
	return func(c *db.Conn) (mail.Row, bool, error) {
		id, found, err := db.One(c, db.Int, query+" ORDER BY id DESC LIMIT 1")
		return mail.Row{Subject: db.Subject(noun, id), Record: strconv.FormatInt(id, 10)}, found, err
	}
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
	l, v, err := addressed(c, r, r.Number())
	if err != nil || v.Untrue != "" {
		return v, err
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
	l, v, err := addressed(c, r, *k.LeaseID)
	if err != nil || v.Untrue != "" {
		return v, err
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
	l, err := leases.ByID(&tx.Conn, *k.LeaseID)
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

// mailStatement mails a lease's statement of a year, 0 is this one, to its tenants. Refused: an unknown
// lease, a year of which there is no statement, tenants to none of whom can be mailed.
func mailStatement(tx *db.Tx, lease, year int64) (all mail.Several, err error) {
	if err := mail.CheckSetUp(&tx.Conn); err != nil {
		return all, err
	}
	l, err := postedLease(tx, lease)
	if err != nil {
		return all, err
	}
	if year == 0 {
		year = yearOf(tx.Today())
	}
	if _, err := statementOf(&tx.Conn, l, year); err != nil {
		return all, err
	}
	if err := mayTell(&tx.Conn, l); err != nil {
		return all, err
	}
	r := leaseRow(l)
	r.Note = strconv.FormatInt(year, 10)
	ids, err := queueTenants(tx, statementKind, l, r)
	if err != nil {
		return all, err
	}
	for _, id := range ids {
		m, err := mail.Find(&tx.Conn, id)
		if err != nil {
			return all, err
		}
		all.Mails = append(all.Mails, m)
	}
	return all, tx.Audit("statement.mailed", db.Subject("lease", lease), map[string]any{"year": year, "mails": ids})
}

// mayTell refuses a lease of which no tenant can be mailed, naming the first.
func mayTell(c *db.Conn, l Lease) (refused error) {
	for _, t := range l.Tenants {
		err := statementKind.MayAsk(c, t.address(), t.Name)
		if err == nil {
			return nil
		}
		if refused == nil {
			refused = err
		}
	}
	return refused
}

func (s *Service) mailStatement() schema.Op {
	return schema.Op{
		Name: "mail_statement", Writes: true, Destructive: true, About: "Mail a lease's statement of a year to its tenants.",
		Response: mail.Several{Mails: []mail.Listed{mail.ExampleListed("rental", "statement",
			"Harbour House/2A")}}, Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes2(s.db, func(f *schema.Form, lease, year *int64) {
			bindLeaseID(f, lease)
			f.Int(year, "year", "the calendar year (default: this one)", schema.Range(1900, 9999), schema.Example(2026))
		}, mailStatement),
		Will:    mail.Says("Mail the statement of %s to %s."),
		Did:     mail.Says("The statement of %s is mailed to %s."),
		Leads:   func(a any) string { return leasePath(a.(mail.Several).Mails[0].Row().Number()) },
		Example: "rental mail-statement 'Harbour House/2A' --year 2026",
	}
}

// mailOps is what is mailed to tenants, and when.
func (s *Service) mailOps() []schema.Op {
	return []schema.Op{
		schema.At("", "", "rental reminders", s.remindersDue()),
		schema.At("", "", "rental send-reminders", s.sendReminders()),
		schema.At("", "", "rental set-reminders", s.setReminders()),
		schema.At("", "", "rental pause-reminders LEASE_ID", s.pauseReminders()),
		schema.At("", "", "rental mail-statement LEASE_ID", s.mailStatement()),
	}
}

// linkKind lets a tenant sign in at the portal. Its row's note is the inviting user; "" for a requested link, which
// brings no code.
var linkKind = mail.Kind{
	Name: "tenant-link", Service: "rental", Asked: true,
	About:   "To the tenant, with an invitation, or who asks for a link at /portal.",
	Fields:  []mail.Field{{Name: "link", Must: true}, {Name: "code"}, {Name: "until"}},
	Subject: "{name}, your home on one page",
	Body: "Look up what you owe and what you paid, print receipts, and tell us when something is broken, at any time " +
		"and from your phone.\n\n" +
		"Open this link:\n{link}\n\nIt works once, until {until}.\n\n" +
		"Or open it only up to /portal, and type this code: {code}\nThe code works again on every device: keep this " +
		"letter, and keep it to yourself.\n\n" +
		"{shop}\n{shop_address}",
	Fill: fillLink, Newest: newestTenant, Persons: tenantsNamed,
	Find: func(c *db.Conn, name string) (mail.Row, error) {
		t, err := findTenant(c, name)
		return t.mailed(), err
	},
}

func (t Tenant) mailed() mail.Row {
	return mail.Row{Subject: db.Subject("tenant", t.ID), Record: t.Name, To: set(t.Email)}
}

// rents is the condition of a tenant t who has a lease.
const rents = "EXISTS (SELECT 1 FROM lease_tenants x WHERE x.tenant_id = t.id)"

func newestTenant(c *db.Conn) (mail.Row, bool, error) {
	t, found, err := tenants.One(c, "WHERE "+rents+" ORDER BY t.id DESC LIMIT 1")
	return t.mailed(), found, err
}

// tenantsNamed are the tenants of the address who have a lease.
func tenantsNamed(c *db.Conn, typed string) (rows []mail.Row, err error) {
	all, err := tenants.All(c, "WHERE folded(t.email) = folded(?) AND "+rents+" ORDER BY t.id", typed)
	for _, t := range all {
		if mail.Fold(set(t.Email)) == mail.Fold(typed) { // what is folded lacks accents
			rows = append(rows, t.mailed())
		}
	}
	return rows, err
}

func fillLink(c *db.Conn, w *mail.Writer, r mail.Row) (v mail.Content, err error) {
	t, found, err := tenants.One(c, "WHERE t.id = ? AND "+rents, r.Number())
	if err != nil {
		return v, err
	}
	if !found {
		v.Untrue = "the tenant has no lease"
		return v, nil
	}
	link, until, err := w.Link(session.Tenant, t.ID, "/portal/welcome/", r.Link)
	if err != nil {
		return v, err
	}
	v = mail.Content{To: set(t.Email), Name: t.Name, Values: map[string]mail.Value{"link": link,
		"until": mail.Text(w.Until(until))}}
	if !r.Link {
		v.Values["code"], err = w.Code(t.ID, r.Note)
	}
	return v, err
}

// mailPortalInvitation mails a tenant an invitation to the portal; an earlier one ends.
func mailPortalInvitation(tx *db.Tx, tenant int64) (m mail.Listed, err error) {
	if err := mail.CheckSetUp(&tx.Conn); err != nil {
		return m, err
	}
	t, err := tenants.ByID(&tx.Conn, tenant)
	if err != nil {
		return m, err
	}
	_, is, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM tenants t WHERE t.id = ? AND "+rents, tenant)
	if err != nil {
		return m, err
	}
	if !is {
		return m, fault.Conflictf("%s has no lease; add one first", t.Name)
	}
	r := t.mailed()
	r.Note = tx.Who().User
	if err := session.Withdraw(tx, session.Tenant, tenant); err != nil {
		return m, err
	}
	return linkKind.Mail(tx, r, t.Name, "tenant.invited", nil)
}

func (s *Service) mailPortalInvitation() schema.Op {
	return schema.Op{
		Name: "mail_portal_invitation", Writes: true, Destructive: true,
		About: "Mail a tenant an invitation to the portal: a link that works once within 14 days, and a code that stays " +
			"valid. " +
			"An earlier invitation ends.",
		Response: mail.ExampleListed("rental", "tenant-link", "Ada Brandt"),
		Refuses:  []fault.Kind{fault.NotFound, fault.Conflict},
		Example:  "rental tenant mail-invitation 'Ada Brandt'",
		Bind:     schema.Writes(s.db, bindTenantID, mailPortalInvitation),
		Will:     mail.Says("Mail %s an invitation to the portal, to %s. An earlier one ends."),
		Did:      mail.Says("An invitation for %s is mailed to %s."),
		Leads:    func(any) string { return "/mail" },
	}
}
