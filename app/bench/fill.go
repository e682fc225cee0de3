//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"quartermaster/app/account"
	"quartermaster/app/server"
	"quartermaster/rental"
	"quartermaster/reorder"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// shop is the data set: its database and what a client needs.
type shop struct {
	size
	today    exact.Day
	keys     map[string]string // one full-access key per service
	licenses []string          // some license keys whose first seat is taken by "machine"
	shown    int64             // above every meter's reading
	welcome  string            // the path of an invitation of this run's user
	cookie   string            // of the signed-in browser
}

// openShop opens the data set at path, or makes it, and gives it new API keys.
func openShop(ctx context.Context, path string, of size) (s *shop, err error) {
	s = &shop{size: of}
	_, err = os.Stat(path)
	missing := errors.Is(err, os.ErrNotExist)
	if missing {
		if err := db.Create(path, db.Options{Zone: time.UTC}); err != nil {
			return nil, err
		}
	}
	d, err := db.Open(path, db.Options{Zone: time.UTC})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	s.today = exact.DayOf(d.Now().In(time.UTC))
	if missing {
		for _, fill := range []func(context.Context, *db.DB) error{s.fillReorder, s.fillMaintenance, s.fillRental,
			s.fillStore, s.fillTrail} {
			if err := fill(ctx, d); err != nil {
				return nil, err
			}
		}
	}
	if err := s.makeKeys(ctx, d); err != nil {
		return nil, err
	}
	return s, d.View(ctx, func(c *db.Conn) error {
		s.licenses, err = db.All(c, db.Text,
			"SELECT license_key FROM store_licenses WHERE id % 8 = 1 AND expires_at IS NULL ORDER BY id LIMIT 1000")
		if err == nil {
			s.shown, _, err = db.One(c, db.Int, "SELECT max(reading) / 1000 + 1 FROM meters")
		}
		return err
	})
}

// makeKeys makes a user of this run, and a key for each service.
func (s *shop) makeKeys(ctx context.Context, d *db.DB) error {
	name := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	if _, err := account.AddUser(ctx, d, db.CLI(""), name, "admin", server.Names); err != nil {
		return err
	}
	s.keys = map[string]string{}
	for _, service := range server.Names {
		_, key, err := account.CreateKey(ctx, d, db.CLI(service), account.NewKey{Service: service, User: name, Scope: "full"})
		if err != nil {
			return err
		}
		s.keys[service] = key
	}
	token, _, err := account.Invite(ctx, d, db.CLI(""), name)
	if err != nil {
		return err
	}
	s.welcome = "/welcome/" + token
	return nil
}

// numbers is the first term of a statement over the numbers 1 to n.
func numbers(n int) string {
	return fmt.Sprintf("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", n)
}

// script runs statements in one transaction.
func script(ctx context.Context, d *db.DB, statements ...string) error {
	return db.Exec(ctx, d, db.Bookkeeping(), func(tx *db.Tx) error {
		for _, q := range statements {
			if _, err := tx.Exec(q); err != nil {
				return fmt.Errorf("%.60s: %w", q, err)
			}
		}
		return nil
	})
}

// fillReorder makes SKUs with a sale every day up to yesterday. The service itself sums their window when its settings
// change.
func (s *shop) fillReorder(ctx context.Context, d *db.DB) error {
	err := script(ctx, d,
		numbers(s.skus)+`INSERT INTO skus (active, current_stock, is_below, judged_on, lead_time_days, safety_stock_days,
			pack_size, moq, unit_cost_cents, created_at, updated_at, sku, name, supplier, supplier_sku, barcode, unit)
			SELECT 1, i * 7919 % 900 * 1000, 0, 0, 3 + i % 25, i % 20, 1, 0, 250, 0, 0, printf('SKU-%06d', i),
			'Widget number ' || i || ', assorted', 'Supplier ' || i % 40, '', '', 'piece' FROM n`,
		numbers(s.saleDays)+fmt.Sprintf(`INSERT INTO sales (day, sku_id, qty)
			SELECT %d + d.i, k.id, (d.i * 7919 + k.id * 104729) %% 12 * 1000 FROM n d CROSS JOIN skus k ORDER BY d.i, k.id`,
			int(s.today)-1-s.saleDays),
		`UPDATE skus SET first_sold = f.first, last_sold = f.last FROM (SELECT sku_id, min(day) AS first, max(day) AS last
			FROM sales WHERE qty > 0 GROUP BY sku_id) f WHERE f.sku_id = skus.id`,
		"INSERT INTO sales_days (day, skus) SELECT day, count(*) FROM sales GROUP BY day")
	for _, window := range []int64{31, 30} {
		if err == nil {
			_, err = reorder.New(d).ChangeSettings(ctx, db.CLI("reorder"), reorder.SettingsChange{ForecastWindowDays: &window})
		}
	}
	return err
}

