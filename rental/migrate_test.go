package rental

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"quartermaster/schema/db"
)

// oldRows are a file's rows as the earlier version wrote them: a paid and an unpaid month, a deposit, a reversed
// payment, a charge paid early.
const oldRows = `
INSERT INTO properties VALUES (1, 'House', NULL);
INSERT INTO units VALUES (1, 1, 'A', 98000, NULL), (2, 1, 'B', 0, NULL);
INSERT INTO tenants VALUES (1, 'Ada', 'ada@example.org', NULL), (2, 'Ben', NULL, '1');
INSERT INTO leases VALUES (1, 1, 1, 20454, NULL, 100000, 'monthly', 1, 5, 'actual', 20544, 2932896), (2, 2, 2, 20454, 20513, 50000, 'monthly', 1, 0, 'none', NULL, 20513);
INSERT INTO charges (id, lease_id, type, label, due_date, amount_cents, period_start, period_end, rent_cents, posted_at, paid_date, method) VALUES
 (1, 1, 'rent', '1-31 January 2026', 20454, 100000, 20454, 20484, 100000, 1, 20455, 'cash'),
 (2, 1, 'rent', '1-28 February 2026', 20485, 100000, 20485, 20512, 100000, 1, NULL, NULL),
 (3, 1, 'rent', '1-31 March 2026', 20513, 100000, 20513, 20543, 100000, 1, 20500, 'card'),
 (4, 1, 'deposit', 'Deposit', 20454, 200000, NULL, NULL, NULL, 1, 20454, 'bank_transfer'),
 (5, 2, 'rent', '1-31 January 2026', 20454, 50000, 20454, 20484, 50000, 1, NULL, NULL),
 (6, 2, 'rent', '1-28 February 2026', 20485, 50000, 20485, 20512, 50000, 1, NULL, NULL),
 (7, 2, 'rent', '1 March 2026, 1 of 31 days, charged in full', 20513, 50000, 20513, 20513, 50000, 1, NULL, NULL);
INSERT INTO payments VALUES (1, 1, 1, 100000, 'cash', 20455, 5, NULL, NULL), (2, 1, 2, 100000, 'other', 20486, 5, 6, 'bounced'),
 (3, 1, 3, 100000, 'card', 20500, 7, NULL, NULL), (4, 1, 4, 200000, 'bank_transfer', 20454, 5, NULL, NULL);
INSERT INTO tickets VALUES (1, 1, 1, 'Tap', NULL, 'medium', 'open', 'portal', 'ann', 5, 5, NULL);
`

// TestOlderFilesMigrate: the ledgers of an older file are the same to the cent and continue as before.
func TestOlderFilesMigrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	c, err := sqlite.OpenConn(path, sqlite.OpenCreate|sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	script := "PRAGMA application_id = 0x514D5452; PRAGMA journal_mode = WAL; CREATE TABLE schema_migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT;"
	for _, name := range []string{"0001_core", "0002_reorder", "0003_maintenance", "0004_rental", "0005_store"} {
		b, err := os.ReadFile(filepath.Join("..", "schema", "db", "sql", name+".sql"))
		if err != nil {
			t.Fatal(err)
		}
		script += string(b) + fmt.Sprintf("INSERT INTO schema_migrations VALUES ('%s', 1);", name)
	}
	for _, part := range []string{script, oldRows} {
		if err := sqlitex.ExecuteScript(c, part, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	on := time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)
	d := openOld(t, path, db.Options{Zone: time.UTC, Now: func() time.Time { return on }})
	s := New(d)
	l, err := s.Ledger(ctx, viewer, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"2026-01-01 100000 1-31 January 2026 paid 2026-01-02 cash", "2026-01-01 200000 Deposit paid 2026-01-01 bank_transfer",
		"2026-02-01 100000 1-28 February 2026", "2026-03-01 100000 1-31 March 2026 paid 2026-02-16 card"}
	if got := lines(l.Charges); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if want := (Totals{BilledCents: 500_000, PaidCents: 400_000, BalanceCents: 100_000, DepositHeldCents: 200_000}); l.Totals != want || l.Lease.Tenant != "Ada" || l.Lease.RentCents != 100_000 {
		t.Errorf("%s", asJSON(t, l))
	}
	other, err := s.Ledger(ctx, viewer, 2)
	if err != nil || other.Totals.BalanceCents != 150_000 || other.Lease.Tenant != "Ben" || other.Lease.TenantEmail != nil {
		t.Errorf("%s %v", asJSON(t, other), err)
	}
	on = time.Date(2026, 4, 2, 12, 0, 0, 0, time.UTC)
	if l, err = s.Ledger(ctx, viewer, 1); err != nil || len(l.Charges) != 5 || l.Totals.BilledCents != 600_000 {
		t.Errorf("%s %v", asJSON(t, l), err)
	}
	err = d.View(ctx, func(c *db.Conn) error {
		breaches, err := s.Declare().Check(c)
		if len(breaches) > 0 {
			t.Errorf("doctor: %q", breaches)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func openOld(t *testing.T, path string, o db.Options) *db.DB {
	t.Helper()
	o.Migrate = true
	d, err := db.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}
