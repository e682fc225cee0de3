package maintenance

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/db/dbtest"
	"quartermaster/schema/exact"
	"quartermaster/schema/strict"
)

const benchToday = exact.Day(20777) // 2026-11-20

// filled makes a database by the benchmark's own SQL. KEEP_BENCH_DB names a folder to keep it in, for a comparison with
// another program on the same rows.
func filled(b *testing.B, name string, script ...string) *fixture {
	b.Helper()
	dir := os.Getenv("KEEP_BENCH_DB")
	if dir == "" {
		dir = b.TempDir()
	}
	path := filepath.Join(dir, name+".db")
	o := db.Options{Migrate: true, Zone: time.UTC, Now: func() time.Time { return benchToday.Time(time.UTC).Add(12 * time.Hour) }}
	_, err := os.Stat(path)
	s := &fixture{Fixture: &dbtest.Fixture{T: b}}
	if err != nil {
		s.Must(db.Create(path, o))
	}
	made := err == nil
	d, err := db.Open(path, o)
	s.Must(err)
	b.Cleanup(func() { s.Must(d.Close()) })
	s.DB, s.Service = d, New(d)
	if !made {
		s.Must(db.Exec(ctx, d, cli, func(tx *db.Tx) error {
			for _, sql := range script {
				if _, err := tx.Exec(sql); err != nil {
					return err
				}
			}
			return tx.Audit("bench.filled", "bench", nil)
		}))
	}
	return s
}

// bare steps a prepared statement through all rows and columns and does nothing else: the cost of the engine alone.
func (s *fixture) bare(b *testing.B, query string, columns int, args ...any) {
	s.Must(s.DB.View(ctx, func(c *db.Conn) error {
		st, err := c.Prepare(query)
		if err != nil {
			return err
		}
		for b.Loop() {
			if err := st.Args(args...); err != nil {
				return err
			}
			for {
				r, err := st.Step()
				if err != nil {
					return err
				}
				if r == nil {
					break
				}
				for range columns {
					_ = r.Text()
				}
			}
		}
		return nil
	}))
}

