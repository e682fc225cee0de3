package rental

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// Forgotten is a tenant whose data were removed.
type Forgotten struct {
	TenantID  int64  `json:"tenant_id"`
	Name      string `json:"name"`
	Leases    int    `json:"leases"`
	OwesCents int64  `json:"owes_cents" about:"what the tenant still owed on leases; it stays open"`
}

// forgetTenant takes a tenant's name, e-mail and phone out of everything that is kept of them: the
// record, what was written on tickets, notes and units, events and their deliveries, kept answers,
// the audit trail. Refused while a lease of theirs runs or is to come.
func forgetTenant(tx *db.Tx, tenant int64) (Forgotten, error) {
	t, err := tenants.ByID(&tx.Conn, tenant)
	if err != nil {
		return Forgotten{}, err
	}
	leases, err := leasesOfTenant(&tx.Conn, tenant)
	if err != nil {
		return Forgotten{}, err
	}
	done := Forgotten{TenantID: tenant, Name: forgottenName(tenant), Leases: len(leases)}
	for _, l := range leases {
		if l.Status != ended {
			return Forgotten{}, fault.Conflictf("lease %d of %s (%s) is %s; end all leases of the tenant first",
				l.ID, t.Name, l.Property+"/"+l.Unit, l.Status)
		}
		done.OwesCents += l.BalanceCents
	}
	if t.Name == done.Name {
		return done, fault.Conflictf("tenant %d is forgotten already", tenant)
	}
	if _, err := endSessions(tx, tenant); err != nil {
		return Forgotten{}, err
	}
	traces, err := tracesOf(&tx.Conn, t, done.Name)
	if err != nil {
		return Forgotten{}, err
	}
	tx.Do("UPDATE tenants SET name = ?1, email = ?1 || '@invalid', phone = NULL WHERE id = ?2", done.Name, tenant)
	own, err := entriesOf(&tx.Conn, tenant, leases)
	if err != nil {
		return Forgotten{}, err
	}
	if err := tx.Forget(append(own, traces.everywhere...), traces.replace); err != nil {
		return Forgotten{}, err
	}
	if err := traces.forgetTexts(tx, tenant); err != nil {
		return Forgotten{}, err
	}
	if err := mail.Forget(tx, db.Subject("tenant", tenant), done.Name,
		slices.Collect(maps.Keys(traces.replace))...); err != nil {
		return Forgotten{}, err
	}
	forgetPayers(tx, tenant)
	return done, tx.Audit("tenant.forgotten", db.Subject("tenant", tenant), map[string]any{"leases": len(leases)})
}

func forgottenName(tenant int64) string { return fmt.Sprintf("forgotten-%d", tenant) }

// Forgotten reports whether the tenant was forgotten: there is no contact.
func (t LeaseTenant) Forgotten() bool { return t.Name == forgottenName(t.ID) }

// Reachable reports whether there is a tenant to write to: one who is not forgotten.
func (l Lease) Reachable() bool {
	return slices.ContainsFunc(l.Tenants, func(t LeaseTenant) bool { return !t.Forgotten() })
}

// traces are the texts that identify a tenant. everywhere are those that mean nobody else: in texts that do not belong
// to the tenant, only what contains one of them is changed.
type traces struct {
	replace    map[string]string
	everywhere []string
}

