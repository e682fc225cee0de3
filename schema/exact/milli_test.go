package exact

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

var milliCases = []struct {
	text string
	want Milli
	err  error
}{
	{"0", 0, nil},
	{"-0", 0, nil},
	{"-0.000", 0, nil},
	{"0e5", 0, nil},
	{"0e-99", 0, nil},
	{"0.0e99999999999999999999", 0, nil},
	{"1", 1000, nil},
	{"-1", -1000, nil},
	{"12", 12000, nil},
	{"12.5", 12500, nil},
	{"0.001", 1, nil},
	{"-0.001", -1, nil},
	{"0.999", 999, nil},
	{"1.5000", 1500, nil},
	{"1.50000000000000000000000000000000", 1500, nil},
	{"100", 100000, nil},
	{"1e-3", 1, nil},
	{"1E-3", 1, nil},
	{"1e+3", 1000000, nil},
	{"1e03", 1000000, nil},
	{"10e-4", 1, nil},
	{"100.0e-5", 1, nil},
	{"0.00001e2", 1, nil},
	{"0.0000000000000000000000001e22", 1, nil},
	{"1000000000000000000000000e-27", 1, nil},
	{"123456789", 123456789000, nil},
	{"1234567890", 1234567890000, nil},
	{"9223372036854775.807", math.MaxInt64, nil},
	{"9223372036854775.8070", math.MaxInt64, nil},
	{"-9223372036854775.808", math.MinInt64, nil},
	{"9223372036854775807e-3", math.MaxInt64, nil},
	{"9223372036854775.808", 0, ErrTooLarge},
	{"-9223372036854775.809", 0, ErrTooLarge},
	{"9999999999999999.999", 0, ErrTooLarge},
	{"18446744073709551.616", 0, ErrTooLarge},
	{"100000000000000000000", 0, ErrTooLarge},
	{"1e16", 0, ErrTooLarge},
	{"9e15", 9e18, nil},
	{"1e999999999999999999999999", 0, ErrTooLarge},
	{"1e-999999999999999999999999", 0, ErrTooFine},
	{"15e-4", 0, ErrTooFine},
	{"0.0005", 0, ErrTooFine},
	{"1.0001", 0, ErrTooFine},
	{"-1.2345", 0, ErrTooFine},
	{"99999999999999999999.0001", 0, ErrTooFine},
	{"123456789012345678901234567890e-10", 0, ErrTooFine},
	{"", 0, ErrNotNumber},
	{"-", 0, ErrNotNumber},
	{"+1", 0, ErrNotNumber},
	{"01", 0, ErrNotNumber},
	{"-01", 0, ErrNotNumber},
	{"00", 0, ErrNotNumber},
	{"00.5", 0, ErrNotNumber},
	{".5", 0, ErrNotNumber},
	{"5.", 0, ErrNotNumber},
	{"5.e1", 0, ErrNotNumber},
	{"1e", 0, ErrNotNumber},
	{"1e+", 0, ErrNotNumber},
	{"1e1.5", 0, ErrNotNumber},
	{"1e5x", 0, ErrNotNumber},
	{"0.0001x", 0, ErrNotNumber},
	{"1 ", 0, ErrNotNumber},
	{" 1", 0, ErrNotNumber},
	{"1,5", 0, ErrNotNumber},
	{"1_000", 0, ErrNotNumber},
	{"0x10", 0, ErrNotNumber},
	{"--1", 0, ErrNotNumber},
	{"NaN", 0, ErrNotNumber},
	{"Infinity", 0, ErrNotNumber},
	{"null", 0, ErrNotNumber},
	{`"1"`, 0, ErrNotNumber},
	{"1\x00", 0, ErrNotNumber},
	{"１", 0, ErrNotNumber},
	{"1:", 0, ErrNotNumber},
	{"1/", 0, ErrNotNumber},
}

func TestParseCents(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		err  error
	}{
		{"12.5", 1250, nil},
		{"12.50", 1250, nil},
		{"12.500", 1250, nil},
		{"0.01", 1, nil},
		{"-0.01", -1, nil},
		{"-0", 0, nil},
		{"19.99", 1999, nil},
		{"1e-2", 1, nil},
		{"0.001", 0, ErrTooFine},
		{"1e-3", 0, ErrTooFine},
		{"92233720368547758.07", math.MaxInt64, nil},
		{"-92233720368547758.08", math.MinInt64, nil},
		{"92233720368547758.08", 0, ErrTooLarge},
		{"1.", 0, ErrNotNumber},
		{"", 0, ErrNotNumber},
	} {
		got, err := ParseCents(c.text)
		assert.That(t, got == c.want && err == c.err, "ParseCents(%q) = %d, %v, want %d, %v", c.text, got, err, c.want, c.err)
	}
}

// TestParseMilliLong has inputs that would be expensive for a reader of exponents.
func TestParseMilliLong(t *testing.T) {
	zeros := strings.Repeat("0", 1<<20)
	for _, c := range []struct {
		text string
		want Milli
		err  error
	}{
		{"1." + zeros, 1000, nil},
		{"1" + zeros, 0, ErrTooLarge},
		{"1" + zeros + "e-1048576", 1000, nil},
		{"0." + zeros + "1e1048577", 1000, nil},
		{"0." + zeros + "1", 0, ErrTooFine},
		{"1e" + zeros + "2", 100000, nil},
		{"1" + zeros + "1", 0, ErrTooLarge},
		{"1" + zeros + "1e-1048577", 0, ErrTooFine},
	} {
		if got, err := ParseMilli(c.text); got != c.want || err != c.err {
			t.Errorf("ParseMilli(%.5q...) = %d, %v, want %d, %v", c.text, got, err, c.want, c.err)
		}
	}
}

