package reorder

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/strict"
)

// benchFirst and the others are the baseline's data set: so many SKUs, 90 days of sales, and an upload of 50 days that
// begins inside them.
const (
	benchFirst = exact.Day(20400)
	benchDays  = 90
	benchToday = benchFirst + 65 + 49
)

// stocked makes a database of n active SKUs of 40 suppliers with so many days of sales, ending where the baseline's
// data do, and returns its path.
func stocked(tb testing.TB, n, days int) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "bench.db")
	o := benchOptions()
	ok := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	ok(db.Create(path, o))
	d, err := db.Open(path, o)
	ok(err)
	s, r := New(d), rand.New(rand.NewPCG(7, 7))
	_, err = s.ChangeSettings(context.Background(), cli, SettingsChange{})
	ok(err)
	ok(db.Exec(context.Background(), d, cli, func(tx *db.Tx) error {
		sold, first := make([]int64, n), make([]int64, n)
		p, err := newSalesWriter(tx)
		if err != nil {
			return err
		}
		for day := benchFirst + benchDays - exact.Day(days); day < benchFirst+benchDays; day++ {
			for i := range n {
				qty := int64(r.IntN(12)) * 1000
				if err := p.add(int64(day), int64(i+1), qty); err != nil {
					return err
				}
				if day > benchToday-30 {
					sold[i] += qty
				}
				if qty > 0 && first[i] == 0 {
					first[i] = int64(day)
				}
			}
		}
		if err := p.flush(); err != nil {
			return err
		}
		insert, err := tx.Change(`INSERT INTO skus (active, current_stock, sold, first_sold, is_below, judged_on, lead_time_days, safety_stock_days,
			pack_size, moq, unit_cost_cents, created_at, updated_at, sku, name, supplier, supplier_sku, barcode, unit)
			VALUES (1, ?, ?, ?, 0, 0, ?, ?, 1, 0, 250, 0, 0, ?, ?, ?, '', '', 'piece')`)
		if err != nil {
			return err
		}
		for i := range n {
			// One in twenty is below or near: sales of one day x 3 to 47 days, a stock of up to 600.
			if err := insert.Args(r.IntN(600)*1000, sold[i], first[i], 3+r.IntN(25), r.IntN(20), fmt.Sprintf("SKU-%06d", i+1), fmt.Sprintf("Widget number %d, assorted", i+1), fmt.Sprintf("Supplier %d", i%40)); err != nil {
				return err
			}
			if err := insert.Run(); err != nil {
				return err
			}
		}
		h, err := rollToToday(tx)
		if err != nil {
			return err
		}
		if err := judgeAll(tx, h); err != nil {
			return err
		}
		return tx.Audit("bench", "bench", nil)
	}))
	ok(d.Close())
	return path
}

func benchOptions() db.Options {
	return db.Options{Zone: time.UTC, Now: func() time.Time { return benchToday.Time(time.UTC) }}
}

// upload50k is the baseline's upload: 1,000 SKUs x 50 days, shuffled, half of them stored.
func upload50k() []byte {
	r := rand.New(rand.NewPCG(7, 50))
	rows := make([]string, 0, 50_000)
	for sku := range 1000 {
		for k := range 50 {
			rows = append(rows, fmt.Sprintf(`{"date":"%s","sku":"SKU-%06d","qty":%d}`, benchFirst+65+exact.Day(k), sku+1, 1+r.IntN(40)))
		}
	}
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	body := []byte(`{"replace":true,"rows":[`)
	for i, row := range rows {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, row...)
	}
	return append(body, `]}`...)
}

// BenchmarkIngest50k is the whole request except HTTP: parsing the body, checking the rows, the transaction with its
// durable commit, the answer.
func BenchmarkIngest50k(b *testing.B) {
	template, body := stocked(b, 1000, benchDays), upload50k()
	b.Run("first", func(b *testing.B) { benchIngest(b, template, body, 0) })
	b.Run("again", func(b *testing.B) { benchIngest(b, template, body, 1) })
}

func benchIngest(b *testing.B, template string, body []byte, before int) {
	file, err := os.ReadFile(template)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "run.db")
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		b.StopTimer()
		for _, suffix := range []string{"-wal", "-shm"} {
			_ = os.Remove(path + suffix)
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			b.Fatal(err)
		}
		d, err := db.Open(path, benchOptions())
		if err != nil {
			b.Fatal(err)
		}
		op := New(d).ingestSales()
		for range before {
			ingestOnce(b, op, body)
		}
		b.StartTimer()
		ingestOnce(b, op, body)
		b.StopTimer()
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func ingestOnce(b *testing.B, op schema.Op, body []byte) {
	v, err := strict.Parse(body, strict.MaxDepth)
	if err != nil {
		b.Fatal(err)
	}
	do, err := op.Decode(schema.Input{Surface: schema.REST, Body: v, HasBody: true})
	if err != nil {
		b.Fatal(err)
	}
	answer, err := do(context.Background(), cli)
	if err != nil {
		b.Fatal(err)
	}
	if got := answer.(Ingested); got.Imported != 50_000 {
		b.Fatalf("%d imported, %v", got.Imported, got.Errors[0])
	}
	if _, err := strict.Marshal(answer); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkReport10k and BenchmarkReport100k are GET /api/reorder-report except HTTP: reading, figures, order, the
// answer's JSON. "later" reads on a day to which no write has moved the window yet.
func BenchmarkReport10k(b *testing.B)  { benchReport(b, 10_000) }
func BenchmarkReport100k(b *testing.B) { benchReport(b, 100_000) }

func benchReport(b *testing.B, n int) {
	path := stocked(b, n, benchDays)
	for _, c := range []struct {
		name, status string
		later        exact.Day
	}{{"flagged", Flagged, 0}, {"all", All, 0}, {"flagged-later", Flagged, 1}} {
		o := benchOptions()
		o.Now = func() time.Time { return (benchToday + c.later).Time(time.UTC) }
		d, err := db.Open(path, o)
		if err != nil {
			b.Fatal(err)
		}
		s := New(d)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				rep, err := s.Report(context.Background(), ReportQuery{Status: c.status})
				if err != nil {
					b.Fatal(err)
				}
				out = rep.AppendJSON(out[:0])
			}
			b.ReportMetric(float64(len(out)), "answer-bytes")
		})
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
