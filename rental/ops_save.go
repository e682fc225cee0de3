package rental

import (
	"cmp"
	"fmt"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
	"quartermaster/schema/session"
)

func (s *Service) saveProperty() schema.Op {
	return propertyTable().Save(s.db, schema.Op{
		Keys: []string{"name"},
		Groups: []schema.Group{{Title: "Late fee", Fields: []string{"late_fee_grace_days", "late_fee_cents",
			"late_fee_percent", "late_fee_from"}}},
		Name: "save_property", About: "Create or change a property: its address and late fee.",
		Example: "rental property save 'Harbour House' --address '12 Harbour Street'",
		Did:     savedAs("property", "name"), Refuses: []fault.Kind{fault.Conflict},
		Response: schema.Saved{Created: true, Record: map[string]string{"name": "Harbour House"}},
	})
}

func (s *Service) saveUnit() schema.Op {
	return unitTable().Save(s.db, schema.Op{
		Keys: []string{"property", "name"},
		Name: "save_unit", About: "Create or change a unit: its market rent and notes.",
		Example: "rental unit save 'Harbour House' 2A --market-rent-cents 98000",
		Did:     savedAs("unit", "property", "name"), Refuses: []fault.Kind{fault.Conflict},
		Response: schema.Saved{Created: true, Record: map[string]string{"property": "Harbour House", "name": "2A"}},
	})
}

func (s *Service) saveTenant() schema.Op {
	return tenantTable().Save(s.db, schema.Op{
		Keys: []string{"name", "email"}, Number: "id",
		Name: "save_tenant", About: "Create or change a tenant: name, e-mail and phone.",
		Example: "rental tenant save 'Ada Brandt' --email ada@example.org",
		Did:     savedAs("tenant", "name"), Refuses: []fault.Kind{fault.Conflict},
		Response: schema.Saved{Created: true, Record: map[string]string{"name": "Ada Brandt"}},
	})
}

func (s *Service) saveLease() schema.Op {
	return leaseTable().Save(s.db, schema.Op{
		Keys: []string{"property", "unit", "start_date"}, Rare: []string{"frequency", "due_day", "proration"},
		Groups: []schema.Group{{Title: "Taken over from another program", Fields: []string{"opening_day", "paid_up_to",
			"opening_balance_cents", "opening_deposit_cents"}}},
		Name: "save_lease", About: "Create a lease, or change its terms for what is not posted yet. Separate several " +
			"tenants with |.",
		Example: "rental lease save 'Harbour House' 2A 2026-12-01 --tenant 'Ada Brandt' --rent-cents 95000",
		Did:     savedAs("lease", "property", "unit", "start_date"), Refuses: []fault.Kind{fault.Conflict},
		Response: schema.Saved{Created: true, Record: map[string]string{"property": "Harbour House", "unit": "2A",
			"start_date": "2026-12-01"}},
	})
}

func savedAs(noun string, columns ...string) func(any, schema.Money) string {
	return func(a any, _ schema.Money) string {
		saved := a.(schema.Saved)
		names := schema.Map(columns, func(c string) string { return saved.Record[c] })
		word := "saved"
		if saved.Created {
			word = "new"
		}
		return fmt.Sprintf("The %s %s is %s.", noun, strings.Join(names, " / "), word)
	}
}

// Invited is a tenant's invitation to the portal: link and code are shown this once.
type Invited struct {
	TenantID  int64         `json:"tenant_id"`
	Tenant    string        `json:"tenant"`
	URL       string        `json:"url"`
	Code      string        `json:"code" about:"to type at /portal"`
	PortalURL string        `json:"portal_url"`
	ExpiresAt exact.Instant `json:"expires_at"`
	InvitedBy string        `json:"invited_by"`

	Letter mail.Printed `json:"-"` // the letter to print
}

// invite makes an invitation to the portal; an earlier one ends.
func (s *Service) invite(tx *db.Tx, tenant int64) (Invited, error) {
	t, err := tenants.ByID(&tx.Conn, tenant)
	if err != nil {
		return Invited{}, err
	}
	v, err := session.Invite(tx, session.Tenant, tenant, tx.Who().User)
	if err != nil {
		return Invited{}, err
	}
	base, err := tx.Setting(db.SettingAddress + ".rental")
	if err != nil {
		return Invited{}, err
	}
	base = cmp.Or(base, "http://127.0.0.1:8083")
	base = strings.TrimSuffix(base, "/")
	done := Invited{TenantID: tenant, Tenant: t.Name, URL: base + "/portal/welcome/" + v.Token, Code: v.Code,
		PortalURL: base + "/portal",
		ExpiresAt: v.ExpiresAt, InvitedBy: tx.Who().User}
	if err := s.writeInvitation(&tx.Conn, &done); err != nil {
		return done, err
	}
	return done, tx.Audit("tenant.invited", db.Subject("tenant", tenant), map[string]any{"expires_at": v.ExpiresAt})
}

