package command

import (
	"encoding/json"
	"path/filepath"
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"strings"
	"testing"
)

// TestFilesOfOtherProgramsImport: the samples are as Shopify, WooCommerce and Square write them: orders of several
// lines, an unpaid one, refunds, returns.
func TestFilesOfOtherProgramsImport(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	sample := func(name string) string { return filepath.Join("../../..", "testdata", "imports", name+".csv") }
	c.Ok("import", "store", "products", write(c, "products.csv", "sku,name,kind,price_cents,license_days,active\nPLUGIN,Plugin,license,4900,365,1\nBOOK,Handbook,other,3000,,1\n"))
	c.Ok("import", "reorder", "skus", write(c, "skus.csv", "sku\nTEA\nNAIL\n"))
	counts(c, "shopify", 5, 0, 0, 0, "import", "store", "orders", sample("shopify-orders"), "--from", "shopify-orders")
	c.Ok("import", "store", "orders", sample("shopify-orders"), "--from", "shopify-orders")
	counts(c, "shopify again", 0, 0, 5, 0, "import", "store", "orders", sample("shopify-orders"), "--from", "shopify-orders")
	c.Ok("import", "store", "orders", sample("woocommerce-orders"), "--from", "woocommerce-orders")
	equal(c, "orders", c.Ok("export", "store", "orders"), `provider,provider_ref,email,name,sku,tier,qty,unit_cents,discount_cents,tax_cents,currency,paid_at,refunds
shopify,#1001,ann@example.com,Ann Lee,PLUGIN,,2,4900,0,784,USD,2026-05-03T18:00:00Z,
shopify,#1002,bo@example.com,Bo Kim,PLUGIN,,1,4900,1000,552,USD,2026-05-04T13:30:00Z,
shopify,#1002,bo@example.com,Bo Kim,BOOK,,1,3000,0,0,USD,2026-05-04T13:30:00Z,
shopify,#1004,di@example.com,Di Roe,PLUGIN,,1,4900,0,392,USD,2026-05-06T15:00:00Z,2026-05-09=5292
shopify,#1005,ed@example.com,Ed Poe,PLUGIN,,1,4900,0,392,USD,2026-05-07T15:00:00Z,2026-05-08=5292
woocommerce,2001,eva@example.com,Eva Lang,PLUGIN,,1,4900,0,931,EUR,2026-06-01T10:15:00Z,
woocommerce,2002,finn@example.com,Finn Roth,PLUGIN,,2,4900,0,2432,EUR,2026-06-02T16:40:00Z,2026-06-02=2000
woocommerce,2002,finn@example.com,Finn Roth,BOOK,,1,3000,0,0,EUR,2026-06-02T16:40:00Z,
woocommerce,2004,hal@example.com,Hal Moe,PLUGIN,,1,4900,0,931,EUR,2026-06-04T09:00:00Z,2026-06-04=5831
`)
	_, _, told := c.Call("import", "reorder", "sales", sample("square-items"), "--from", "square-items")
	assert.Contains(t, told, "1 row of returns was subtracted", "told")
	equal(c, "sales", c.Ok("export", "reorder", "sales"), "date,sku,qty,channel\n2026-05-03,TEA,4,\n2026-05-04,NAIL,1,\n")
}

// counts compares what a dry run reports, and that it stores nothing.
func counts(c *apptest.CLI, what string, fresh, changed, same, refused int, args ...string) {
	c.Helper()
	_, out, told := c.Call(append(args, "--dry-run", "--json")...)
	var got struct{ New, Changed, Same, Refused int }
	err := json.Unmarshal([]byte(out), &got)
	assert.Must(c, err == nil, "%s: %v: %s%s", what, err, out, told)
	assert.That(c, got.New == fresh && got.Changed == changed && got.Same == same && got.Refused == refused,
		"%s: %+v, want %d new, %d changed, %d the same, %d refused", what, got, fresh, changed, same, refused)
}

