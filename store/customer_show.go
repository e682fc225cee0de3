package store

import (
	"context"
	"fmt"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// CustomerDetail is a customer with their latest orders and licenses.
type CustomerDetail struct {
	Customer
	Orders   []Order   `json:"orders" about:"the latest, at most 500"`
	Licenses []License `json:"licenses" about:"the latest, at most 500"`
}

// CustomerDetail returns a customer with their purchases, license keys in full for callers who may see them. An unknown
// id is refused as not found.
func (s *Service) CustomerDetail(ctx context.Context, who db.Caller, id int64) (CustomerDetail, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (d CustomerDetail, err error) {
		if d.Customer, err = customerByID(c, id); err != nil {
			return d, err
		}
		if d.Orders, err = (OrderFilter{Email: d.Email}).list(c, usualPage); err != nil {
			return d, err
		}
		if d.Licenses, err = (LicenseFilter{Email: d.Email}).list(c, usualPage); err != nil {
			return d, err
		}
		s.memory.uses.onLicenses(d.Licenses)
		if !seesKeys(who) {
			d.Licenses = maskAll(d.Licenses)
		}
		return d, nil
	})
}

// CustomerForAgents is CustomerDetail with seats, shortened for an answer.
type CustomerForAgents struct {
	Customer
	Orders []schema.Row[Order,
		ShortOrder] `json:"orders,omitempty" about:"the newest, on the first page; list_orders has all"`
	OrdersTotal   int64                                     `json:"orders_total"`
	Licenses      []schema.Row[SeatedLicense, ShortLicense] `json:"licenses"`
	LicensesTotal int                                       `json:"licenses_total"`
	Subscriptions []ShortSubscription                       `json:"subscriptions,omitempty" about:"at most 8, those past due first, on the first page"`
	Next          *string                                   `json:"next" about:"pass it as after for more licenses; null at the end"`
}

// SeatedLicense is a license with its seats.
type SeatedLicense struct {
	License
	Seats []Seat `json:"seats" about:"the newest, at most 20"`
}

// Seat is a seat as agents see it.
type Seat struct {
	Label       string        `json:"label"`
	Fingerprint string        `json:"fingerprint"`
	CreatedAt   exact.Instant `json:"created_at"`
	LastSeenAt  exact.Instant `json:"last_seen_at"`
}

// ShortLicense is what identifies a license and decides about it.
type ShortLicense struct {
	ID              int64          `json:"id"`
	Key             string         `json:"license_key"`
	SKU             string         `json:"sku"`
	Status          string         `json:"status"`
	ActivationCount int64          `json:"activation_count"`
	ActivationLimit *int64         `json:"activation_limit,omitempty"`
	ExpiresAt       *exact.Instant `json:"expires_at,omitempty"`
	Seats           []ShortSeat    `json:"seats,omitempty"`
}

// ShortSeat is what a person calls a seat.
type ShortSeat struct {
	Label string `json:"label"`
}

func (l SeatedLicense) short() ShortLicense {
	s := ShortLicense{ID: l.ID, Key: l.Key, SKU: l.SKU, Status: l.Status, ActivationCount: l.ActivationCount,
		ActivationLimit: l.ActivationLimit, ExpiresAt: l.ExpiresAt}
	for _, seat := range l.Seats {
		s.Seats = append(s.Seats, ShortSeat{firstOf(seat.Label, seat.Fingerprint)})
	}
	return s
}

// seatsShown is how many seats of a license agents get.
const seatsShown = 20

// withSeats adds a license's newest seats.
func (s *Service) withSeats(c *db.Conn, l License) (SeatedLicense, error) {
	seats, err := activations.All(c, "WHERE license_id = ? ORDER BY id DESC LIMIT ?", l.ID, seatsShown)
	s.memory.uses.onSeats(seats)
	seated := SeatedLicense{License: l.masked(), Seats: []Seat{}}
	for _, a := range seats {
		seated.Seats = append(seated.Seats, Seat{a.Label, a.Fingerprint, a.CreatedAt, a.LastSeenAt})
	}
	return seated, err
}

