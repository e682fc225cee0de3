package rental

import (
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

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
		FROM payments y CROSS JOIN leases l ON l.id = y.lease_id CROSS JOIN units u ON u.id = l.unit_id
		CROSS JOIN properties p ON p.id = u.property_id
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
		FROM recurring_charges r CROSS JOIN leases l ON l.id = r.lease_id CROSS JOIN units u ON u.id = l.unit_id
		CROSS JOIN properties p ON p.id = u.property_id WHERE {} ORDER BY r.id DESC LIMIT ?2`,
		"r.id", "r.label, p.name, u.name", told)
)
