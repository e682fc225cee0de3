package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema/db"
)

// check recomputes all derived data of the store and names each breach. It also lists the unmatched payments.
func check(c *db.Conn) ([]string, error) {
	breaches := []string{}
	for _, part := range []func(*db.Conn) ([]string, error){
		checkTotals, sentences, checkKeys, checkUnbooked, checkLicenseFiles,
	} {
		found, err := part(c)
		if err != nil {
			return nil, err
		}
		breaches = append(breaches, found...)
	}
	return breaches, nil
}

// recounts are the queries that recompute each total, as kind, currency and n.
var recounts = []string{
	"SELECT 'orders_' || status, '', count(*) FROM store_orders GROUP BY status",
	"SELECT 'customers', '', count(*) FROM store_customers",
	"SELECT 'licenses_' || state, '', count(*) FROM store_licenses GROUP BY state",
	"SELECT 'activations', '', count(*) FROM store_activations",
	"SELECT 'codes_' || status, '', count(*) FROM store_codes GROUP BY status",
	"SELECT 'gross_cents', currency, sum(total_cents) FROM store_orders WHERE status <> 'void' GROUP BY currency",
	"SELECT 'refunded_cents', currency, sum(refunded_cents) FROM store_orders WHERE status <> 'void' GROUP BY currency",
}

func checkTotals(c *db.Conn) ([]string, error) {
	kept, err := readTotals(c)
	if err != nil {
		return nil, err
	}
	counted := map[total]int64{}
	for _, query := range recounts {
		err := db.Each(c, func(r *db.Row) error {
			t := total{kind: r.Text(), currency: r.Text()}
			counted[t] = r.Int()
			return nil
		}, query)
		if err != nil {
			return nil, err
		}
	}
	var breaches []string
	all := maps.Clone(kept)
	maps.Copy(all, counted)
	for t := range all {
		if kept[t] != counted[t] {
			breaches = append(breaches, fmt.Sprintf("the total %s %s is kept as %d, and the rows give %d", t.kind, t.currency,
				kept[t], counted[t]))
		}
	}
	slices.Sort(breaches)
	return breaches, nil
}

