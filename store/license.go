package store

import (
	"context"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// License is the right to use one unit of a product. Its status is computed: revoked
// and suspended are decisions, expired is an active one whose time is over.
type License struct {
	ID              int64          `json:"id"`
	Key             string         `json:"license_key" about:"in full to a full-access key of a member or an admin, else masked to its last four characters"`
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

	state string // as it is stored
}

const (
	stateActive    = "active"
	stateSuspended = "suspended"
	stateRevoked   = "revoked"
	statusExpired  = "expired"
)

// licenseMoves is how an owner may move a license. Revoked is final.
var licenseMoves = schema.Transitions{
	{Name: stateActive, To: []string{stateSuspended, stateRevoked}},
	{Name: stateSuspended, To: []string{stateActive, stateRevoked}},
	{Name: stateRevoked},
}

// As with orders, the tables are joined in the order in which they stand. A buyer's
// program is answered without looking at the order and its customer: its columns have
// ” for the address.
const (
	licenseColumns = `l.id, l.license_key, p.sku, l.tier, l.order_ref, c.email, l.state,
		p.activation_limit, l.activation_count, l.expires_at, l.created_at, l.last_checked_at`
	licenseTables = `store_licenses l CROSS JOIN store_products p ON p.id = l.product_id
		CROSS JOIN store_orders o ON o.id = l.order_id CROSS JOIN store_customers c ON c.id = o.customer_id`
	grantColumns = `l.id, l.license_key, p.sku, l.tier, l.order_ref, '', l.state,
		p.activation_limit, l.activation_count, l.expires_at, l.created_at, l.last_checked_at`
	grantTables = `store_licenses l CROSS JOIN store_products p ON p.id = l.product_id`
)

// scanLicense reads a license with its status as of now.
func scanLicense(now exact.Instant) func(*db.Row) License {
	return func(r *db.Row) License {
		l := License{
			ID: r.Int(), Key: r.Text(), SKU: r.Text(), Tier: r.TextPtr(), OrderRef: r.Text(), CustomerEmail: r.Text(), state: r.Text(),
			ActivationLimit: r.IntPtr(), ActivationCount: r.Int(), ExpiresAt: r.InstantPtr(), CreatedAt: r.Instant(), LastCheckedAt: r.InstantPtr(),
		}
		l.Status = statusOf(l.state, l.ExpiresAt, now)
		return l
	}
}

// statusOf is the status of a license in a state at now: it expires at the very
// instant that expires names.
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
	masked := make([]License, len(list))
	for i, l := range list {
		masked[i] = l.masked()
	}
	return masked
}

// LicensePage is one page of licenses.
type LicensePage struct {
	Licenses []License `json:"licenses"`
	Next     *int64    `json:"next" about:"after of the next page; null at the end"`
}

// Licenses lists licenses, the newest first; sku, if it is not empty, keeps those of
// one product. The keys are given in full to those who may see them.
func (s *Service) Licenses(ctx context.Context, who db.Caller, sku string, p Page) (LicensePage, error) {
	page, err := view(ctx, s.db, func(c *db.Conn) (page LicensePage, err error) {
		page.Licenses, err = listLicenses(c, sku, p)
		page.Licenses, page.Next = cut(p, page.Licenses, func(l License) int64 { return l.ID })
		return page, err
	})
	if err != nil {
		return page, err
	}
	s.seen.onLicenses(ctx, page.Licenses)
	if !seesKeys(who) {
		page.Licenses = maskAll(page.Licenses)
	}
	return page, nil
}

func listLicenses(c *db.Conn, sku string, p Page) ([]License, error) {
	if sku == "" {
		return db.All(c, scanLicense(c.Now()), "SELECT "+licenseColumns+" FROM "+licenseTables+
			" WHERE l.id < ? ORDER BY l.id DESC LIMIT ?", p.below(), p.ask())
	}
	product, found, err := lookUpProduct(c, sku)
	if err != nil || !found {
		return []License{}, err
	}
	return db.All(c, scanLicense(c.Now()), "SELECT "+licenseColumns+" FROM "+licenseTables+
		" WHERE l.product_id = ? AND l.id < ? ORDER BY l.id DESC LIMIT ?", product.id, p.below(), p.ask())
}

