package strict_test

import (
	"fmt"
	"strings"
	"testing"

	"quartermaster/schema/exact"
	"quartermaster/schema/strict"
)

const salesRows = 50_000

// salesBody is a month's sales as a cash register sends them.
func salesBody(rows int) []byte {
	var s strings.Builder
	s.WriteString(`{"rows":[`)
	for i := range rows {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, `{"date":"2026-01-%02d","sku":"SKU-%06d","qty":%d}`, i%31+1, i%1000, i%20+1)
	}
	s.WriteString(`]}`)
	return []byte(s.String())
}

// walkSales reads the body as a request handler does. It returns the sum of the quantities and the number of complete
// rows.
func walkSales(b []byte) (sum exact.Milli, rows int, err error) {
	body, err := strict.Parse(b, strict.MaxDepth)
	if err != nil {
		return 0, 0, err
	}
	list, _ := body.Get("rows")
	var buf [64]byte
	for _, row := range list.Items {
		fields := 0
		for name, v := range row.Fields {
			switch string(name) {
			case "date":
				if _, ok := exact.ParseDayBytes(v.TextBytes(buf[:])); ok {
					fields |= 1
				}
			case "sku":
				if len(v.TextBytes(buf[:])) > 0 {
					fields |= 2
				}
			case "qty":
				if v.Kind() != strict.Number {
					continue
				}
				if q, err := exact.ParseMilliBytes(v.Raw()); err == nil {
					sum += q
					fields |= 4
				}
			}
		}
		if fields == 7 {
			rows++
		}
	}
	return sum, rows, nil
}

func TestSalesBody(t *testing.T) {
	sum, rows, err := walkSales(salesBody(100))
	if err != nil || rows != 100 || sum != 5*210*1000 {
		t.Fatalf("sum %v, rows %d, error %v", sum, rows, err)
	}
}

func BenchmarkSalesBody(b *testing.B) {
	body := salesBody(salesRows)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, rows, err := walkSales(body); err != nil || rows != salesRows {
			b.Fatal(rows, err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	body := salesBody(salesRows)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := strict.Parse(body, strict.MaxDepth); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkManyNames has one object of 100,000 names.
func BenchmarkManyNames(b *testing.B) {
	var s strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&s, `,"name %d":0`, i)
	}
	body := []byte("{" + s.String()[1:] + "}")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := strict.Parse(body, 1); err != nil {
			b.Fatal(err)
		}
	}
}
