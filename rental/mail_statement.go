package rental

import (
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

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
