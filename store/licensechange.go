package store

import (
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// changing is one license that an import changes, and the columns that it changed.
type changing struct {
	tx     *db.Tx
	r      *licenseRow
	was    License
	order  Order
	im     *licenseImport
	fields []string
}

func (c *changing) changed(column string) { c.fields = append(c.fields, column) }

func (c *changing) end(ends *exact.Instant) {
	now := c.tx.Now()
	over := func(at *exact.Instant) bool { return at != nil && *at <= now }
	if !c.r.given("expires_at") {
		ends = c.was.ExpiresAt
	}
	if c.r.given("status") && c.r.status == statusExpired && !over(ends) {
		ends = c.was.ExpiresAt
		if !over(ends) {
			ends = &now
			c.im.remarks = append(c.im.remarks, remarkEnded)
		}
	}
	switch {
	case sameEnd(ends, c.was.ExpiresAt):
		return
	case c.was.Subscription != nil:
		c.im.remarks = append(c.im.remarks, remarkKeepEnd)
		return
	}
	c.changed("expires_at")
	setEnd(c.tx, c.was, ends)
}

func (c *changing) status() error {
	to := c.r.state()
	switch {
	case !c.r.given("status") || c.r.status == c.was.Status || to == c.was.decided:
		return nil
	case c.was.decided == stateRevoked:
		c.im.remarks = append(c.im.remarks, remarkRevoked)
		return nil
	}
	c.changed("status")
	return decide(c.tx, c.was.ID, to)
}

func (c *changing) limit() {
	is := c.was
	is.ownLimit = c.r.limit
	if !c.r.given("activation_limit") || is.limitCell() == c.was.limitCell() {
		return
	}
	c.changed("activation_limit")
	c.tx.Do("UPDATE store_licenses SET own_limit = ? WHERE id = ?", c.r.limit, c.was.ID)
}

// tier moves the license, and the unit of its order, to another tier.
func (c *changing) tier() error {
	tier := db.NullText(c.r.tier)
	if !c.r.given("tier") && c.r.tier == "" || c.r.tier == schema.Cell(c.was.Tier) {
		return nil
	}
	c.changed("tier")
	c.tx.Do("UPDATE store_licenses SET tier = ? WHERE id = ?", tier, c.was.ID)
	const of = "order_id = ?1 AND product_id = (SELECT product_id FROM store_licenses WHERE id = ?2) AND tier IS ?3"
	at, _, err := db.One(&c.tx.Conn, db.Int, "SELECT min(line) FROM store_order_lines WHERE "+of, c.order.id, c.was.ID,
		c.was.Tier)
	if err != nil || at == 0 {
		return err
	}
	c.tx.Do(`INSERT INTO store_order_lines (order_id, line, product_id, product_name, tier, qty, unit_cents)
		SELECT order_id, (SELECT max(line) + 1 FROM store_order_lines WHERE order_id = ?1), product_id, product_name, ?3, 1,
		unit_cents
		FROM store_order_lines WHERE order_id = ?1 AND line = ?2 AND qty > 1`, c.order.id, at, tier)
	c.tx.Do("UPDATE store_order_lines SET tier = ? WHERE order_id = ? AND line = ? AND qty = 1", tier,
		c.order.id, at)
	c.tx.Do("UPDATE store_order_lines SET qty = qty - 1 WHERE order_id = ? AND line = ? AND qty > 1",
		c.order.id, at)
	return nil
}

func (c *changing) made(created exact.Instant) {
	if created == 0 || created == c.was.CreatedAt {
		return
	}
	c.changed("created_at")
	c.tx.Do("UPDATE store_licenses SET created_at = ? WHERE id = ?", created, c.was.ID)
}

// buyer gives the license's order another buyer, or its buyer another name.
func (c *changing) buyer() error {
	o := c.order
	if c.was.origin == originPlaced { // an import of orders corrects those
		if c.r.email != "" && c.r.email != o.Customer.Email {
			c.im.remarks = append(c.im.remarks, remarkBuyer)
		}
		return nil
	}
	a := amended{email: o.Customer.Email, subtotal: o.SubtotalCents, discount: o.DiscountCents, tax: o.TaxCents,
		currency: o.Currency}
	for _, i := range o.Items {
		a.units = append(a.units, i.UnitCents)
	}
	if c.r.email != "" && c.r.email != a.email {
		a.email = c.r.email
		c.changed("email")
	}
	if a.name = c.r.name; a.name != "" && a.name != o.Customer.Name {
		c.changed("name")
	}
	if o.Status == statusVoid {
		if slices.Contains(c.fields, "email") {
			return fault.Conflictf("email: order %s is void; its buyer stays", o.OrderRef).At("email")
		}
		return nil
	}
	return amend(c.tx, o, a)
}

func (c *changing) seats() error {
	l, err := findLicense(&c.tx.Conn, c.was.ID)
	if err != nil {
		return err
	}
	added, err := c.r.addSeats(c.tx, l)
	if added > 0 {
		c.changed("seats")
	}
	return err
}
