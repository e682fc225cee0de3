package store

import "quartermaster/schema/db"

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
func add(tx *db.Tx, kind string, n int64) { addMoney(tx, kind, totalsWithoutOne, n) }

func addMoney(tx *db.Tx, kind, currency string, n int64) {
	if n == 0 {
		return
	}
	tx.Do(`INSERT INTO store_totals (kind, currency, n) VALUES (?, ?, ?)
		ON CONFLICT (kind, currency) DO UPDATE SET n = n + excluded.n`, kind, currency, n)
}

// addLicenses moves the total of the licenses in a state.
func addLicenses(tx *db.Tx, state string, n int64) { add(tx, licensesPrefix+state, n) }

// expired counts the licenses that would be active except for their date.
func expired(c *db.Conn) (int64, error) {
	n, _, err := db.One(c, db.Int, "SELECT count(*) FROM store_licenses WHERE state = 'active' AND expires_at <= ?",
		c.Now())
	return n, err
}