func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		d    Decimal
		want string
	}{
		{Decimal{}, "0"},
		{Decimal{0, 200}, "0"},
		{Decimal{12500, 3}, "12.5"},
		{Decimal{3000, 3}, "3"},
		{Decimal{-1, 3}, "-0.001"},
		{Decimal{-1000, 3}, "-1"},
		{Decimal{100, 0}, "100"},
		{Decimal{100, 1}, "10"},
		{Decimal{1250, 2}, "12.5"},
		{Decimal{5, 1}, "0.5"},
		{Decimal{10, 3}, "0.01"},
		{Decimal{math.MaxInt64, 3}, "9223372036854775.807"},
		{Decimal{math.MinInt64, 3}, "-9223372036854775.808"},
		{Decimal{math.MinInt64, 0}, "-9223372036854775808"},
		{Decimal{math.MinInt64, 19}, "-0.9223372036854775808"},
		{Decimal{math.MinInt64, 20}, "-0.09223372036854775808"},
		{Decimal{1, 255}, "0." + strings.Repeat("0", 254) + "1"},
	} {
		assert.Equal(t, c.d.String(), c.want, "%d/10^%d", c.d.Unscaled, c.d.Places)
		b, err := json.Marshal(c.d)
		assert.That(t, err == nil && string(b) == c.want, "JSON of %d/10^%d: %s, %v", c.d.Unscaled, c.d.Places, b, err)
		if c.d.Places == 3 {
			m := Milli(c.d.Unscaled)
			assert.That(t, m.String() == c.want && string(m.Append([]byte("="))) == "="+c.want,
				"Milli(%d) = %v", c.d.Unscaled, m)
		}
	}
}

func TestMilliJSON(t *testing.T) {
	const text = `{"q":-0.5,"p":null}`
	var v struct {
		Q Milli  `json:"q"`
		P *Milli `json:"p"`
	}
	err := json.Unmarshal([]byte(text), &v)
	assert.Must(t, err == nil && v.Q == -500, "%v %v", v, err)
	b, err := json.Marshal(v)
	assert.That(t, err == nil && string(b) == text, "%s, %v", b, err)
	for s, want := range map[string]error{`null`: ErrNotNumber, `"1"`: ErrNotNumber, `0.0001`: ErrTooFine, `1e99`: ErrTooLarge} {
		err := json.Unmarshal([]byte(`{"q":`+s+`}`), &v)
		assert.That(t, errors.Is(err, want) && v.Q == -500, "%s: %v, %v, want %v", s, v.Q, err, want)
	}
}

var numberGrammar = regexp.MustCompile(`\A-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\z`)

// naiveMilli is ParseMilli with big.Rat; it reports false for an exponent too large for that.
func naiveMilli(s string) (Milli, error, bool) {
	if !numberGrammar.MatchString(s) {
		return 0, ErrNotNumber, true
	}
	if at := strings.IndexAny(s, "eE"); at >= 0 {
		if e, err := strconv.Atoi(s[at+1:]); err != nil || e < -2000 || e > 2000 {
			return 0, nil, false
		}
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, nil, false
	}
	r.Mul(r, big.NewRat(1000, 1))
	switch {
	case !r.IsInt():
		return 0, ErrTooFine, true
	case !r.Num().IsInt64():
		return 0, ErrTooLarge, true
	}
	return Milli(r.Num().Int64()), nil, true
}

func checkMilli(t *testing.T, s string) {
	got, err := ParseMilli(s)
	b, berr := ParseMilliBytes([]byte(s))
	assert.Must(t, b == got && berr == err, "ParseMilliBytes(%q) = %d, %v, ParseMilli %d, %v", s, b, berr, got, err)
	if want, wantErr, ok := naiveMilli(s); ok && (got != want || err != wantErr) {
		t.Fatalf("ParseMilli(%q) = %d, %v, want %d, %v", s, got, err, want, wantErr)
	}
	if err != nil {
		return
	}
	back, err := ParseMilli(got.String())
	assert.Must(t, back == got && err == nil, "%q: %d is written %v and read %d, %v", s, got, got, back, err)
	cents, err := ParseCents(s)
	if wantErr := error(nil); got%10 != 0 {
		wantErr = ErrTooFine
		assert.Must(t, err == wantErr, "ParseCents(%q) = %d, %v", s, cents, err)
	} else if cents != int64(got)/10 || err != nil {
		t.Fatalf("ParseCents(%q) = %d, %v", s, cents, err)
	}
}

func TestMilliAgainstRat(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const letters = "00011234567899..--eE+"
	for range 50000 {
		var s string
		if r.IntN(2) == 0 {
			s = Decimal{int64(r.Uint64()) >> r.IntN(64), uint8(r.IntN(8))}.String()
			if r.IntN(2) == 0 {
				s += "e" + strconv.Itoa(r.IntN(20)-10)
			}
		} else {
			b := make([]byte, r.IntN(9))
			for i := range b {
				b[i] = letters[r.IntN(len(letters))]
			}
			s = string(b)
		}
		checkMilli(t, s)
	}
}

func FuzzMilli(f *testing.F) {
	for _, c := range milliCases {
		f.Add(c.text)
	}
	f.Fuzz(checkMilli)
}
