package rental

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/words"
)

// Tenant is a person or a firm that rents.
type Tenant struct {
	ID    int64   `json:"id"`
	Name  string  `json:"name"`
	Email *string `json:"email"`
	Phone *string `json:"phone"`
}

// tenantsColumn reads the tenants of a lease l as one text, in their order: fields end
// with the control character 31 and tenants with 30, which no text holds.
const tenantsColumn = `(SELECT group_concat(t.id || char(31) || t.name || char(31) || ifnull(t.email, ''), char(30) ORDER BY x.position)
	FROM lease_tenants x CROSS JOIN tenants t ON t.id = x.tenant_id WHERE x.lease_id = l.id)`

// parseTenants reads what tenantsColumn gives; never nil.
func parseTenants(text string) []LeaseTenant {
	all := []LeaseTenant{}
	if text == "" {
		return all
	}
	for part := range strings.SplitSeq(text, "\x1e") {
		fields := strings.Split(part, "\x1f")
		id, _ := strconv.ParseInt(fields[0], 10, 64)
		all = append(all, LeaseTenant{ID: id, Name: fields[1], Email: db.NullText(fields[2])})
	}
	return all
}

// namesOf joins the tenants' names, and gives where the first is written to.
func namesOf(tenants []LeaseTenant) (names string, email *string) {
	for i, t := range tenants {
		if i == 0 {
			names, email = t.Name, t.Email
			continue
		}
		names += " & " + t.Name
	}
	return names, email
}

// tenantSets are the columns of a tenant that people set: one list for INSERT, UPDATE and
// scanTenant.
const tenantSets db.Columns = "name, email, phone"

var (
	tenantColumns = "t.id, " + tenantSets.Of("t")
	selectTenants = "SELECT " + tenantColumns + " FROM tenants t"
)

func scanTenant(r *db.Row) Tenant {
	return Tenant{ID: r.Int(), Name: r.Text(), Email: r.TextPtr(), Phone: r.TextPtr()}
}

// named is the tenant as a file names them where several have the name.
func (t Tenant) named() string {
	if t.Email == nil {
		return t.Name
	}
	return t.Name + " <" + *t.Email + ">"
}

// listed names tenants so that each is told from the others.
func listed(all []Tenant) []string {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = fmt.Sprintf("%s (#%d)", schema.Quote(t.named()), t.ID)
	}
	return names
}

// tenantByID returns the tenant with the id, or a refusal that there is none.
func tenantByID(c *db.Conn, id int64) (Tenant, error) {
	t, found, err := db.One(c, scanTenant, selectTenants+" WHERE t.id = ?", id)
	if err == nil && !found {
		err = fault.NotFoundf("there is no tenant %d", id)
	}
	return t, err
}

// findTenant returns the tenant whom a text names: by name, or as "Name <e-mail>" where
// several have the name. An unknown one is invalid, and so is one of several.
func findTenant(c *db.Conn, text string) (Tenant, error) {
	all, err := db.All(c, scanTenant, selectTenants+" WHERE t.name = ? ORDER BY t.id", text)
	if err != nil {
		return Tenant{}, err
	}
	if name, email, ok := splitNamed(text); ok && len(all) == 0 {
		all, err = db.All(c, scanTenant, selectTenants+" WHERE t.name = ? AND lower(ifnull(t.email, '')) = lower(?) ORDER BY t.id", name, email)
		if err != nil {
			return Tenant{}, err
		}
	}
	switch {
	case len(all) == 0:
		return Tenant{}, fault.Fieldf("tenant", "tenant: there is no tenant named %s", schema.Quote(text))
	case len(all) > 1:
		return Tenant{}, fault.Fieldf("tenant", "tenant: %d tenants are named %s: %s; name one as Name <e-mail>", len(all), schema.Quote(text), strings.Join(listed(all), ", "))
	}
	return all[0], nil
}

// splitNamed parts "Name <e-mail>".
func splitNamed(text string) (name, email string, ok bool) {
	name, rest, ok := strings.Cut(text, " <")
	if !ok || !strings.HasSuffix(rest, ">") {
		return "", "", false
	}
	return strings.TrimSpace(name), strings.TrimSuffix(rest, ">"), true
}

