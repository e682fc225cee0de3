package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Order is one sale. Subtotal less discount plus tax is the total, to the cent, and
// the subtotal is the sum of the items.
type Order struct {
	OrderRef      string         `json:"order_ref"`
	Provider      string         `json:"provider" about:"the payment provider: stripe, paypal, manual ...; code for a redeemed code"`
	ProviderRef   string         `json:"provider_ref" about:"the provider's id of the payment; unique for each provider"`
	Status        string         `json:"status" enum:"paid,refunded,void"`
	Customer      Buyer          `json:"customer"`
	Items         []Item         `json:"items"`
	Currency      string         `json:"currency" about:"ISO 4217"`
	SubtotalCents int64          `json:"subtotal_cents"`
	DiscountCents int64          `json:"discount_cents"`
	TaxCents      int64          `json:"tax_cents"`
	TotalCents    int64          `json:"total_cents"`
	RefundedCents int64          `json:"refunded_cents" about:"refunded so far; never more than the total"`
	PaidAt        exact.Instant  `json:"paid_at"`
	RefundedAt    *exact.Instant `json:"refunded_at" about:"when it was refunded in full"`
	CreatedAt     exact.Instant  `json:"created_at"`
	Subscription  *string        `json:"subscription_ref" about:"the provider's id of the subscription that it began or renewed; null on others"`
	State         *string        `json:"subscription_state" enum:"past_due,active,cancelled,ended" about:"the subscription's state; null on others"`
	PlanChange    bool           `json:"plan_change" about:"it pays for a change of plan; the licenses keep their product"`
	Disputes      []Dispute      `json:"disputes" about:"disputes of its payment, the oldest first"`
	Renews        []int64        `json:"renews" about:"the ids of the licenses that this payment of a subscription renewed; it issued none"`

	id, subscription int64 // subscription 0 is none
	renewal          bool
	disputed         int64 // the payment that disputes are of; 0 is none
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
	Licenses []License `json:"licenses" about:"the licenses that it issued; of a renewal, those that it renewed"`
	BuyerURL string    `json:"buyer_url,omitempty" about:"the buyer's page, if you may see license keys"`
}

const (
	statusPaid     = "paid"
	statusRefunded = "refunded"
	statusVoid     = "void"

	manual = "manual" // the provider of orders that people record
)

var orderStatuses = []string{statusPaid, statusRefunded, statusVoid}

// orderSets are the columns of an order that a correction may change.
const orderSets db.Columns = "customer_id, subtotal_cents, discount_cents, tax_cents, total_cents, currency"

// The order's tables are joined in this order, so that a list comes from an index of the orders; an order has a row per
// line, its lines together.
const (
	orderColumns = `o.id, o.order_ref, o.provider, o.provider_ref, o.status, c.id, c.email, c.name,
		o.subtotal_cents, o.discount_cents, o.tax_cents, o.total_cents, o.refunded_cents, o.currency,
		o.paid_at, o.refunded_at, o.created_at, ifnull(o.subscription_id, 0), s.ref, o.renews, o.plan_change, ` +
		subscriptionState + `,
		ifnull((SELECT y.id FROM store_payments y WHERE y.order_id = o.id AND EXISTS (SELECT 1 FROM store_disputes d
		WHERE d.payment_id = y.id)), 0),
		p.sku, i.product_name, i.tier, i.qty, i.unit_cents`
	orderJoins = ` o CROSS JOIN store_customers c ON c.id = o.customer_id
		CROSS JOIN store_order_lines i ON i.order_id = o.id CROSS JOIN store_products p ON p.id = i.product_id
		LEFT JOIN store_subscriptions s ON s.id = o.subscription_id`
	selectOrder = "SELECT " + orderColumns + " FROM store_orders" + orderJoins
)

func scanOrder(r *db.Row) Order {
	o := Order{
		id: r.Int(), OrderRef: r.Text(), Provider: r.Text(), ProviderRef: r.Text(), Status: r.Text(),
		Customer:      Buyer{ID: r.Int(), Email: r.Text(), Name: r.Text()},
		SubtotalCents: r.Int(), DiscountCents: r.Int(), TaxCents: r.Int(), TotalCents: r.Int(), RefundedCents: r.Int(),
		Currency: r.Text(),
		PaidAt:   r.Instant(), RefundedAt: r.InstantPtr(), CreatedAt: r.Instant(),
		subscription: r.Int(), Subscription: r.TextPtr(), renewal: r.Bool(), Renews: []int64{},
		PlanChange: r.Bool(), State: r.TextPtr(), disputed: r.Int(), Disputes: []Dispute{},
	}
	o.Items = []Item{scanItem(r)}
	return o
}

func scanItem(r *db.Row) Item {
	i := Item{SKU: r.Text(), Name: r.Text(), Tier: r.TextPtr(), Qty: r.Int(), UnitCents: r.Int()}
	i.TotalCents = i.Qty * i.UnitCents
	return i
}

// eachOrder calls fn for every order of a query that selects orderColumns, whole, in the
// query's order, until fn says that it is enough.
func eachOrder(c *db.Conn, fn func(Order) (more bool, err error), query string, args ...any) error {
	var whole *Order
	hand := func() (bool, error) {
		if whole == nil {
			return true, nil
		}
		o := *whole
		whole = nil
		return fn(o)
	}
	err := db.Each(c, func(r *db.Row) error {
		o := scanOrder(r)
		if whole != nil && whole.id == o.id {
			whole.Items = append(whole.Items, o.Items...)
			return nil
		}
		more, err := hand()
		if err == nil && !more {
			err = errEnough
		}
		whole = &o
		return err
	}, query, args...)
	if err == nil {
		_, err = hand()
	}
	return enough(err)
}

