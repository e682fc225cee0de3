package rental

import (
	"cmp"
	"fmt"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// maxChoices bounds the lists to choose from on screens.
const maxChoices = 500

// lookupProperty finds a property by its name, in any case.
func lookupProperty(c *db.Conn, name string) (int64, error) {
	return oneNamed(c, "property", name, "SELECT p.id, p.name FROM properties p WHERE p.name = ?1",
		"SELECT p.id, p.name FROM properties p WHERE lower(p.name) = lower(?1)")
}

// lookupUnit finds a unit as Property/Unit.
func lookupUnit(c *db.Conn, name string) (int64, error) {
	if !strings.Contains(name, "/") {
		return 0, fault.Invalidf("%s is neither an id nor Property/Unit", schema.Quote(name))
	}
	const units = "SELECT u.id, p.name || '/' || u.name FROM units u CROSS JOIN properties p ON p.id = u.property_id WHERE "
	return oneNamed(c, "unit", name, units+"p.name || '/' || u.name = ?1", units+"lower(p.name || '/' || u.name) = lower(?1)")
}

// lookupTenant finds a tenant by name, e-mail or Name <e-mail>.
func lookupTenant(c *db.Conn, name string) (int64, error) {
	const tenants = "SELECT t.id, t.name || ifnull(' <' || t.email || '>', '') FROM tenants t WHERE "
	return oneNamed(c, "tenant", name, tenants+"t.name = ?1", tenants+"lower(t.name) = lower(?1)", tenants+"lower(t.email) = lower(?1)",
		tenants+"lower(t.name || ' <' || t.email || '>') = lower(?1)")
}

// lookupLease finds a lease as Property/Unit: the one that covers today, else the next,
// else the last.
func lookupLease(c *db.Conn, name string) (int64, error) {
	if !strings.Contains(name, "/") {
		return 0, fault.Invalidf("LEASE_ID: %s is neither an id nor Property/Unit", schema.Quote(name))
	}
	unit, err := lookupUnit(c, name)
	if err != nil {
		return 0, err
	}
	id, found, err := db.One(c, db.Int, `SELECT id FROM leases WHERE unit_id = ?1
		ORDER BY NOT (start_date <= ?2 AND last_day >= ?2), start_date <= ?2, iif(start_date > ?2, start_date, -start_date) LIMIT 1`, unit, c.Today())
	if err == nil && !found {
		err = fault.NotFoundf("the unit %s has no lease", schema.Quote(name))
	}
	return id, err
}

// oneNamed returns the one record that the first of the queries finds which finds any;
// several are refused with their names and ids.
func oneNamed(c *db.Conn, noun, name string, queries ...string) (int64, error) {
	type named struct {
		id   int64
		name string
	}
	for _, query := range queries {
		all, err := db.All(c, func(r *db.Row) named { return named{r.Int(), r.Text()} }, query+" LIMIT 20", name)
		switch {
		case err != nil:
			return 0, err
		case len(all) == 1:
			return all[0].id, nil
		case len(all) > 1:
			var list []string
			for _, x := range all {
				list = append(list, fmt.Sprintf("%s (#%d)", x.name, x.id))
			}
			return 0, fault.Invalidf("%s matches several: %s", schema.Quote(name), strings.Join(list, ", "))
		}
	}
	return 0, fault.NotFoundf("there is no %s named %s", noun, schema.Quote(name))
}

func choices(query string) func(*db.Conn) ([]schema.Choice, error) {
	return func(c *db.Conn) ([]schema.Choice, error) {
		all, err := db.All(c, func(r *db.Row) schema.Choice { return schema.Choice{Value: number(r), Text: r.Text()} }, query)
		if len(all) > maxChoices {
			return nil, err
		}
		return all, err
	}
}

var (
	propertyChoices = choices("SELECT id, name FROM properties ORDER BY name LIMIT 501")
	unitChoices     = choices(`SELECT u.id, p.name || ' / ' || u.name FROM properties p CROSS JOIN units u ON u.property_id = p.id ORDER BY p.name, u.name LIMIT 501`)
	tenantChoices   = choices("SELECT id, name || ifnull(' <' || email || '>', '') FROM tenants ORDER BY name, id LIMIT 501")
)

// chargeChoices lists the charges of which something is open, by their words and periods.
func chargeChoices(c *db.Conn) ([]schema.Choice, error) {
	code, err := c.Setting(db.SettingCurrency)
	if err != nil {
		return nil, err
	}
	currency := exact.CurrencyOf(cmp.Or(code, "USD"))
	all, err := db.All(c, func(r *db.Row) schema.Choice {
		id, property, unit, names := number(r), r.Text(), r.Text(), r.Text()
		tenant, _ := namesOf(parseTenants(names))
		typ, label, open := strings.ReplaceAll(r.Text(), "_", " "), r.Text(), currency.Format(r.Int())
		return schema.Choice{Value: id, Text: fmt.Sprintf("%s / %s, %s: %s, %s, %s open", property, unit, tenant, typ, label, open)}
	}, "SELECT c.id, p.name, u.name, "+tenantsColumn+`, c.type, c.label, c.amount_cents - c.paid_cents
		FROM charges c INDEXED BY charges_unpaid CROSS JOIN leases l ON l.id = c.lease_id CROSS JOIN units u ON u.id = l.unit_id
		CROSS JOIN properties p ON p.id = u.property_id WHERE c.paid_date IS NULL AND c.amount_cents > c.paid_cents
		ORDER BY p.name, u.name, c.due_date LIMIT 501`)
	if len(all) > maxChoices {
		return nil, err
	}
	return all, err
}

// leaseChoices lists the leases that run or are to come, then those that ended last.
func leaseChoices(c *db.Conn) ([]schema.Choice, error) {
	all, err := db.All(c, func(r *db.Row) schema.Choice {
		id, property, unit, start, names := number(r), r.Text(), r.Text(), r.Day(), r.Text()
		tenant, _ := namesOf(parseTenants(names))
		return schema.Choice{Value: id, Text: property + " / " + unit + ", " + tenant + ", from " + start.String()}
	}, "SELECT l.id, p.name, u.name, l.start_date, "+tenantsColumn+fromLeases+" ORDER BY l.last_day < ?1, p.name, u.name, l.start_date DESC LIMIT 501", c.Today())
	if len(all) > maxChoices {
		return nil, err
	}
	return all, err
}
