package rental

import (
	"fmt"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

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
	return oneNamed(c, "unit", name, unitNamed+"p.name || '/' || u.name = ?1",
		unitNamed+"lower(p.name || '/' || u.name) = lower(?1)")
}

const unitNamed = `SELECT u.id, p.name || '/' || u.name FROM units u
	CROSS JOIN properties p ON p.id = u.property_id WHERE `

// lookupTenant finds a tenant by name, e-mail or Name <e-mail>.
func lookupTenant(c *db.Conn, name string) (int64, error) {
	const tenants = "SELECT t.id, t.name || ifnull(' <' || t.email || '>', '') FROM tenants t WHERE "
	return oneNamed(c, "tenant", name, tenants+"t.name = ?1", tenants+"lower(t.name) = lower(?1)",
		tenants+"lower(t.email) = lower(?1)",
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
	return leaseOfUnit(c, name, unit)
}

// leaseOfUnit is the lease of a unit that covers today, else the next, else the last.
func leaseOfUnit(c *db.Conn, name string, unit int64) (int64, error) {
	id, found, err := db.One(c, db.Int, `SELECT id FROM leases WHERE unit_id = ?1
		ORDER BY NOT (start_date <= ?2 AND last_day >= ?2), start_date <= ?2, iif(start_date > ?2, start_date,
		-start_date) LIMIT 1`, unit, c.Today())
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
		all, err := db.All(c, func(r *db.Row) named { return named{r.Int(), r.Text()} }, query+" LIMIT 6", name)
		switch {
		case err != nil:
			return 0, err
		case len(all) == 1:
			return all[0].id, nil
		case len(all) > 1:
			var list []string
			for _, x := range all[:min(5, len(all))] {
				list = append(list, fmt.Sprintf("%s (#%d)", x.name, x.id))
			}
			if len(all) > 5 {
				list = append(list, "and more")
			}
			return 0, fault.Invalidf("%s matches several: %s", schema.Quote(name), strings.Join(list, ", "))
		}
	}
	return 0, fault.NotFoundf("there is no %s named %s", noun, schema.Quote(name))
}

var (
	propertyChoices = schema.Listed(
		"SELECT CAST(id AS TEXT), name, ifnull(address, '') FROM properties WHERE {} ORDER BY name LIMIT ?2", "id", "name")
	accountChoices = schema.Listed("SELECT CAST(id AS TEXT), name, '' FROM bank_accounts WHERE {} ORDER BY name LIMIT ?2",
		"id", "name")

	// PropertyNames and tenantNames are chosen where a name stands for the record.
	PropertyNames = schema.Listed("SELECT name, name, ifnull(address, '') FROM properties WHERE {} ORDER BY name LIMIT ?2",
		"name", "name")
	tenantNames   = schema.Listed("SELECT "+calledTenant+", "+calledTenant+tenantsToChoose, calledTenant, "t.name, t.email")
	tenantChoices = schema.Listed("SELECT t.id, "+calledTenant+tenantsToChoose, "t.id", "t.name, t.email")

	unitChoices = schema.Listed("SELECT u.id, "+unitsToChoose, "u.id", "p.name, u.name", today)
	unitNames   = schema.Listed("SELECT p.name || char(9) || u.name, "+unitsToChoose, "p.name || char(9) || u.name",
		"p.name, u.name", today)
)

const (
	calledTenant    = "t.name || ifnull(' <' || t.email || '>', '')"
	tenantsToChoose = ", '' FROM tenants t WHERE {} ORDER BY t.name, t.id LIMIT ?2"
	unitsToChoose   = `p.name || ' / ' || u.name, iif(EXISTS (SELECT 1 FROM leases l WHERE l.unit_id = u.id
		AND l.start_date <= ?3 AND l.last_day >= ?3), 'let', 'vacant')
		FROM properties p CROSS JOIN units u ON u.property_id = p.id WHERE {} ORDER BY p.name, u.name LIMIT ?2`
)

func today(c *db.Conn) any { return c.Today() }

// chargeChoices lists the charges of which something is open, by their words and periods.
var chargeChoices = schema.ListedBy("SELECT c.id, p.name, u.name, "+tenantsColumn+`, c.type, c.label,
	c.amount_cents - c.paid_cents
	FROM charges c INDEXED BY charges_unpaid CROSS JOIN leases l ON l.id = c.lease_id `+joinsOfLease+`
	WHERE c.paid_date IS NULL AND c.amount_cents > c.paid_cents AND {}
	ORDER BY p.name, u.name, c.due_date LIMIT ?2`, "c.id", "p.name, u.name, c.type, c.label, "+tenantsColumn,
	func(c *db.Conn) (func(*db.Row) schema.Choice, error) {
		money, err := moneyOf(c)
		return func(r *db.Row) schema.Choice {
			id, property, unit, names := number(r), r.Text(), r.Text(), r.Text()
			tenant, _ := namesOf(parseTenants(names))
			typ, label := strings.ReplaceAll(r.Text(), "_", " "), schema.DaysInWords(r.Text())
			return schema.Choice{Value: id, Text: fmt.Sprintf("%s / %s, %s: %s, %s", property, unit, tenant, typ, label),
				More: money(r.Int()) + " open"}
		}, err
	})

