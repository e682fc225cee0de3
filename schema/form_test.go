package schema

import (
	"context"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// TestDecimal parses numbers as people write them on a page, worked out by hand.
func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		text, quantity, money string // "" is refused
	}{
		{"0", "0", "0"}, {"12", "12", "12"}, {"12.5", "12.5", "12.5"}, {"12,5", "12.5", "12.5"}, {"-3,25", "-3.25", "-3.25"},
		{"1.234", "1.234", "1234"}, {"1,234", "1.234", "1234"}, {"1.234,50", "1234.50", "1234.50"}, {"1,234.50", "1234.50", "1234.50"},
		{"1 234,50", "1234.50", "1234.50"}, {"1\u00a0234,50", "1234.50", "1234.50"}, {"1\u202f234.5", "1234.5", "1234.5"}, {"1'234.50", "1234.50", "1234.50"},
		{"1.234.567", "1234567", "1234567"}, {"1,234,567.8", "1234567.8", "1234567.8"}, {"12.34.567", "", ""}, {"1.2345,6", "", ""},
		{"1,23,456", "", ""}, {"0.123", "0.123", ""}, {".5", "", ""}, {"5.", "", ""}, {"1e3", "", ""}, {"", "", ""}, {"abc", "", ""},
		{"1,234.567.890", "", ""}, {"1 234.567,8", "", ""}, {"49.00", "49.00", "49.00"}, {"007", "7", "7"}, {"1,0000", "1.0000", "1.0000"},
	} {
		got, _ := decimal(c.text, false)
		assert.That(t, got == c.quantity, "quantity %q: %q, want %q", c.text, got, c.quantity)
		got, _ = decimal(c.text, true)
		assert.That(t, got == c.money, "money %q: %q, want %q", c.text, got, c.money)
	}
}

// sheet is an operation with an argument of each type that a page's form has.
type sheet struct {
	Day     exact.Day
	Rent    int64
	Qty     exact.Milli
	On      bool
	Note    *string
	Cleared bool
	Steps   []string
	IDs     []int64
	Lines   []line
}

type line struct {
	SKU string
	Qty exact.Milli
}

func (x *sheet) bind(f *Form) Handler {
	f.Day(&x.Day, "day", "a day")
	f.Int(&x.Rent, "rent_cents", "an amount", Required, Range(0, 1000000))
	f.Milli(&x.Qty, "qty", "a quantity")
	f.Bool(&x.On, "on", "a truth value")
	f.TextPtr(&x.Note, "note", "a text", Clear(&x.Cleared))
	f.Texts(&x.Steps, "steps", "texts", 3, 10)
	f.IDs(&x.IDs, "id", "ids", 3)
	f.Objects("lines", "records", 2, func(f *Form) {
		var l line
		f.Text(&l.SKU, "sku", "a text", Required)
		f.Milli(&l.Qty, "qty", "a quantity", Required)
		x.Lines = append(x.Lines, l)
	})
	return func(context.Context, db.Caller) (any, error) { return x, nil }
}

func decodePage(t *testing.T, values map[string][]string) (*sheet, error) {
	t.Helper()
	x := &sheet{}
	_, err := Op{Bind: x.bind}.Decode(Input{Surface: Page, Values: values, Currency: exact.CurrencyOf("EUR")})
	return x, err
}

func TestPageForm(t *testing.T) {
	x, err := decodePage(t, map[string][]string{
		"day": {" 2026-11-20 "}, "rent": {"1.080,39"}, "qty": {"1,5"}, "on": {"false", "true"}, "note": {""},
		"steps": {"oil\r\nbelt\r\n\r\n", "test"}, "id": {"7", "#8", "7"},
		"lines.0.sku": {"A"}, "lines.0.qty": {"2"}, "lines.3.sku": {"B"}, "lines.3.qty": {"1.25"}, "lines.4.sku": {""}, "lines.4.qty": {" "},
	})
	assert.OK(t, err)
	assert.That(t, x.Day.String() == "2026-11-20" && x.Rent == 108039 && x.Qty == 1500 && x.On && x.Note == nil &&
		x.Cleared, "%+v", x)
	assert.That(t, len(x.Steps) == 3 && x.Steps[1] == "belt" && len(x.IDs) == 2 && x.IDs[1] == 8 && len(x.Lines) == 2 &&
		x.Lines[1] == (line{"B", 1250}), "%+v", x)
}

// TestPageRefusals: all refused fields are reported at once, by their names on the page.
func TestPageRefusals(t *testing.T) {
	_, err := decodePage(t, map[string][]string{
		"day": {"2026-02-30"}, "rent": {"12.345.6"}, "qty": {"x"}, "on": {"maybe"}, "strange": {"1"}, "lines.0.qty": {"1"},
	})
	e, ok := fault.As(err)
	assert.Must(t, ok, "%v", err)
	want := []string{"strange", "day", "rent", "qty", "on", "lines.0.sku"}
	var got []string
	for _, f := range e.Fields {
		got = append(got, f.Field)
	}
	assert.Must(t, len(got) == len(want), "%q, want %q", got, want)
	for i := range want {
		assert.That(t, got[i] == want[i], "field %d: %q, want %q", i, got[i], want[i])
	}
}

func TestCurrencies(t *testing.T) {
	for _, c := range []struct {
		code  string
		units int64
		text  string
	}{
		{"EUR", 0, "0.00 EUR"}, {"EUR", 5, "0.05 EUR"}, {"usd", -108039, "-1,080.39 USD"}, {"JPY", 1234567, "1,234,567 JPY"},
		{"KWD", 1234, "1.234 KWD"}, {"EUR", 100000000, "1,000,000.00 EUR"}, {"EUR", -5, "-0.05 EUR"}, {"EUR", 99999, "999.99 EUR"},
	} {
		assert.Equal(t, exact.CurrencyOf(c.code).Format(c.units), c.text, "%s %d", c.code, c.units)
	}
	n, err := exact.CurrencyOf("KWD").Parse("1.2345")
	assert.That(t, err != nil, "too fine, and read as %v", n)
}