// findTenants returns the tenants whom a cell names, separated by |.
func findTenants(c *db.Conn, text string) (all []LeaseTenant, err error) {
	for part := range strings.SplitSeq(text, "|") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		t, err := findTenant(c, part)
		if err != nil {
			return nil, err
		}
		for _, have := range all {
			if have.ID == t.ID {
				return nil, fault.Fieldf("tenant", "tenant: %s stands twice; a lease has each of its tenants once", schema.Quote(part))
			}
		}
		all = append(all, LeaseTenant{ID: t.ID, Name: t.Name, Email: t.Email})
	}
	if len(all) == 0 {
		return nil, fault.Fieldf("tenant", "tenant is empty: a lease needs a tenant's name")
	}
	return all, nil
}

// setTenants makes the tenants those of the lease, in their order.
func setTenants(tx *db.Tx, lease int64, tenants []LeaseTenant) error {
	if _, err := tx.Exec("DELETE FROM lease_tenants WHERE lease_id = ?", lease); err != nil {
		return err
	}
	for i, t := range tenants {
		if _, err := tx.Exec("INSERT INTO lease_tenants (lease_id, position, tenant_id) VALUES (?, ?, ?)", lease, i+1, t.ID); err != nil {
			return err
		}
	}
	return nil
}

// tenantRow is one row of the file.
type tenantRow struct {
	name         string
	email, phone string
	id           *int64
	byID         bool // the id alone tells whose row it is: a form's, which may give another name
	isNew        bool // a form that makes a tenant: nobody of the name is meant
	has          func(column string) bool
}

// tenantTable is the tenants as CSV.
func (s *Service) tenantTable() schema.Table {
	t := schema.Table{
		Name: "tenants", About: "The people and firms that rent. Two of one name are told apart by their e-mail or id.",
		Row: func(f *schema.Form) schema.Put {
			row := tenantRow{has: f.Given, byID: f.Surface() != schema.CSV}
			f.Text(&row.name, "name", "the tenant's name", schema.Required, schema.Most(maxName))
			f.Text(&row.email, "email", "where to write", schema.Most(maxName))
			f.Text(&row.phone, "phone", "where to call", schema.Most(maxName))
			f.IntPtr(&row.id, "id", "the tenant's id; one that is unknown, or another name's, counts as none", schema.Range(1, maxCents))
			row.isNew = f.Surface() == schema.Page && f.Given("id") && row.id == nil
			return func(tx *db.Tx) (schema.Outcome, error) { return putTenant(tx, row) }
		},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return db.Each(c, func(r *db.Row) error { return emit(r.Text(), r.Text(), r.Text(), number(r)) },
				"SELECT name, email, phone, id FROM tenants ORDER BY name, id")
		},
	}
	t.Find = findTenantRow
	t.Page = func(c *db.Conn, cell func(string) string) (string, error) {
		if id := words.Number(cell("id")); id > 0 {
			return tenantPath(id), nil
		}
		id, found, err := db.One(c, db.Int, "SELECT id FROM tenants WHERE name = ?1 AND (?2 = '' OR lower(email) = lower(?2)) ORDER BY id DESC LIMIT 1", cell("name"), cell("email"))
		if err != nil || !found {
			return "/tenants", err
		}
		return tenantPath(id), nil
	}
	return t
}

