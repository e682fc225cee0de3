package store

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Order is one sale. Subtotal less discount plus tax is the total, to the cent, and
// the subtotal is the sum of the items.
type Order struct {
	OrderRef      string         `json:"order_ref"`
	Provider      string         `json:"provider" about:"who took the payment: stripe, paypal, manual ...; code for a redeemed code"`
	ProviderRef   string         `json:"provider_ref" about:"the provider's name for the payment; unique for each provider"`
	Status        string         `json:"status" enum:"paid,refunded"`
	Customer      Buyer          `json:"customer"`
	Items         []Item         `json:"items"`
	Currency      string         `json:"currency" about:"ISO 4217"`
	SubtotalCents int64          `json:"subtotal_cents"`
	DiscountCents int64          `json:"discount_cents"`
	TaxCents      int64          `json:"tax_cents"`
	TotalCents    int64          `json:"total_cents"`
	RefundedCents int64          `json:"refunded_cents" about:"what was given back so far; never more than the total"`
	PaidAt        exact.Instant  `json:"paid_at"`
	RefundedAt    *exact.Instant `json:"refunded_at" about:"when it was refunded in full"`
	CreatedAt     exact.Instant  `json:"created_at"`

	id int64
}

// Buyer is an order's customer.
type Buyer struct {
	ID    int64  `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

// Item is what was bought.
type Item struct {
	SKU        string  `json:"sku"`
	Name       string  `json:"name" about:"the product's name when it was sold"`
	Tier       *string `json:"tier"`
	Qty        int64   `json:"qty"`
	UnitCents  int64   `json:"unit_cents"`
	TotalCents int64   `json:"total_cents"`
}

// OrderDetail is an order with the licenses that were issued for it.
type OrderDetail struct {
	Order
	Licenses []License `json:"licenses"`
}

const (
	statusPaid     = "paid"
	statusRefunded = "refunded"
)

// The order's tables are joined in the order in which they stand, so that a list
// comes out of an index of the orders.
const (
	orderColumns = `o.id, o.order_ref, o.provider, o.provider_ref, o.status, c.id, c.email, c.name,
		p.sku, o.product_name, o.tier, o.qty, o.unit_cents, o.discount_cents, o.tax_cents, o.total_cents,
		o.refunded_cents, o.currency, o.paid_at, o.refunded_at, o.created_at`
	orderTables = `store_orders o CROSS JOIN store_customers c ON c.id = o.customer_id
		CROSS JOIN store_products p ON p.id = o.product_id`
)

func scanOrder(r *db.Row) Order {
	o := Order{
		id: r.Int(), OrderRef: r.Text(), Provider: r.Text(), ProviderRef: r.Text(), Status: r.Text(),
		Customer: Buyer{ID: r.Int(), Email: r.Text(), Name: r.Text()},
	}
	i := Item{SKU: r.Text(), Name: r.Text(), Tier: r.TextPtr(), Qty: r.Int(), UnitCents: r.Int()}
	i.TotalCents = i.Qty * i.UnitCents
	o.Items, o.SubtotalCents = []Item{i}, i.TotalCents
	o.DiscountCents, o.TaxCents, o.TotalCents, o.RefundedCents = r.Int(), r.Int(), r.Int(), r.Int()
	o.Currency, o.PaidAt, o.RefundedAt, o.CreatedAt = r.Text(), r.Instant(), r.InstantPtr(), r.Instant()
	return o
}

// OrderFilter narrows the list of orders; an empty field does not.
type OrderFilter struct {
	Status   string // paid or refunded
	Provider string
	Page
}

// OrderPage is one page of orders.
type OrderPage struct {
	Orders []Order `json:"orders"`
	Next   *int64  `json:"next" about:"after of the next page; null at the end"`
}

// Orders lists orders, the newest first.
func (s *Service) Orders(ctx context.Context, f OrderFilter) (OrderPage, error) {
	return view(ctx, s.db, func(c *db.Conn) (page OrderPage, err error) {
		query, args := f.newestFirst()
		page.Orders, err = db.All(c, scanOrder, query, args...)
		page.Orders, page.Next = cut(f.Page, page.Orders, func(o Order) int64 { return o.id })
		return page, err
	})
}

// newestFirst is the filter's statement. Each kind of filter has an index.
func (f OrderFilter) newestFirst() (query string, args []any) {
	where := ""
	if f.Provider != "" {
		where += "o.provider = ? AND "
		args = append(args, f.Provider)
	}
	if f.Status != "" {
		where += "o.status = ? AND "
		args = append(args, f.Status)
	}
	return "SELECT " + orderColumns + " FROM " + orderTables + " WHERE " + where + "o.id < ? ORDER BY o.id DESC LIMIT ?",
		append(args, f.below(), f.ask())
}

// Order gives one order with its licenses, their keys in full to those who may see
// them. An order_ref that names none is refused as not found.
func (s *Service) Order(ctx context.Context, who db.Caller, ref string) (OrderDetail, error) {
	return view(ctx, s.db, func(c *db.Conn) (OrderDetail, error) {
		d, err := findOrder(c, ref)
		if err != nil {
			return d, err
		}
		s.seen.onLicenses(ctx, d.Licenses)
		return d.shownTo(who), nil
	})
}

// findOrder gives an order with its licenses, keys in full.
func findOrder(c *db.Conn, ref string) (OrderDetail, error) {
	o, found, err := db.One(c, scanOrder, "SELECT "+orderColumns+" FROM "+orderTables+" WHERE o.order_ref = ?", ref)
	if err == nil && !found {
		err = fault.NotFoundf("there is no order %s", schema.Quote(ref))
	}
	if err != nil {
		return OrderDetail{}, err
	}
	return withLicenses(c, o)
}

// findPayment gives the order of a provider's payment, if there is one.
func findPayment(c *db.Conn, provider, ref string) (OrderDetail, bool, error) {
	o, found, err := db.One(c, scanOrder, "SELECT "+orderColumns+" FROM "+orderTables+" WHERE o.provider = ? AND o.provider_ref = ?", provider, ref)
	if err != nil || !found {
		return OrderDetail{}, false, err
	}
	d, err := withLicenses(c, o)
	return d, true, err
}

func withLicenses(c *db.Conn, o Order) (OrderDetail, error) {
	licenses, err := db.All(c, scanLicense(c.Now()), "SELECT "+licenseColumns+" FROM "+licenseTables+" WHERE l.order_id = ? ORDER BY l.id", o.id)
	return OrderDetail{Order: o, Licenses: licenses}, err
}

// shownTo masks the license keys unless who may see them.
func (d OrderDetail) shownTo(who db.Caller) OrderDetail {
	if seesKeys(who) {
		return d
	}
	return d.masked()
}

func (d OrderDetail) masked() OrderDetail {
	d.Licenses = maskAll(d.Licenses)
	return d
}

// checkProvider refuses what cannot be a provider's name.
func checkProvider(name string) error {
	if len(name) < 1 || len(name) > 32 || !madeOf(name, "_-", false) {
		return fault.Invalidf("provider: %s is not allowed; it takes 1 to 32 of a-z, 0-9, _ and -", schema.Quote(name))
	}
	return nil
}

func (s *Service) listOrders() schema.Op {
	return schema.Op{
		Route:    "GET /api/orders",
		About:    "Orders, the newest first.",
		Response: OrderPage{Orders: []Order{exampleDetail().Order}},
		Bind: func(f *schema.Form) schema.Handler {
			var o OrderFilter
			f.Enum(&o.Status, "status", "only orders in this status", []string{statusPaid, statusRefunded})
			f.Text(&o.Provider, "provider", "only orders that this provider took the payment for", schema.Most(200), schema.Example("stripe"))
			o.bind(f)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.Orders(ctx, o) }
		},
	}
}

func (s *Service) getOrder() schema.Op {
	return schema.Op{
		Route:    "GET /api/orders/:ref",
		About:    "One order with its licenses. Their keys are given in full to a full-access key of a member or an admin, else masked.",
		Response: exampleDetail(),
		Bind: func(f *schema.Form) schema.Handler {
			var ref string
			f.Text(&ref, "ref", "the order_ref", schema.InPath("ref"), schema.Example(exampleRef))
			return func(ctx context.Context, who db.Caller) (any, error) { return s.Order(ctx, who, ref) }
		},
	}
}

const exampleRef = "ORD-7Q4ZJ0M3RT"

var exampleTier = "pro"

func exampleDetail() OrderDetail {
	return OrderDetail{
		Order: Order{
			OrderRef: exampleRef, Provider: "stripe", ProviderRef: "pi_3PqX2L", Status: statusPaid,
			Customer: Buyer{ID: 7, Email: "ann@example.com", Name: "Ann Lee"},
			Items:    []Item{{SKU: "PLUGIN", Name: "Audio plugin", Tier: &exampleTier, Qty: 1, UnitCents: 4900, TotalCents: 4900}},
			Currency: "USD", SubtotalCents: 4900, TotalCents: 4900, PaidAt: exampleInstant, CreatedAt: exampleInstant,
		},
		Licenses: []License{exampleLicense()},
	}
}