// leaseChoices lists the leases that run or are to come, then those that ended last, with what they owe.
var leaseChoices = schema.ListedBy("SELECT l.id, p.name, u.name, l.start_date, l.last_day < ?3, "+tenantsColumn+`,
	(SELECT coalesce(sum(c.amount_cents - c.paid_cents), 0) FROM charges c WHERE c.lease_id = l.id
	AND c.paid_date IS NULL)`+fromLeases+`
	WHERE {} ORDER BY l.last_day < ?3, p.name, u.name, l.start_date DESC LIMIT ?2`, "l.id", "p.name, u.name, "+
	tenantsColumn,
	func(c *db.Conn) (func(*db.Row) schema.Choice, error) {
		money, err := moneyOf(c)
		return func(r *db.Row) schema.Choice {
			id, property, unit, start, over, names := number(r), r.Text(), r.Text(), r.Day(), r.Bool(), r.Text()
			tenant, _ := namesOf(parseTenants(names))
			v := schema.Choice{Value: id, Text: property + " / " + unit + ", " + tenant}
			if over {
				v.Text += ", ended, from " + start.Words()
			}
			if owed := r.Int(); owed > 0 {
				v.More = "owes " + money(owed)
			}
			return v
		}, err
	}, today)

// moneyOf writes amounts in the shop's currency.
func moneyOf(c *db.Conn) (schema.Money, error) {
	currency, err := c.Currency()
	return currency.Format, err
}

// told reads a row of id, three texts, an amount and a day as a choice: "Ada Brandt, 925.00, 1 Nov 2026".
func told(c *db.Conn) (func(*db.Row) schema.Choice, error) {
	money, err := moneyOf(c)
	return func(r *db.Row) schema.Choice {
		v := schema.Choice{Value: number(r)}
		var parts []string
		for range 3 {
			if text := strings.TrimSpace(r.Text()); text != "" {
				parts = append(parts, text)
			}
		}
		v.Text = strings.Join(append(parts, money(r.Int()), r.Day().Words(), "#"+v.Value), ", ")
		return v
	}, err
}

var (
	// ticketChoices lists tickets, the newest first.
	ticketChoices = schema.Listed(`SELECT t.id, t.title || ', ' || p.name || ' / ' || u.name || ', #' || t.id,
		replace(t.status, '_', ' ') FROM tickets t CROSS JOIN units u ON u.id = t.unit_id
		CROSS JOIN properties p ON p.id = u.property_id WHERE {} ORDER BY t.id DESC LIMIT ?2`, "t.id",
		"t.title, p.name, u.name")

	// paymentChoices lists payments that are not reversed, the newest first.
	paymentChoices = schema.ListedBy(`SELECT y.id, (SELECT group_concat(t.name, ', ') FROM lease_tenants x JOIN tenants t
		ON t.id = x.tenant_id WHERE x.lease_id = l.id), p.name || ' / ' || u.name, '', y.amount_cents, y.paid_date
		FROM payments y CROSS JOIN leases l ON l.id = y.lease_id `+joinsOfLease+`
		WHERE y.voided_at IS NULL AND {} ORDER BY y.id DESC LIMIT ?2`, "y.id", `p.name, u.name, (SELECT
		group_concat(t.name, ' ') FROM lease_tenants x JOIN tenants t ON t.id = x.tenant_id WHERE x.lease_id = l.id)`, told)

	// lineChoices lists the bank's lines, the newest first.
	lineChoices = schema.ListedBy(`SELECT id, payer_name, text, '', amount_cents, day FROM bank_lines WHERE {}
		ORDER BY id DESC LIMIT ?2`, "id", "payer_name, text, reference", told)

	// expenseChoices lists expenses, the newest first.
	expenseChoices = schema.ListedBy(`SELECT e.id, e.category, ifnull(e.payee, ''), ifnull(p.name, ''), e.amount_cents,
		e.day FROM expenses e LEFT JOIN properties p ON p.id = e.property_id WHERE {} ORDER BY e.id DESC LIMIT ?2`,
		"e.id", "e.category, e.payee, p.name", told)

	// repeatedExpenses lists recurring expenses, repeatedCharges recurring charges, the newest first.
	repeatedExpenses = schema.ListedBy(`SELECT e.id, e.category, ifnull(e.payee, ''), ifnull(p.name, ''), e.amount_cents,
		e.from_day FROM recurring_expenses e LEFT JOIN properties p ON p.id = e.property_id
		WHERE {} ORDER BY e.id DESC LIMIT ?2`, "e.id", "e.category, e.payee, p.name", told)
	repeatedCharges = schema.ListedBy(`SELECT r.id, r.label, p.name || ' / ' || u.name, '', r.amount_cents, r.from_day
		FROM recurring_charges r CROSS JOIN leases l ON l.id = r.lease_id `+joinsOfLease+`
		WHERE {} ORDER BY r.id DESC LIMIT ?2`,
		"r.id", "r.label, p.name, u.name", told)
)