// match finds whose row it is: the tenant of that id if the name agrees; else of that
// name and e-mail; else of that name if it is one and either has no e-mail; else, with an
// id column, a new one; without one it is refused.
func (row tenantRow) match(c *db.Conn) (was Tenant, found bool, err error) {
	if row.id != nil && row.byID {
		was, err = tenantByID(c, *row.id)
		return was, err == nil, err
	}
	if row.id != nil {
		was, found, err = db.One(c, scanTenant, selectTenants+" WHERE t.id = ? AND t.name = ?", *row.id, row.name)
		if err != nil || found {
			return was, found, err
		}
	}
	all, err := db.All(c, scanTenant, selectTenants+" WHERE t.name = ? ORDER BY t.id", row.name)
	if err != nil || len(all) == 0 || row.isNew {
		return was, false, err
	}
	for _, t := range all {
		if row.has("email") && strings.EqualFold(set(t.Email), row.email) {
			return t, true, nil
		}
	}
	if len(all) == 1 && (row.email == "" || all[0].Email == nil) {
		return all[0], true, nil
	}
	if row.has("id") {
		return was, false, nil
	}
	names := listed(all)
	asked := Tenant{Name: row.name, Email: db.NullText(row.email)}
	if len(all) > 1 && row.email == "" {
		return was, false, fault.Fieldf("email", "email: %s may be each of %s: give the e-mail that is stored, or an id column", schema.Quote(asked.named()), strings.Join(names, ", "))
	}
	is := " is"
	if len(all) > 1 {
		is = " are"
	}
	return was, false, fault.Fieldf("email", "email: %s%s there already, and %s may be somebody else: give an id column to add them, or the e-mail that is stored",
		strings.Join(names, ", "), is, schema.Quote(asked.named()))
}

// putTenant makes the tenant or changes the one that the row is of. What stays as it was
// is not written.
func putTenant(tx *db.Tx, row tenantRow) (o schema.Outcome, err error) {
	was, found, err := row.match(&tx.Conn)
	if err != nil {
		return o, err
	}
	now := was
	now.Name = row.name
	if row.has("email") {
		now.Email = db.NullText(row.email)
	}
	if row.has("phone") {
		now.Phone = db.NullText(row.phone)
	}
	if o.New = !found; found {
		if set(now.Email) != set(was.Email) {
			o.Fields = append(o.Fields, "email")
		}
		if now.Name != was.Name {
			o.Fields = append(o.Fields, "name")
		}
		if set(now.Phone) != set(was.Phone) {
			o.Fields = append(o.Fields, "phone")
		}
	}
	_, err = writeTenant(tx, was, now, found, row.id)
	return o, err
}

// tenantChanges is what the audit trail says of a tenant.
type tenantChanges struct {
	Name  string `json:"name"`
	Email string `json:"email"`
	Phone string `json:"phone"`
}

// writeTenant stores a tenant, a new one with the id that it had elsewhere if that is
// free.
func writeTenant(tx *db.Tx, was, now Tenant, found bool, own *int64) (int64, error) {
	changes := tenantChanges{now.Name, set(now.Email), set(now.Phone)}
	if !found {
		if own != nil {
			_, taken, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM tenants WHERE id = ?", *own)
			if err != nil {
				return 0, err
			}
			if taken {
				own = nil
			}
		}
		id, err := tx.InsertRow("tenants", "id, "+tenantSets, own, now.Name, now.Email, now.Phone)
		if err != nil {
			return 0, err
		}
		return id, tx.Audit("tenant.created", db.Subject("tenant", id), changes)
	}
	if now.Name == was.Name && set(now.Email) == set(was.Email) && set(now.Phone) == set(was.Phone) {
		return was.ID, nil
	}
	if err := tx.UpdateRow("tenants", was.ID, tenantSets, now.Name, now.Email, now.Phone); err != nil {
		return 0, err
	}
	return was.ID, tx.Audit("tenant.changed", db.Subject("tenant", was.ID), changes)
}

// findTenantRow returns the cells of the tenant with the id, or of the one that has the
// name alone.
func findTenantRow(c *db.Conn, cell func(string) string) ([]string, bool, error) {
	query, arg := " WHERE t.name = ? ORDER BY t.id", any(strings.TrimSpace(cell("name")))
	if id := words.Number(cell("id")); id > 0 {
		query, arg = " WHERE t.id = ?", any(id)
	}
	all, err := db.All(c, scanTenant, selectTenants+query, arg)
	if email := strings.TrimSpace(cell("email")); len(all) > 1 {
		all = slices.DeleteFunc(all, func(t Tenant) bool { return !strings.EqualFold(set(t.Email), email) })
	}
	if err != nil || len(all) != 1 {
		return nil, false, err
	}
	t := all[0]
	return []string{t.Name, set(t.Email), set(t.Phone), strconv.FormatInt(t.ID, 10)}, true, nil
}
