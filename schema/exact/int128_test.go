package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"quartermaster/schema/assert"
)

const (
	least    = math.MinInt64
	greatest = math.MaxInt64
)

func (w Int128) big() *big.Int {
	b := new(big.Int).Lsh(big.NewInt(w.Hi), 64)
	return b.Add(b, new(big.Int).SetUint64(w.Lo))
}

var (
	wideMin = Int128{Hi: least}
	wideMax = Int128{Hi: greatest, Lo: math.MaxUint64}
)

// edgy yields numbers of every size, including the ends and their neighbours.
func edgy(r *rand.Rand) int64 {
	switch r.IntN(6) {
	case 0:
		return least + r.Int64N(3)
	case 1:
		return greatest - r.Int64N(3)
	case 2:
		return r.Int64N(7) - 3
	}
	return int64(r.Uint64()) >> r.IntN(64)
}

func edgyWide(r *rand.Rand) Int128 {
	switch r.IntN(8) {
	case 0:
		return wideMin
	case 1:
		return wideMax
	case 2:
		return Int128{edgy(r), uint64(edgy(r))}
	}
	return Mul(edgy(r), edgy(r))
}

// check compares the result of f, or its panic, with want.
func check(t *testing.T, what string, want *big.Int, f func() Int128) {
	t.Helper()
	fits := want.Cmp(wideMin.big()) >= 0 && want.Cmp(wideMax.big()) <= 0
	defer func() {
		r := recover()
		assert.Must(t, (r == nil) == fits, "%s: panic %v for %v", what, r, want)
	}()
	if got := f(); fits && got.big().Cmp(want) != 0 {
		t.Fatalf("%s = %v, want %v", what, got.big(), want)
	}
}

func TestWideAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100000 {
		a, b, n := edgyWide(r), edgyWide(r), edgy(r)
		x, y, z := a.big(), b.big(), new(big.Int)
		check(t, "Add", z.Add(x, y), func() Int128 { return a.Add(b) })
		check(t, "Sub", z.Sub(x, y), func() Int128 { return a.Sub(b) })
		check(t, "MulInt", z.Mul(x, big.NewInt(n)), func() Int128 { return a.MulInt(n) })
		check(t, "Mul", z.Mul(big.NewInt(a.Hi), big.NewInt(n)), func() Int128 { return Mul(a.Hi, n) })
		assert.Must(t, a.Cmp(b) == x.Cmp(y) && a.Sign() == x.Sign() && a.Cmp(a) == 0,
			"Cmp(%v, %v) = %d, Sign %d", x, y, a.Cmp(b), a.Sign())
		d := max(n, -n)
		if d <= 0 {
			d = 1 + r.Int64N(9)
		}
		checkDivision(t, a, d)
		checkDivision(t, Mul(d, edgy(r)).Add(Mul(r.Int64N(5)-2, 1)), d)
		half := Mul(d, 2*(edgy(r)>>2)+1) // an exact half of 2d
		if d < 1<<62 {
			checkDivision(t, half, 2*d)
			checkDivision(t, half.Add(Int128{-1, math.MaxUint64}), 2*d)
			checkDivision(t, half.Add(Int128{0, 1}), 2*d)
		}
	}
}

func checkDivision(t *testing.T, w Int128, d int64) {
	t.Helper()
	x, y := w.big(), big.NewInt(d)
	floor := func(n, d *big.Int) int64 {
		q := new(big.Int).Div(n, d) // Euclidean: the floor, as d > 0
		switch {
		case q.IsInt64():
			return q.Int64()
		case q.Sign() < 0:
			return least
		}
		return greatest
	}
	twice := new(big.Int).Lsh(y, 1)
	half := new(big.Int).Add(new(big.Int).Lsh(x, 1), y)
	above := new(big.Int).Add(x, big.NewInt(d-1))
	got, want := w.DivFloor(d), floor(x, y)
	assert.Must(t, got == want, "%v DivFloor %d = %d, want %d", x, d, got, want)
	got, want = w.DivRound(d), floor(half, twice)
	assert.Must(t, got == want, "%v DivRound %d = %d, want %d", x, d, got, want)
	got, want = w.DivCeil(d), floor(above, y)
	assert.Must(t, got == want, "%v DivCeil %d = %d, want %d", x, d, got, want)
	if x.IsInt64() && RoundHalfUp(x.Int64(), d) != w.DivRound(d) {
		t.Fatalf("RoundHalfUp(%v, %d) = %d", x, d, RoundHalfUp(x.Int64(), d))
	}
}

func TestDivisionPanics(t *testing.T) {
	for _, d := range []int64{0, -1, least} {
		for i, f := range []func(){
			func() { Int128{}.DivFloor(d) },
			func() { Int128{}.DivRound(d) },
			func() { Int128{}.DivCeil(d) },
			func() { RoundHalfUp(1, d) },
		} {
			func() {
				defer func() {
					assert.That(t, recover() != nil, "division %d by %d did not panic", i, d)
				}()
				f()
			}()
		}
	}
}