// tracesOf collects the tenant's present and former names, e-mails and phones; former ones are in the audit trail. A
// name that another tenant has, or a single word, counts in the tenant's own entries only.
func tracesOf(c *db.Conn, t Tenant, name string) (traces, error) {
	became := map[string]string{"name": name, "email": name + "@invalid", "phone": ""}
	all := traces{replace: map[string]string{}}
	add := func(field, text string) {
		if text = strings.TrimSpace(text); text != "" {
			all.replace[text] = became[field]
		}
	}
	add("name", t.Name)
	add("email", set(t.Email))
	add("phone", set(t.Phone))
	before, err := db.All(c, db.Text,
		"SELECT changes FROM audit WHERE service = 'rental' AND subject = ? AND action IN ('tenant.created', "+
			"'tenant.changed')",
		db.Subject("tenant", t.ID))
	if err != nil {
		return all, err
	}
	for _, changes := range before {
		var fields map[string]any
		if json.Unmarshal([]byte(changes), &fields) != nil {
			continue // an entry that is no object names nobody
		}
		for field := range became {
			switch v := fields[field].(type) {
			case string:
				add(field, v)
			case []any: // the old and the new value
				for _, x := range v {
					text, _ := x.(string)
					add(field, text)
				}
			}
		}
	}
	for _, text := range slices.Sorted(maps.Keys(all.replace)) {
		_, shared, err := db.One(c, db.Int,
			"SELECT 1 FROM tenants WHERE id <> ?1 AND (name = ?2 OR lower(email) = lower(?2) OR phone = ?2) LIMIT 1", t.ID, text)
		if err != nil {
			return all, err
		}
		if !shared && (all.replace[text] != name || strings.Contains(text, " ")) {
			all.everywhere = append(all.everywhere, text)
		}
	}
	return all, nil
}

// entriesOf are the texts that mark an event, an answer or an audit entry as the tenant's, or as of one of the tenant's
// leases and tickets.
func entriesOf(c *db.Conn, tenant int64, leases []Lease) ([]string, error) {
	own := []string{db.Subject("tenant", tenant), fmt.Sprintf(`"tenant_id":%d`, tenant)}
	for _, l := range leases {
		own = append(own, db.Subject("lease", l.ID), fmt.Sprintf(`"lease_id":%d`, l.ID),
			fmt.Sprintf(`"lease":{"id":%d`, l.ID))
	}
	tickets, err := db.All(c, db.Int,
		"SELECT k.id FROM lease_tenants y CROSS JOIN tickets k ON k.lease_id = y.lease_id WHERE y.tenant_id = ?", tenant)
	for _, id := range tickets {
		own = append(own, db.Subject("ticket", id))
	}
	return own, err
}

// texts are the columns of free text, each with whether the row belongs to a lease of tenant ?1.
var texts = []struct{ table, column, own string }{
	{"tickets", "title", ownTickets},
	{"tickets", "description", ownTickets},
	{"tickets", "assigned_to", ownTickets},
	{"ticket_notes", "text", ownNotes},
	{"ticket_notes", "author", ownNotes},
	{"charges", "label", ownRows},
	{"recurring_charges", "label", ownRows},
	{"payments", "void_reason", ownRows},
	{"units", "notes", "0"},
	{"properties", "address", "0"},
}

const (
	ownRows    = "x.lease_id IN (SELECT lease_id FROM lease_tenants WHERE tenant_id = ?1)"
	ownTickets = "ifnull(" + ownRows + ", 0)"
	ownNotes   = "x.ticket_id IN (SELECT k.id FROM lease_tenants y CROSS JOIN tickets k ON k.lease_id = y.lease_id " +
		"WHERE y.tenant_id = ?1)"
)

// forgetTexts replaces the traces in what people wrote.
func (t traces) forgetTexts(tx *db.Tx, tenant int64) error {
	everything := slices.Collect(maps.Keys(t.replace))
	type row struct {
		id   int64
		text string
	}
	for _, x := range texts {
		var changed []row
		err := db.Each(&tx.Conn, func(r *db.Row) error {
			id, text, keys := r.Int(), r.Text(), t.everywhere
			if r.Bool() {
				keys = everything
			}
			if text, ok := db.Replaced(text, keys, t.replace); ok {
				changed = append(changed, row{id, text})
			}
			return nil
		}, "SELECT x.id, ifnull(x."+x.column+", ''), "+x.own+" AND ?1 FROM "+x.table+" x", tenant)
		if err != nil {
			return err
		}
		for _, c := range changed {
			tx.Do("UPDATE "+x.table+" SET "+x.column+" = ? WHERE id = ?", c.text, c.id)
		}
	}
	return nil
}