// CustomerForAgents returns a customer with orders and a page of the licenses, newest first. An unknown id is refused
// as not found.
func (s *Service) CustomerForAgents(ctx context.Context, id int64, l schema.Listing) (CustomerForAgents, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (d CustomerForAgents, err error) {
		if d.Customer, err = customerByID(c, id); err != nil {
			return d, err
		}
		if d.OrdersTotal, _, err = db.One(c, db.Int, "SELECT count(*) FROM store_orders WHERE customer_id = ?",
			id); err != nil {
			return d, err
		}
		most := schema.AnswerBytes
		if l.First() {
			most = most * 2 / 5
			orders, err := (OrderFilter{Email: d.Email}).list(c, l.Limit)
			if err != nil {
				return d, err
			}
			if d.Subscriptions, err = subscriptionsOf(c, d.Customer); err != nil {
				return d, err
			}
			d.Orders = schema.FitInside(orders, l.Short, Order.short, l.Asked, most)
		}
		licenses, err := (LicenseFilter{Email: d.Email}).list(c, usualPage)
		if err != nil {
			return d, err
		}
		s.memory.uses.onLicenses(licenses)
		d.LicensesTotal = len(licenses)
		seated := make([]SeatedLicense, len(licenses))
		for i, one := range licenses {
			if seated[i], err = s.withSeats(c, one); err != nil {
				return d, err
			}
		}
		d.Licenses, d.Next = schema.PageInside(seated, l, SeatedLicense.short, most)
		return d, nil
	})
}

// subscriptionsShown is how many of a customer's subscriptions agents get.
const subscriptionsShown = 8

// subscriptionsOf are a customer's newest subscriptions, those past due first.
func subscriptionsOf(c *db.Conn, k Customer) (list []ShortSubscription, err error) {
	page, err := (SubscriptionFilter{Q: k.Email}).page(c)
	for _, x := range page.Subscriptions {
		if x.Customer != nil && x.Customer.ID == k.ID && len(list) < subscriptionsShown {
			short := x.short()
			short.Customer = nil
			list = append(list, short)
		}
	}
	return list, err
}

func (s *Service) customerDetail() schema.Op {
	order, license := exampleDetail().Order, exampleLicense()
	seat := exampleActivation()
	seated := SeatedLicense{license.masked(), []Seat{{seat.Label, seat.Fingerprint, seat.CreatedAt, seat.LastSeenAt}}}
	return schema.Op{
		Name: "customer_detail", About: "One customer with orders and licenses.", Says: "Show a customer",
		AgentAbout: "One customer with the newest orders, the licenses with their seats, and subscriptions. Keys show " +
			"their last four characters; license_action takes these with the customer, or #id.",
		Response: CustomerDetail{Customer: exampleCustomer(), Orders: []Order{order}, Licenses: []License{license}},
		AgentResponse: CustomerForAgents{
			Customer: exampleCustomer(), OrdersTotal: 1, LicensesTotal: 1,
			Subscriptions: []ShortSubscription{exampleSubscription().short()},
			Orders:        schema.Rows([]Order{order}, false, Order.short), Licenses: schema.Rows([]SeatedLicense{seated}, false,
				SeatedLicense.short),
		},
		Refuses: []fault.Kind{fault.NotFound},
		Example: "store customers show ann@example.org",
		Leads:   schema.Of(func(d CustomerDetail) string { ; return customerLeads(d.ID) }),
		Print: schema.Printed(func(w io.Writer, d CustomerDetail) {
			printCustomers(w, CustomerPage{Customers: []Customer{d.Customer}})
			fmt.Fprintln(w)
			printOrders(w, OrderPage{Orders: d.Orders})
			fmt.Fprintln(w)
			printLicenses(w, LicensePage{Licenses: d.Licenses})
		}),
		Bind: func(f *schema.Form) schema.Handler {
			var id int64
			var l schema.Listing
			bindCustomer(f, &id, schema.Required)
			if f.Surface() == schema.Tool {
				f.Listing(&l)
				return func(ctx context.Context, _ db.Caller) (any, error) { return s.CustomerForAgents(ctx, id, l) }
			}
			return func(ctx context.Context, who db.Caller) (any, error) { return s.CustomerDetail(ctx, who, id) }
		},
	}
}
