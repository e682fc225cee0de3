package store

import "quartermaster/schema/db"

// What a trial calls the service's rows, and what their columns hold.
func init() {
	db.Describe(db.Naming{
		Prefix: "store_",
		Tables: map[string]db.Rows{
			"store_codes":           {Skip: true},
			"store_provider_events": {Skip: true},
			"store_hours":           {Skip: true},
			"store_product_hours":   {Skip: true},
			"store_product_days":    {Skip: true},
			"store_totals":          {Skip: true},
			"store_holds":           {Skip: true},
			"store_told_periods":    {Skip: true},
			"store_payments":        {Skip: true},
			"store_payment_names":   {Skip: true},
			"store_batches":         {Noun: "batch", Key: "batch"},
			"store_customers":       {Noun: "customer", Key: "email"},
			"store_orders":          {Noun: "order", Key: "order_ref"},
			"store_products":        {Noun: "product", Key: "sku"},
			"store_unbooked":        {Noun: "payment"},
			"store_signing_keys":    {Noun: "signing_key", Key: "key_id"},
		},
		Columns: map[string]db.Kind{
			"store_licenses.license_key":    db.Secret,
			"store_signing_keys.seed":       db.Secret,
			"store_license_files.issued_at": db.Moment,
			"store_license_files.ends_at":   db.Moment,
			"store_licenses.decided":        db.Derived,
			"store_refunds.at":              db.Moment,
			"store_unbooked.at":             db.Moment,
			"store_releases.at":             db.Moment,
			"store_disputes.at":             db.Moment,
			"store_invoices.at":             db.Moment,
			"store_subscriptions.told_us":   db.Derived,
			"store_subscriptions.paid_us":   db.Derived,
			"store_subscriptions.failed_us": db.Derived,
			"store_subscriptions.ends_on":   db.Moment,
			"store_subscriptions.renews_on": db.Moment,
			"store_disputes.told_us":        db.Derived,
			"store_disputes.answer_by":      db.Moment,
			"store_unbooked.body":           db.Secret,
			"store_invoices.period_end":     db.Moment,
		},
	})
}
