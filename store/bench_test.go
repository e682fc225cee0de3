package store

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// benchSize is the number of orders and licenses of the benchmarks: 100,000, or STORE_BENCH_SIZE.
func benchSize(b *testing.B) int {
	b.Helper()
	text := os.Getenv("STORE_BENCH_SIZE")
	if text == "" {
		return 100_000
	}
	n, err := strconv.Atoi(text)
	must(b, err)
	return n
}

// stocked is a fixture with n orders of one license each, sold one every five minutes until now, a third of them for a
// year. Every eighth license holds a seat. It returns the keys.
func stocked(b *testing.B, n int) (*fixture, []string) {
	b.Helper()
	s := newFixture(b)
	keys := make([]string, n)
	must(b, db.Exec(background, s.DB, db.Bookkeeping(), func(tx *db.Tx) error {
		insert := func(query string, args func(i int) []any) {
			q, err := tx.Change(query)
			must(b, err)
			for i := range n {
				must(b, q.Args(args(i)...))
				must(b, q.Run())
			}
		}
		sold := func(i int) exact.Instant { return tx.Now() - exact.Instant((n-i)*300) }
		insert("INSERT INTO store_customers (id, email, name, paid_orders, first_order_at, last_order_at) VALUES (?1, ?2, '', 1, ?3, ?3)",
			func(i int) []any { return []any{i + 1, fmt.Sprintf("buyer%d@example.com", i), sold(i)} })
		insert(`INSERT INTO store_orders (id, order_ref, provider, provider_ref, status, customer_id, subtotal_cents,
			discount_cents, tax_cents, total_cents, currency, paid_at, created_at)
			VALUES (?1, ?2, 'stripe', ?2, 'paid', ?1, 4900, 0, 0, 4900, iif(?1 % 5, 'USD', 'EUR'), ?3, ?3)`,
			func(i int) []any { return []any{i + 1, newRef(), sold(i)} })
		insert(`INSERT INTO store_order_lines (order_id, line, product_id, product_name, qty, unit_cents) VALUES (?1, 1, 1 + ?1 % 2, 'x', 1, 4900)`,
			func(i int) []any { return []any{i + 1} })
		insert(`INSERT INTO store_licenses (id, key_hash, license_key, product_id, order_id, order_ref, state, activation_count, expires_at, created_at)
			SELECT ?1, ?2, ?3, 1 + ?1 % 2, ?1, order_ref, 'active', ?1 % 8 = 1, iif(?1 % 3, NULL, ?4 + 31536000), ?4 FROM store_orders WHERE id = ?1`,
			func(i int) []any {
				keys[i] = newKey()
				return []any{i + 1, digest(keys[i], keyLength), keys[i], sold(i)}
			})
		for _, query := range append([]string{
			"INSERT INTO store_find_orders (rowid, words) " + selectWords,
			"INSERT INTO store_find_customers (rowid, words) SELECT id, email || char(10) || name FROM store_customers",
			`INSERT INTO store_activations (license_id, fingerprint, label, allowed, created_at, last_seen_at)
				SELECT id, 'machine', '', NULL, created_at, created_at FROM store_licenses WHERE activation_count = 1`,
			`INSERT INTO store_expiry (span, start, licenses) SELECT span, expires_at - expires_at % span, count(*)
				FROM store_licenses, ` + selectSpans + ` WHERE expires_at IS NOT NULL GROUP BY 1, 2`,
			"DELETE FROM store_totals",
		}, recountsInto()...) {
			_, err := tx.Exec(query)
			must(b, err)
		}
		return nil
	}))
	b.ResetTimer()
	b.ReportAllocs()
	return s, keys
}

func recountsInto() (queries []string) {
	for _, q := range recounts {
		queries = append(queries, "INSERT INTO store_totals (kind, currency, n) "+q)
	}
	return queries
}

func BenchmarkCheck(b *testing.B) {
	s, keys := stocked(b, benchSize(b))
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i += 7919 {
			v, err := s.CheckLicense(background, Asked{Key: keys[i%len(keys)], Fingerprint: "machine"})
			if err != nil || v.License == nil {
				b.Fatal(v.Code, err)
			}
		}
	})
}

func BenchmarkCheckUnknown(b *testing.B) {
	s, _ := stocked(b, benchSize(b))
	key := newKey()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			v, err := s.CheckLicense(background, Asked{Key: key, Fingerprint: "machine", Remote: strconv.Itoa(i)})
			if err == nil && v.Code != "not_found" {
				b.Fatal(v.Code)
			}
		}
	})
}

func BenchmarkActivateKnownSeat(b *testing.B) {
	s, keys := stocked(b, benchSize(b))
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i += 8 {
			a, err := s.activate(keys[i%len(keys)/8*8], "machine")
			if err != nil && i%3 != 0 || err == nil && !a.AlreadyActivated {
				b.Fatal(a, err)
			}
		}
	})
}

func BenchmarkStats(b *testing.B) {
	s, _ := stocked(b, benchSize(b))
	for b.Loop() {
		if got, err := s.Stats(background); err != nil || got.OrdersPaid == 0 {
			b.Fatal(got, err)
		}
	}
}

// BenchmarkFirstPages reads the sums of the first page and of the page of licenses.
func BenchmarkFirstPages(b *testing.B) {
	s, _ := stocked(b, benchSize(b))
	b.Run("last 30 days", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Lately(background, 30)
			must(b, err)
		}
	})
	for name, f := range map[string]LicenseFilter{"all": {}, "active": {Status: stateActive}, "of a product": {SKU: "PLUGIN"}, "expired": {Status: statusExpired}} {
		b.Run("licenses "+name, func(b *testing.B) {
			for b.Loop() {
				_, err := s.CountLicenses(background, f)
				must(b, err)
			}
		})
	}
}

func BenchmarkListOrders(b *testing.B) {
	s, _ := stocked(b, benchSize(b))
	for b.Loop() {
		if p, err := s.Orders(background, OrderFilter{Status: "paid", Cursor: schema.First(200)}); err != nil || len(p.Orders) != 200 {
			b.Fatal(err)
		}
	}
}

func BenchmarkMint(b *testing.B) {
	s, _ := stocked(b, 1000)
	for b.Loop() {
		if m, err := s.MintCodes(background, admin, 1000, "PLUGIN", "", ""); err != nil || len(m.Codes) != 1000 {
			b.Fatal(err)
		}
	}
}

// BenchmarkMintFloor is the least work of minting: the random bytes, the hashes, and the bare inserts in one durable
// commit.
func BenchmarkMintFloor(b *testing.B) {
	s, _ := stocked(b, 1000)
	batch := s.mint(1, "floor")
	for b.Loop() {
		digests := make([][]byte, 1000)
		for i := range digests {
			digests[i] = digest(newCode(), codeLength)
		}
		must(b, db.Exec(background, s.DB, db.Bookkeeping(), func(tx *db.Tx) error {
			q, err := tx.Change("INSERT INTO store_codes (hash, batch_id, status) VALUES (?, 1, 'unused')")
			if err != nil {
				return err
			}
			for _, d := range digests {
				if err := q.Args(d); err != nil {
					return err
				}
				if err := q.Run(); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	b.StopTimer()
	must(b, db.Exec(background, s.DB, db.Bookkeeping(), func(tx *db.Tx) error { // so that the fixture is consistent
		_, err := tx.Exec("DELETE FROM store_codes WHERE batch_id = (SELECT id FROM store_batches WHERE batch = ?)", batch.Batch)
		if err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE store_batches SET unused = 0")
		if err != nil {
			return err
		}
		return add(tx, codesPrefix+codeUnused, -1)
	}))
}
