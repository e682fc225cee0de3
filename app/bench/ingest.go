//go:build linux

package main

import (
	"fmt"

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

func (s *shop) days(first exact.Day, n int) []sale {
	skus := min(s.skus, 1000)
	rows := make([]sale, 0, skus*uploadDays)
	for i := range skus * uploadDays {
		at := int(int64(i) * 32749 % int64(skus*uploadDays)) // a prime, so that every row comes once
		rows = append(rows, sale{first + exact.Day(at%uploadDays), 1 + at/uploadDays, 1 + (at+n)%40})
	}
	return rows
}

// body is the upload as sent.
func body(rows []sale) string {
	b := []byte(`{"replace":true,"rows":[`)
	for i, r := range rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(r.day.Append(append(b, `{"date":"`...)), `","sku":"`...)
		b = fmt.Appendf(b, `SKU-%06d","qty":%d}`, r.sku, r.qty)
	}
	return string(append(b, `]}`...))
}

// ingestion is an upload of 50,000 rows in one durable commit.
func (b *bench) ingestion(p *process) []oneCase {
	sent := func(rows func(int) []sale) runner {
		n := 0
		return func() (sample, error) {
			r := request("POST", "/api/sales-history", b.shop.keys["reorder"], body(rows(n)))
			n++
			return load(p, p.addrs["reorder"], 1, 0, always(r))
		}
	}
	floors := []floor{{"plain commits", b.plainCommits}}
	return []oneCase{
		{name: "50,000 rows, half of them new", clients: 1, ours: sent(b.shop.upload), floors: floors},
		{name: "50,000 rows again", clients: 1, ours: sent(b.shop.recent), floors: floors},
	}
}
