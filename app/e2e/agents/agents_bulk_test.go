package agents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// agentsLists are the list tools, by the name of their rows, with every filter that can return many.
var agentsLists = []struct {
	service, tool, rows string
	filters             []string
}{
	{"maintenance", "list_workorders", "work_orders", []string{`"status":"open"`, `"priority":"high"`, `"asset_id":1`, `"asset":"M-1"`, `"assigned_to":"ben"`,
		`"q":"bearing"`, `"from":"2020-01-01"`, `"to":"2026-12-31"`, `"overdue":false`, `"overdue":true`}},
	{"maintenance", "list_assets", "assets", []string{`"status":"operational"`, `"q":"machine"`}},
	{"maintenance", "list_parts", "parts", []string{`"low_stock":true`, `"low_stock":false`, `"q":"part"`}},
	{"maintenance", "pm_due", "pm_due", []string{`"overdue_only":true`, `"overdue_only":false`}},
	{"maintenance", "maintenance_report", "rows", []string{`"by":"person"`, `"by":"month"`, `"sort":"jobs"`}},
	{"rental", "list_properties", "properties", nil},
	{"rental", "list_units", "units", []string{`"status":"occupied"`, `"status":"vacant"`, `"property":"house"`, `"on":"2026-12-01"`}},
	{"rental", "list_leases", "leases", []string{`"active":true`, `"status":"active"`, `"status":"ended"`, `"property":"house"`, `"tenant":"tenant"`, `"unit_id":1`}},
	{"rental", "list_tickets", "tickets", []string{`"status":"open"`, `"unit_id":1`}},
	{"rental", "lease_detail", "charges", []string{`"open_only":true`, `"since":"2020-01-01"`}},
	{"rental", "arrears_report", "arrears", []string{`"property":"house"`, `"tenant":"tenant"`, `"sort":"balance"`}},
	{"rental", "rent_roll", "units", []string{`"month":"2026-10"`, `"from":"2020-01-01","to":"2026-12-31"`, `"sort":"outstanding"`}},
	{"rental", "list_payments", "payments", []string{`"tenant":"tenant"`, `"sort":"most"`, `"from":"2020-01-01"`}},
	{"store", "find_customer", "customers", nil},
	{"store", "list_orders", "orders", []string{`"q":"buyer"`, `"provider":"till"`, `"status":"paid"`, `"sort":"most"`, `"from":"2020-01-01"`}},
	{"store", "revenue_report", "rows", []string{`"by":"month"`, `"by":"product"`, `"by":"provider"`, `"sort":"most"`}},
	{"reorder", "list_products", "products", []string{`"status":"below"`, `"below_reorder":true`, `"supplier":"maker 1"`, `"q":"item"`}},
	{"reorder", "sales_report", "rows", []string{`"by":"supplier"`, `"by":"month"`, `"sort":"value"`}},
	{"reorder", "reorder_report", "skus", []string{`"status":"below"`, `"supplier":"maker 1"`}},
}

