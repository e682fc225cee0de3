package rental

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
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
const tenantsColumn = `(SELECT group_concat(t.id || char(31) || t.name || char(31) || ifnull(t.email, ''), char(30)
	ORDER BY x.position)
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

var tenants = record.New("tenant", "tenants",
	record.Text("name", func(t *Tenant) *string { return &t.Name }, "the tenant's name",
		schema.Required, schema.Most(maxName)).Told(),
	optional("email", func(t *Tenant) **string { return &t.Email }, "where to write", schema.Most(maxName)).Told().Shown(
		shown),
	optional("phone", func(t *Tenant) **string { return &t.Phone }, "where to call", schema.Most(maxName)).Told().Shown(
		shown),
	record.ID(func(t *Tenant) *int64 { return &t.ID }).InFile(),
).Joined("t", "").Sorted("t.name, t.id").Whole()

// named is the tenant as a file names them where several have the name.
func (t Tenant) named() string {
	if t.Email == nil {
		return t.Name
	}
	return t.Name + " <" + *t.Email + ">"
}

// listed names tenants so that each name is unique.
func listed(all []Tenant) []string {
	return schema.Map(all, func(t Tenant) string { return fmt.Sprintf("%s (#%d)", schema.Quote(t.named()), t.ID) })
}

// findTenant returns the tenant whom a text names: by name, or as "Name <e-mail>" where
// several have the name. An unknown one is invalid, and so is one of several.
func findTenant(c *db.Conn, text string) (Tenant, error) {
	all, err := tenants.All(c, "WHERE t.name = ? ORDER BY t.id", text)
	if err != nil {
		return Tenant{}, err
	}
	if name, email, ok := splitNamed(text); ok && len(all) == 0 {
		all, err = tenants.All(c, "WHERE t.name = ? AND lower(ifnull(t.email, '')) = lower(?) ORDER BY t.id", name, email)
		if err != nil {
			return Tenant{}, err
		}
	}
	switch {
	case len(all) == 0:
		return Tenant{}, fault.Fieldf("tenant", "tenant: there is no tenant named %s", schema.Quote(text))
	case len(all) > 1:
		return Tenant{}, fault.Fieldf("tenant", "tenant: %d tenants are named %s: %s; name one as Name <e-mail>", len(all),
			schema.Quote(text), strings.Join(listed(all), ", "))
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
				return nil, fault.Fieldf("tenant", "tenant: %s is named twice; name each tenant once", schema.Quote(part))
			}
		}
		all = append(all, LeaseTenant{ID: t.ID, Name: t.Name, Email: t.Email})
	}
	if len(all) == 0 {
		return nil, fault.Fieldf("tenant", "tenant is empty: enter the tenant's name")
	}
	return all, nil
}

// setTenants makes the tenants those of the lease, in their order.
func setTenants(tx *db.Tx, lease int64, tenants []LeaseTenant) {
	tx.Do("DELETE FROM lease_tenants WHERE lease_id = ?", lease)
	for i, t := range tenants {
		tx.Do("INSERT INTO lease_tenants (lease_id, position, tenant_id) VALUES (?, ?, ?)", lease, i+1, t.ID)
	}
}

// tenantRow is one row of the file.
type tenantRow struct {
	Tenant      // its id is 0 where the row has none
	byID   bool // the id alone identifies the row: a form's, which may change the name
	isNew  bool // a form for a new tenant: no existing one is meant
	has    func(column string) bool
}

func tenantTable() schema.Table {
	t := tenants.Table("tenants", "The people and firms that rent. Tenants with the same name differ by e-mail or id.")
	t.Row = func(f *schema.Form) schema.Put {
		row := tenantRow{byID: f.Surface() != schema.CSV}
		row.Tenant, row.has = tenants.Edits(f)
		f.Int(&row.ID, "id", "the tenant's id; an unknown id, or one of another name, is ignored", schema.Range(1, maxCents))
		row.isNew = f.Surface() == schema.Page && f.Given("id") && row.ID == 0
		return func(tx *db.Tx) (schema.Outcome, error) { return putTenant(tx, row) }
	}
	t.Find = findTenantRow
	t.Page = func(c *db.Conn, cell func(string) string) (string, error) {
		if id := words.Number(cell("id")); id > 0 {
			return tenantPath(id), nil
		}
		id, found, err := db.One(c, db.Int,
			"SELECT id FROM tenants WHERE name = ?1 AND (?2 = '' OR lower(email) = lower(?2)) ORDER BY id DESC LIMIT 1",
			cell("name"), cell("email"))
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
	if row.ID != 0 && row.byID {
		was, err = tenants.ByID(c, row.ID)
		return was, err == nil, err
	}
	if row.ID != 0 {
		was, found, err = tenants.One(c, "WHERE t.id = ? AND t.name = ?", row.ID, row.Name)
		if err != nil || found {
			return was, found, err
		}
	}
	all, err := tenants.All(c, "WHERE t.name = ? ORDER BY t.id", row.Name)
	if err != nil || len(all) == 0 || row.isNew {
		return was, false, err
	}
	for _, t := range all {
		if row.has("email") && strings.EqualFold(set(t.Email), set(row.Email)) {
			return t, true, nil
		}
	}
	if len(all) == 1 && (row.Email == nil || all[0].Email == nil) {
		return all[0], true, nil
	}
	if row.has("id") {
		return was, false, nil
	}
	names := listed(all)
	if len(all) > 1 && row.Email == nil {
		return was, false, fault.Fieldf("email",
			"email: %s may be any of %s; give the stored e-mail, or an id column", schema.Quote(row.named()),
			strings.Join(names, ", "))
	}
	is := " is"
	if len(all) > 1 {
		is = " are"
	}
	return was, false, fault.Fieldf("email", "email: %s%s there already, and %s may be somebody else; give an id "+
		"column to add them, or the stored e-mail",
		strings.Join(names, ", "), is, schema.Quote(row.named()))
}

// putTenant makes the tenant, with the row's id if it is free, or changes the row's tenant. Unchanged values are not
// written.
func putTenant(tx *db.Tx, row tenantRow) (o schema.Outcome, err error) {
	was, found, err := row.match(&tx.Conn)
	if err != nil {
		return o, err
	}
	if found {
		return tenants.Change(tx, was, row.Tenant, func(column string) bool { return column == "name" || row.has(column) })
	}
	if _, taken, err := tenants.One(&tx.Conn, "WHERE t.id = ?", row.ID); err != nil {
		return o, err
	} else if taken {
		row.ID = 0
	}
	return tenants.Create(tx, &row.Tenant)
}

// findTenantRow returns the cells of the tenant with the id, or of the one that has the
// name alone.
func findTenantRow(c *db.Conn, cell func(string) string) ([]string, bool, error) {
	query, arg := "WHERE t.name = ? ORDER BY t.id", any(strings.TrimSpace(cell("name")))
	if id := words.Number(cell("id")); id > 0 {
		query, arg = "WHERE t.id = ?", any(id)
	}
	all, err := tenants.All(c, query, arg)
	if email := strings.TrimSpace(cell("email")); len(all) > 1 {
		all = slices.DeleteFunc(all, func(t Tenant) bool { return !strings.EqualFold(set(t.Email), email) })
	}
	if err != nil || len(all) != 1 {
		return nil, false, err
	}
	return tenants.Cells(all[0]), true, nil
}
