package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

func TestDoctorNamesEachBreach(t *testing.T) {
	s := newFixture(t)
	assert.OK(t, s.demo(background, s.now().Day(time.UTC)))
	equal(t, "a sound shop", strings.Join(s.doctor(), "\n"), "")
	for tamper, says := range map[string]string{
		"UPDATE store_totals SET n = n + 1 WHERE kind = 'gross_cents' AND currency = 'EUR'":                                                    "gross_cents EUR",
		"UPDATE store_hours SET tax_cents = tax_cents + 1 WHERE hour = (SELECT max(hour) FROM store_hours)":                                    "of the hour from",
		"INSERT INTO store_hours VALUES (3600, 'EUR', 'stripe', 1, 100, 0)":                                                                    "of the hour from 1970-01-01T01:00Z, 1 orders are counted",
		"DELETE FROM store_hours WHERE hour = (SELECT max(hour) FROM store_hours)":                                                             "of the hour from",
		"UPDATE store_product_hours SET qty = qty + 1 WHERE hour = (SELECT max(hour) FROM store_product_hours)":                                "were sold in an hour by the sums",
		"UPDATE store_product_days SET refunded_cents = refunded_cents + 1 WHERE day = (SELECT min(day) FROM store_product_days)":              "are in the sums of a day",
		"INSERT INTO store_product_days SELECT 0, id, 'EUR', 1, 1, 100, 0, 0, 0 FROM store_products WHERE sku = 'EBOOK'":                       "of product EBOOK, 1 orders of 100 cents are in the sums of a day, and 0 of 0 are there",
		"DELETE FROM store_product_days WHERE day = (SELECT max(day) FROM store_product_days)":                                                 "are in the sums of a day",
		"DELETE FROM store_totals WHERE kind = 'customers'":                                                                                    "customers",
		"UPDATE store_customers SET paid_orders = paid_orders + 1 WHERE id = 3":                                                                "paid_orders",
		"UPDATE store_customers SET last_order_at = last_order_at + 1 WHERE id = 3":                                                            "first or last",
		"UPDATE store_orders SET status = 'refunded' WHERE id = 2":                                                                             "status does not fit",
		"UPDATE store_orders SET status = 'paid' WHERE status = 'refunded'":                                                                    "status does not fit",
		"UPDATE store_licenses SET state = 'active' WHERE order_id IN (SELECT id FROM store_orders WHERE status = 'refunded')":                 "not revoked",
		"UPDATE store_licenses SET order_id = (SELECT min(order_id) FROM store_licenses) WHERE id = 9":                                         "units",
		"UPDATE store_licenses SET license_key = '00000-00000-00000-00000-00000' WHERE id = 4":                                                 "license 4 cannot be found",
		"UPDATE store_licenses SET order_ref = 'ORD-0' WHERE id = 7":                                                                           "license 7 names another",
		"UPDATE store_licenses SET activation_count = activation_count + 1 WHERE id = 5":                                                       "license 5",
		"UPDATE store_licenses SET own_limit = 1000001 WHERE id = 5":                                                                           "license 5 has a limit of its own of 1000001",
		"UPDATE store_licenses SET loose_hash = x'00' WHERE id = 5":                                                                            "license 5 cannot be found by its key",
		"UPDATE store_subscriptions SET told = 'ended', told_us = 0 WHERE id = 1":                                                              "has no time",
		"UPDATE store_activations SET allowed = 0 WHERE id = (SELECT max(id) FROM store_activations)":                                          "were allowed",
		"UPDATE store_batches SET unused = unused + 1 WHERE batch = 'launch'":                                                                  "batch launch",
		"UPDATE store_codes SET status = 'void' WHERE rowid_of_some":                                                                           "",
		"UPDATE store_orders SET provider = 'paypal' WHERE provider = 'code'":                                                                  "redeemed codes",
		"INSERT INTO store_unbooked (provider, provider_ref, event_id, refund, reason, at) VALUES ('stripe', 'pi_9', 'evt_9', 0, 'no sku', 0)": "pi_9",
	} {
		if says == "" {
			tamper, says = "UPDATE store_codes SET status = 'void' WHERE hash = (SELECT min(hash) FROM store_codes WHERE status = 'unused')", "codes give"
		}
		var found []string
		undo := db.Exec(background, s.DB, db.Bookkeeping(), func(tx *db.Tx) error {
			n := val(tx.Exec(tamper))
			assert.That(t, n != 0, "%s: changed nothing", tamper)
			found = val(check(&tx.Conn))
			return context.Canceled
		})
		assert.Must(t, undo != nil, "the tampering was kept")
		assert.Contains(t, strings.Join(found, "\n"), says, "%s: doctor says %q", tamper, found)
	}
}

func TestTheDemoIsASmallShop(t *testing.T) {
	s := emptyFixture(t)
	assert.OK(t, s.demo(background, s.now().Day(time.UTC)))
	stats := val(s.Stats(background))
	equal(t, "products", s.count("SELECT count(*) FROM store_products"), int64(4))
	n := s.count("SELECT count(*) FROM store_orders WHERE provider <> 'code'")
	assert.That(t, n >= 350 && n <= 450, "the demo has %d orders, not about 400", n)
	equal(t, "currencies", len(stats.Revenue), 2)
	equal(t, "batches", s.count("SELECT count(*) FROM store_batches"), int64(2))
	equal(t, "events", s.eventNames(), "")
	l := stats.Licenses
	assert.That(t, l.Active != 0 && l.Expired != 0 && l.Suspended != 0 && l.Revoked >= 2 && stats.OrdersRefunded >= 3 &&
		stats.Activations >= 5, "the demo lacks something: %+v", stats)
	assert.That(t, stats.Codes.Unused != 0 && stats.Codes.Redeemed != 0 && stats.Codes.Void != 0,
		"the demo's codes: %+v", stats.Codes)
	waits := val(s.NeedsAttention(background))
	equal(t, "imported", s.count("SELECT count(*) FROM store_licenses WHERE origin = 'placed' AND loose_hash IS NOT NULL"), 1)
	equal(t, "trouble", fmt.Sprint(waits.DisputesTotal, waits.FailedTotal, waits.UnbookedTotal), "1 1 0")
	if n := s.count("SELECT count(*) FROM store_orders WHERE status = 'paid' AND refunded_cents > 0"); n < 3 {
		t.Errorf("%d orders are refunded in part", n)
	}
	equal(t, "renewing tomorrow", s.count("SELECT count(*) FROM store_subscriptions WHERE renews_on > ?1 AND renews_on <= ?1 + 172800", s.now()), int64(1))
	month := val(s.Lately(background, 30))
	days := map[string]int{}
	for _, f := range month.Rows {
		days[f.Currency]++
		assert.That(t, *f.Day != s.now().Day(time.UTC) || f.NetCents > 0, "today's net is %d %s", f.NetCents, f.Currency)
	}
	if days["USD"] < 20 || len(month.Rows) == 0 || *month.Rows[len(month.Rows)-1].Day != s.now().Day(time.UTC) {
		t.Errorf("in the last 30 days something was sold on %v days, or nothing today", days)
	}
	equal(t, "later than now", s.count("SELECT count(*) FROM store_orders WHERE paid_at > ?", s.now()), int64(0))

	again := emptyFixture(t)
	assert.OK(t, again.demo(background, s.now().Day(time.UTC)))
	equal(t, "the same shop each time", strings.Join(again.dump("orders")[:41], "\n"), strings.Join(s.dump("orders")[:41], "\n"))
}