func TestADryRunSaysWhatIsNewChangedAndTheSame(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	header := "sku,name,unit_cost_cents,current_stock,lead_time_days\n"
	file := write(c, "skus.csv", header+"A,Ant,100,5,7\nB,Bee,200,5,7\n")
	counts(c, "an empty shop", 2, 0, 0, 0, "import", "reorder", "skus", file)
	c.Ok("import", "reorder", "skus", file)
	c.Ok("import", "reorder", "sales", write(c, "sales.csv", "date,sku,qty\n2026-11-18,A,1\n2026-11-19,A,2\n"))
	more := write(c, "more.csv", header+"A,Ant,150,5,7\nB,Bee,200,5,7\nC,Cat,1,1,1\nD,Dog,x,1,1\n")
	counts(c, "more", 1, 1, 1, 1, "import", "reorder", "skus", more)
	_, out, told := c.Call("import", "reorder", "skus", more, "--dry-run", "--json")
	assert.Contains(t, out, `"changes":[{"line":2,"fields":["unit_cost_cents"]}]`, "%s", told)
	for _, pad := range []string{"", strings.Repeat("\n", 5<<20)} { // the rows of a large file are kept outside of memory
		sales := write(c, "sales.csv", "date,sku,qty\n2026-11-18,A,1\n2026-11-20,A,100\n2026-11-19,A,3\n2026-11-19,NONE,3\n"+pad)
		counts(c, "sales", 1, 1, 1, 1, "import", "reorder", "sales", sales)
		_, out, told = c.Call("import", "reorder", "sales", sales, "--dry-run", "--json")
		assert.That(t, strings.Contains(out, `"changes":[{"line":4,"fields":["qty"]}]`) &&
			(strings.Contains(out, `"record":"sales:`) || strings.Contains(out, `"would":[{`)), "%s%s", out, told)
	}
	_, out, told = c.Call("import", "reorder", "sales", write(c, "sales.csv", "date,sku,qty\n2026-11-20,A,300\n"), "--dry-run", "--json")
	assert.Contains(t, out, `"events":{"sku.reorder_point":1}`, "%s", told)
	equal(c, "after dry runs", c.Ok("export", "reorder", "sales"), "date,sku,qty,channel\n2026-11-18,A,1,\n2026-11-19,A,2,\n")
	equal(c, "a template", c.Ok("import", "reorder", "sales", "--template"), "date,sku,qty,channel\n")
	for hint, text := range map[string]string{`--map "Ware=sku"; --template prints the columns`: "Ware\nA\n", "--returns net": "date,sku,qty\n2026-11-18,A,-1\n"} {
		table := "sales"
		if strings.HasPrefix(text, "Ware") {
			table = "skus"
		}
		code, _, told := c.Call("import", "reorder", table, write(c, "odd.csv", text))
		assert.That(t, code == 1 && strings.Contains(told, hint), "%q: exit %d, told %s", text, code, told)
	}
	refuses(c, 2, []string{"--map", "unknown column"}, "import", "reorder", "skus", file, "--map", "sku=colour")
	refuses(c, 2, []string{"--delimiter"}, "import", "reorder", "skus", file, "--delimiter", "x")
	refuses(c, 2, []string{"--from"}, "import", "reorder", "skus", file, "--from", "shopify-orders")
	refuses(c, 2, []string{"--map"}, "import", "reorder", "skus", file, "--map", "sku")
}

