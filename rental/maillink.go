package rental

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
	"quartermaster/schema/session"
)

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
		"Or go to /portal there and type this code: {code}\nThe code works again on every device: keep this letter, and " +
		"keep it to yourself.\n\n" +
		"{shop}\n{shop_address}",
	Fill: fillLink, Newest: newestTenant, Persons: tenantsNamed,
	Find: func(c *db.Conn, name string) (mail.Row, error) {
		t, err := findTenant(c, name)
		return t.mailed(), err
	},
}

// mailed is the row of a message to the tenant.
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