// claims are sentences about broken rules, each with the query of the rows that break it: the first column names the
// row, the others fill the sentence.
var claims = []struct{ format, query string }{
	// The sums by hour, by which figures are read, and sums without orders.
	{"of the hour from %s, %d orders are counted, and %d are there, or their amounts differ", `
		WITH summed AS (SELECT paid_at - paid_at % 3600 AS hour, currency, provider, count(*) AS orders,
			sum(total_cents) AS sold_cents, sum(tax_cents) AS tax_cents FROM store_orders WHERE status <> 'void'
			GROUP BY 1, 2, 3)
		SELECT strftime('%Y-%m-%dT%H:%MZ', s.hour, 'unixepoch'), ifnull(k.orders, 0), s.orders
		FROM summed s LEFT JOIN store_hours k USING (hour, currency, provider)
		WHERE (k.orders, k.sold_cents, k.tax_cents) IS NOT (s.orders, s.sold_cents, s.tax_cents)
		UNION ALL SELECT strftime('%Y-%m-%dT%H:%MZ', hour, 'unixepoch'), orders, 0 FROM store_hours k
		WHERE (orders, sold_cents, tax_cents) <> (0, 0, 0) AND NOT EXISTS (SELECT 1
			FROM store_orders o INDEXED BY store_orders_paid WHERE o.paid_at >= k.hour AND o.paid_at < k.hour + 3600
				AND o.status <> 'void' AND o.currency = k.currency AND o.provider = k.provider)`},
	{"of product %s, %d were sold in an hour by the sums, and %d by the orders", `
		WITH all_of AS (SELECT i.product_id, o.paid_at - o.paid_at % 3600 AS hour, 0 AS kept, i.qty FROM store_orders o
				NOT INDEXED CROSS JOIN store_order_lines i ON i.order_id = o.id WHERE o.status <> 'void'
			UNION ALL SELECT product_id, hour, qty, 0 FROM store_product_hours)
		SELECT (SELECT sku FROM store_products p WHERE p.id = product_id), sum(kept), sum(qty) FROM all_of
		GROUP BY product_id, hour HAVING sum(kept) <> sum(qty)`},
	{"of product %s, %d orders of %d cents are in the sums of a day, and %d of %d are there, or their amounts differ", `
		WITH all_of AS (SELECT product_id, day, currency, 1 AS kept, orders, firsts, sold_cents, tax_cents, refunds,
				refunded_cents FROM store_product_days
			UNION ALL SELECT product_id, at - at % 86400, currency, -1, -orders, -firsts, -sold_cents, -tax_cents, -refunds,
				-refunded_cents FROM store_sales)
		SELECT (SELECT sku FROM store_products p WHERE p.id = product_id),
			sum(orders) FILTER (WHERE kept = 1), sum(sold_cents) FILTER (WHERE kept = 1),
			-sum(orders) FILTER (WHERE kept = -1), -sum(sold_cents) FILTER (WHERE kept = -1)
		FROM all_of GROUP BY product_id, day, currency
		HAVING sum(orders) <> 0 OR sum(firsts) <> 0 OR sum(sold_cents) <> 0 OR sum(tax_cents) <> 0 OR sum(refunds) <> 0
			OR sum(refunded_cents) <> 0`},
	{"customer %s: paid_orders is kept as %d, and the orders give %d, or their first or last time differs", `
		WITH counted AS (SELECT customer_id AS id, count(*) FILTER (WHERE status = 'paid') AS n, min(paid_at) AS first,
		max(paid_at) AS last
			FROM store_orders WHERE status <> 'void' GROUP BY customer_id)
		SELECT email, paid_orders, ifnull(k.n, 0) FROM store_customers c LEFT JOIN counted k USING (id)
		WHERE paid_orders <> ifnull(k.n, 0) OR first_order_at IS NOT k.first OR last_order_at IS NOT k.last ORDER BY c.id`},
	// What the tables' constraints do not hold: a refunded order is refunded in full and has only revoked licenses of
	// its own; an order has one license per unit of each product, or none; a renewal issues none.
	{"order %s: %d of %d cents are refunded, and it has %d licenses for %d units, %d of them not revoked: its status " +
		"does not fit", `
		SELECT * FROM (SELECT o.order_ref, o.refunded_cents, o.total_cents,
			(SELECT count(*) FROM store_licenses l WHERE l.order_id = o.id) AS issued,
			(SELECT sum(qty) FROM store_order_lines i WHERE i.order_id = o.id) AS units,
			(SELECT count(*) FROM store_licenses l WHERE l.order_id = o.id AND l.state <> 'revoked') AS alive,
			o.status, o.refunded_at, o.renews,
			(SELECT count(*) FROM (SELECT i.product_id AS pid, sum(qty) AS sold FROM store_order_lines i WHERE i.order_id = o.id
			GROUP BY 1)
				WHERE sold <> (SELECT count(*) FROM store_licenses l WHERE l.order_id = o.id AND l.product_id = pid)
					AND 0 <> (SELECT count(*) FROM store_licenses l WHERE l.order_id = o.id AND l.product_id = pid)) AS uneven
			FROM store_orders o)
		WHERE issued > ifnull(units, 0) OR uneven > 0 OR renews = 1 AND issued > 0
			OR (status = 'refunded') <> (refunded_at IS NOT NULL)
			OR status = 'refunded' AND (refunded_cents <> total_cents OR alive > 0)
			OR status = 'void' AND alive > 0
			OR status = 'paid' AND refunded_cents = total_cents AND total_cents > 0
		ORDER BY order_ref`},
	{"order %s keeps a subtotal of %d and %d refunded, and its lines come to %d, its refunds to %d", `
		SELECT * FROM (SELECT o.order_ref, o.subtotal_cents, o.refunded_cents,
			(SELECT ifnull(sum(qty * unit_cents), -1) FROM store_order_lines i WHERE i.order_id = o.id) AS lines,
			(SELECT ifnull(sum(cents), 0) FROM store_refunds r WHERE r.order_id = o.id) AS given FROM store_orders o)
		WHERE lines <> subtotal_cents OR given <> refunded_cents ORDER BY order_ref`},
	{"license %s names another order than its own",
		"SELECT l.id FROM store_licenses l JOIN store_orders o ON o.id = l.order_id WHERE o.order_ref <> l.order_ref ORDER " +
			"BY l.id"},
	// Seats: a license never has more than its limit when its newest seat was taken. Lowering a limit removes no seat.
	{"license %s has a limit of its own of %d, which is more than any may have",
		"SELECT l.id, l.own_limit FROM store_licenses l WHERE l.own_limit > " + strconv.Itoa(mostSeats) + " ORDER BY l.id"},
	{"license %s has %d seats counted and %d taken, and %d were allowed when the last was taken", `
		SELECT l.id, l.activation_count, count(a.id) AS taken,
			ifnull((SELECT allowed FROM store_activations n WHERE n.license_id = l.id ORDER BY n.id DESC LIMIT 1), -1) AS most
		FROM store_licenses l LEFT JOIN store_activations a ON a.license_id = l.id GROUP BY l.id
		HAVING taken <> l.activation_count OR taken > most AND most >= 0 ORDER BY l.id`},
	{"batch %s counts %d unused, %d redeemed and %d void codes, and its codes give %d, %d and %d", `
		WITH counted AS (SELECT batch_id AS id, count(*) FILTER (WHERE status = 'unused') AS u,
			count(*) FILTER (WHERE status = 'redeemed') AS r, count(*) FILTER (WHERE status = 'void') AS v FROM store_codes
			GROUP BY batch_id)
		SELECT batch, unused, redeemed, void, ifnull(u, 0), ifnull(r, 0), ifnull(v, 0) FROM store_batches b LEFT
		JOIN counted k USING (id)
		WHERE unused <> ifnull(u, 0) OR redeemed <> ifnull(r, 0) OR void <> ifnull(v, 0) ORDER BY b.id`},
	// Orders of more than one code, or of none.
	{"order %s came from %d redeemed codes", `
		SELECT o.order_ref, count(*) FROM store_codes k JOIN store_orders o ON o.id = k.order_id
		WHERE k.status = 'redeemed' GROUP BY o.id HAVING count(*) <> 1 OR o.provider <> 'code'
			OR 1 <> (SELECT sum(qty) FROM store_order_lines i WHERE i.order_id = o.id) ORDER BY o.order_ref`},
	// The end of subscriptions' licenses: by the payments, and never before an extension by staff.
	{"license %s of a subscription ends at %d (seconds since 1970), and what was paid gives %d", `
		WITH ends AS MATERIALIZED (SELECT s.id, ` + paidUntil + ` AS at FROM store_subscriptions s)
		SELECT l.id, l.expires_at, max(ends.at, ifnull(l.extended_until, 0)) FROM store_licenses l JOIN ends
		ON ends.id = l.subscription_id
		WHERE ends.at IS NOT NULL AND l.expires_at <> max(ends.at, ifnull(l.extended_until, 0)) ORDER BY l.id`},
	{"invoice %s of a subscription that has its checkout is not booked", `
		SELECT i.ref FROM store_invoices i JOIN store_payments p ON p.id = i.payment_id JOIN store_subscriptions s
		ON s.id = i.subscription_id
		WHERE p.order_id IS NULL AND s.order_id IS NOT NULL ORDER BY i.ref`},
	{"license %s is of another subscription than its order", `
		SELECT l.id FROM store_licenses l JOIN store_orders o ON o.id = l.order_id 
		WHERE o.subscription_id IS NOT NULL AND l.subscription_id IS NOT o.subscription_id ORDER BY l.id`},
	{"the state of subscription %s has no time",
		"SELECT s.ref FROM store_subscriptions s WHERE s.told <> 'active' AND s.told_us <= 0 ORDER BY s.ref"},
	// The state of a license follows from the decision and the holds on it.
	{"the state of license %s does not fit what was decided and the disputes that hold it", `
		SELECT l.id FROM store_licenses l WHERE l.state <> CASE
			WHEN l.decided = 'active' AND EXISTS (SELECT 1 FROM store_holds h
			WHERE h.license_id = l.id) THEN 'suspended' ELSE l.decided END ORDER BY l.id`},
	{"license %s is held by a dispute that is closed", `
		SELECT h.license_id FROM store_holds h JOIN store_disputes p ON p.id = h.dispute_id WHERE p.state <> 'open'
		ORDER BY h.license_id`},
	// The search index has every record, and no other.
	{"the index of words lacks order %s", "SELECT id FROM store_orders EXCEPT SELECT rowid FROM store_find_orders"},
	{"the index of words has order %s, which no longer exists",
		"SELECT rowid FROM store_find_orders EXCEPT SELECT id FROM store_orders"},
	{"the index of words lacks customer %s",
		"SELECT id FROM store_customers EXCEPT SELECT rowid FROM store_find_customers"},
	{"the index of words has customer %s, which no longer exists",
		"SELECT rowid FROM store_find_customers EXCEPT SELECT id FROM store_customers"},
}

// sentences returns one breach per row of the claims.
func sentences(c *db.Conn) (breaches []string, err error) {
	for _, k := range claims {
		found, err := db.All(c, func(r *db.Row) string {
			args := []any{r.Text()}
			for range strings.Count(k.format, "%d") {
				args = append(args, r.Int())
			}
			return fmt.Sprintf(k.format, args...)
		}, k.query)
		if err != nil {
			return nil, err
		}
		breaches = append(breaches, found...)
	}
	return breaches, nil
}

// checkKeys recomputes the look-up values of each license key.
func checkKeys(c *db.Conn) (breaches []string, err error) {
	err = db.Each(c, func(r *db.Row) error {
		id, key, hash, loose := r.Int(), r.Text(), r.Bytes(), r.Bytes()
		if h, l := stored(key); !bytes.Equal(h, hash) || !bytes.Equal(l, loose) {
			breaches = append(breaches, fmt.Sprintf("license %d cannot be found by its key", id))
		}
		return nil
	}, "SELECT id, license_key, key_hash, ifnull(loose_hash, x'') FROM store_licenses ORDER BY id")
	return breaches, err
}
