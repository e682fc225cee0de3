package store

import "quartermaster/schema"

// version is the interface's version, which ping, health and the document report.
const version = "4.1.0"

// Declare returns all that the service declares.
func (s *Service) Declare() schema.Service {
	return schema.Service{
		Name: "store", Addr: "127.0.0.1:8081", Agents: true,
		Elsewhere: "Orders, products, codes, providers and customers are changed on the screens and with `quartermaster " +
			"store`; so are other changes to a license.",
		DemoPath: "/api/orders?limit=5", Title: "Store service",
		About: "Orders, customers, licenses and redeem codes of a shop that sells its own software, " +
			"and the interface that a buyer's program uses to check and activate its license.",
		Ping: version, Health: version, Document: version,
		Ops: s.ops(), Tables: s.tables(), Events: events(),
		Records: []schema.Record{
			{Noun: "order", Page: "/orders/"}, {Noun: "customer", Page: "/customers/", ByName: true},
			{Noun: "license", Page: "/licenses/"},
			{Noun: "batch", Page: "/redeem-codes/"}, {Noun: "product", Page: "/products/"}, {Noun: "signing_key"},
		},
		Check: check, Demo: s.demo,
	}
}

// ops is the table of contents: route, tool, command, function. First what staff read, then the calls of buyers'
// programs and providers, then the other operations.
func (s *Service) ops() []schema.Op {
	return []schema.Op{
		schema.At("GET /api/orders", "list_orders", "store orders list", s.listOrders()),
		schema.At("GET /api/orders/:ref", "", "store orders show ORDER_REF", s.getOrder()),
		schema.At("GET /api/customers", "", "store customers list", s.listCustomers()),
		schema.At("GET /api/licenses", "", "store licenses list", s.listLicenses()),
		schema.At("GET /api/redeem-codes", "", "store batches list", s.listBatches()),
		schema.At("POST /api/redeem-codes", "", "store codes mint", s.mintCodes()),
		schema.At("GET /api/stats", "", "store stats", s.getStats()),

		schema.At("POST /license/check", "", "", s.checkLicense()),
		schema.At("POST /license/activate", "", "", s.activateLicense()),
		schema.At("POST /license/deactivate", "", "", s.deactivateLicense()),
		schema.At("POST /license/activations", "", "", s.listActivations()),
		schema.At("POST /license/redeem", "", "", s.redeemCode()),
		schema.At("POST /license/file", "", "", s.licenseFile()),
		schema.At("GET /license/keys", "", "", s.listPublicKeys()),
		schema.At("POST /providers/stripe/webhook", "", "", s.receiveStripe()),
		schema.At("POST /providers/lemonsqueezy/webhook", "", "", s.receiveLemonSqueezy()),
		schema.At("POST /providers/polar/webhook", "", "", s.receivePolar()),

		schema.At("", "find_customer", "", s.findCustomerTool()),
		schema.At("", "needs_attention", "", s.needsAttention()),
		schema.At("", "license_action", "", s.licenseAction()),
		schema.At("POST /v1/licenses/activate", "", "", s.apiActivate()),
		schema.At("POST /v1/licenses/validate", "", "", s.apiValidate()),
		schema.At("POST /v1/licenses/deactivate", "", "", s.apiDeactivate()),

		schema.At("", "", "store order record", s.recordOrder()),
		schema.At("", "refund_order", "store order refund ORDER_REF", s.refundOrder()),
		schema.At("", "", "store order void ORDER_REF", s.voidOrderOp()),
		schema.At("", "", "store resend ORDER_REF", s.resendOrder()),
		schema.At("", "resend_order", "store mail-order REF", s.mailOrderOp()),
		schema.At("", "", "store send-expiry-notices", s.sendExpiryNotices()),
		schema.At("", "customer_detail", "store customers show CUSTOMER", s.customerDetail()),
		schema.At("", "", "store customer save EMAIL", s.saveCustomerOp()),
		schema.At("", "", "store customer email CUSTOMER EMAIL", s.changeEmail()),
		schema.At("", "", "store customer merge FROM INTO", s.mergeCustomersOp()),
		schema.At("", "", "store customer forget CUSTOMER", s.forgetCustomer()),
		schema.At("", "", "store licenses find KEY|EMAIL", s.findLicenses()),
		schema.At("", "", "store licenses show ID", s.licenseDetail()),
		schema.At("", "", "", s.moveLicensesOp()),
		schema.At("", "", "store license suspend ID", s.suspendLicense()),
		schema.At("", "", "store license resume ID", s.resumeLicense()),
		schema.At("", "", "store license revoke ID", s.revokeLicense()),
		schema.At("", "", "store license extend ID", s.extendLicense()),
		schema.At("", "", "store license rotate ID", s.rotateLicenseKey()),
		schema.At("", "", "store license release ID SEAT", s.releaseSeat()),
		schema.At("", "", "store license limit ID LIMIT", s.setLicenseLimit()),
		schema.At("", "", "store license file ID", s.makeLicenseFile()),
		schema.At("", "", "store license files ID", s.listLicenseFiles()),
		schema.At("", "", "store signing-key list", s.listSigningKeys()),
		schema.At("", "", "store signing-key make", s.makeSigningKey()),
		schema.At("", "", "store signing-key use ID", s.useSigningKey()),
		schema.At("", "", "store signing-key remove ID", s.removeSigningKey()),
		schema.At("", "", "store license-api ON", s.setLicenseAPI()),
		schema.At("", "", "store products list", s.listProducts()),
		schema.At("", "", "store products show SKU", s.productDetail()),
		schema.At("", "", "store product save SKU", s.saveProductOp()),
		schema.At("", "", "store batches show BATCH", s.batchDetail()),
		schema.At("", "", "store codes void BATCH", s.voidCodes()),
		schema.At("", "", "store provider set PROVIDER", s.setProvider()),
		schema.At("", "", "store provider unset PROVIDER", s.unsetProvider()),
		schema.At("", "", "store provider list", s.listProviders()),
		schema.At("", "", "store provider map PROVIDER PAYMENT_LINK SKU", s.mapProvider()),
		schema.At("", "", "store provider retry PROVIDER PAYMENT", s.retryPayment()),
		schema.At("", "", "store provider dismiss PROVIDER PAYMENT", s.dismissPayment()),
		schema.At("", "", "store unbooked", s.listUnbooked()),
		schema.At("", "list_subscriptions", "store subscriptions", s.listSubscriptions()),
		schema.At("", "", "store subscription link PROVIDER REF LICENSE...", s.linkSubscription()),
		schema.At("", "", "store disputes", s.listDisputes()),
		schema.At("", "", "store settings", s.CurrencyOp()),
		schema.At("", "revenue_report", "store figures", s.storeFigures()),
	}
}

