package rental

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// Mails are the messages that the service sends to tenants.
func (s *Service) Mails() []mail.Kind {
	return []mail.Kind{reminderKind, lateKinds[0], lateKinds[1], lateKinds[2], receiptKind, statementKind, ticketKind,
		linkKind}
}

// MailWords are the words that stand in the blocks of messages and letters, and what a ticket is.
var MailWords = []string{"Rent", "Cash", "Bank transfer", "Card", "Check", "Direct debit", "Online", "Other",
	"Deposit", "Taken over",
	"Open", "In progress", "Resolved", assignedTitle, tenantTitle}

var lateFields = []mail.Field{{Name: "open", Must: true}, {Name: "charges", Block: true}, {Name: "due"},
	{Name: "days"}, {Name: "unit"}, {Name: "link"}}

// signed ends each text.
const signed = "\n\nWhat you owe and what you paid is here: {link}\n\n{shop}\n{shop_address}"

// askToPay stands in each reminder of what is overdue.
const askToPay = "Our books show these amounts as open. If your payment is on its way, please take this as " +
	"settled; otherwise we ask you to pay within seven days."

// late is the kind of a step; first stands before the words of all.
func late(step int64, subject, first string) mail.Kind {
	return mail.Kind{
		Name: lateKind(step), Service: "rental", Asked: true, Fields: lateFields, Subject: subject,
		About: "To the tenants, when you send reminders: what is overdue, step " + strconv.FormatInt(step, 10) + " of 3.",
		Body:  first + askToPay + "\n\n{charges}\n\nIn all: {open}" + signed,
		Fill:  fillLate, Newest: newestLease(overdueLease), Find: leaseNamed,
	}
}

var (
	reminderKind = mail.Kind{
		Name: kindReminder, Service: "rental", Asked: true, Fields: lateFields, Subject: "{unit}: {open} is due on {due}",
		About: "To the tenants, when you send reminders: what is due soon.",
		Body:  "This is what is due on {due}, so that it is not forgotten.\n\n{charges}\n\nIn all: {open}" + signed,
		Fill:  fillReminder, Newest: newestLease("SELECT id FROM leases WHERE next_post_day >= ?1 ORDER BY id DESC " +
			"LIMIT 1"), Find: leaseNamed,
	}
	lateKinds = [3]mail.Kind{
		late(1, "{unit}: {open} is overdue", ""),
		late(2, "{unit}: {open} is overdue, second reminder", "We have written to you about these amounts before.\n\n"),
		late(3, "{unit}: {open} is overdue, last reminder",
			"This is our last reminder. The oldest of these amounts was due {days} days ago.\n\n"),
	}
	receiptKind = mail.Kind{
		Name: "receipt", Service: "rental", Off: true, About: "To the tenants, when a payment is recorded.",
		Fields: []mail.Field{{Name: "amount"}, {Name: "day"}, {Name: "charges", Block: true}, {Name: "credit"},
			{Name: "unit"}, {Name: "link"}},
		Subject: "Received: {amount} for {unit}",
		Body: "Hello {name},\n\nWe received {amount} on {day}. Thank you.\n\nIt paid:\n{charges}\n\nLeft as credit: " +
			"{credit}\n\n" +
			"The receipt is here: {link}\n\n{shop}\n{shop_address}",
		Fill: fillReceipt, Newest: newest("payment", "SELECT id FROM payments WHERE voided_at IS NULL "+
			"AND method NOT IN ('deposit', 'opening')"), Find: numbered("payment"),
	}
	statementKind = mail.Kind{
		Name: "statement", Service: "rental", Asked: true, About: "To the tenants, when you mail a statement of a year.",
		Fields: []mail.Field{{Name: "year"}, {Name: "charges", Block: true}, {Name: "payments", Block: true},
			{Name: "closing"}, {Name: "unit"},
			{Name: "link"}},
		Subject: "Statement of {year}, {unit}",
		Body: "Hello {name},\n\nThis is the statement of {year} for " +
			"{unit}.\n\nCharged:\n{charges}\n\nReceived:\n{payments}\n\n" +
			"Balance at the end: {closing}" + signed,
		Fill: fillStatement, Newest: newestLease("SELECT id FROM leases WHERE start_date <= ?1 ORDER BY id DESC LIMIT " +
			"1"), Find: leaseNamed,
	}
	ticketKind = mail.Kind{
		Name: "ticket", Service: "rental", About: "To the tenants, when you move a ticket that came from the portal, " +
			"or write a note to it.",
		Fields:  []mail.Field{{Name: "title"}, {Name: "status"}, {Name: "note"}, {Name: "unit"}, {Name: "link"}},
		Subject: "{title}: {status}",
		Body: "Hello {name},\n\nYour report \"{title}\" is: {status}.\n\n{note}\n\nYou can answer here: " +
			"{link}\n\n{shop}\n{shop_address}",
		Fill: fillTicket, Newest: newest("ticket", "SELECT id FROM tickets WHERE lease_id IS NOT NULL"),
		Find: numbered("ticket"),
	}
)

