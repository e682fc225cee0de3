// #nosec G115 -- every value is compared with the ends of int64 before it is read with a sign

package exact

import "errors"

// Milli is a quantity in thousandths: 12.5 is Milli(12500).
type Milli int64

// ErrNotNumber and the others are errors of parsing a number, returned unwrapped, so that a refusal costs no
// allocation; test with errors.Is.
var (
	ErrNotNumber = errors.New("not a number")
	ErrTooFine   = errors.New("too many decimals")
	ErrTooLarge  = errors.New("number too large")
)

// ParseMilli parses a JSON number (RFC 8259: no leading zeros, no plus sign, exponent allowed) exactly, without spaces.
//
// It fails with ErrNotNumber if s is not such a number; else with ErrTooFine if the value is no whole number of
// thousandths (1.5000, 1e-3 and 0e-99 are, 15e-4 is not); else with ErrTooLarge if the thousandths do not fit an int64.
// -0 is 0. It takes time linear in len(s), for any exponent, and does not allocate.
func ParseMilli(s string) (Milli, error) {
	v, err := parseScaled(s, 3)
	return Milli(v), err
}

// ParseMilliBytes is ParseMilli of the text in b.
func ParseMilliBytes(b []byte) (Milli, error) {
	v, err := parseScaled(b, 3)
	return Milli(v), err
}

// ParseCents parses a currency amount of at most two decimals as cents: 12.5 is 1250. The grammar and the errors are
// those of ParseMilli, with hundredths for thousandths.
func ParseCents(s string) (int64, error) { return parseScaled(s, 2) }

// pow10 holds every power of ten that fits a uint64.
var pow10 = [20]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9,
	1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// maxDigits is the number of decimal digits that any uint64 can hold.
const maxDigits = 19

// digits collects the significant digits of a number: value * 10^zeros is what was parsed so far, without trailing
// zeros in value.
type digits struct {
	value uint64 // meaningless once count > maxDigits
	count int    // digits of value
	zeros int    // zeros since
}

func (d *digits) add(c uint64) {
	if c == 0 {
		if d.count > 0 {
			d.zeros++
		}
		return
	}
	d.count += d.zeros + 1
	if d.count <= maxDigits {
		d.value = d.value*pow10[d.zeros+1] + c
	}
	d.zeros = 0
}

// parseScaled parses the number s as a count of units of 10^-places.
func parseScaled[T string | []byte](s T, places int) (int64, error) {
	i := 0
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		i++
	}
	var d digits
	start := i
	for ; i < len(s) && isDigit(s[i]); i++ {
		d.add(uint64(s[i] - '0'))
	}
	if i == start || s[start] == '0' && i > start+1 {
		return 0, ErrNotNumber
	}
	scale := int64(places)
	if i < len(s) && s[i] == '.' {
		i++
		start = i
		for ; i < len(s) && isDigit(s[i]); i++ {
			d.add(uint64(s[i] - '0'))
		}
		if i == start {
			return 0, ErrNotNumber
		}
		scale -= int64(i - start)
	}
	if i < len(s) {
		e, ok := parseExponent(s[i:])
		if !ok {
			return 0, ErrNotNumber
		}
		scale += e
	}
	return d.scaled(negative, scale)
}

// scaled returns ±value * 10^(zeros+scale).
func (d *digits) scaled(negative bool, scale int64) (int64, error) {
	if d.count == 0 {
		return 0, nil
	}
	scale += int64(d.zeros)
	if scale < 0 {
		return 0, ErrTooFine
	}
	if int64(d.count)+scale > maxDigits {
		return 0, ErrTooLarge
	}
	u := d.value * pow10[scale]
	switch {
	case negative && u <= 1<<63:
		return -int64(u), nil // 1<<63 wraps to the least int64, which is right
	case !negative && u < 1<<63:
		return int64(u), nil
	}
	return 0, ErrTooLarge
}

// parseExponent parses e, an optional sign, and digits up to the end of s. It saturates far beyond the length of any
// input, where the exponent alone decides.
func parseExponent[T string | []byte](s T) (int64, bool) {
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	i := 1
	negative := false
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		negative = s[i] == '-'
		i++
	}
	if i == len(s) {
		return 0, false
	}
	e := int64(0)
	for ; i < len(s); i++ {
		if !isDigit(s[i]) {
			return 0, false
		}
		if e < 1<<56 {
			e = e*10 + int64(s[i]-'0')
		}
	}
	if negative {
		e = -e
	}
	return e, true
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// String returns the shortest decimal: 12.5, 3, -0.001.
func (m Milli) String() string { return m.decimal().String() }

// Append appends the text of String to b.
func (m Milli) Append(b []byte) []byte { return m.decimal().Append(b) }

func (m Milli) decimal() Decimal { return Decimal{Unscaled: int64(m), Places: 3} }

// MarshalJSON returns the text of String, a JSON number.
func (m Milli) MarshalJSON() ([]byte, error) { return m.decimal().MarshalJSON() }

// UnmarshalJSON parses what ParseMilliBytes accepts, with its errors. null is ErrNotNumber: a missing quantity must not
// become 0.
func (m *Milli) UnmarshalJSON(b []byte) error {
	v, err := ParseMilliBytes(b)
	if err != nil {
		return err
	}
	*m = v
	return nil
}