// agentsBulk fills a shop with 10,000 work orders, 10,000 charges of 170 leases, 3,000 SKUs of 260 suppliers and 3,000
// orders, each of its own customer.
func agentsBulk(t *testing.T) *apptest.Fixture {
	t.Helper()
	s := apptest.Start(t)
	table := func(service, name, header string, n int, row func(i int) string) {
		var b strings.Builder
		b.WriteString(header + "\n")
		for i := range n {
			b.WriteString(row(i) + "\n")
		}
		code, out, errs := s.Pipe(b.String(), "import", service, name, "-")
		assert.Must(t, code == 0, "%s %s: %.2000s", service, name, out+errs)
	}
	long := strings.Repeat("The bearing is loud & hot. ", 350)
	table("maintenance", "assets", "asset_tag,name,notes", 600, func(i int) string { return fmt.Sprintf("M-%d,Machine %d,%s", i, i, long[:700]) })
	table("maintenance", "pm-plans", "asset_tag,title,interval_days,last_done_date", 600, func(i int) string { return fmt.Sprintf("M-%d,Oil and filter,%d,2026-01-01", i, 30+i) })
	table("maintenance", "parts", "part_number,name,quantity,min_quantity,supplier,location", 600, func(i int) string { return fmt.Sprintf("P-%d,Part %d,%d,5,Bearings Ltd,shelf 1", i, i, i%9) })
	table("maintenance", "work-orders", "asset_tag,description,priority,wo_type,status,assigned_to,labor_minutes,parts_cost,resolution,created_at,due_date", 10_000, func(i int) string {
		text := "Bearing is loud"
		if i%500 < 60 { // including the newest
			text = long
		}
		status, resolution := "open", ""
		if i%10 > 0 {
			status, resolution = "done", "Greased"
		}
		return fmt.Sprintf("M-%d,%s,%s,corrective,%s,%s,30,1.25,%s,2026-01-01,%s", i%7, text, []string{"low", "high"}[i%2], status, []string{"Ana", "Ben"}[i%2], resolution, []string{"2026-06-01", ""}[i%2])
	})
	table("rental", "properties", "name", 60, func(i int) string { return fmt.Sprintf("House %d", i) })
	table("rental", "units", "property,name,notes", 600, func(i int) string { return fmt.Sprintf("House %d,Flat %d,%s", i%60, i, long[:600]) })
	table("rental", "tenants", "name,email", 170, func(i int) string { return fmt.Sprintf("Tenant number %d,t%d@example.org", i, i) })
	table("rental", "leases", "property,unit,tenant,start_date,end_date,rent_cents,frequency", 170, func(i int) string {
		rhythm, end := "2021-12-01,,95000,monthly", ""
		switch {
		case i == 0:
			rhythm = "2020-01-01,,25000,weekly"
		case i%5 == 0:
			end = "2021-12-01,2026-06-30,95000,monthly"
		}
		if end != "" {
			rhythm = end
		}
		return fmt.Sprintf("House %d,Flat %d,Tenant number %d <t%d@example.org>,%s", i%60, i, i, i, rhythm)
	})
	table("rental", "tickets", "property,unit,title,description,status", 300, func(i int) string {
		return fmt.Sprintf("House %d,Flat %d,Tap %d drips,%s,open", i%3, i%3, i, long)
	})
	table("reorder", "skus", "sku,name,supplier,current_stock,unit_cost_cents", 3000, func(i int) string { return fmt.Sprintf("SKU-%d,Item %d,Maker %d,0,%d", i, i, i%260, i) })
	table("store", "products", "sku,name,kind,price_cents", 3, func(i int) string { return fmt.Sprintf("P-%d,Plugin %d,license,4900", i, i) })
	table("store", "orders", "provider,provider_ref,email,name,sku,paid_at,currency", 3000, func(i int) string {
		return fmt.Sprintf("till,T-%d,buyer%d@example.org,Buyer number %d,P-%d,2025-%02d-%02d,%s", i, i, i, i%3, i%12+1, i%28+1, []string{"EUR", "USD"}[i%2])
	})
	return s
}

// listed is the answer of a list tool.
type listed map[string]json.RawMessage

func (l listed) number(name string) (n int64) {
	_ = json.Unmarshal(l[name], &n)
	return n
}

func (l listed) rows(name string) (rows []json.RawMessage) {
	_ = json.Unmarshal(l[name], &rows)
	return rows
}

func (l listed) next() (next string) {
	_ = json.Unmarshal(l["next"], &next)
	return next
}