func leaseRow(l Lease) mail.Row {
	return mail.Row{Subject: db.Subject("lease", l.ID), Record: l.Property + "/" + l.Unit}
}

// queueTenants queues a message for each of the lease's tenants with an address.
func queueTenants(tx *db.Tx, k mail.Kind, l Lease, r mail.Row) (ids []int64, err error) {
	for _, t := range l.Tenants {
		if r.To = t.address(); r.To == "" {
			continue
		}
		r.Person = db.Subject("tenant", t.ID)
		id, err := k.Queue(tx, r)
		if err != nil {
			return nil, err
		}
		if id != 0 {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// toTenant addresses a message about a lease: to the tenant whom it names, or for a preview to the first with an
// address. gone says that it is no longer true.
func toTenant(l Lease, r mail.Row, v *mail.Content) (gone bool) {
	for _, t := range l.Tenants {
		if r.Person == db.Subject("tenant", t.ID) || r.Person == "" && t.address() != "" {
			v.To, v.Name = t.address(), t.Name
			return false
		}
	}
	if r.Person != "" {
		v.Untrue = "the tenant is no longer on the lease"
	} else if len(l.Tenants) > 0 {
		v.Name = l.Tenants[0].Name
	}
	return r.Person != ""
}

// addressed begins a message about a lease.
func addressed(c *db.Conn, r mail.Row, lease int64) (l Lease, v mail.Content, err error) {
	if l, err = leases.ByID(c, lease); err != nil {
		v, err = untrue(v, err)
		return l, v, err
	}
	toTenant(l, r, &v)
	return l, v, nil
}

// untrue marks the message of a deleted record as no longer true.
func untrue(v mail.Content, err error) (mail.Content, error) {
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Conflict) || fault.Is(err, fault.Invalid) {
		return mail.Content{Untrue: err.Error()}, nil
	}
	return v, err
}

func unitValue(l Lease) mail.Value { return mail.Text(l.Property + " / " + l.Unit) }

// portal is an address of the tenants' portal.
func portal(w *mail.Writer, path string) mail.Value {
	if w.Base == "" {
		return mail.Value{}
	}
	return mail.Text(w.Base + "/portal" + path)
}

// blockRow is a charge in a block: what it is for, its due day, an amount of it.
func blockRow(w *mail.Writer, x Charge, cents int64) []string {
	what := schema.DaysInWords(x.Label)
	if x.Type == rent && x.PeriodStart != nil && x.PeriodEnd != nil {
		what = w.Word("Rent") + " " + w.Day(*x.PeriodStart) + " - " + w.Day(*x.PeriodEnd)
	}
	return []string{what, w.Day(x.DueDate), w.Money(cents)}
}

// fillLate fills in the overdue charges of a lease, or of all leases of a tenant for a letter.
func fillLate(c *db.Conn, w *mail.Writer, r mail.Row) (v mail.Content, err error) {
	leases, err := leasesIn(c, r)
	if err != nil {
		return untrue(v, err)
	}
	var rows [][]string
	var open int64
	oldest := c.Today()
	var units []string
	for _, l := range leases {
		charges, err := overdueMarked(c, l.ID)
		if err != nil {
			return v, err
		}
		for _, x := range charges {
			rows = append(rows, blockRow(w, x.Charge, x.BalanceCents))
			open += x.BalanceCents
			oldest = min(oldest, x.DueDate)
		}
		if len(charges) > 0 {
			units = append(units, unitValue(l).Text)
			if toTenant(l, r, &v) {
				return v, nil
			}
		}
	}
	if open == 0 {
		return mail.Content{Untrue: "nothing is open"}, nil
	}
	v.Values = map[string]mail.Value{"open": mail.Text(w.Money(open)), "charges": mail.Rows(rows),
		"due":  mail.Text(w.Day(oldest)),
		"days": mail.Text(w.Count(int64(c.Today() - oldest))), "unit": mail.Text(strings.Join(slices.Compact(units),
			", ")), "link": portal(w, "")}
	return v, nil
}

// leasesIn are the lease that a message is about, or all of a tenant.
func leasesIn(c *db.Conn, r mail.Row) ([]Lease, error) {
	if strings.HasPrefix(r.Subject, "tenant:") {
		return leasesOfTenant(c, r.Number())
	}
	l, err := leases.ByID(c, r.Number())
	return []Lease{l}, err
}

// fillReminder fills in what is due on the day that the row notes; for a preview on the next.
func fillReminder(c *db.Conn, w *mail.Writer, r mail.Row) (v mail.Content, err error) {
	l, v, err := addressed(c, r, r.Number())
	if err != nil || v.Untrue != "" {
		return v, err
	}
	noted, err := strconv.ParseInt(r.Note, 10, 32)
	day := exact.Day(noted) // #nosec G115 -- a day's number
	if err != nil {
		if l.nextPost == nil {
			return mail.Content{Untrue: "no more rent will be due"}, nil
		}
		day = *l.nextPost
	}
	charges, err := chargesOn(c, l, day)
	if err != nil {
		return v, err
	}
	var rows [][]string
	var open int64
	for _, x := range charges {
		if x.open > 0 {
			rows = append(rows, blockRow(w, x.Charge, x.open))
		}
		open += x.open
	}
	if open == 0 {
		return mail.Content{Untrue: "nothing is open"}, nil
	}
	v.Values = map[string]mail.Value{"open": mail.Text(w.Money(open)), "charges": mail.Rows(rows),
		"due":  mail.Text(w.Day(day)),
		"days": mail.Text(w.Count(max(0, int64(day-c.Today())))), "unit": unitValue(l), "link": portal(w, "")}
	return v, nil
}

// chargesOn are what posting on a day charges, or charged, with what is open of it.
func chargesOn(c *db.Conn, l Lease, day exact.Day) (on []soonCharge, err error) {
	if day < c.Today() {
		all, err := chargesOf(c, l.ID)
		for _, x := range all {
			if x.DueDate == day && (x.Type == rent || x.recurring != nil) {
				on = append(on, soonCharge{x, x.BalanceCents})
			}
		}
		return on, err
	}
	all, err := chargesUntil(c, l.ID, day)
	for _, x := range all {
		if x.DueDate == day {
			on = append(on, x)
		}
	}
	return on, err
}

const overdueLease = "SELECT lease_id FROM charges WHERE paid_date IS NULL AND amount_cents > paid_cents AND " +
	"due_date < ?1 ORDER BY due_date DESC LIMIT 1"

// newestLease finds the lease for a preview; ?1 is today.
func newestLease(query string) func(*db.Conn) (mail.Row, bool, error) {
	return func(c *db.Conn) (mail.Row, bool, error) {
		id, found, err := db.One(c, db.Int, query, c.Today())
		if err != nil || !found {
			return mail.Row{}, false, err
		}
		l, err := leases.ByID(c, id)
		return leaseRow(l), true, err
	}
}

// leaseNamed finds a lease for a preview by its number or as Property/Unit.
func leaseNamed(c *db.Conn, name string) (mail.Row, error) {
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		if id, err = lookupLease(c, name); err != nil {
			return mail.Row{}, err
		}
	}
	l, err := leases.ByID(c, id)
	return leaseRow(l), err
}

// LateLetter fills in the text of a step for a letter about what is overdue of a lease, "lease:4", or of all
// leases of a tenant, "tenant:3". Step 0 is the highest that a charge has reached, else the first.
func (s *Service) LateLetter(ctx context.Context, subject string, step int64) (mail.Printed, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (p mail.Printed, err error) {
		r := mail.Row{Subject: subject}
		if strings.HasPrefix(subject, "tenant:") {
			r.Person = subject
		}
		if step == 0 {
			if step, err = reachedStep(c, r); err != nil {
				return p, err
			}
		}
		return s.Letter(c, lateKind(step), func(w *mail.Writer) (mail.Content, error) { return fillLate(c, w, r) })
	})
}

// reachedStep is the highest step that an overdue charge has reached, or the first.
func reachedStep(c *db.Conn, r mail.Row) (int64, error) {
	step := int64(1)
	s, err := reminderSettings(c)
	if err != nil {
		return 0, err
	}
	leases, err := leasesIn(c, r)
	for _, l := range leases {
		charges, err := overdueMarked(c, l.ID)
		if err != nil {
			return 0, err
		}
		for _, x := range charges {
			step = max(step, s.step(x.DueDate, c.Today()))
		}
	}
	return step, err
}