// writeInvitation writes the invitation's letter in the words of the message that brings one.
func (s *Service) writeInvitation(c *db.Conn, v *Invited) (err error) {
	if s.Letter == nil {
		return nil
	}
	v.Letter, err = s.Letter(c, linkKind.Name, func(w *mail.Writer) (mail.Content, error) {
		return mail.Content{Name: v.Tenant, Values: map[string]mail.Value{
			"link": mail.Text(v.URL), "code": mail.Text(v.Code), "until": mail.Text(w.Until(v.ExpiresAt))}}, nil
	})
	return err
}

// EndedSessions tells how many of a tenant's sessions were ended.
type EndedSessions struct {
	TenantID int64  `json:"tenant_id"`
	Tenant   string `json:"tenant"`
	Ended    int    `json:"ended"`
}

// endTenantSessions signs a tenant out of the portal everywhere and ends an open
// invitation.
func endTenantSessions(tx *db.Tx, tenant int64) (EndedSessions, error) {
	t, err := tenants.ByID(&tx.Conn, tenant)
	if err != nil {
		return EndedSessions{}, err
	}
	n, err := endSessions(tx, tenant)
	if err != nil {
		return EndedSessions{}, err
	}
	return EndedSessions{tenant, t.Name, n}, tx.Audit("tenant.sessions_ended", db.Subject("tenant", tenant),
		map[string]int{"ended": n})
}

func endSessions(tx *db.Tx, tenant int64) (int, error) {
	if err := session.Withdraw(tx, session.Tenant, tenant); err != nil {
		return 0, err
	}
	return session.EndAll(tx, session.Tenant, tenant, 0)
}

func bindTenantID(f *schema.Form, p *int64) {
	f.ID(p, "tenant_id", "the tenant", schema.Positional("TENANT_ID"), schema.Required, schema.Example(3),
		schema.Lookup(lookupTenant), schema.Choices(tenantChoices), schema.NameFirst)
}

func (s *Service) inviteTenant() schema.Op {
	return schema.Op{
		Name: "invite_tenant", Writes: true, Creates: true, Credential: true,
		About: "Invite a tenant to the portal, with a link that works once within 14 days and a code that works " +
			"until it was unused for 400 days. Both are shown only now; an earlier invitation ends.",
		Response: Invited{TenantID: 3, Tenant: "Ada Brandt", URL: "https://rent.example/portal/welcome/TOKEN",
			Code: "7GQ2-M4XD", PortalURL: "https://rent.example/portal",
			ExpiresAt: exact.Instant(1_796_400_000), InvitedBy: "ann"},
		Refuses: []fault.Kind{fault.NotFound},
		Bind:    schema.Writes(s.db, bindTenantID, s.invite),
		Example: "rental tenant invite 'Ada Brandt'",
		Did: schema.Said(func(v Invited) string {
			return fmt.Sprintf("%s is invited: %s works once, until %s; the code %s at %s stays valid.", v.Tenant, v.URL,
				v.ExpiresAt, v.Code, v.PortalURL)
		}),
		Leads: func(a any) string { return tenantPath(a.(Invited).TenantID) },
	}
}

func (s *Service) endTenantSessions() schema.Op {
	return schema.Op{
		Name: "end_tenant_sessions", Writes: true, Destructive: true,
		About:    "Sign a tenant out of the portal on every device, and end an open invitation.",
		Response: EndedSessions{3, "Ada Brandt", 2}, Refuses: []fault.Kind{fault.NotFound},
		Bind:    schema.Writes(s.db, bindTenantID, endTenantSessions),
		Example: "rental tenant end-sessions 'Ada Brandt'",
		Did: schema.Said(func(e EndedSessions) string {
			return exact.Plural(e.Ended, "session of "+e.Tenant+" is ended.", "sessions of "+e.Tenant+" are ended.")
		}),
		Will: schema.Said(func(e EndedSessions) string {
			return exact.Plural(e.Ended, "session of "+e.Tenant+" ends.", "sessions of "+e.Tenant+" end.")
		}),
		Leads: func(a any) string { return tenantPath(a.(EndedSessions).TenantID) },
	}
}

func (s *Service) forgetTenant() schema.Op {
	return schema.Op{
		Name: "forget_tenant", Writes: true, Destructive: true,
		About: "Forget a tenant: name, e-mail and phone are removed, also from events, answers and the history; sums " +
			"stay. Refused before all their leases have ended.",
		Response: Forgotten{TenantID: 3, Name: "forgotten-3", Leases: 1},
		Refuses:  []fault.Kind{fault.NotFound, fault.Conflict},
		Bind:     schema.Writes(s.db, bindTenantID, forgetTenant),
		Example:  "rental tenant forget 'Ada Brandt'",
		Did:      func(a any, _ schema.Money) string { return "The tenant is now " + a.(Forgotten).Name + "." },
		Will: schema.SaidIn(func(f Forgotten, m schema.Money) string {
			will := fmt.Sprintf("Name, e-mail and phone of the tenant will be removed for good, also in %s; sums "+
				"stay.", exact.Plural(f.Leases, "lease", "leases"))
			if f.OwesCents > 0 {
				will = fmt.Sprintf("The tenant owes %s. Afterwards you cannot write to them about it. ", m(f.OwesCents)) + will
			}
			return will
		}),
		Leads: func(a any) string { return tenantPath(a.(Forgotten).TenantID) },
	}
}