// TestForeignFileFormatsAreRecognised: the meaning of a cell is recognised, or asked for before anything is written.
func TestForeignFileFormatsAreRecognised(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	c.Ok("import", "store", "products", write(c, "products.csv",
		"sku,name,kind,price_cents,license_days,active\nPLUGIN,Plugin,license,4900,365,1\nBOOK,Handbook,other,3000,,1\n"))
	c.Ok("import", "reorder", "skus", write(c, "skus.csv", "sku\nDAY-US\nDAY-UK\nDAY-AM\nDAY-DE\nDAY-NAME\n"))
	prices := []string{"--map", "Artikel=sku", "--map", "Preis=unit_cost"}
	days := []string{"--map", "Day=date", "--map", "SKU=sku", "--map", "Quantity Sold=qty"}
	german := []string{"--map", "Datum=date", "--map", "Artikel=sku", "--map", "Menge=qty"}
	for _, s := range []struct {
		file, service, table string
		flags                []string
		code                 int
		stored               []string // lines of the export; "!" before a prefix that no line has
		said                 []string
	}{
		{
			"shopify-products.csv", "reorder", "skus", nil, 0,
			[]string{"SH-CAP-S,Cap S Red,Wollwerk,,4006381333931,,1150,4,7,3,1,0,1", "SH-CAP-M,Cap M Red,Wollwerk,,,,1150,6,7,3,1,0,1", "SH-MUG,Mug,Tonhof,,,,0,0,7,3,1,0,0"},
			[]string{"a file of shopify-products", "the row has only a picture", "the row has no SKU", "ignored columns: " +
				"Body (HTML)"},
		},
		{"shopify-products.csv", "store", "products", nil, 0, []string{"SH-CAP-S,Cap S Red,license,2490,", "SH-MUG,Mug,license,900,"}, nil},
		{
			"woocommerce-products.csv", "reorder", "skus", nil, 0,
			[]string{`WC-HONEY,"Honey, 500 g",,,4006381333948,,0,24,7,3,1,0,1`, "WC-SHIRT-L,Shirt - L,,,,,0,3,7,3,1,0,1", "WC-OLD,Old soap,,,,,0,0,7,3,1,0,0", "!WC-SHIRT,"},
			[]string{"the product is variable"},
		},
		{"woocommerce-products.csv", "store", "products", nil, 0, []string{"WC-SHIRT-L,Shirt - L,license,1500,", `WC-HONEY,"Honey, 500 g",license,850,`}, nil},
		{
			"square-library.csv", "reorder", "skus", nil, 0,
			[]string{"SQ-ASSAM,Assam,Leaf,L-77,4006381333955,,420,15.5,7,3,1,0,1", "SQ-DARJ,Darjeeling 100 g,Leaf,L-78,,,600,7,7,3,1,0,1", "SQ-TIP,Tip,,,,,0,0,7,3,1,0,0"}, nil,
		},
		{"square-library.csv", "store", "products", nil, 0, []string{"SQ-DARJ,Darjeeling 100 g,license,101200,"}, nil},
		{
			"woocommerce-advanced.csv", "store", "orders", nil, 0,
			[]string{
				"woocommerce,3042,joerg@example.de,Jörg Müller,PLUGIN,,1,4900,0,931,EUR,2026-06-02T14:03:00Z,",
				"woocommerce,3043,anna@example.de,Anna Schön,PLUGIN,,2,4900,800,2280,EUR,2026-06-05T09:11:00Z,",
				"woocommerce,3043,anna@example.de,Anna Schön,BOOK,,1,3000,0,0,EUR,2026-06-05T09:11:00Z,",
				"woocommerce,3044,ben@example.org,Ben Okafor,PLUGIN,,1,4900,0,1007,EUR,2026-06-07T11:20:00Z,2026-06-07=5907",
			},
			[]string{"the order is not paid (failed)"},
		},
		{
			"gumroad-sales.csv", "store", "orders", nil, 0,
			[]string{
				"gumroad,gr1==,ann@example.com,Ann Lee,PLUGIN,,1,4900,0,392,USD,2026-05-03T14:00:00Z,",
				"gumroad,gr2==,bo@example.com,Bo Kim,PLUGIN,,2,4900,0,0,USD,2026-05-04T09:30:00Z,2026-05-04=2000",
				"gumroad,gr3==,cy@example.com,Cy Ott,BOOK,,1,3000,0,0,USD,2026-05-05T10:00:00Z,2026-05-05=3000",
				"gumroad,gr4==,di@example.com,Di Roe,PLUGIN,,1,4900,0,0,USD,2026-05-06T11:00:00Z,2026-05-06=4900", "!gumroad,gr5", "!gumroad,Totals",
			},
			[]string{"the sale is a free trial"},
		},
		{
			"quickbooks-customers.csv", "store", "customers", nil, 0,
			[]string{"anna.mueller@example.com,Anna Müller", "ben@example.com,Okafor & Sons"},
			[]string{"the header on line 3", "no e-mail address"},
		},
		{"quickbooks-customers.csv", "rental", "tenants", nil, 0, []string{"Anna Müller,anna.mueller@example.com,(555) 201-7788,"}, nil},
		{
			"fleetio-vehicles.csv", "maintenance", "assets", nil, 1,
			[]string{
				"1100 [2018 Toyota Prius],2018 Toyota Prius,Car,North,Toyota,Prius,4A3AK24F36E026691,operational,License plate 8LR 123",
				"2100,2015 Ford F-150,Pickup Truck,South,Ford,F-150,2G1FD1E38G9106251,needs-attention,License plate TRK 77",
				"3100,2009 Case 580 Super N,Backhoe,South,Case,580 Super N,NAC531202,down,", "4100,2010 Honda Civic,Car,North,Honda,Civic,2HGFA165X8H528203,retired,License plate OLD 1",
			},
			[]string{`line 6: Status: "On Loan" is not one of Fleetio's own states`},
		},
		{"shopify-customers.csv", "store", "customers", nil, 0, []string{"ann.lee@example.com,Ann Lee", "bo.shop@example.com,Bo"}, []string{"no e-mail address"}},
		{"woocommerce-customers.csv", "store", "customers", nil, 0, []string{"eva.lang@example.com,Eva Lang", "finn.roth@example.com,Finn Roth"}, nil},
		{
			"german-catalogue.csv", "reorder", "skus",
			[]string{"--map", "Artikel=sku", "--map", "Bezeichnung=name", "--map", "Lieferant=supplier", "--map", "EK=unit_cost", "--map", "Bestand=current_stock"}, 0,
			[]string{"DE-1,Grüner Tee,Blätter AG,,,,123450,1018,7,3,1,0,1", "DE-2,Schwarzer Tee,Blätter AG,,,,450,0.25,7,3,1,0,1", "!Summe"},
			[]string{"in windows-1252", "the header on line 4", "decimals behind a comma"},
		},
		{"us-prices.csv", "reorder", "skus", []string{"--map", "Item=sku", "--map", "Cost=unit_cost"}, 0, []string{"US-1,US-1,,,,,123450,", "US-2,US-2,,,,,450,", "US-3,US-3,,,,,101800,"}, nil},
		{"french-prices.tsv", "reorder", "skus", []string{"--map", "Réf=sku", "--map", "Prix=unit_cost"}, 0, []string{"FR-1,FR-1,,,,,123450,", "FR-2,FR-2,,,,,450,"}, nil},
		{"swiss-prices.csv", "reorder", "skus", prices, 1, []string{"CH-1,CH-1,,,,,123450,", "CH-2,CH-2,,,,,450,", "!CH-3"}, []string{`line 4: unit_cost_cents: cannot read the amount "4.505"`}},
		{"ambiguous-prices.csv", "reorder", "skus", prices, 1, []string{"!AM-"}, []string{"--decimal point or --decimal comma"}},
		{"ambiguous-prices.csv", "reorder", "skus", append(prices, "--decimal", "comma"), 0, []string{"AM-1,AM-1,,,,,123400,", "AM-2,AM-2,,,,,450500,"}, nil},
		{"contradictory-prices.csv", "reorder", "skus", prices, 1, []string{"!CO-"}, []string{"--decimal point or --decimal comma"}},
		{"ambiguous-stock.csv", "reorder", "skus", []string{"--map", "Artikel=sku", "--map", "Bestand=current_stock"}, 1, []string{"!ST-1"}, []string{"--decimal"}},
		{"stock-decides.csv", "reorder", "skus", append(prices, "--map", "Bestand=current_stock"), 0, []string{"QD-1,QD-1,,,,,123400,0.5,", "QD-2,QD-2,,,,,1200,3,"}, nil},
		{"own-columns.csv", "reorder", "skus", nil, 0, []string{"OWN-1,OWN-1,,,,,0,1.018,", "OWN-2,OWN-2,,,,,0,0.125,"}, nil},
		{"sales-us.csv", "reorder", "sales", days, 0, []string{"2026-05-03,DAY-US,1,", "2026-05-23,DAY-US,2,"}, []string{"date as MM/DD/YYYY"}},
		{"sales-uk.csv", "reorder", "sales", days, 0, []string{"2026-05-03,DAY-UK,1,", "2026-05-23,DAY-UK,2,"}, []string{"date as DD/MM/YYYY"}},
		{"sales-ambiguous.csv", "reorder", "sales", days, 1, nil, []string{"--date-format DD/MM/YYYY or --date-format MM/DD/YYYY"}},
		{"sales-ambiguous.csv", "reorder", "sales", append(days, "--date-format", "MM/DD/YYYY"), 0, []string{"2026-03-05,DAY-AM,1,", "2026-04-05,DAY-AM,2,"}, nil},
		{
			"sales-german.csv", "reorder", "sales", german, 1, []string{"2026-05-03,DAY-DE,1.5,", "2026-09-23,DAY-DE,2,", "2026-09-24,DAY-DE,1,"},
			[]string{`line 5: date: cannot read the date "2026-09-25". Expected DD.MM.YYYY; add --date-format YYYY-MM-DD`},
		},
		{"sales-month-names.csv", "reorder", "sales", days, 0, []string{"2026-05-03,DAY-NAME,1,", "2026-11-12,DAY-NAME,2,"}, nil},
		{"status-words.csv", "maintenance", "assets", []string{"--map", "Tag=asset_tag", "--map", "Firma=name"}, 0, []string{"ST-A1,North,", "ST-A2,South,"}, []string{"the header on line 4"}},
		{"tenants-outlook.txt", "rental", "tenants", []string{"--map", "Full Name=name", "--map", "E-mail Address=email", "--map", "Mobile=phone"}, 0, []string{"Zoë Ångström,zoe@example.com,'+46 8 123,"}, nil},
		{"spreadsheet-hint.csv", "reorder", "skus", nil, 0, []string{"SEP-1,Nails,,,,kg,", "SEP-2,Screws,,,,kg,"}, nil},
	} {
		args := append([]string{"import", s.service, s.table, filepath.Join("../../..", "testdata", "imports", s.file)}, s.flags...)
		code, out, told := c.Call(args...)
		what := s.file + " into " + s.table
		assert.That(t, code == s.code, "%s: exit %d, want %d: %s%s", what, code, s.code, out, told)
		for _, word := range s.said {
			assert.That(t, strings.Contains(told, word), "%s: %q is not said: %s", what, word, told)
		}
		export := "\n" + c.Ok("export", s.service, s.table)
		for _, line := range s.stored {
			word, not := strings.CutPrefix(line, "!")
			assert.That(t, strings.Contains(export, "\n"+word) != not, "%s: %s in %s", what, line, export)
		}
		if s.code != 0 {
			continue
		}
		var got struct{ New, Changed, Refused int }
		if _, out, _ := c.Call(append(args, "--dry-run", "--json")...); json.Unmarshal([]byte(out), &got) != nil || got.New+got.Changed+got.Refused > 0 {
			t.Errorf("%s again: %s", what, out)
		}
	}
}