// tables lists what travels as CSV.
func (s *Service) tables() []schema.Table {
	return []schema.Table{productTable(), customerTable(), s.orderTable(), s.licenseTable()}
}

// events are what the service tells receivers.
func events() []schema.Event {
	paid, refunded := exampleDetail(), OrderRefunded{OrderDetail: exampleDetail(), Full: true}
	refunded.Status, refunded.RefundedCents, refunded.RefundedAt = "refunded", refunded.TotalCents, &exampleInstant
	for i := range refunded.Licenses {
		refunded.Licenses[i].Key = mask(refunded.Licenses[i].Key)
		refunded.Licenses[i].Status = "revoked"
	}
	return []schema.Event{
		{Name: "order.paid", About: "An order was paid. It has the full license keys, so that the receiver can mail " +
			"them.", Data: paid},
		{Name: "order.refunded", About: "An order was refunded, in full (its licenses are revoked) or in part (they stay).",
			Data: refunded},
		{Name: "code.redeemed", About: "A redeem code was redeemed for a license or a download.", Data: redeemedOf(
			Batch{Batch: "launch", SKU: "PLUGIN", Tier: &exampleTier}, paid.Order, paid.firstLicense())},
		{Name: "license.activated", About: "A license was activated on a new machine.", Data: LicenseActivated{
			License: exampleLicense().masked(), Activation: exampleActivation(),
		}},
	}
}
