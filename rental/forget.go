package rental

import (
	"context"
	"encoding/json"
	"fmt"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Forgotten is a tenant of whom nothing is known any more.
type Forgotten struct {
	TenantID int64  `json:"tenant_id"`
	Name     string `json:"name"`
	Leases   int    `json:"leases"`
}

// ForgetTenant takes a tenant's name, e-mail and phone away, also from kept event bodies,
// answers and the audit trail. Refused while a lease of theirs runs or is to come.
func (s *Service) ForgetTenant(ctx context.Context, who db.Caller, tenant int64) (Forgotten, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Forgotten, error) {
		t, err := tenantByID(&tx.Conn, tenant)
		if err != nil {
			return Forgotten{}, err
		}
		leases, err := db.All(&tx.Conn, scanLease(tx.Today()), "SELECT "+leaseColumns+fromLeases+` CROSS JOIN lease_tenants y ON y.lease_id = l.id
			WHERE y.tenant_id = ? ORDER BY l.id`, tenant)
		if err != nil {
			return Forgotten{}, err
		}
		for _, l := range leases {
			if l.Status != ended {
				return Forgotten{}, fault.Conflictf("lease %d of %s (%s) is %s: a tenant is forgotten when all of their leases have ended", l.ID, t.Name, l.Property+"/"+l.Unit, l.Status)
			}
		}
		done := Forgotten{TenantID: tenant, Name: fmt.Sprintf("forgotten-%d", tenant), Leases: len(leases)}
		if t.Name == done.Name {
			return done, fault.Conflictf("tenant %d is forgotten already", tenant)
		}
		if _, err := endSessions(tx, tenant); err != nil {
			return Forgotten{}, err
		}
		_, err = tx.Exec("UPDATE tenants SET name = ?, email = ?, phone = NULL WHERE id = ?", done.Name, done.Name+"@invalid", tenant)
		if err != nil {
			return Forgotten{}, err
		}
		shared, _, err := db.One(&tx.Conn, db.Int, "SELECT count(*) FROM tenants WHERE name = ?", t.Name)
		if err != nil {
			return Forgotten{}, err
		}
		for _, trace := range traces(t, done.Name) {
			if err := scrub(tx, t, trace, shared > 0); err != nil {
				return Forgotten{}, err
			}
		}
		return done, tx.Audit("tenant.forgotten", db.Subject("tenant", tenant), map[string]any{"leases": len(leases)})
	})
}

// traces are the texts that tell who a tenant was, as they stand in JSON as values or
// among the names of a lease, each with what comes in its place.
func traces(t Tenant, name string) [][2]string {
	quoted := func(text string) string {
		b, _ := json.Marshal(text) // a text always can be
		return string(b[1 : len(b)-1])
	}
	was := quoted(t.Name)
	all := [][2]string{
		{`"` + was + `"`, `"` + name + `"`}, {`"` + was + " & ", `"` + name + " & "}, {" & " + was + `"`, " & " + name + `"`}, {" & " + was + " & ", " & " + name + " & "},
	}
	if email := set(t.Email); email != "" {
		all = append(all, [2]string{`"` + quoted(email) + `"`, `"` + name + `@invalid"`})
	}
	if phone := set(t.Phone); phone != "" {
		all = append(all, [2]string{`"phone":"` + quoted(phone) + `"`, `"phone":""`})
	}
	return all
}

// scrub takes a text out of what is kept: where another tenant has the name, of what is
// kept of this one's leases alone.
func scrub(tx *db.Tx, t Tenant, trace [2]string, shared bool) error {
	const own = "SELECT lease_id FROM lease_tenants WHERE tenant_id = ?3"
	for _, query := range []string{
		`UPDATE events SET body = CAST(replace(CAST(body AS TEXT), ?1, ?2) AS BLOB) WHERE service = 'rental' AND instr(CAST(body AS TEXT), ?1) > 0
			AND (NOT ?4 OR CAST(body AS TEXT) ->> '$.data.lease_id' IN (` + own + `))`,
		`UPDATE audit SET changes = replace(changes, ?1, ?2) WHERE service = 'rental' AND instr(changes, ?1) > 0
			AND (NOT ?4 OR subject = 'tenant:' || ?3 OR subject IN (SELECT 'lease:' || lease_id FROM lease_tenants WHERE tenant_id = ?3))`,
		`UPDATE answers SET body = CAST(replace(CAST(body AS TEXT), ?1, ?2) AS BLOB) WHERE instr(CAST(body AS TEXT), ?1) > 0
			AND (NOT ?4 OR CAST(body AS TEXT) ->> '$.lease_id' IN (` + own + `)) AND route LIKE '%/api/leases/%'`,
	} {
		if _, err := tx.Exec(query, trace[0], trace[1], t.ID, shared); err != nil {
			return err
		}
	}
	_, err := tx.Exec(`UPDATE ticket_notes SET author = ? WHERE tenant = 1 AND author = ? AND ticket_id IN (SELECT k.id FROM tickets k
		JOIN lease_tenants x ON x.lease_id = k.lease_id WHERE x.tenant_id = ?)`, fmt.Sprintf("forgotten-%d", t.ID), t.Name, t.ID)
	return err
}