// errEnough ends a query whose further rows are not needed.
var errEnough = errors.New("enough")

func enough(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

func allOrders(c *db.Conn, query string, args ...any) ([]Order, error) {
	list := []Order{}
	err := eachOrder(c, func(o Order) (bool, error) {
		list = append(list, o)
		return true, nil
	}, query, args...)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if err := addRenewed(c, &list[i]); err != nil {
			return nil, err
		}
		if err := addDisputes(c, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Disputed reports whether a dispute of its payment is open.
func (o Order) Disputed() bool {
	return slices.ContainsFunc(o.Disputes, func(d Dispute) bool { return d.State == disputeOpen })
}

func addDisputes(c *db.Conn, o *Order) (err error) {
	if o.disputed != 0 {
		o.Disputes, err = db.All(c, scanDisputeTold, "SELECT "+disputeColumns+
			" FROM store_disputes d WHERE d.payment_id = ? ORDER BY d.id", o.disputed)
	}
	return err
}

// addRenewed names the licenses that a renewal renewed: those of its subscription.
func addRenewed(c *db.Conn, o *Order) (err error) {
	if o.renewal {
		o.Renews, err = db.All(c, db.Int, "SELECT id FROM store_licenses WHERE subscription_id = ? ORDER BY id",
			o.subscription)
	}
	return err
}

func oneOrder(c *db.Conn, query string, args ...any) (Order, bool, error) {
	list, err := allOrders(c, query, args...)
	if err != nil || len(list) == 0 {
		return Order{}, false, err
	}
	return list[0], true, nil
}

// Order returns one order with its licenses, their keys in full for callers who may see them. An unknown order_ref is
// refused as not found.
func (s *Service) Order(ctx context.Context, who db.Caller, ref string) (OrderDetail, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (OrderDetail, error) {
		d, err := findOrder(c, ref)
		if err != nil {
			return d, err
		}
		s.memory.uses.onLicenses(d.Licenses)
		return d.shownTo(who), nil
	})
}

// findOrder returns an order with its licenses, keys in full.
func findOrder(c *db.Conn, ref string) (OrderDetail, error) {
	o, found, err := oneOrder(c, selectOrder+" WHERE o.order_ref = ?", ref)
	if err == nil && !found {
		err = fault.NotFoundf("there is no order %s", schema.Quote(ref))
	}
	if err != nil {
		return OrderDetail{}, err
	}
	return withLicenses(c, o)
}

func orderByID(c *db.Conn, id int64) (OrderDetail, error) {
	o, found, err := oneOrder(c, selectOrder+" WHERE o.id = ?", id)
	if err == nil && !found {
		err = fmt.Errorf("there is no order with the id %d", id)
	}
	if err != nil {
		return OrderDetail{}, err
	}
	return withLicenses(c, o)
}

// withLicenses adds the licenses that were issued for an order; of a renewal, those that
// it renewed.
func withLicenses(c *db.Conn, o Order) (OrderDetail, error) {
	where, id := " WHERE l.order_id = ? ORDER BY l.id", o.id
	if o.renewal {
		where, id = " WHERE l.subscription_id = ? ORDER BY l.id", o.subscription
	}
	licenses, err := db.All(c, scanLicense(c.Now()), "SELECT "+licenseColumns+" FROM "+licenseTables+where, id)
	if err != nil {
		return OrderDetail{}, err
	}
	page, err := buyerURL(c)
	return OrderDetail{Order: o, Licenses: licenses, BuyerURL: page}, err
}

// shownTo masks the license keys unless who may see them.
func (d OrderDetail) shownTo(who db.Caller) OrderDetail {
	if seesKeys(who) {
		return d
	}
	return d.masked()
}

func (d OrderDetail) masked() OrderDetail {
	d.Licenses, d.BuyerURL = maskAll(d.Licenses), ""
	return d
}

// checkProvider refuses what cannot be a provider's name.
func checkProvider(name string) error {
	if len(name) < 1 || len(name) > 32 || !madeOf(name, "_-", false) {
		return fault.Fieldf("provider", "provider: %s is not allowed; it takes 1 to 32 of a-z, 0-9, _ and -",
			schema.Quote(name))
	}
	return nil
}

const exampleRef = "ORD-7Q4ZJ0M3RT"

var exampleTier = "pro"

func exampleDetail() OrderDetail {
	return OrderDetail{
		Order: Order{
			OrderRef: exampleRef, Provider: "stripe", ProviderRef: "pi_3PqX2L", Status: statusPaid,
			Customer: Buyer{ID: 7, Email: "ann@example.com", Name: "Ann Lee"},
			Items: []Item{{SKU: "PLUGIN", Name: "Audio plugin", Tier: &exampleTier, Qty: 1, UnitCents: 4900,
				TotalCents: 4900}},
			Currency: "USD", SubtotalCents: 4900, TotalCents: 4900, PaidAt: exampleInstant, CreatedAt: exampleInstant,
			Renews: []int64{}, Disputes: []Dispute{},
		},
		Licenses: []License{exampleLicense()},
	}
}

// exampleInstant is when the examples of the documents happened.
var exampleInstant = exact.Instant(1795208700) // 2026-11-20T21:05:00Z
