package rental

import (
	"math/rand/v2"
	"testing"

	"quartermaster/schema/exact"
)

// TestAppendJSONIsEncodingJSON over answers of all sorts, each member set and unset.
func TestAppendJSONIsEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	texts := []string{"", "Ada", "Zoë \"Z\" <b>&", "a\\b\n\t", "\u2028", "日本", "\x7f", "bad \xff"}
	text := func() string { return texts[r.IntN(len(texts))] }
	maybe := func() *string {
		if s := text(); s != "" {
			return &s
		}
		return nil
	}
	num := func() int64 { return r.Int64() >> r.IntN(63) * int64(1-2*r.IntN(2)) }
	aDay := func() exact.Day { return exact.MinDay + exact.Day(r.Int32N(int32(exact.MaxDay-exact.MinDay)+1)) }
	maybeDay := func() *exact.Day {
		if d := aDay(); r.IntN(3) > 0 {
			return &d
		}
		return nil
	}
	charge := func() Charge {
		d := aDay()
		return Charge{ID: num(), Type: text(), Period: d.Month(), Label: text(), DueDate: d, AmountCents: num(), Paid: r.IntN(2) == 0,
			PaidDate: maybeDay(), Method: maybe(), PeriodStart: maybeDay(), PeriodEnd: maybeDay(), rent: num()}
	}
	lease := func() Lease {
		return Lease{num(), num(), text(), text(), text(), maybe(), num(), text(), num(), aDay(), maybeDay(), num(), text(), text(), num(), maybeDay()}
	}
	for range 300 {
		l := Ledger{Lease: lease(), Charges: []Charge{}, Totals: Totals{num(), num(), num()}}
		a := Arrears{Today: aDay(), Arrears: []Arrear{}, TotalCents: num(), Buckets: Buckets{num(), num(), num(), num()}}
		p := Leases{Leases: []Lease{}}
		for range r.IntN(4) {
			l.Charges = append(l.Charges, charge())
			a.Arrears = append(a.Arrears, Arrear{charge(), num(), text(), text(), text(), maybe(), num()})
			p.Leases = append(p.Leases, lease())
			n := num()
			p.Next = &n
		}
		for _, v := range []interface{ AppendJSON([]byte) []byte }{l, a, p} {
			if got, want := string(v.AppendJSON([]byte("x"))[1:]), asJSON(t, v); got != want {
				t.Fatalf("%s\nwant\n%s", got, want)
			}
		}
	}
}
