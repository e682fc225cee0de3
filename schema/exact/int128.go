// #nosec G115 -- halves of 128-bit numbers are read with and without a sign by turns

package exact

import (
	"math"
	"math/bits"
)

// Int128 is a signed 128-bit integer, Hi*2^64 + Lo: a product of two int64, or a sum of such products. The zero value
// is 0, and == compares numbers.
//
// Add, Sub and MulInt are exact or panic: a sum beyond 128 bits is never returned. With factors within ±10^15, a
// hundred million products can be added safely.
type Int128 struct {
	Hi int64
	Lo uint64
}

const overflow = "exact: result beyond 128 bits"

// Mul returns a*b. It cannot overflow.
func Mul(a, b int64) Int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// A negative a was read as a+2^64, which added b*2^64; likewise b.
	return Int128{Hi: int64(hi) - (a>>63)&b - (b>>63)&a, Lo: lo}
}

// Add returns w+x. It panics beyond 128 bits.
func (w Int128) Add(x Int128) Int128 {
	lo, carry := bits.Add64(w.Lo, x.Lo, 0)
	hi, _ := bits.Add64(uint64(w.Hi), uint64(x.Hi), carry)
	sum := Int128{Hi: int64(hi), Lo: lo}
	if (w.Hi^sum.Hi)&(x.Hi^sum.Hi) < 0 {
		panic(overflow)
	}
	return sum
}

// Sub returns w-x. It panics beyond 128 bits.
func (w Int128) Sub(x Int128) Int128 {
	lo, borrow := bits.Sub64(w.Lo, x.Lo, 0)
	hi, _ := bits.Sub64(uint64(w.Hi), uint64(x.Hi), borrow)
	diff := Int128{Hi: int64(hi), Lo: lo}
	if (w.Hi^x.Hi)&(w.Hi^diff.Hi) < 0 {
		panic(overflow)
	}
	return diff
}

// MulInt returns w*n. It panics beyond 128 bits.
func (w Int128) MulInt(n int64) Int128 {
	hi, lo := w.magnitude()
	u := uint64(n)
	if n < 0 {
		u = -u
	}
	carry, plo := bits.Mul64(lo, u)
	over, phi := bits.Mul64(hi, u)
	phi, c := bits.Add64(phi, carry, 0)
	negative := (w.Hi < 0) != (n < 0)
	const sign = 1 << 63
	if over+c != 0 || phi > sign || phi == sign && (plo != 0 || !negative) {
		panic(overflow)
	}
	if negative {
		phi, plo = negated(phi, plo)
	}
	return Int128{Hi: int64(phi), Lo: plo}
}

// Cmp returns -1, 0 or 1 as w is less than, equal to or greater than x.
func (w Int128) Cmp(x Int128) int {
	switch {
	case w == x:
		return 0
	case w.Hi < x.Hi || w.Hi == x.Hi && w.Lo < x.Lo:
		return -1
	}
	return 1
}

// Sign returns -1, 0 or 1 as w is negative, zero or positive.
func (w Int128) Sign() int {
	switch {
	case w.Hi < 0:
		return -1
	case w == Int128{}:
		return 0
	}
	return 1
}

// DivRound returns w/d rounded to the nearest integer, an exact half upwards:
// 2.5 is 3 and -2.5 is -2. A result beyond int64 becomes the int64 end nearest
// to it. It panics unless d > 0.
func (w Int128) DivRound(d int64) int64 {
	q, r := w.divFloor(d)
	if r >= uint64(d)-r && q < math.MaxInt64 {
		q++
	}
	return q
}

// DivFloor returns w/d rounded down (towards minus infinity). A result beyond
// int64 becomes the int64 end nearest to it. It panics unless d > 0.
func (w Int128) DivFloor(d int64) int64 {
	q, _ := w.divFloor(d)
	return q
}

// DivCeil returns w/d rounded up (towards plus infinity). A result beyond int64
// becomes the int64 end nearest to it. It panics unless d > 0.
func (w Int128) DivCeil(d int64) int64 {
	q, r := w.divFloor(d)
	if r > 0 && q < math.MaxInt64 {
		q++
	}
	return q
}

// divFloor returns q and r with w = q*d + r and 0 <= r < d. If q is beyond int64 it returns the nearer end with r 0; no
// rounding of such a q would give another result.
func (w Int128) divFloor(d int64) (q int64, r uint64) {
	if d <= 0 {
		panic("exact: division by a number that is not positive")
	}
	hi, lo := w.magnitude()
	negative := w.Hi < 0
	const sign = 1 << 63
	u := uint64(math.MaxUint64)
	if hi < uint64(d) {
		u, r = bits.Div64(hi, lo, uint64(d))
	}
	switch {
	case !negative && u < sign:
		return int64(u), r
	case !negative:
		return math.MaxInt64, 0
	case u > sign || u == sign && r > 0:
		return math.MinInt64, 0
	case r > 0:
		return -int64(u) - 1, uint64(d) - r
	}
	return -int64(u), 0
}

// magnitude returns |w|, which is 2^127 at the most.
func (w Int128) magnitude() (hi, lo uint64) {
	hi, lo = uint64(w.Hi), w.Lo
	if w.Hi < 0 {
		return negated(hi, lo)
	}
	return hi, lo
}

func negated(hi, lo uint64) (uint64, uint64) {
	lo, borrow := bits.Sub64(0, lo, 0)
	hi, _ = bits.Sub64(0, hi, borrow)
	return hi, lo
}

// RoundHalfUp returns num/den rounded to the nearest integer, an exact half
// upwards: 5/2 is 3 and -5/2 is -2. It cannot overflow. It panics unless
// den > 0.
func RoundHalfUp(num, den int64) int64 {
	if den <= 0 {
		panic("exact: division by a number that is not positive")
	}
	q, r := num/den, num%den
	if r < 0 {
		q--
		r += den
	}
	if r >= den-r {
		q++
	}
	return q
}