// fillMaintenance makes assets with a meter read every other day, a plan for each, and work orders of all kinds.
func (s *shop) fillMaintenance(ctx context.Context, d *db.DB) error {
	last := fmt.Sprintf("1000 * %d * (10 + i %% 7)", s.readings)
	return script(ctx, d,
		numbers(s.assets)+`INSERT INTO assets (asset_tag, name, status) SELECT 'A-' || i, 'Machine number ' || i,
			'operational' FROM n`,
		numbers(s.assets)+fmt.Sprintf(`INSERT INTO meters (asset_id, name, unit, reading, read_date, last_day, last_value,
			posted)
			SELECT i, 'hours', 'h', %s, %d, %d, %s, %d FROM n`, last, s.today, s.today, last, s.readings),
		numbers(s.readings)+fmt.Sprintf(`INSERT INTO readings (meter_id, epoch, day, seq, value, correction)
			SELECT m.id, 0, %d - 2 * (%d - k.i), k.i, 1000 * k.i * (10 + m.id %% 7), 0 FROM meters m CROSS JOIN n k`, s.today,
			s.readings),
		numbers(s.assets)+fmt.Sprintf(`INSERT INTO pm_plans (asset_id, title, interval_days, interval_usage, meter_id,
			start_date, last_done_date, baseline)
			SELECT i, 'Change the oil', 180, 1000 * (200 + i %% 100), i, %d, %d - i %% 200, %s - 1000 * (i %% 90) FROM n`,
			s.today-400, s.today, last),
		numbers(s.orders/5)+fmt.Sprintf(`INSERT INTO work_orders (asset_id, description, priority, wo_type, status,
			assigned_to, labor_minutes,
			typed_cents, downtime_minutes, created_by, created_at, started_at, updated_at)
			SELECT 1 + i %% %d, 'Something is loose on the left, job ' || i,
			CASE i %% 4 WHEN 0 THEN 'low' WHEN 1 THEN 'medium' WHEN 2 THEN 'high' ELSE 'urgent' END,
			'corrective', iif(i %% 3, 'in-progress', 'open'), iif(i %% 2, NULL, 'Ana'), i %% 300, i %% 5000, i %% 60, 'alice',
			1700000000 + i,
			iif(i %% 3, 1700000000 + i, NULL), 1700000000 + i FROM n`, s.assets))
}

// fillRental makes leases that began years ago, nine in ten paid by the month and one by the week. The service posts
// due charges; one lease in twenty owes those of the last 60 days.
func (s *shop) fillRental(ctx context.Context, d *db.DB) error {
	start := exact.DayOf(s.today.Time(time.UTC).AddDate(-s.years, 0, 1-s.today.Time(time.UTC).Day()))
	err := script(ctx, d,
		"INSERT INTO properties (id, name) VALUES (1, 'House')",
		numbers(s.leases)+
			"INSERT INTO units (id, property_id, name, market_rent_cents) SELECT i, 1, 'Unit ' || i, 90000 FROM n",
		numbers(s.leases)+
			"INSERT INTO tenants (id, name, email) SELECT i, 'Tenant ' || i, 'tenant' || i || '@example.org' FROM n",
		numbers(s.leases)+fmt.Sprintf(`INSERT INTO leases (id, unit_id, start_date, last_day, rent_cents, frequency, due_day,
			deposit_cents, proration, next_post_day, next_event_day)
			SELECT i, i, %d, 2932896, 25000 + i, iif(i %% 10, 'monthly', 'weekly'), 1, 0, 'actual', %d, %d FROM n`, start, start,
			start),
		"INSERT INTO lease_tenants (lease_id, position, tenant_id) SELECT id, 1, id FROM leases")
	if err != nil {
		return err
	}
	if _, err := rental.New(d).Arrears(ctx, db.CLI("rental")); err != nil {
		return err
	}
	return script(ctx, d,
		fmt.Sprintf("UPDATE charges SET paid_date = due_date, method = 'cash', paid_cents = amount_cents WHERE lease_id %% "+
			"20 <> 0 OR due_date < %d", s.today-60),
		`INSERT INTO payments (id, lease_id, amount_cents, credit_cents, method, paid_date, recorded_at)
			SELECT id, lease_id, amount_cents, 0, method, paid_date, posted_at FROM charges WHERE paid_date IS NOT NULL`,
		"INSERT INTO allocations (payment_id, charge_id, amount_cents) SELECT id, id, amount_cents FROM charges WHERE "+
			"paid_date IS NOT NULL")
}

