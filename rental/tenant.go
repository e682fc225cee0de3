package rental

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// tenantFacts is what is kept of a tenant besides the name, which identifies them.
type tenantFacts struct {
	Email string `json:"email"`
	Phone string `json:"phone"`
}

// findTenant gives the id of the tenant with the name; an unknown one is invalid.
func findTenant(c *db.Conn, name string) (int64, error) {
	id, found, err := db.One(c, db.Int, "SELECT id FROM tenants WHERE name = ?", name)
	if err == nil && !found {
		err = fault.Invalidf("tenant: there is no tenant named %s", schema.Quote(name))
	}
	return id, err
}

// tenantTable is the tenants as CSV.
func (s *Service) tenantTable() schema.Table {
	return schema.Table{
		Name: "tenants", About: "The people and firms that rent.",
		Row: func(f *schema.Form) schema.Put {
			var name string
			var row tenantFacts
			f.Text(&name, "name", "the tenant's name, which identifies them", schema.Required, schema.Most(maxName))
			f.Text(&row.Email, "email", "where to write", schema.Most(maxName))
			f.Text(&row.Phone, "phone", "where to call", schema.Most(maxName))
			return func(tx *db.Tx) error {
				return putTenant(tx, name, func(t *tenantFacts) {
					if f.Given("email") {
						t.Email = row.Email
					}
					if f.Given("phone") {
						t.Phone = row.Phone
					}
				})
			}
		},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return db.Each(c, func(r *db.Row) error { return emit(r.Text(), r.Text(), r.Text()) },
				"SELECT name, email, phone FROM tenants ORDER BY name")
		},
	}
}

// putTenant makes the tenant of that name, or lets change change the one that is
// there. What stays as it was is not written.
func putTenant(tx *db.Tx, name string, change func(*tenantFacts)) error {
	type stored struct {
		id int64
		tenantFacts
	}
	was, found, err := db.One(&tx.Conn, func(r *db.Row) stored {
		return stored{r.Int(), tenantFacts{r.Text(), r.Text()}}
	}, "SELECT id, email, phone FROM tenants WHERE name = ?", name)
	if err != nil {
		return err
	}
	now := was.tenantFacts
	change(&now)
	type changes struct {
		Name string `json:"name"`
		tenantFacts
	}
	if !found {
		id, err := tx.Insert("INSERT INTO tenants (name, email, phone) VALUES (?, ?, ?)", name, unset(now.Email), unset(now.Phone))
		if err != nil {
			return err
		}
		return tx.Audit("tenant.created", subject("tenant", id), changes{name, now})
	}
	if now == was.tenantFacts {
		return nil
	}
	if _, err := tx.Exec("UPDATE tenants SET email = ?, phone = ? WHERE id = ?", unset(now.Email), unset(now.Phone), was.id); err != nil {
		return err
	}
	return tx.Audit("tenant.changed", subject("tenant", was.id), changes{name, now})
}
