package rental

import (
	"fmt"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/strict"
)

// fill makes weekly leases from a day on, each with its own unit and tenant.
func (h *fixture) fill(leases int, start exact.Day) {
	h.T.Helper()
	h.Must(db.Exec(ctx, h.DB, db.Bookkeeping(), func(tx *db.Tx) error {
		if _, err := tx.Exec("INSERT INTO properties (id, name) VALUES (1, 'House')"); err != nil {
			return err
		}
		for i := 1; i <= leases; i++ {
			name := fmt.Sprint("U", i)
			if _, err := tx.Exec("INSERT INTO units (id, property_id, name, market_rent_cents) VALUES (?, 1, ?, 0)", i, name); err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO tenants (id, name, email) VALUES (?, ?, ?)", i, "Tenant "+name, name+"@example.org"); err != nil {
				return err
			}
			first := start + exact.Day(i%7)
			if _, err := tx.Exec(`INSERT INTO leases (id, unit_id, start_date, last_day, rent_cents, frequency, due_day, deposit_cents, proration, next_post_day, next_event_day)
				VALUES (?1, ?1, ?2, 2932896, ?3, 'weekly', 1, 0, 'actual', ?2, ?2)`, i, first, 25_000+i); err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO lease_tenants VALUES (?1, 1, ?1)", i); err != nil {
				return err
			}
		}
		return nil
	}))
}

// payBut pays every charge except each nth of a lease, directly in the rows.
func (h *fixture) payBut(n int) {
	h.T.Helper()
	for _, q := range []string{
		fmt.Sprintf("UPDATE charges SET paid_date = due_date, paid_cents = amount_cents, method = 'cash' WHERE id %% %d <> 0", n),
		`INSERT INTO payments (id, lease_id, amount_cents, credit_cents, method, paid_date, recorded_at)
			SELECT id, lease_id, amount_cents, 0, method, paid_date, posted_at FROM charges WHERE paid_date IS NOT NULL`,
		"INSERT INTO allocations (payment_id, charge_id, amount_cents) SELECT id, id, amount_cents FROM payments",
	} {
		h.raw(q)
	}
}

// BenchmarkLedger reads a ledger of 300 charges with nothing to post: complete, the bare statement of the same rows,
// and the encoding alone.
func BenchmarkLedger(b *testing.B) {
	h := open(b, "2026-11-20")
	h.fill(3, day(b, "2026-11-20")-300*7+2)
	if _, err := h.Arrears(ctx, viewer); err != nil {
		b.Fatal(err)
	}
	h.payBut(20)
	l, err := h.Ledger(ctx, viewer, 2)
	h.Must(err)
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l, err := h.Ledger(ctx, viewer, 2)
			if err != nil || len(l.Charges) != 300 {
				b.Fatal(len(l.Charges), err)
			}
		}
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			bare(b, h, "SELECT "+chargeColumns+" FROM charges c WHERE c.lease_id = ?", 2)
		}
	})
	b.Run("encoding", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := strict.Marshal(l); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// bare steps a statement whose rows are charges, and reads each column.
func bare(b *testing.B, h *fixture, query string, arg int64) {
	err := h.DB.View(ctx, func(c *db.Conn) error {
		s, err := c.Prepare(query)
		if err != nil {
			return err
		}
		if err := s.Ints(arg); err != nil {
			return err
		}
		for {
			r, err := s.Step()
			if err != nil || r == nil {
				return err
			}
			_, _, _, _, _ = r.Int(), r.Text(), r.Text(), r.Int(), r.Int()
			_, _, _, _, _ = r.Int(), r.Text(), r.Int(), r.Int(), r.Int()
		}
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkArrears reads the arrears of 10,000 leases with 600,000 charges, one in twenty unpaid, then one in two
// hundred: the cost follows the unpaid ones.
func BenchmarkArrears(b *testing.B) {
	for _, unpaid := range []int{20, 200} {
		b.Run(fmt.Sprintf("one of %d unpaid", unpaid), func(b *testing.B) {
			h := open(b, "2026-11-20")
			h.fill(10_000, day(b, "2026-11-20")-60*7+1)
			if _, err := h.Arrears(ctx, viewer); err != nil {
				b.Fatal(err)
			}
			h.payBut(unpaid)
			b.ReportAllocs()
			for b.Loop() {
				a, err := h.Arrears(ctx, viewer)
				if err != nil || len(a.Arrears) < 600_000/unpaid*9/10 {
					b.Fatal(len(a.Arrears), err)
				}
			}
		})
	}
}

// BenchmarkPosting posts five years of weekly rent of 1,000 new leases, 260,000 charges, in the transaction of the
// first arrears request.
func BenchmarkPosting(b *testing.B) {
	b.ReportAllocs()
	for range b.N {
		b.StopTimer()
		h := open(b, "2026-11-20")
		h.fill(1_000, day(b, "2026-11-20")-260*7+1)
		var ids []int64
		h.Must(h.DB.View(ctx, func(c *db.Conn) (err error) {
			ids, err = toPost(c)
			return err
		}))
		b.StartTimer()
		h.Must(db.Exec(ctx, h.DB, db.System(viewer), func(tx *db.Tx) error { return post(tx, ids...) }))
		b.StopTimer()
		if n := h.Number("SELECT count(*) FROM charges"); n != 260_000 {
			b.Fatal(n)
		}
		b.StartTimer()
	}
}

// BenchmarkHouse requests the pages of a landlord of 500 units with five years of weekly rent: this month, the units, a
// year of the property, and the first ten leases, of 500 and of 10,000.
func BenchmarkHouse(b *testing.B) {
	for _, leases := range []int{500, 10_000} {
		h := open(b, "2026-11-20")
		periods := 130_000 / leases
		h.fill(leases, day(b, "2026-11-20")-exact.Day(periods*7)+1)
		if _, err := h.Arrears(ctx, viewer); err != nil {
			b.Fatal(err)
		}
		h.payBut(20)
		measure := func(name string, do func() error) {
			b.Run(fmt.Sprintf("%s of %d", name, leases), func(b *testing.B) {
				for b.Loop() {
					h.Must(do())
				}
			})
		}
		measure("this month", func() error {
			return h.DB.View(ctx, func(c *db.Conn) error {
				o := Overview{Today: c.Today(), Month: c.Today().Month()}
				return o.read(c)
			})
		})
		measure("units", func() error {
			_, _, err := h.Occupancy(ctx, UnitFilter{Cursor: schema.First(50)}, day(b, "2026-06-01").Month(), 12)
			return err
		})
		measure("a year of the property", func() error {
			_, err := h.PropertyStatement(ctx, viewer, 1, 2026)
			return err
		})
		measure("ten leases", func() error {
			_, err := h.LeaseList(ctx, viewer, LeaseFilter{Cursor: schema.First(10)})
			return err
		})
	}
}
