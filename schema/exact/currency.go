package exact

import (
	"strconv"
	"strings"
)

// Currency is a currency of ISO 4217 by its code, with the number of its decimals. Fields that end in _cents count its
// smallest unit.
type Currency struct {
	Code   string // "EUR"
	Places int    // 2; 0 for JPY, 3 for KWD
}

// places are the currencies of ISO 4217 without exactly two decimals.
var places = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "ISK": 0, "JPY": 0, "KMF": 0, "KRW": 0, "PYG": 0, "RWF": 0,
	"UGX": 0, "UYI": 0, "VND": 0, "VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0,
	"BHD": 3, "IQD": 3, "JOD": 3, "KWD": 3, "LYD": 3, "OMR": 3, "TND": 3,
	"CLF": 4, "UYW": 4,
}

// CurrencyOf returns the currency of a code in any case; an unknown one has two decimals.
func CurrencyOf(code string) Currency {
	code = strings.ToUpper(code)
	if n, ok := places[code]; ok {
		return Currency{Code: code, Places: n}
	}
	return Currency{Code: code, Places: 2}
}

// Plain writes an amount without code and groups: "1080.39".
func (c Currency) Plain(units int64) string {
	magnitude, sign := uint64(units), "" // #nosec G115 -- the magnitude of a negative one is meant
	if units < 0 {
		magnitude, sign = -magnitude, "-"
	}
	s := strconv.FormatUint(magnitude, 10)
	if c.Places == 0 {
		return sign + s
	}
	if short := c.Places + 1 - len(s); short > 0 {
		s = strings.Repeat("0", short) + s
	}
	return sign + s[:len(s)-c.Places] + "." + s[len(s)-c.Places:]
}

// Amount writes an amount with groups of three, without its code: "1,080.39".
func (c Currency) Amount(units int64) string { return Grouped(c.Plain(units)) }

// Grouped sets commas between the thousands of a decimal number.
func Grouped(s string) string {
	whole, decimals, fraction := strings.Cut(s, ".")
	var b strings.Builder
	for i, c := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 && whole[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	if fraction {
		b.WriteString("." + decimals)
	}
	return b.String()
}

// Format writes an amount with groups of three and its code: "1,080.39 EUR".
func (c Currency) Format(units int64) string { return c.Amount(units) + " " + c.Code }

// Parse reads an amount written as JSON writes numbers, with at most as many decimals
// as the currency has. Its errors are those of ParseMilli.
func (c Currency) Parse(s string) (units int64, err error) { return parseScaled(s, c.Places) }
