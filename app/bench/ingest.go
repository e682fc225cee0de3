//go:build linux

package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"quartermaster/schema/exact"
)

// sale is a row of an upload.
type sale struct {
	day exact.Day
	sku int
	qty int
}

// uploadDays is the number of days of an upload, of 1,000 SKUs, or of all if there are fewer: 50,000 rows.
const uploadDays = 50

// upload makes the n-th upload, in a fixed shuffled order, as exports come. Each reaches 25 days further back than the
// one before: half of its rows replace stored ones, half are new. The first 25 days of the data set are replaced first.
func (s *shop) upload(n int) []sale {
	first := s.today - exact.Day(s.saleDays) - exact.Day(uploadDays/2*(n+1))
	return s.days(first, n)
}

// recent is an upload of the last 50 days, all stored already: they include the forecast's window, so that every SKU is
// computed again.
func (s *shop) recent(n int) []sale { return s.days(s.today-uploadDays, n) }

// older is an upload of 50 days that no other case touches, all stored, or none if the data set is small; apart are the
// 50 days before those.
func (s *shop) older(n int) []sale { return s.days(s.today-4*uploadDays, n) }
func (s *shop) apart(n int) []sale { return s.days(s.today-5*uploadDays, n) }

func (s *shop) days(first exact.Day, n int) []sale {
	skus := min(s.skus, 1000)
	rows := make([]sale, 0, skus*uploadDays)
	for i := range skus * uploadDays {
		at := int(int64(i) * 32749 % int64(skus*uploadDays)) // a prime, so that every row comes once
		rows = append(rows, sale{first + exact.Day(at%uploadDays), 1 + at/uploadDays, 1 + (at+n)%40})
	}
	return rows
}

// body is the upload as sent; channel "" is none.
func body(rows []sale, channel string) string {
	b := []byte(`{"replace":true,"rows":[`)
	if channel != "" {
		b = fmt.Appendf(nil, `{"replace":true,"channel":%q,"rows":[`, channel)
	}
	for i, r := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(r.day.Append(append(b, `{"date":"`...)), `","sku":"`...)
		b = fmt.Appendf(b, `SKU-%06d","qty":%d}`, r.sku, r.qty)
	}
	return string(append(b, `]}`...))
}

// ingestion is an upload of 50,000 rows next to the bare upserts of the same rows, sorted, in one durable commit, into
// a table of the same form and content.
func (b *bench) ingestion(p *process) ([]oneCase, error) {
	bare, err := b.scratch()
	if err != nil {
		return nil, err
	}
	sent := func(rows func(int) []sale, channel string) runner {
		n := 0
		return func() (sample, error) {
			r := request("POST", "/api/sales-history", b.shop.keys["reorder"], body(rows(n), channel))
			n++
			return load(p, p.addrs["reorder"], 1, 0, nil, always(r))
		}
	}
	upserts := func(rows func(int) []sale) floor {
		n := 0
		return floor{"bare upserts", func() (sample, error) {
			all := rows(n)
			n++
			return repeat(0, func(int) error { return bare.upsert(all) })
		}}
	}
	return []oneCase{
		{name: "50,000 rows, half of them new", clients: 1, target: "2 x C upserts", ours: sent(b.shop.upload, ""),
			floors: []floor{upserts(b.shop.upload)}},
		{name: "50,000 rows again", clients: 1, target: "2 x C upserts", ours: sent(b.shop.recent, ""),
			floors: []floor{upserts(b.shop.recent)}},
		{name: "50,000 rows of a channel", clients: 1, target: "told", ours: sent(b.shop.older, "web"),
			floors: []floor{{"without a channel", sent(b.shop.apart, "")}}},
	}, nil
}

// scratch is a file with only the sales table.
func (b *bench) scratch() (*engine, error) {
	c, err := openEngine(filepath.Join(b.dir, "upserts.db"))
	if err != nil {
		return nil, err
	}
	for _, q := range []string{
		"CREATE TABLE IF NOT EXISTS sales (day INTEGER NOT NULL, sku_id INTEGER NOT NULL, qty INTEGER NOT NULL CHECK (qty " +
			">= 0), PRIMARY KEY (day, sku_id)) STRICT, WITHOUT ROWID",
		numbers(b.shop.saleDays) +
			fmt.Sprintf("INSERT INTO sales SELECT %d + d.i, k.i, 1000 FROM n d CROSS JOIN (SELECT i FROM n UNION SELECT i + "+
				"%d FROM n) k WHERE k.i <= %d",
				int(b.shop.today)-1-b.shop.saleDays, b.shop.saleDays, b.shop.skus),
	} {
		if _, err := step(c, q); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

func (c *engine) upsert(rows []sale) error {
	slices.SortFunc(rows, func(a, b sale) int { return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.sku, b.sku)) })
	return commit(c, func() error {
		for _, r := range rows {
			const q = "INSERT INTO sales (day, sku_id, qty) VALUES (?, ?, ?) ON CONFLICT (day, sku_id) DO UPDATE SET qty = " +
				"excluded.qty"
			if _, err := step(c, q, int(r.day), r.sku, 1000*r.qty); err != nil {
				return err
			}
		}
		return nil
	})
}

// crowd measures requests during an upload. The baselines are the same reads and writes without it.
func (b *bench) crowd(p *process) []oneCase {
	read := func(clients int) runner {
		return b.ask(p, "maintenance", clients, always(b.shop.get("maintenance", "/api/work-orders/7")))
	}
	write := b.ask(p, "maintenance", 1, b.reading())
	n := 1_000_000
	during := func(r runner) runner {
		return func() (sample, error) {
			stop, done := make(chan struct{}), make(chan error, 1)
			go func() {
				n++
				up := request("POST", "/api/sales-history", b.shop.keys["reorder"], body(b.shop.recent(n), ""))
				_, err := load(p, p.addrs["reorder"], 1, time.Hour, stop, always(up))
				done <- err
			}()
			s, err := r()
			close(stop)
			return s, errors.Join(err, <-done)
		}
	}
	reads := func(clients int) oneCase {
		return oneCase{name: "reads during uploads", clients: clients, target: "p99 <= 2 x", ours: during(read(clients)),
			floors: []floor{{"without uploads", read(clients)}}}
	}
	return []oneCase{
		reads(1), reads(4), // four keep both cores of a small machine busy
		{name: "writes during uploads", clients: 1, target: "wait <= an upload", ours: during(write),
			floors: []floor{{"without uploads", write}}},
	}
}
