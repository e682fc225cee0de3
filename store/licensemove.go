package store

import (
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

const (
	remarkEnded   = "expired, but without a past end: it ends with this import"
	remarkKeepEnd = "the license keeps the end of its subscription"
	remarkBuyer   = "the license belongs to its order's buyer; the file has another address"
	remarkRevoked = "revoked, which is final"
	remarkUntied  = "subscription_ref: an import cannot link a subscription; use `store subscription link`"
)

// create makes the license of a new key: in the order that the row names, or with one of its own.
func (im *licenseImport) create(tx *db.Tx, r *licenseRow, p Product, ends *exact.Instant, created exact.Instant) error {
	if created == 0 {
		created = tx.Now()
	}
	provider := firstOf(r.provider, importProvider)
	var d OrderDetail
	var found bool
	var err error
	if r.ref != "" {
		if d, found, err = findPayment(&tx.Conn, provider, r.ref); err != nil {
			return err
		}
	}
	var id int64
	origin := originMoved
	if found {
		id, origin, err = im.within(tx, r, p, d)
	} else {
		d, id, err = r.order(tx, p, provider, created)
	}
	if err != nil {
		return err
	}
	if d.Status == statusRefunded && r.status != stateRevoked {
		return fault.Conflictf("order %s (%s %s) is refunded: it accepts only revoked licenses", d.OrderRef, d.Provider,
			d.ProviderRef).At("provider_ref")
	}
	return im.fill(tx, r, id, origin, ends, created)
}

// order books the order of total 0 for an imported license.
func (r *licenseRow) order(tx *db.Tx, p Product, provider string, paid exact.Instant) (d OrderDetail, license int64,
	err error) {
	set, err := settings(&tx.Conn)
	if err != nil {
		return d, 0, err
	}
	v := sale{
		lines: []line{{product: p, tier: r.tier, qty: 1, licensed: true}}, email: r.email, name: r.name, rename: true,
		currency: set.Currency, provider: provider, ref: r.ref, paidAt: paid, unmailed: true, history: true,
	}
	if d, err = book(tx, v, false); err != nil {
		return d, 0, err
	}
	return d, d.Licenses[0].ID, nil
}

// within finds the row's place in a stored order: a license of its sku and tier from an import of orders that nobody
// has received, else a further unit of an order from an import of licenses.
func (im *licenseImport) within(tx *db.Tx, r *licenseRow, p Product, d OrderDetail) (license int64, origin string,
	err error) {
	if d.Status == statusVoid {
		return 0, "", fault.Conflictf("order %s (%s %s) is void; give the payment another provider_ref", d.OrderRef,
			d.Provider, d.ProviderRef).At("provider_ref")
	}
	_, moved, err := db.One(&tx.Conn, db.Int,
		"SELECT 1 FROM store_licenses WHERE order_id = ? AND origin = 'moved' LIMIT 1", d.id)
	switch {
	case err != nil:
		return 0, "", err
	case d.Customer.Email == r.email:
	case moved:
		return 0, "", fault.Conflictf("email: order %s (%s %s) belongs to %s, and so do its licenses", d.OrderRef, d.Provider,
			d.ProviderRef, d.Customer.Email).At("email")
	default:
		im.remarks = append(im.remarks, remarkBuyer)
	}
	free, err := db.All(&tx.Conn, db.Int, `SELECT id FROM store_licenses l WHERE order_id = ? AND product_id = ?
		AND tier IS ? AND origin = 'history'
		AND activation_count = 0 AND last_checked_at IS NULL AND NOT EXISTS (SELECT 1 FROM store_license_files f
		WHERE f.license_id = l.id) ORDER BY id`,
		d.id, p.id, db.NullText(r.tier))
	if err != nil {
		return 0, "", err
	}
	for _, id := range free {
		if !im.memory.uses.checked(id) {
			return id, originPlaced, nil
		}
	}
	if !moved {
		n := len(slices.DeleteFunc(slices.Clone(d.Licenses), func(l License) bool {
			return l.SKU != p.SKU ||
				schema.Cell(l.Tier) != r.tier
		}))
		return 0, "", fault.Conflictf("order %s (%s %s) has %s of %s, none free for this key; give it another provider_ref",
			d.OrderRef, d.Provider, d.ProviderRef, exact.Plural(n, "license", "licenses"), goods(p.SKU, r.tier, 1)).At(
			"provider_ref")
	}
	if _, err := ensureCustomer(tx, r.email, r.name, true); err != nil {
		return 0, "", err
	}
	id, err := grow(tx, d, p, r.tier)
	return id, originMoved, err
}

// grow adds a free unit to an order, with its license.
func grow(tx *db.Tx, d OrderDetail, p Product, tier string) (license int64, err error) {
	at, same, err := db.One(&tx.Conn, db.Int, `SELECT line FROM store_order_lines WHERE order_id = ? AND product_id = ?
		AND tier IS ?
		AND unit_cents = 0 AND qty < ? ORDER BY line LIMIT 1`, d.id, p.id, db.NullText(tier), maxQty)
	switch {
	case err != nil:
		return 0, err
	case same:
		_, err = tx.Exec("UPDATE store_order_lines SET qty = qty + 1 WHERE order_id = ? AND line = ?", d.id, at)
	case len(d.Items) >= mostLines:
		return 0, fault.Conflictf("order %s has %d lines already, the maximum; give further keys another provider_ref",
			d.OrderRef, mostLines).At("provider_ref")
	default:
		_, err = tx.Exec(`INSERT INTO store_order_lines (order_id, line, product_id, product_name, tier, qty, unit_cents)
			SELECT ?1, max(line) + 1, ?2, ?3, ?4, 1, 0 FROM store_order_lines WHERE order_id = ?1`, d.id, p.id, p.Name,
			db.NullText(tier))
		if err == nil {
			err = indexOrders(tx, "o.id = ?", d.id)
		}
	}
	if err != nil {
		return 0, err
	}
	issue(tx, d.id, d.OrderRef, sale{paidAt: d.PaidAt, history: true},
		line{product: p, tier: tier, qty: 1, licensed: true})
	license, _, err = db.One(&tx.Conn, db.Int, "SELECT max(id) FROM store_licenses WHERE order_id = ?", d.id)
	return license, err
}

// fill sets a license to its row.
func (im *licenseImport) fill(tx *db.Tx, r *licenseRow, id int64, origin string, ends *exact.Instant,
	created exact.Instant) error {
	hash, loose := stored(r.key)
	tx.Do(
		"UPDATE store_licenses SET license_key = ?, key_hash = ?, loose_hash = ?, own_limit = ?, created_at = ?, origin = "+
			"? WHERE id = ?",
		r.key, hash, loose, r.limit, created, origin, id)
	l, err := findLicense(&tx.Conn, id)
	if err != nil {
		return err
	}
	if r.status == statusExpired && (ends == nil || *ends > tx.Now()) {
		now := tx.Now()
		ends = &now
		im.remarks = append(im.remarks, remarkEnded)
	}
	if r.subscription != "" {
		im.remarks = append(im.remarks, remarkUntied)
	}
	setEnd(tx, l, ends)
	if err := decide(tx, id, r.state()); err != nil {
		return err
	}
	seats, err := r.addSeats(tx, l)
	if err != nil {
		return err
	}
	return tx.Audit("license.imported", subject(l), map[string]any{
		"key_end": KeyEnd(r.key), "sku": l.SKU, "tier": l.Tier, "order_ref": l.OrderRef, "status": r.status,
		"expires_at": ends, "seats": seats,
	})
}

// state is what the row's status decides: an expired license is an active one whose time is over.
func (r *licenseRow) state() string {
	if r.status == statusExpired {
		return stateActive
	}
	return r.status
}

// addSeats adds the row's machines that have no seat yet, beyond any limit.
func (r *licenseRow) addSeats(tx *db.Tx, l License) (added int64, err error) {
	held := map[string]bool{}
	if len(r.seats) > 0 && l.ActivationCount > 0 {
		all, err := db.All(&tx.Conn, db.Text, "SELECT fingerprint FROM store_activations WHERE license_id = ?", l.ID)
		if err != nil {
			return 0, err
		}
		for _, fingerprint := range all {
			held[fingerprint] = true
		}
	}
	for _, s := range r.seats {
		if held[s.Fingerprint] {
			continue
		}
		held[s.Fingerprint] = true
		created, seen := s.created, s.seen
		if created == 0 {
			created = tx.Now()
		}
		allowed := l.ActivationLimit
		if taken := l.ActivationCount + 1; allowed != nil && *allowed < taken {
			allowed = &taken
		}
		if _, err := tx.Insert(`INSERT INTO store_activations (license_id, fingerprint, label, allowed, created_at,
			last_seen_at)
			VALUES (?, ?, ?, ?, ?, ?)`, l.ID, s.Fingerprint, s.Label, allowed, created, max(seen, created)); err != nil {
			return added, err
		}
		added++
		l.ActivationCount++
	}
	if added == 0 {
		return 0, nil
	}
	countSeats(tx, l, added)
	return added, nil
}

// change applies the row's given columns to an existing license.
func (im *licenseImport) change(tx *db.Tx, r *licenseRow, was License, p Product, ends *exact.Instant,
	created exact.Instant) (o schema.Outcome, err error) {
	d, err := findOrder(&tx.Conn, was.OrderRef)
	if err != nil {
		return o, err
	}
	if err := r.stays(&tx.Conn, was, p, d.Order); err != nil {
		return o, err
	}
	c := &changing{tx: tx, r: r, was: was, order: d.Order, im: im}
	c.end(ends)
	c.limit()
	c.made(created)
	for _, step := range []func() error{c.status, c.buyer, c.tier, c.seats} {
		if err := step(); err != nil {
			return o, err
		}
	}
	o.ID, o.Fields = was.ID, c.fields
	slices.Sort(o.Fields)
	if len(o.Fields) == 0 {
		return o, nil
	}
	return o, tx.Audit("license.imported", subject(was), map[string]any{"key_end": KeyEnd(r.key), "changed": o.Fields})
}

// stays refuses another product or another payment for an existing key.
func (r *licenseRow) stays(c *db.Conn, was License, p Product, o Order) error {
	differs := func(column, is, says string) error {
		return fault.Conflictf("%s: license %d is recorded with %s, not %s; an import cannot move a key", column, was.ID,
			schema.Quote(is), schema.Quote(says)).At(column)
	}
	switch {
	case p.SKU != "" && p.SKU != was.SKU:
		return differs("sku", was.SKU, p.SKU)
	case r.provider != "" && r.provider != o.Provider:
		return differs("provider", o.Provider, r.provider)
	case r.ref == "" || r.ref == o.ProviderRef:
		return nil
	}
	id, err := orderOf(c, o.Provider, []string{r.ref})
	if err == nil && id != o.id {
		err = differs("provider_ref", o.ProviderRef, r.ref)
	}
	return err
}
