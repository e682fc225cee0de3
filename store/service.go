// Package store is the store service: products, orders, customers, licenses with
// their activations, redeem codes, payments that come in from a provider, and the
// interface by which a buyer's program checks and activates its license.
package store

import (
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/limit"
)

// Service is the store over one database.
type Service struct {
	db     *db.DB
	misses *limit.Counter[limit.Address] // keys and codes that nobody has
	moves  *limit.Counter[int64]         // seats taken and given up, by license
	checks *limit.Counter[int64]         // by license
	seen   seen
	notice func(text string)
}

// New is the store over d.
func New(d *db.DB) *Service {
	return &Service{
		db: d, notice: func(string) {},
		misses: limit.New[limit.Address](20, 10*time.Minute),
		moves:  limit.New[int64](120, 10*time.Minute),
		checks: limit.New[int64](60_000, time.Minute),
	}
}

// missed counts a key or code that nobody has against the address. After 20 within 10
// minutes it refuses with 429 in place of telling that it was one.
func (s *Service) missed(remote string) error {
	wait := s.misses.Add(limit.AddressOf(remote), s.db.Now())
	if wait == 0 {
		return nil
	}
	return &fault.Error{
		Kind: fault.Limited, Retry: wait,
		Detail: "too many unknown license keys and codes from this address; wait as long as Retry-After says",
	}
}

// paced counts a use of a license that is there. Past the counter's limit it refuses: a
// valid key in the wrong hands must not fill the audit trail, nor the machine's time.
func (s *Service) paced(uses *limit.Counter[int64], license int64, what string) error {
	wait := uses.Add(license, s.db.Now())
	if wait == 0 {
		return nil
	}
	return &fault.Error{
		Kind: fault.Limited, Retry: wait,
		Detail: "too many " + what + " of this license; wait as long as Retry-After says",
	}
}

// OnNotice sets who is told, in a sentence for the log, of a payment that came in
// and could not be booked. It is set before the service is called.
func (s *Service) OnNotice(tell func(text string)) { s.notice = tell }

// Declare tells everything that the store offers.
func (s *Service) Declare() schema.Service {
	return schema.Service{
		Name: "store", Addr: "127.0.0.1:8081", DemoPath: "/api/orders?limit=5", Title: "Store service",
		About: "Orders, customers, licenses and redeem codes of a shop that sells its own software, " +
			"and the interface by which a buyer's program checks and activates its license.",
		Ping: "4.1.0", Health: "4.1.0", Document: "4.1.0",
		Ops: s.ops(), Tables: s.tables(), Events: events(),
		Check: check, Demo: s.demo,
	}
}

// ops is the table of contents.
func (s *Service) ops() []schema.Op {
	return []schema.Op{
		s.listOrders(),    // GET /api/orders, orders list
		s.getOrder(),      // GET /api/orders/:ref, orders show
		s.listCustomers(), // GET /api/customers, customers list
		s.listLicenses(),  // GET /api/licenses, licenses list
		s.listBatches(),   // GET /api/redeem-codes, batches list
		s.mintCodes(),     // POST /api/redeem-codes, codes mint
		s.getStats(),      // GET /api/stats, stats

		s.checkLicense(),      // POST /license/check
		s.activateLicense(),   // POST /license/activate
		s.deactivateLicense(), // POST /license/deactivate
		s.listActivations(),   // POST /license/activations
		s.redeemCode(),        // POST /license/redeem
		s.receiveStripe(),     // POST /providers/stripe/webhook

		s.recordOrder(),      // order record
		s.refundOrder(),      // order refund
		s.resendOrder(),      // resend
		s.customerDetail(),   // customers show
		s.saveCustomerOp(),   // customer save
		s.changeEmail(),      // customer email
		s.forgetCustomer(),   // customer forget
		s.findLicenses(),     // licenses find
		s.licenseDetail(),    // licenses show
		s.suspendLicense(),   // license suspend
		s.resumeLicense(),    // license resume
		s.revokeLicense(),    // license revoke
		s.extendLicense(),    // license extend
		s.rotateLicenseKey(), // license rotate
		s.releaseSeat(),      // license release
		s.listProducts(),     // products list
		s.productDetail(),    // products show
		s.saveProductOp(),    // product save
		s.batchDetail(),      // batches show
		s.voidCodes(),        // codes void
		s.setProvider(),      // provider set
		s.mapProvider(),      // provider map
		s.dismissPayment(),   // provider dismiss
		s.listUnbooked(),     // unbooked
		s.setCurrency(),      // settings
		s.storeFigures(),     // figures
	}
}

func (s *Service) tables() []schema.Table {
	return []schema.Table{s.productTable(), s.customerTable(), s.orderTable()}
}

func events() []schema.Event {
	paid, refunded := exampleDetail(), OrderRefunded{OrderDetail: exampleDetail(), Full: true}
	refunded.Status, refunded.RefundedCents, refunded.RefundedAt = "refunded", refunded.TotalCents, &exampleInstant
	for i := range refunded.Licenses {
		refunded.Licenses[i].Key = mask(refunded.Licenses[i].Key)
		refunded.Licenses[i].Status = "revoked"
	}
	return []schema.Event{
		{Name: "order.paid", About: "An order was paid. The license keys are given in full, so that the receiver can mail them.", Data: paid},
		{Name: "order.refunded", About: "An order was refunded, in full (its licenses are revoked) or in part (they stay).", Data: refunded},
		{Name: "code.redeemed", About: "A redeem code became a license.", Data: CodeRedeemed{
			Batch: "launch", SKU: "PLUGIN", Tier: &exampleTier, OrderRef: exampleRef, License: exampleLicense().masked(),
		}},
		{Name: "license.activated", About: "A license took a new seat.", Data: LicenseActivated{
			License: exampleLicense().masked(), Activation: exampleActivation(),
		}},
	}
}

// buyer is a person or program whose only credential is a license or a code.
func buyer() db.Caller {
	return db.Caller{Service: "store", User: "license", Role: "member", Scope: "full", Via: "license"}
}

// provider is a payment provider, whose signature was good.
func provider(name string) db.Caller {
	return db.Caller{Service: "store", User: name, Role: "member", Scope: "full", Via: "provider"}
}

// seesKeys tells whether who is given license keys in full: a member's or an admin's
// full-access key.
func seesKeys(who db.Caller) bool {
	return who.Scope == "full" && (who.Role == "member" || who.Role == "admin")
}

var exampleInstant = exact.Instant(1795208700) // 2026-11-20T21:05:00Z
