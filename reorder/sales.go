package reorder

import (
	"bytes"
	"errors"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/strict"
)

// Sale is one row of sales history: so much of a SKU sold on a day.
type Sale struct {
	Date exact.Day   `json:"date" about:"a calendar day that is not in the future"`
	SKU  string      `json:"sku" about:"a SKU of the catalogue, active or not"`
	Qty  exact.Milli `json:"qty" about:"0 to 1,000,000,000 with at most 3 decimals"`
}

// upload is rows of sales history, read and checked without the catalogue and the clock. JSON and CSV share the check.
type upload struct {
	sales   []sale
	codes   []string // the SKUs that the rows name, each once
	codeOf  map[string]int32
	refused []refusal
	told    []schema.Outcome // of each row, if they are requested

	agent     bool     // unambiguous mistakes are accepted, unknown SKUs refused with the nearest three
	byChannel bool     // with channels: a share of a SKU-day is added to or replaced
	channels  []string // that the rows name; none is ""
	placeOf   map[string]int32
	channel   int32 // of the present row, an index into channels
}

// sale is a row that passed.
type sale struct {
	qty exact.Milli
	day exact.Day
	sku int32 // into the upload's codes; once they are looked up, into the SKUs found
	row int32 // position in the upload, from 0

	channel int32 // into the upload's channels
}

// refusal is a row that did not.
type refusal struct {
	row    int32
	reason string
}

// newUpload is an upload that expects so many rows.
func newUpload(rows int) *upload {
	return &upload{sales: make([]sale, 0, rows), codeOf: map[string]int32{}}
}

func (u *upload) refuse(row int32, reason string) {
	u.refused = append(u.refused, refusal{row, reason})
}

const (
	wantsRow = "a row is an object of date, sku and qty"
	wantsDay = "it takes a calendar day as YYYY-MM-DD"
	wantsSKU = "it takes a SKU of the catalogue, as a text"
	wantsQty = "it takes a number from 0 to 1000000000 with at most 3 decimals"
)

// addJSON reads a row of a JSON array.
func (u *upload) addJSON(row int32, v strict.Value) {
	if v.Kind() != strict.Object {
		u.refuse(row, "the row is "+v.Kind().String()+"; "+wantsRow)
		return
	}
	var date, sku, qty strict.Value
	strange := ""
	for name, field := range v.Fields {
		switch string(name) {
		case "date":
			date = field
		case "sku":
			sku = field
		case "qty":
			qty = field
		default:
			if strange == "" {
				strange = "unknown field " + schema.Quote(string(name)) + "; " + wantsRow
			}
		}
	}
	if strange != "" {
		u.refuse(row, strange)
		return
	}
	for _, f := range [...]struct {
		name, wants string
		v           strict.Value
		kind        strict.Kind
	}{{"date", wantsDay, date, strict.String}, {"sku", wantsSKU, sku, strict.String},
		{"qty", wantsQty, qty, strict.Number}} {
		switch k := f.v.Kind(); {
		case len(f.v.Raw()) == 0:
			u.refuse(row, f.name+" is missing: "+f.wants)
			return
		case k == f.kind, u.agent && f.name != "date" && (k == strict.String || k == strict.Number):
		default:
			u.refuse(row, f.name+" is "+k.String()+"; "+f.wants)
			return
		}
	}
	plain := func(v strict.Value, buf []byte) []byte {
		if v.Kind() == strict.String {
			return v.TextBytes(buf)
		}
		return v.Raw()
	}
	var buf [4 * maxCode]byte
	u.add(row, plain(date, nil), plain(sku, buf[:]), plain(qty, nil))
}

// addCells reads a row of a CSV file. As in every table, spaces around a cell are ignored.
func (u *upload) addCells(row int32, cells []string) {
	if u.byChannel {
		name := strings.TrimSpace(cells[3])
		if err := schema.CheckText("channel", name, maxChannel); err != nil {
			u.refuse(row, err.Error())
			return
		}
		u.in(name)
	}
	var texts [3][]byte
	for i, f := range [...]struct{ name, wants string }{{"date", wantsDay}, {"sku", wantsSKU}, {"qty", wantsQty}} {
		if texts[i] = trimmed([]byte(cells[i])); len(texts[i]) == 0 {
			u.refuse(row, f.name+" is missing: "+f.wants)
			return
		}
	}
	u.add(row, texts[0], texts[1], texts[2])
}

// add checks the three texts of a row, from any source.
func (u *upload) add(row int32, date, sku, qty []byte) {
	d, ok := exact.ParseDayBytes(date)
	if !ok {
		u.refuse(row, "date: "+schema.Quote(string(date))+" is not a valid date; "+wantsDay)
		return
	}
	n, err := exact.ParseMilliBytes(qty)
	if err != nil || n < 0 || n > maxQty {
		u.refuse(row, "qty: "+schema.Quote(string(qty))+wrongWith(n, err)+"; "+wantsQty)
		return
	}
	u.sales = append(u.sales, sale{qty: n, day: d, sku: u.code(trimmed(sku)), row: row, channel: u.channel})
}

func wrongWith(n exact.Milli, err error) string {
	switch {
	case errors.Is(err, exact.ErrNotNumber):
		return " is not a number"
	case errors.Is(err, exact.ErrTooFine):
		return " has too many decimals"
	case n < 0:
		return " is negative"
	}
	return " is too large"
}

// in sets the channel of the rows that are added next.
func (u *upload) in(channel string) {
	i, known := u.placeOf[channel]
	if !known {
		if u.placeOf == nil {
			u.placeOf = map[string]int32{}
		}
		i = int32(len(u.channels)) // #nosec G115 -- there are at most as many as rows
		u.channels, u.placeOf[channel] = append(u.channels, channel), i
	}
	u.channel = i
}

// code returns the index of a SKU's code among the upload's.
func (u *upload) code(sku []byte) int32 {
	i, known := u.codeOf[string(sku)]
	if !known {
		i = int32(len(u.codes)) // #nosec G115 -- there are at most as many as rows
		code := string(sku)
		u.codes, u.codeOf[code] = append(u.codes, code), i
	}
	return i
}

// trimmed removes white space at both ends, as for every text of the appliance.
func trimmed(b []byte) []byte {
	if len(b) > 0 && b[0] > ' ' && b[0] < 0x80 && b[len(b)-1] > ' ' && b[len(b)-1] < 0x80 {
		return b
	}
	return bytes.TrimSpace(b)
}
