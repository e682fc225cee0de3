package store

import (
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// The kinds of totals. Money is a kind and a currency; everything else is a kind.
const (
	ordersPaid       = "orders_paid"
	ordersRefunded   = "orders_refunded"
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

// addLicenses moves the totals of licenses in a state, and how many run out on the
// day on which they do; expires is nil for those that never do.
func addLicenses(tx *db.Tx, state string, expires *exact.Instant, n int64) error {
	if err := add(tx, licensesPrefix+state, n); err != nil || state != stateActive || expires == nil {
		return err
	}
	_, err := tx.Exec(`INSERT INTO store_expiry (day, licenses) VALUES (?, ?)
		ON CONFLICT (day) DO UPDATE SET licenses = licenses + excluded.licenses`, expires.Day(time.UTC), n)
	return err
}

// expired counts the licenses that would be active but for their date: whole days
// from the days' sums, the day that c.Now() lies in from its licenses.
func expired(c *db.Conn) (int64, error) {
	today := c.Now().Day(time.UTC)
	before, _, err := db.One(c, db.Int, "SELECT ifnull(sum(licenses), 0) FROM store_expiry WHERE day < ?", today)
	if err != nil {
		return 0, err
	}
	since, _, err := db.One(c, db.Int,
		"SELECT count(*) FROM store_licenses WHERE state = 'active' AND expires_at >= ? AND expires_at <= ?",
		exact.InstantOf(today.Time(time.UTC)), c.Now())
	return before + since, err
}
