// #nosec G115 -- the magnitude of a negative number is meant

package exact

import "strconv"

// Decimal is a number for display: Unscaled / 10^Places. Cents have Places 2. Two Decimals of one value may differ as
// Go values (1.0 and 1), but not as text.
type Decimal struct {
	Unscaled int64
	Places   uint8
}

// String returns the number without exponent and without trailing zeros after
// the point: 12.5, 3, -0.001, 0.
func (d Decimal) String() string { return string(d.Append(make([]byte, 0, 24))) }

// Append appends the text of String to b.
func (d Decimal) Append(b []byte) []byte {
	u, places := uint64(d.Unscaled), int(d.Places)
	if d.Unscaled < 0 {
		u = -u
		b = append(b, '-')
	}
	if u == 0 {
		places = 0
	}
	for places > 0 && u%10 == 0 {
		u /= 10
		places--
	}
	if places == 0 {
		return strconv.AppendUint(b, u, 10)
	}
	var text [20]byte
	t := strconv.AppendUint(text[:0], u, 10)
	if whole := len(t) - places; whole > 0 {
		b = append(b, t[:whole]...)
		b = append(b, '.')
		return append(b, t[whole:]...)
	}
	b = append(b, '0', '.')
	for range places - len(t) {
		b = append(b, '0')
	}
	return append(b, t...)
}

// MarshalJSON returns the text of String, a JSON number.
func (d Decimal) MarshalJSON() ([]byte, error) {
	return d.Append(make([]byte, 0, 24)), nil
}
