package store

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// The kinds of totals. Money is a kind and a currency; everything else is a kind.
const (
	ordersPaid       = "orders_paid"
	ordersRefunded   = "orders_refunded"
	ordersVoid       = "orders_void"
	customersKnown   = "customers"
	seatsTaken       = "activations"
	grossCents       = "gross_cents"
	refundedCents    = "refunded_cents"
	licensesPrefix   = "licenses_" // and the state: active (expired ones too), suspended, revoked
	codesPrefix      = "codes_"    // and the status: unused, redeemed, void
	totalsWithoutOne = ""          // the currency of what is no money
)

// add moves a total. It is called in the transaction of whatever changed it.
func add(tx *db.Tx, kind string, n int64) error { return addMoney(tx, kind, totalsWithoutOne, n) }

func addMoney(tx *db.Tx, kind, currency string, n int64) error {
	if n == 0 {
		return nil
	}
	_, err := tx.Exec(`INSERT INTO store_totals (kind, currency, n) VALUES (?, ?, ?)
		ON CONFLICT (kind, currency) DO UPDATE SET n = n + excluded.n`, kind, currency, n)
	return err
}

// Licenses that expire are counted by hour, by 64 hours and by 4,096 hours, so that counting the expired ones takes the
// same time in a large old store as in a new one.
const (
	spanShort  exact.Instant = 60 * 60
	spanMiddle               = 64 * spanShort
	spanLong                 = 64 * spanMiddle
)

// selectSpans gives them to a statement that counts the licenses anew.
const selectSpans = "(SELECT 3600 AS span UNION ALL SELECT 230400 UNION ALL SELECT 14745600)"

// addLicenses moves the totals of licenses in a state, and how many run out when they
// do; expires is nil for those that never do.
func addLicenses(tx *db.Tx, state string, expires *exact.Instant, n int64) error {
	if err := add(tx, licensesPrefix+state, n); err != nil || state != stateActive || expires == nil {
		return err
	}
	for _, span := range []exact.Instant{spanShort, spanMiddle, spanLong} {
		if _, err := tx.Exec(`INSERT INTO store_expiry (span, start, licenses) VALUES (?, ?, ?)
			ON CONFLICT (span, start) DO UPDATE SET licenses = licenses + excluded.licenses`, span, *expires-*expires%span,
			n); err != nil {
			return err
		}
	}
	return nil
}

// expired counts the licenses that would be active except for their date: by the long spans that are over, then by the
// middle ones since, then by the short ones since, then those of the present hour one by one.
func expired(c *db.Conn) (int64, error) {
	now := c.Now()
	n, _, err := db.One(c, db.Int, `SELECT
		(SELECT ifnull(sum(licenses), 0) FROM store_expiry WHERE span = ?1 AND start < ?4)
		+ (SELECT ifnull(sum(licenses), 0) FROM store_expiry WHERE span = ?2 AND start >= ?4 AND start < ?5)
		+ (SELECT ifnull(sum(licenses), 0) FROM store_expiry WHERE span = ?3 AND start >= ?5 AND start < ?6)
		+ (SELECT count(*) FROM store_licenses WHERE state = 'active' AND expires_at >= ?6 AND expires_at <= ?7)`,
		spanLong, spanMiddle, spanShort, now-now%spanLong, now-now%spanMiddle, now-now%spanShort, now)
	return n, err
}