// BenchmarkNewestWorkOrders lists the newest 200 of few and of many orders, next to the bare statement and the
// encoding.
func BenchmarkNewestWorkOrders(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		s := filled(b, fmt.Sprintf("orders-%d", n),
			"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO assets (asset_tag, name, status) SELECT 'A-' || i, 'Machine number ' || i, 'operational' FROM n",
			fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
				INSERT INTO work_orders (asset_id, description, priority, wo_type, status, assigned_to, labor_minutes, typed_cents, downtime_minutes, created_by, created_at, updated_at)
				SELECT 1 + i %% 1000, 'Something is loose on the left, job ' || i, CASE i %% 4 WHEN 0 THEN 'low' WHEN 1 THEN 'medium' WHEN 2 THEN 'high' ELSE 'urgent' END, 'corrective',
				CASE i %% 3 WHEN 0 THEN 'open' ELSE 'in-progress' END, CASE i %% 2 WHEN 0 THEN 'Ana' END, i %% 300, i %% 5000, i %% 60, 'alice', 1700000000 + i, 1700000000 + i FROM n`, n))
		list, err := s.WorkOrders(ctx, Filter{Cursor: schema.First(newest)})
		s.Must(err)
		query, _ := Filter{Cursor: schema.First(newest)}.newestFirst(nil)
		b.Run(fmt.Sprintf("%d/bare", n), func(b *testing.B) { s.bare(b, query, 21, newest) })
		b.Run(fmt.Sprintf("%d/encoding", n), func(b *testing.B) {
			for b.Loop() {
				encoded(b, list)
			}
		})
		b.Run(fmt.Sprintf("%d/board", n), func(b *testing.B) {
			for b.Loop() {
				_, err := s.Board(ctx)
				s.Must(err)
			}
		})
		for _, status := range []string{"", "open"} {
			b.Run(fmt.Sprintf("%d/list%s", n, status), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					list, err := s.WorkOrders(ctx, Filter{Status: status, Cursor: schema.First(newest)})
					if err != nil || len(list.WorkOrders) != newest {
						b.Fatal(err, len(list.WorkOrders))
					}
					encoded(b, list)
				}
			})
		}
	}
}

// encoded writes an answer as REST does.
func encoded(b *testing.B, answer any) {
	held := strict.GetBuffer()
	body, err := strict.Append((*held)[:0], answer)
	if err != nil {
		b.Fatal(err)
	}
	strict.PutBuffer(held, body)
}

// BenchmarkPMDue lists the due plans of 10,000 assets with 100 readings each, next to the bare statement over the same
// rows.
func BenchmarkPMDue(b *testing.B) {
	const n = 10_000
	series := func(most int) string {
		return fmt.Sprintf("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", most)
	}
	s := filled(b, "plans",
		series(n)+"INSERT INTO assets (asset_tag, name, status) SELECT 'A-' || i, 'Machine number ' || i, 'operational' FROM n",
		series(n)+fmt.Sprintf(`INSERT INTO meters (asset_id, name, unit, reading, read_date, last_day, last_value, posted)
			SELECT i, 'hours', 'h', 1000 * (100 * (10 + i %% 7)), %d, %d, 1000 * (100 * (10 + i %% 7)), 100 FROM n`, benchToday, benchToday),
		series(n)+fmt.Sprintf(`INSERT INTO readings (meter_id, epoch, day, seq, value, correction)
			SELECT m.id, 0, %d - 198 + 2 * (k.i - 1), k.i, 1000 * k.i * (10 + m.id %% 7), 0
			FROM meters m CROSS JOIN (SELECT i FROM n WHERE i <= 100) k`, benchToday),
		series(n)+fmt.Sprintf(`INSERT INTO pm_plans (asset_id, title, interval_days, interval_usage, meter_id, start_date, last_done_date, baseline)
			SELECT i, 'Change the oil', 180, 1000 * (200 + i %% 100), i, %d, %d - i %% 200, 1000 * (100 * (10 + i %% 7) - i %% 250) FROM n`, benchToday-400, benchToday))
	b.Run("bare", func(b *testing.B) {
		s.bare(b, "SELECT "+dueColumns+`, r.day, r.value FROM pm_plans p CROSS JOIN assets a ON a.id = p.asset_id LEFT JOIN meters m ON m.id = p.meter_id
			LEFT JOIN readings r ON r.meter_id = m.id AND r.epoch = m.epoch AND (r.day, r.seq) = (SELECT day, seq FROM readings
				WHERE meter_id = m.id AND epoch = m.epoch AND day >= ? ORDER BY day, seq LIMIT 1) WHERE a.status <> 'retired'`, 22, windowStart(benchToday))
	})
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if list, err := s.PMDue(ctx, ""); err != nil || len(list.PMDue) != n {
				b.Fatal(err, len(list.PMDue))
			}
		}
	})
	b.Run("board", func(b *testing.B) {
		for b.Loop() {
			_, err := s.Board(ctx)
			s.Must(err)
		}
	})
	b.Run("list and encoding", func(b *testing.B) {
		for b.Loop() {
			list, err := s.PMDue(ctx, "")
			if err != nil {
				b.Fatal(err)
			}
			encoded(b, list)
		}
	})
}

// BenchmarkReading posts readings one by one, each a durable commit, next to a durable commit of two rows.
func BenchmarkReading(b *testing.B) {
	s := open(b)
	s.lathe("100", "2026-11-01")
	s.Must(db.Exec(ctx, s.DB, cli, func(tx *db.Tx) error {
		_, err := tx.Exec("INSERT INTO endpoints (service, url, secret, created_at) VALUES ('maintenance', 'http://localhost', 'x', 0)")
		if err != nil {
			return err
		}
		return tx.Audit("bench.filled", "bench", nil)
	}))
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			s.Must(db.Exec(ctx, s.DB, db.Bookkeeping(), func(tx *db.Tx) error {
				if _, err := tx.Exec("INSERT INTO audit (at, service, actor, via, action, subject, changes) VALUES (0, 'maintenance', 'a', 'b', 'c', 'd', '{}')"); err != nil {
					return err
				}
				_, err := tx.Exec("INSERT INTO audit (at, service, actor, via, action, subject, changes) VALUES (0, 'maintenance', 'a', 'b', 'c', 'd', '{}')")
				return err
			}))
		}
	})
	b.Run("posted", func(b *testing.B) {
		b.ReportAllocs()
		at := s.meter("hours").Reading
		for b.Loop() {
			at += 10
			if _, err := s.RecordReading(ctx, ana, NewReading{AssetID: 1, Reading: at}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