// issue gives an order one license a unit.
func issue(tx *db.Tx, order int64, ref string, v sale) error {
	var expires *exact.Instant
	if v.product.LicenseDays != nil {
		const day = 24 * 60 * 60
		at := v.paidAt + exact.Instant(*v.product.LicenseDays*day)
		expires = &at
	}
	q, err := tx.Change(`INSERT INTO store_licenses (key_hash, license_key, product_id, tier, order_id, order_ref, state, expires_at, created_at)
		VALUES (?, ?, ?, ?, ?, ?, 'active', ?, ?)`)
	if err != nil {
		return err
	}
	for range v.qty {
		key := newKey()
		if err := q.Args(digest(key, keyLength), key, v.product.id, orNil(v.tier), order, ref, expires, tx.Now()); err != nil {
			return err
		}
		if err := q.Run(); err != nil {
			return err
		}
	}
	return addLicenses(tx, stateActive, expires, v.qty)
}

// setState moves a license and the totals. One that is in the state stays untouched.
func setState(tx *db.Tx, l License, to string) error {
	if l.state == to {
		return nil
	}
	if _, err := tx.Exec("UPDATE store_licenses SET state = ? WHERE id = ?", to, l.ID); err != nil {
		return err
	}
	if err := addLicenses(tx, l.state, l.ExpiresAt, -1); err != nil {
		return err
	}
	return addLicenses(tx, to, l.ExpiresAt, 1)
}

// SuspendLicense makes a license invalid until it is resumed. Refused: an unknown
// license, one that is suspended or revoked.
func (s *Service) SuspendLicense(ctx context.Context, who db.Caller, id int64) (License, error) {
	return s.moveLicense(ctx, who, id, stateSuspended, "license.suspended")
}

// ResumeLicense makes a suspended license valid again, as far as its date allows.
// Refused: an unknown license, one that is not suspended.
func (s *Service) ResumeLicense(ctx context.Context, who db.Caller, id int64) (License, error) {
	return s.moveLicense(ctx, who, id, stateActive, "license.resumed")
}

// RevokeLicense makes a license invalid for good. Refused: an unknown license, one
// that is revoked.
func (s *Service) RevokeLicense(ctx context.Context, who db.Caller, id int64) (License, error) {
	return s.moveLicense(ctx, who, id, stateRevoked, "license.revoked")
}

func (s *Service) moveLicense(ctx context.Context, who db.Caller, id int64, to, action string) (License, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (License, error) {
		l, err := findLicense(&tx.Conn, id)
		if err != nil {
			return l, err
		}
		if err := licenseMoves.Check("license", l.state, to); err != nil {
			return l, err
		}
		if err := setState(tx, l, to); err != nil {
			return l, err
		}
		if err := tx.Audit(action, subject(l), map[string]string{"from": l.state, "to": to}); err != nil {
			return l, err
		}
		l.state, l.Status = to, statusOf(to, l.ExpiresAt, tx.Now())
		if !seesKeys(who) {
			l = l.masked()
		}
		return l, nil
	})
}

// subject names a license in the audit trail.
func subject(l License) string { return "license:" + strconv.FormatInt(l.ID, 10) }

func findLicense(c *db.Conn, id int64) (License, error) {
	l, found, err := db.One(c, scanLicense(c.Now()), "SELECT "+licenseColumns+" FROM "+licenseTables+" WHERE l.id = ?", id)
	if err == nil && !found {
		err = fault.NotFoundf("there is no license %d", id)
	}
	return l, err
}

func (s *Service) listLicenses() schema.Op {
	return schema.Op{
		Route:    "GET /api/licenses",
		About:    "Licenses, the newest first. Their keys are given in full to a full-access key of a member or an admin, else masked.",
		Response: LicensePage{Licenses: []License{exampleLicense()}},
		Bind: func(f *schema.Form) schema.Handler {
			var sku string
			var p Page
			f.Text(&sku, "sku", "only licenses of this product", schema.Most(200), schema.Example("PLUGIN"))
			p.bind(f)
			return func(ctx context.Context, who db.Caller) (any, error) { return s.Licenses(ctx, who, sku, p) }
		},
	}
}

func exampleLicense() License {
	seats := int64(3)
	return License{
		ID: 12, Key: "7Q4ZJ-0M3RT-9WXYA-BCDEF-GH2K5", SKU: "PLUGIN", Tier: &exampleTier, OrderRef: exampleRef,
		CustomerEmail: "ann@example.com", Status: stateActive, ActivationLimit: &seats, ActivationCount: 1,
		CreatedAt: exampleInstant, LastCheckedAt: &exampleInstant, state: stateActive,
	}
}