// fillStore makes orders of one license each, one every five minutes until now, a
// third of the licenses for a year; every eighth license holds a seat.
func (s *shop) fillStore(ctx context.Context, d *db.DB) error {
	err := script(ctx, d,
		`INSERT INTO store_products (id, sku, name, kind, price_cents, activation_limit, tiers, active)
			VALUES (1, 'PLUGIN', 'Plugin', 'license', 4900, 3, '', 1), (2, 'APP', 'App', 'license', 4900, NULL, '', 1)`,
		numbers(s.orders)+`INSERT INTO store_customers (id, email, name, paid_orders, first_order_at, last_order_at)
			SELECT i, 'buyer' || i || '@example.com', '', 1, unixepoch() - 300 * i, unixepoch() - 300 * i FROM n`,
		`INSERT INTO store_orders (id, order_ref, provider, provider_ref, status, customer_id, subtotal_cents,
			discount_cents, tax_cents, total_cents, currency, paid_at, created_at)
			SELECT id, printf('ORD-%010d', id), 'stripe', 'pi_' || id, 'paid', id, 4900, 0, 0, 4900,
			iif(id % 5, 'USD', 'EUR'), first_order_at, first_order_at FROM store_customers`,
		`INSERT INTO store_order_lines (order_id, line, product_id, product_name, qty, unit_cents)
			SELECT id, 1, 1 + id % 2, 'Plugin', 1, 4900 FROM store_orders`,
		`INSERT INTO store_find_orders (rowid, words) SELECT o.id, o.order_ref || char(10) || o.provider_ref || char(10) ||
			c.email || char(10) ||
			iif(o.id % 2, 'APP', 'PLUGIN') FROM store_orders o JOIN store_customers c ON c.id = o.customer_id`,
		`INSERT INTO store_find_customers (rowid, words) SELECT id, email || char(10) FROM store_customers`)
	if err == nil {
		err = s.fillLicenses(ctx, d)
	}
	if err != nil {
		return err
	}
	return script(ctx, d,
		`INSERT INTO store_activations (license_id, fingerprint, label, allowed, created_at, last_seen_at)
			SELECT id, 'machine', '', NULL, created_at, created_at FROM store_licenses WHERE activation_count = 1`,
		`INSERT INTO store_totals (kind, currency, n)
			SELECT 'orders_paid', '', count(*) FROM store_orders UNION ALL SELECT 'customers', '', count(*) FROM store_customers
			UNION ALL SELECT 'licenses_active', '', count(*) FROM store_licenses UNION ALL SELECT 'activations', '', count(*)
			FROM store_activations
			UNION ALL SELECT 'gross_cents', currency, sum(total_cents) FROM store_orders GROUP BY currency`)
}

// fillTrail makes an audit entry for each order and lease, as their own writes would have.
func (s *shop) fillTrail(ctx context.Context, d *db.DB) error {
	return script(ctx, d, `INSERT INTO audit (at, service, actor, via, action, subject, changes)
		SELECT paid_at, 'store', 'system', 'webhook', 'order.paid', 'order:' || order_ref, '{}' FROM store_orders
		ORDER BY paid_at`,
		`INSERT INTO audit (at, service, actor, via, action, subject, changes)
		SELECT unixepoch(), 'rental', 'alice', 'cli', 'lease.created', 'lease:' || id, '{}' FROM leases`)
}

func (s *shop) fillLicenses(ctx context.Context, d *db.DB) error {
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	r := rand.New(rand.NewPCG(7, 7))
	return db.Exec(ctx, d, db.Bookkeeping(), func(tx *db.Tx) error {
		insert, err := tx.Change(`INSERT INTO store_licenses (id, key_hash, license_key, product_id, order_id, order_ref,
			state, activation_count, expires_at, created_at)
			SELECT id, ?2, ?3, 1 + id % 2, id, order_ref, 'active', id % 8 = 1, iif(id % 3, NULL, created_at + 31536000),
			created_at FROM store_orders WHERE id = ?1`)
		if err != nil {
			return err
		}
		var bare, shown []byte
		for i := range s.orders {
			bare, shown = bare[:0], shown[:0]
			for k := range 25 {
				if k > 0 && k%5 == 0 {
					shown = append(shown, '-')
				}
				c := alphabet[r.IntN(len(alphabet))]
				bare, shown = append(bare, c), append(shown, c)
			}
			hash := sha256.Sum256(bare)
			if err := errors.Join(insert.Args(i+1, hash[:], string(shown)), insert.Run()); err != nil {
				return err
			}
		}
		return nil
	})
}
