package store

import (
	"quartermaster/schema/db"
)

// checkSubscriptions recomputes the end of subscriptions' licenses: by the payments, and never before an extension by
// staff.
func checkSubscriptions(c *db.Conn) ([]string, error) {
	breaches, err := sentences(c,
		"license %s of a subscription ends at %d (seconds since 1970), and what was paid gives %d", 2, `
		WITH ends AS MATERIALIZED (SELECT s.id, `+paidUntil+` AS at FROM store_subscriptions s)
		SELECT l.id, l.expires_at, max(ends.at, ifnull(l.extended_until, 0)) FROM store_licenses l JOIN ends
		ON ends.id = l.subscription_id
		WHERE ends.at IS NOT NULL AND l.expires_at <> max(ends.at, ifnull(l.extended_until, 0)) ORDER BY l.id`)
	if err != nil {
		return nil, err
	}
	waiting, err := sentences(c, "invoice %s of a subscription that has its checkout is not booked", 0, `
		SELECT i.ref FROM store_invoices i JOIN store_payments p ON p.id = i.payment_id JOIN store_subscriptions s
		ON s.id = i.subscription_id
		WHERE p.order_id IS NULL AND s.order_id IS NOT NULL ORDER BY i.ref`)
	if err != nil {
		return nil, err
	}
	other, err := sentences(c, "license %s is of another subscription than its order", 0, `
		SELECT l.id FROM store_licenses l JOIN store_orders o ON o.id = l.order_id 
		WHERE o.subscription_id IS NOT NULL AND l.subscription_id IS NOT o.subscription_id ORDER BY l.id`)
	if err != nil {
		return nil, err
	}
	untold, err := sentences(c, "the state of subscription %s was told at no time", 0,
		"SELECT s.ref FROM store_subscriptions s WHERE s.told <> 'active' AND s.told_us <= 0 ORDER BY s.ref")
	return append(append(append(breaches, waiting...), other...), untold...), err
}

// checkHolds looks for licenses whose state contradicts the decision and holds on them, and for holds without an open
// dispute.
func checkHolds(c *db.Conn) ([]string, error) {
	breaches, err := sentences(c, "the state of license %s does not fit what was decided and the disputes that hold it", 0,
		`
		SELECT l.id FROM store_licenses l WHERE l.state <> CASE
			WHEN l.decided = 'active' AND EXISTS (SELECT 1 FROM store_holds h
			WHERE h.license_id = l.id) THEN 'suspended' ELSE l.decided END ORDER BY l.id`)
	if err != nil {
		return nil, err
	}
	stale, err := sentences(c, "license %s is held by a dispute that is closed", 0, `
		SELECT h.license_id FROM store_holds h JOIN store_disputes p ON p.id = h.dispute_id WHERE p.state <> 'open'
		ORDER BY h.license_id`)
	return append(breaches, stale...), err
}

// checkFinding looks for orders and customers missing in the search index, or deleted ones in it.
func checkFinding(c *db.Conn) ([]string, error) {
	var breaches []string
	for _, of := range []struct{ noun, records, index string }{
		{"order", "store_orders", "store_find_orders"}, {"customer", "store_customers", "store_find_customers"},
	} {
		found, err := sentences(c, "the index of words lacks "+of.noun+" %s", 0,
			"SELECT id FROM "+of.records+" EXCEPT SELECT rowid FROM "+of.index)
		if err != nil {
			return nil, err
		}
		gone, err := sentences(c, "the index of words has "+of.noun+" %s, which is no more", 0,
			"SELECT rowid FROM "+of.index+" EXCEPT SELECT id FROM "+of.records)
		if err != nil {
			return nil, err
		}
		breaches = append(append(breaches, found...), gone...)
	}
	return breaches, nil
}
