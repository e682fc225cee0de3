package app_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// The samples are as Shopify, WooCommerce and Square write them: orders of several
// lines, one that is not paid, refunds, returns.
func TestFilesOfOtherProgramsImport(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	sample := func(name string) string { return filepath.Join("..", "testdata", "imports", name+".csv") }
	c.ok("import", "store", "products", c.write("products.csv", "sku,name,kind,price_cents,license_days,active\nPLUGIN,Plugin,license,4900,365,1\nBOOK,Handbook,other,3000,,1\n"))
	c.ok("import", "reorder", "skus", c.write("skus.csv", "sku\nTEA\nNAIL\n"))
	c.counts("shopify", 5, 0, 0, 0, "import", "store", "orders", sample("shopify-orders"), "--from", "shopify-orders")
	c.ok("import", "store", "orders", sample("shopify-orders"), "--from", "shopify-orders")
	c.counts("shopify again", 0, 0, 5, 0, "import", "store", "orders", sample("shopify-orders"), "--from", "shopify-orders")
	c.ok("import", "store", "orders", sample("woocommerce-orders"), "--from", "woocommerce-orders")
	c.equal("orders", c.ok("export", "store", "orders"), `provider,provider_ref,email,name,sku,tier,qty,unit_cents,discount_cents,tax_cents,currency,paid_at,refunds
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
	_, _, told := c.call("import", "reorder", "sales", sample("square-items"), "--from", "square-items")
	if !strings.Contains(told, "1 row of returns was taken off") {
		t.Errorf("told %s", told)
	}
	c.equal("sales", c.ok("export", "reorder", "sales"), "date,sku,qty,channel\n2026-05-03,TEA,4,\n2026-05-04,NAIL,1,\n")
}

// counts compares what a dry run says of the rows, and that it keeps nothing.
func (c *cli) counts(what string, fresh, changed, same, refused int, args ...string) {
	c.Helper()
	_, out, told := c.call(append(args, "--dry-run", "--json")...)
	var got struct{ New, Changed, Same, Refused int }
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		c.Fatalf("%s: %v: %s%s", what, err, out, told)
	}
	if got.New != fresh || got.Changed != changed || got.Same != same || got.Refused != refused {
		c.Errorf("%s: %+v, want %d new, %d changed, %d the same, %d refused", what, got, fresh, changed, same, refused)
	}
}

func TestADryRunSaysWhatIsNewChangedAndTheSame(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	header := "sku,name,unit_cost_cents,current_stock,lead_time_days\n"
	file := c.write("skus.csv", header+"A,Ant,100,5,7\nB,Bee,200,5,7\n")
	c.counts("an empty shop", 2, 0, 0, 0, "import", "reorder", "skus", file)
	c.ok("import", "reorder", "skus", file)
	c.ok("import", "reorder", "sales", c.write("sales.csv", "date,sku,qty\n2026-11-18,A,1\n2026-11-19,A,2\n"))
	more := c.write("more.csv", header+"A,Ant,150,5,7\nB,Bee,200,5,7\nC,Cat,1,1,1\nD,Dog,x,1,1\n")
	c.counts("more", 1, 1, 1, 1, "import", "reorder", "skus", more)
	_, out, told := c.call("import", "reorder", "skus", more, "--dry-run", "--json")
	if !strings.Contains(out, `"changes":[{"line":2,"fields":["unit_cost_cents"]}]`) {
		t.Errorf("%s%s", out, told)
	}
	for _, pad := range []string{"", strings.Repeat("\n", 5<<20)} { // the rows of a large file are held outside of memory
		sales := c.write("sales.csv", "date,sku,qty\n2026-11-18,A,1\n2026-11-20,A,100\n2026-11-19,A,3\n2026-11-19,NONE,3\n"+pad)
		c.counts("sales", 1, 1, 1, 1, "import", "reorder", "sales", sales)
		_, out, told = c.call("import", "reorder", "sales", sales, "--dry-run", "--json")
		if !strings.Contains(out, `"changes":[{"line":4,"fields":["qty"]}]`) || !strings.Contains(out, `"record":"sales:`) && !strings.Contains(out, `"would":[{`) {
			t.Errorf("%s%s", out, told)
		}
	}
	_, out, told = c.call("import", "reorder", "sales", c.write("sales.csv", "date,sku,qty\n2026-11-20,A,300\n"), "--dry-run", "--json")
	if !strings.Contains(out, `"events":{"sku.reorder_point":1}`) {
		t.Errorf("%s%s", out, told)
	}
	c.equal("after dry runs", c.ok("export", "reorder", "sales"), "date,sku,qty,channel\n2026-11-18,A,1,\n2026-11-19,A,2,\n")
	c.equal("a template", c.ok("import", "reorder", "sales", "--template"), "date,sku,qty,channel\n")
	for hint, text := range map[string]string{`--map "Ware=ours"`: "Ware\nA\n", "--returns net": "date,sku,qty\n2026-11-18,A,-1\n"} {
		table := "sales"
		if strings.HasPrefix(text, "Ware") {
			table = "skus"
		}
		if code, _, told := c.call("import", "reorder", table, c.write("odd.csv", text)); code != 1 || !strings.Contains(told, hint) {
			t.Errorf("%q: exit %d, told %s", text, code, told)
		}
	}
	c.refuses(2, []string{"--map", "unknown column"}, "import", "reorder", "skus", file, "--map", "sku=colour")
	c.refuses(2, []string{"--delimiter"}, "import", "reorder", "skus", file, "--delimiter", "x")
	c.refuses(2, []string{"--from"}, "import", "reorder", "skus", file, "--from", "shopify-orders")
	c.refuses(2, []string{"--map"}, "import", "reorder", "skus", file, "--map", "sku")
}
