package rental

import (
	"fmt"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// BenchmarkFreeLines shows the bank's page with 60 free lines among 10,000 leases: a third has the tenant's name, a
// third a reference, a third the unit's name.
func BenchmarkFreeLines(b *testing.B) {
	const n = 10_000
	h := open(b, "2026-11-20")
	h.fill(n, day(b, "2026-11-01"))
	h.raw("UPDATE tenants SET name = 'Anna' || id || ' Berg' || (id * 7)")
	h.bank()
	if _, err := h.Arrears(ctx, viewer); err != nil {
		b.Fatal(err)
	}
	var lines []string
	sum := 0
	for i := range 60 {
		lease := 1 + i*n/60
		says := []string{fmt.Sprintf("Berg%d, Anna%d|DE%d|Rent", lease*7, lease, i), fmt.Sprintf("Somebody Else|DE%d|%s", i, PaymentReference(int64(lease))),
			fmt.Sprintf("Tenant|DE%d|Rent U%d", i, lease)}[i%3]
		lines = append(lines, fmt.Sprintf("2026-11-%02d +%d.%02d %s", 1+i%20, (25_000+lease)/100, (25_000+lease)%100, says))
		sum += 25_000 + lease
	}
	_, err := h.ImportBank(ctx, ann, BankFile{File: schema.File{Name: "a.sta", Data: mt940("0.00", fmt.Sprintf("%d.%02d", sum/100, sum%100), lines...)}})
	h.Must(err)
	b.Run("lines", func(b *testing.B) {
		for b.Loop() {
			h.Must(h.DB.View(ctx, func(c *db.Conn) error {
				_, err := freeLines(c)
				return err
			}))
		}
	})
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			if _, err := h.BankBook(ctx, viewer, LineFilter{State: lineFree, Limit: 50}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