// TestListToolsAnswerBelow40KB holds every list tool below 40 KB where 10,000 records match, plain and with each
// filter. It walks all pages and compares the sums with the rows of all pages.
func TestListToolsAnswerBelow40KB(t *testing.T) {
	t.Parallel()
	s := agentsBulk(t)
	ask := func(service, tool, args string) (listed, int) {
		a := s.Post(service, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":{`+args+`}}}`)
		var m struct {
			Result struct {
				StructuredContent json.RawMessage
				Content           []struct{ Text string }
				IsError           bool
			}
		}
		a.JSON(t, &m)
		assert.Must(t, !m.Result.IsError && len(m.Result.Content) != 0, "%s {%s}: %s", tool, args, a.Body)
		var l listed
		assert.OK(t, json.Unmarshal(m.Result.StructuredContent, &l))
		return l, len(a.Body)
	}
	with := func(parts ...string) string {
		return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ",")
	}
	for _, c := range agentsLists {
		base := ""
		switch c.tool {
		case "lease_detail":
			base = `"lease_id":1`
		case "find_customer":
			base = `"q":"buyer"`
		}
		for _, filter := range append([]string{""}, c.filters...) {
			for _, detail := range []string{"", `"detail":"short"`} {
				first, size := ask(c.service, c.tool, with(base, filter, detail))
				if size > 40*1024 {
					t.Errorf("%s {%s}: %d bytes that were not asked for", c.tool, with(filter, detail), size)
				}
				if shown := first.number("shown"); shown != int64(len(first.rows(c.rows))) || shown < first.number("total") != (first.next() != "") {
					t.Errorf("%s {%s}: %d shown of %d, next %q", c.tool, with(filter, detail), shown, first.number("total"), first.next())
				}
			}
		}
		if c.tool == "list_workorders" { // 1,000 rows are enough
			base = `"overdue":true`
		}
		full, small, suppliers, tenants := walk(t, c.tool, c.rows, func(args string) (listed, int) { return ask(c.service, c.tool, with(base, args)) })
		least := 4.0
		switch c.tool {
		case "reorder_report":
			least = 3
		case "list_parts":
			least = 2.5
		case "pm_due", "list_properties", "arrears_report", "rent_roll", "find_customer", "revenue_report", "sales_report", "maintenance_report":
			least = 2
			if c.tool == "find_customer" || c.tool == "revenue_report" {
				least = 1.3
			}
		case "list_leases", "list_payments", "list_orders":
			least = 2.5
		}
		assert.That(t, !(least*small > full), "%s: a short row has %.0f bytes in the mean, more than 1/%v of %.0f", c.tool,
			small, least, full)
		switch c.tool {
		case "reorder_report":
			assert.That(t, len(suppliers) == 260, "%d suppliers are told", len(suppliers))
		case "arrears_report":
			report, _ := ask(c.service, c.tool, "")
			sum, rows := int64(0), report.rows("by_tenant") // the first page: as many tenants as fit, largest debt first
			for _, cents := range tenants {
				sum += cents
			}
			if len(tenants) != len(rows) || len(rows) < 40 || report.number("tenants") != 170 || sum >= report.number("total_cents") {
				t.Errorf("%d tenants owe %d; the report says %d owe %d", len(tenants), sum, report.number("tenants"), report.number("total_cents"))
			}
		}
	}
	orders, _ := ask("maintenance", "list_workorders", `"assigned_to":"BEN","limit":1`)
	if got := orders.number("total_cost_cents"); orders.number("total") != 5000 || got != 5000*125 {
		t.Errorf("5,000 of Ben's orders cost %d: %s", got, orders["total"])
	}
	got := int64(len(s.Get("rental", "/api/arrears").Body))
	assert.That(t, got >= 1_000_000, "the arrears over REST have %d bytes: the shop is too small for this test", got)
}

// walk reads all pages, full and short. It returns the mean bytes per row and the sums reported with them.
func walk(t *testing.T, tool, rowsName string, ask func(args string) (listed, int)) (full, small float64, suppliers map[string]int64, tenants map[int64]int64) {
	t.Helper()
	suppliers, tenants = map[string]int64{}, map[int64]int64{}
	sizes := map[bool]int{}
	counts := map[bool]int64{}
	for _, short := range []bool{false, true} {
		after, seen := "", map[string]bool{}
		for pages := 0; ; pages++ {
			args := `"detail":"full"`
			if short {
				args = `"detail":"short"`
			}
			if after != "" {
				args += `,"after":"` + after + `"`
			}
			page, size := ask(args)
			assert.Must(t, size <= 40*1024 && pages <= 200, "%s {%s}: %d bytes, page %d", tool, args, size, pages)
			for _, r := range page.rows(rowsName) {
				sizes[short] += len(r)
				counts[short]++
				assert.That(t, !strings.Contains(string(r), "null") || !short, "%s: a short row has a null: %s", tool, r)
				assert.That(t, short || tool == "arrears_report" || tool == "rent_roll" || !seen[string(r)], "%s: given twice: %s",
					tool, r)
				seen[string(r)] = true
			}
			for _, r := range page.rows("by_supplier") {
				var sum struct {
					Supplier     string
					EstCostCents int64 `json:"est_cost_cents"`
				}
				_ = json.Unmarshal(r, &sum)
				suppliers[sum.Supplier] = sum.EstCostCents
			}
			for _, r := range page.rows("by_tenant") {
				var sum struct {
					TenantID     int64 `json:"tenant_id"`
					BalanceCents int64 `json:"balance_cents"`
				}
				_ = json.Unmarshal(r, &sum)
				tenants[sum.TenantID] = sum.BalanceCents
			}
			if tool == "arrears_report" && pages == 3 { // the sum covers all charges; the tenants are complete by then
				break
			}
			if after = page.next(); after == "" {
				total := page.number("total")
				assert.That(t, counts[short] == total, "%s: %d rows on all pages, total %d", tool, counts[short], total)
				break
			}
		}
	}
	// Arrears take several pages, and a page of short rows holds more of them.
	assert.That(t, counts[false] == counts[true] || tool == "arrears_report", "%s: %d rows in full, %d short", tool,
		counts[false], counts[true])
	mean := func(short bool) float64 { return float64(sizes[short]) / float64(counts[short]) }
	return mean(false), mean(true), suppliers, tenants
}
