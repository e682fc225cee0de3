package table

import (
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// TestFileFormatIsDetected: a file has one decimal separator, one format per column of dates and one header line.
// They are detected from all its cells; the user is asked if the cells leave it open.
func TestFileFormatIsDetected(t *testing.T) {
	price := Reading{Map: mapped("Art=code", "Preis=price", "Menge=qty", "Am=bought")}
	for _, c := range []struct {
		name, file string
		how        Reading
		rows       []string
	}{
		{"a comma", "Art;Preis\nA;1.234\nB;4,50\n", price, []string{"A|123400", "B|450"}},
		{"a point", "Art;Preis\nA;1,234\nB;4.50\n", price, []string{"A|123400", "B|450"}},
		{"groups that repeat", "Art;Preis\nA;1.234.567\nB;1.234\n", price, []string{"A|123456700", "B|123400"}},
		{"both in a cell", "Art;Preis\nA;1.234,5\nB;1.018\n", price, []string{"A|123450", "B|101800"}},
		{"nothing decides", "Art;Preis\nA;1.234\nB;49\n", price, []string{`decimal: "1.234" can be read in two ways; choose the decimal separator`}},
		{"told", "Art;Preis\nA;1.234\nB;49\n", Reading{Map: price.Map, Decimal: "comma"}, []string{"A|123400", "B|4900"}},
		{
			"too many decimals", "Art;Preis\nA;4.505\nB;4.50\n", price,
			[]string{`2: price_cents: cannot read the amount "4.505". Write it in EUR with at most 2 decimals, such as 49.00`, "B|450"},
		},
		{
			"cells that contradict each other", "Art;Preis\nA;1.234,50\nB;1,234.50\n", price,
			[]string{"decimal: the amounts are written in two ways, some with a decimal point and some with a decimal comma; choose the decimal separator"},
		},
		{"a quantity decides for amounts", "Art;Preis;Menge\nA;1.234;0,5\n", price, []string{"A|123400|0.5"}},
		{"a quantity can be open", "Art;Menge\nA;1.018\n", price, []string{`decimal: "1.018" can be read in two ways; choose the decimal separator`}},
		{"a quantity of our own export", "code,qty\nA,1.018\n", Reading{}, []string{"A|1.018"}},
		{"cents decide nothing", "code;price_cents;qty\nA;12.5;1\nB;1;1,5\n", Reading{}, []string{
			`2: price_cents: "12.5" is not a number with a decimal comma, such as 1.234,5`, "B|1|1.5",
		}},
		{"spaces group", "Art;Preis\nA;1 234,50\nB;1\u00a0234\n", price, []string{"A|123450", "B|123400"}},
		{
			"dinars have three decimals", "Art;Preis;W\nA;1.234;KWD\nB;49;KWD\n",
			Reading{Map: mapped("Art=code", "Preis=price", "W=currency")}, []string{"A|1234|KWD", "B|49000|KWD"},
		},
		{"days with points", "Art;Am\nA;23.09.2026\nB;3.5.2026 14:05\n", price, []string{"A|2026-09-23", "B|2026-05-03"}},
		{"days with the day first", "Art;Am\nA;03/05/2026\nB;23/05/2026\n", price, []string{"A|2026-05-03", "B|2026-05-23"}},
		{"days with the month first", "Art;Am\nA;03/05/2026\nB;05/23/2026\n", price, []string{"A|2026-03-05", "B|2026-05-23"}},
		{"days with a month's name", "Art;Am\nA;3 May 2026\nB;23 Dezember 2026\n", price, []string{"A|2026-05-03", "B|2026-12-23"}},
		{
			"days that can be read in two ways", "Art;Am\nA;03/05/2026\nB;04/05/2026\n", price,
			[]string{`date_format: the date "03/05/2026" in bought can be read in two ways; choose DD/MM/YYYY or MM/DD/YYYY`},
		},
		{"days that are the same in both ways", "Art;Am\nA;05/05/2026\n", price, []string{"A|2026-05-05"}},
		{
			"the format that fits most", "Art;Am\nA;23.09.2026\nB;24.09.2026\nC;2026-09-25\n", Reading{Map: price.Map, Flags: true},
			[]string{"A|2026-09-23", "B|2026-09-24", `4: bought: cannot read the date "2026-09-25". Expected DD.MM.YYYY; add --date-format YYYY-MM-DD`},
		},
		{"a word that is a name in a row of data", "Firma;Zustand;Ort\nA;name;qty\n", Reading{Map: mapped("Firma=code")}, []string{"A"}},
		{
			"titles, an empty column and a total", "Bestand am 1.5.2026\n\nMuster GmbH\ncode;name;;qty\nA;x;;1\nB;y;;2\nGesamt;;;3\n", Reading{},
			[]string{"A|x|1", "B|y|2"},
		},
		{"a SKU called total", "code,name\ntotal,x\n", Reading{}, []string{"total|x"}},
		{"the header where it is said to be", "code;name\nArt;Preis\nA;1,00\n", Reading{Map: price.Map, HeaderLine: 2}, []string{"A|100"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			how := c.how
			header := strings.SplitN(c.file, "\n", 2)[0]
			how.Map = slices.DeleteFunc(slices.Clone(how.Map), func(p Pair) bool {
				return c.how.HeaderLine == 0 && !slices.Contains(strings.Split(header, ";"), p.Name) || c.how.HeaderLine > 0 && p.Name != "Art" && p.Name != "Preis"
			})
			if _, err := InMemory([]byte(c.file)).open(wares(), how, shop{zone: berlin, currency: exact.CurrencyOf("EUR")}); err != nil {
				got := refusalOf(err)
				assert.That(t, len(c.rows) == 1 && got == c.rows[0], "refused: %s, want %q", got, c.rows)
				return
			}
			if rows, _ := read(t, []byte(c.file), how); !slices.Equal(rows, c.rows) {
				t.Errorf("read\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(c.rows, "\n"))
			}
		})
	}
}

func refusalOf(err error) string {
	e, ok := fault.As(err)
	if !ok {
		return err.Error()
	}
	if len(e.Fields) == 0 {
		return e.Detail
	}
	return e.Fields[0].Field + ": " + e.Detail
}
