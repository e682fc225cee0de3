package store

import (
	"context"
	"math"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// LicenseFilter restricts the list of licenses; an empty field does not.
type LicenseFilter struct {
	SKU      string
	Email    string // the buyer's whole address, in any case
	Q        string // a part of their order's search terms, or a whole license key
	Status   string // active, expired, suspended or revoked
	OrderRef string
	schema.Cursor[int64]

	keyed int64 // the license whose key Q is; 0 is none
}

// LicensePage is one page of licenses.
type LicensePage struct {
	Licenses []License `json:"licenses"`
	Next     *int64    `json:"next" about:"send this as after for the next page; null at the end"`
}

// Licenses lists licenses, newest first. The keys are given in full for callers who may see them.
func (s *Service) Licenses(ctx context.Context, who db.Caller, f LicenseFilter) (LicensePage, error) {
	page, err := db.Read(ctx, s.db, func(c *db.Conn) (page LicensePage, err error) {
		page.Licenses, err = f.list(c, f.Fetch())
		page.Licenses, page.Next = schema.Cut(page.Licenses, f.Limit, func(l License) int64 { return l.ID })
		return page, err
	})
	if err != nil {
		return page, err
	}
	s.memory.uses.onLicenses(page.Licenses)
	if !seesKeys(who) {
		page.Licenses = maskAll(page.Licenses)
	}
	return page, nil
}

// list returns at most n of the licenses below the page's start.
func (f LicenseFilter) list(c *db.Conn, n int64) ([]License, error) {
	from, where, args, some, err := f.where(c)
	if err != nil || !some {
		return []License{}, err
	}
	if f.searches() {
		return f.search(c, n)
	}
	return db.All(c, scanLicense(c.Now()), "SELECT "+licenseColumns+" FROM "+indexed(licenseTables, from)+" WHERE "+where+
		" ORDER BY l.id DESC LIMIT ?",
		append(args, n)...)
}

// indexed makes the statement use an index of the licenses.
func indexed(tables, index string) string {
	const first = "store_licenses l"
	return first + index + tables[len(first):]
}

// searches reports, after where, whether Q is not a whole key, neither a license's nor one in our form.
func (f *LicenseFilter) searches() bool {
	_, ours := read(f.Q, keyLength)
	return f.Q != "" && !ours && f.keyed == 0
}

// where is the filter as a condition on l, but for a Q that is no key, with the index
// that it is to use; some is false when nothing can match.
func (f *LicenseFilter) where(c *db.Conn) (from, where string, args []any, some bool, err error) {
	where, args = "l.id < ?", []any{below(f.Cursor)}
	and := func(condition string, values ...any) {
		where += " AND " + condition
		args = append(args, values...)
	}
	if f.Q != "" {
		if f.keyed, err = licenseByText(c, f.Q); err != nil {
			return "", where, args, false, err
		}
		if !f.searches() {
			and("l.id = ?", f.keyed)
		}
	}
	if f.OrderRef != "" {
		o, found, err := oneOrder(c, selectOrder+" WHERE o.order_ref = ?", f.OrderRef)
		switch {
		case err != nil || !found:
			return "", where, args, false, err
		case o.renewal:
			and("l.subscription_id = ?", o.subscription)
		default:
			and("l.order_id = ?", o.id)
		}
	}
	if f.Email != "" {
		customer, found, err := findCustomer(c, fold(f.Email))
		if err != nil || !found {
			return "", where, args, false, err
		}
		and("l.order_id IN (SELECT id FROM store_orders WHERE customer_id = ?)", customer.ID)
	}
	if f.SKU != "" {
		product, found, err := lookUpProduct(c, f.SKU)
		if err != nil || !found {
			return "", where, args, false, err
		}
		and("l.product_id = ?", product.id)
	}
	switch narrow := f.OrderRef + f.Email + f.SKU + f.Q; f.Status {
	case stateSuspended:
		and("l.state = 'suspended'")
	case stateRevoked:
		and("l.state = 'revoked'")
	case stateActive:
		and("l.state = 'active' AND (l.expires_at IS NULL OR +l.expires_at > ?)", c.Now())
	case statusExpired:
		over, err := expired(c)
		switch {
		case err != nil:
			return "", where, args, false, err
		case over <= fewRows && narrow == "":
			from, where = " INDEXED BY store_licenses_expiring", "+"+where
			and("l.state = 'active' AND l.expires_at <= ?", c.Now())
		default:
			and("l.state = 'active' AND +l.expires_at <= ?", c.Now())
		}
	}
	return from, where, args, true, nil
}

// search returns at most n of the licenses of matching orders; in an order of several products a search by SKU means
// those of that SKU. Orders and licenses are numbered in the same order, so that the newest orders have the newest
// licenses.
func (f LicenseFilter) search(c *db.Conn, n int64) ([]License, error) {
	list := []License{}
	w, email := want(f.Q), fold(f.Email)
	err := w.walkOrders(c, math.MaxInt64, func(id int64) (bool, error) {
		o, found, err := oneOrder(c, selectOrder+" WHERE o.id = ? ORDER BY i.line", id)
		if err != nil || !found || o.renewal || !w.inOrder(o) {
			return true, err
		}
		byOrder := w.in(o.OrderRef, o.ProviderRef, o.Customer.Email, o.Customer.Name)
		issued, err := db.All(c, scanLicense(c.Now()), "SELECT "+licenseColumns+" FROM "+licenseTables+
			" WHERE l.order_id = ? AND l.id < ? ORDER BY l.id DESC", id, below(f.Cursor))
		for _, l := range issued {
			if (byOrder || w.in(l.SKU, o.OrderRef, o.ProviderRef, o.Customer.Email, o.Customer.Name)) &&
				(f.SKU == "" || l.SKU == f.SKU) && (email == "" || l.CustomerEmail == email) &&
				(f.Status == "" || l.Status == f.Status) && (f.OrderRef == "" || l.OrderRef == f.OrderRef) {
				list = append(list, l)
			}
		}
		return int64(len(list)) < n, err
	})
	return list[:min(int64(len(list)), n)], err
}

// CountLicenses reports how many licenses the filter keeps in all.
func (s *Service) CountLicenses(ctx context.Context, f LicenseFilter) (int64, error) {
	f.Cursor = schema.Cursor[int64]{}
	return db.Read(ctx, s.db, func(c *db.Conn) (int64, error) {
		if f == (LicenseFilter{Status: f.Status}) { // from the kept sums
			all, err := stats(c)
			return all.Licenses.of(f.Status), err
		}
		from, where, args, some, err := f.where(c)
		if err != nil || !some {
			return 0, err
		}
		if f.searches() {
			list, err := f.search(c, math.MaxInt64)
			return int64(len(list)), err
		}
		n, _, err := db.One(c, db.Int, "SELECT count(*) FROM store_licenses l"+from+" WHERE "+where, args...)
		return n, err
	})
}

// licenseStatuses are a license's visible statuses: its states, and expired.
var licenseStatuses = []string{stateActive, statusExpired, stateSuspended, stateRevoked}

func (f *LicenseFilter) bind(form *schema.Form) {
	form.Text(&f.SKU, "sku", "only licenses of this product", schema.Most(200), schema.Example("PLUGIN"),
		schema.Choices(anyProduct))
	form.Text(&f.Email, "email",
		"only licenses of the buyer with this address", schema.Most(254), schema.Example("ann@example.com"),
		schema.Choices(customerEmails), schema.Any)
	form.Text(&f.Q, "q", "only licenses with this key, or with this in reference, address, name or SKU",
		schema.Most(mostKey), schema.Example("ann@"))
	form.Enum(&f.Status, "status", "only licenses in this status", licenseStatuses)
	form.Text(&f.OrderRef, "order_ref", "only licenses of this order", schema.Most(200), schema.Example(exampleRef),
		schema.Choices(orderChoices))
	bindCursor(form, &f.Cursor)
}
