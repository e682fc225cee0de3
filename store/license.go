package store

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// License is the right to use one unit of a product. Its status is computed: revoked
// and suspended are decisions, expired is an active one whose time is over.
type License struct {
	ID              int64          `json:"id"`
	Key             string         `json:"license_key" about:"in full for a full-access API key of a member or admin, otherwise the last four characters"`
	SKU             string         `json:"sku"`
	Tier            *string        `json:"tier"`
	OrderRef        string         `json:"order_ref"`
	CustomerEmail   string         `json:"customer_email"`
	Status          string         `json:"status" enum:"active,expired,suspended,revoked"`
	ActivationLimit *int64         `json:"activation_limit" about:"seats; null is unlimited"`
	ActivationCount int64          `json:"activation_count" about:"seats that are taken"`
	ExpiresAt       *exact.Instant `json:"expires_at" about:"null is never"`
	CreatedAt       exact.Instant  `json:"created_at"`
	LastCheckedAt   *exact.Instant `json:"last_checked_at"`
	Subscription    *string        `json:"subscription_ref" about:"the provider's id of its subscription; null is none"`

	State  *string `json:"subscription_state" enum:"past_due,active,cancelled,ended" about:"the subscription's state; null is none"`
	HeldBy *string `json:"held_by" about:"the open dispute that suspends it; null is none"`

	state    string // as it is stored
	files    string // after a revocation: what runs on, in words
	released string // after a seat's release: the machine
	decided  string // the decision of staff or a refund; an open dispute may also suspend it
	ownLimit *int64 // unlimited is -1; nil is the product's
	origin   string
}

// Where a license came from.
const (
	originIssued  = "issued"  // of a sale or a code
	originHistory = "history" // of an import of orders: an imported key may replace it
	originPlaced  = "placed"  // its key was imported onto one of those
	originMoved   = "moved"   // its key was imported, and made its order or a unit of it
)

// Imported reports whether the license came with a key from elsewhere.
func (l License) Imported() bool { return l.origin == originPlaced || l.origin == originMoved }

// HasOwnLimit reports whether the license has a new seat limit than its product's.
func (l License) HasOwnLimit() bool { return l.ownLimit != nil }

const (
	stateActive    = "active"
	stateSuspended = "suspended"
	stateRevoked   = "revoked"
	statusExpired  = "expired"
)

// licenseMoves are the owner's moves of a license. Revoked is final.
var licenseMoves = schema.Transitions{
	{Name: stateActive, To: []string{stateSuspended, stateRevoked}},
	{Name: stateSuspended, To: []string{stateActive, stateRevoked}},
	{Name: stateRevoked},
}

// As with orders, the tables are joined in the order in which they stand. A buyer's
// program is answered without looking at the order and its customer: its columns have
// ” for the address.
const (
	// A license's own limit, where it has one, goes before its product's.
	limitColumns = "iif(l.own_limit IS NULL, p.activation_limit, nullif(l.own_limit, -1)), l.own_limit, l.origin"

	licenseColumns = `l.id, l.license_key, p.sku, l.tier, l.order_ref, c.email, l.state,
		` + limitColumns + `, l.activation_count, l.expires_at, l.created_at, l.last_checked_at, s.ref, l.decided, ` +
		subscriptionState + `,
		(SELECT d.ref FROM store_holds h CROSS JOIN store_disputes d ON d.id = h.dispute_id WHERE h.license_id = l.id
		ORDER BY h.dispute_id LIMIT 1)`
	licenseTables = `store_licenses l CROSS JOIN store_products p ON p.id = l.product_id
		CROSS JOIN store_orders o ON o.id = l.order_id CROSS JOIN store_customers c ON c.id = o.customer_id
		LEFT JOIN store_subscriptions s ON s.id = l.subscription_id`
	grantColumns = `l.id, l.license_key, p.sku, l.tier, l.order_ref, '', l.state,
		` + limitColumns + `, l.activation_count, l.expires_at, l.created_at, l.last_checked_at, NULL, l.decided, NULL, NULL`
	grantTables = `store_licenses l CROSS JOIN store_products p ON p.id = l.product_id`
)

// scanLicense reads a license with its present status.
func scanLicense(now exact.Instant) func(*db.Row) License {
	return func(r *db.Row) License {
		l := License{
			ID: r.Int(), Key: r.Text(), SKU: r.Text(), Tier: r.TextPtr(), OrderRef: r.Text(), CustomerEmail: r.Text(),
			state:           r.Text(),
			ActivationLimit: r.IntPtr(), ownLimit: r.IntPtr(), origin: r.Text(), ActivationCount: r.Int(),
			ExpiresAt: r.InstantPtr(), CreatedAt: r.Instant(), LastCheckedAt: r.InstantPtr(),
			Subscription: r.TextPtr(), decided: r.Text(), State: r.TextPtr(), HeldBy: r.TextPtr(),
		}
		l.Status = statusOf(l.state, l.ExpiresAt, now)
		return l
	}
}

// statusOf is the status of a license in a state at now: it expires at the exact instant.
func statusOf(state string, expires *exact.Instant, now exact.Instant) string {
	if state == stateActive && expires != nil && *expires <= now {
		return statusExpired
	}
	return state
}

func (l License) masked() License {
	l.Key = mask(l.Key)
	return l
}

func maskAll(list []License) []License {
	return schema.Map(list, License.masked)
}

// issue adds to an order one license for each unit of a line that is licensed.
func issue(tx *db.Tx, order int64, ref string, v sale, l line) {
	if !l.licensed {
		return
	}
	var expires *exact.Instant
	var subscription *int64
	switch {
	case v.subscription != 0:
		at := v.paidAt + checkoutGrace
		expires, subscription = &at, &v.subscription
	case l.product.LicenseDays != nil:
		at := v.paidAt + exact.Instant(*l.product.LicenseDays*day)
		expires = &at
	}
	origin := originIssued
	if v.history {
		origin = originHistory
	}
	for range l.qty {
		key := newKey()
		tx.Do(`INSERT INTO store_licenses (key_hash, license_key, product_id, tier, order_id, order_ref, state,
			expires_at, created_at, subscription_id, origin)
			VALUES (?, ?, ?, ?, ?, ?, 'active', ?, ?, ?, ?)`,
			digest(key, keyLength), key, l.product.id, db.NullText(l.tier), order, ref, expires, tx.Now(), subscription, origin)
	}
	addLicenses(tx, stateActive, l.qty)
}

// subject names a license in the audit trail.
func subject(l License) string { return db.Subject("license", l.ID) }

func findLicense(c *db.Conn, id int64) (License, error) {
	return db.ByID(c, scanLicense(c.Now()), "license", "SELECT "+licenseColumns+" FROM "+licenseTables+" WHERE l.id = ?1",
		id)
}

func exampleLicense() License {
	seats := int64(3)
	return License{
		ID: 12, Key: "7Q4ZJ-0M3RT-9WXYA-BCDEF-GH2K5", SKU: "PLUGIN", Tier: &exampleTier, OrderRef: exampleRef,
		CustomerEmail: "ann@example.com", Status: stateActive, ActivationLimit: &seats, ActivationCount: 1,
		CreatedAt: exampleInstant, LastCheckedAt: &exampleInstant, state: stateActive, decided: stateActive,
	}
}
