package agents

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// job is a task for an agent, with the fewest calls that do it and the largest total size of their answers, in bytes.
type job struct {
	service, wish string
	bytes         int
	calls         []string // TOOL {ARGUMENTS}
	says          string   // what the last answer contains
	refused       bool     // the last call is refused with says
}

// agentsDay are a day's jobs in the demo, as docs/agents-day.md shows them.
var agentsDay = []job{
	{"maintenance", "Which machines are overdue for service?", 700, []string{`pm_due {"overdue_only": true, "detail": "short"}`}, `"due_status":"overdue"`, false},
	{"maintenance", "Which machines are down?", 400, []string{`list_assets {"status": "down", "detail": "short"}`}, `"VAN-3"`, false},
	{"maintenance", "What is open on the lathe, and what did it cost in all this year?", 900, []string{`list_workorders {"asset": "lathe", "from": "2026-01-01", "detail": "short"}`}, `"total_cost_cents":`, false},
	{"maintenance", "Which jobs does Ben have?", 900, []string{`list_workorders {"assigned_to": "ben", "status": "in-progress", "detail": "short"}`}, `"assigned_to":"Ben"`, false},
	{"maintenance", "Raise a job: the compressor leaks oil, urgent.", 1200, []string{`create_workorder {"asset_id": 2, "description": "Leaks oil", "priority": "urgent", "request_key": "leak-1"}`}, `"status":"open"`, false},
	{"maintenance", "The same again, after a time-out: nothing is raised twice.", 1200, []string{`create_workorder {"asset_id": 2, "description": "Leaks oil", "priority": "urgent", "request_key": "leak-1"}`}, `"status":"open"`, false},
	{"maintenance", "Ana takes over the spindle bearing, due on Friday.", 1200, []string{`update_workorder {"id": "spindle bearing", "assigned_to": "ana", "due_date": "2026-11-27"}`}, `"assigned_to":"Ana"`, false},
	{"maintenance", "It took one bearing and 45 minutes more; close it: new bearing fitted.", 2200, []string{`update_workorder {"id": "spindle bearing", "part": "6204-2RS", "qty": 1, "add_labor_minutes": 45}`,
		`advance_status {"id": 29, "status": "done", "resolution": "New bearing fitted"}`}, `"status":"done"`, false},
	{"maintenance", "What is due by the end of the month, and has no job yet? Open one.", 1500, []string{`pm_due {"to": "2026-11-30", "detail": "short"}`,
		`create_workorder {"asset": "Lathe", "plan": "spindle oil", "description": "Change the spindle oil", "wo_type": "preventive", "assigned_to": "ben", "request_key": "oil-1"}`}, `"pm_id":1`, false},
	{"maintenance", "And once more: the plan has its job.", 200, []string{`create_workorder {"asset": "Lathe", "plan": "spindle oil", "description": "Change the spindle oil"}`}, `Job 36 is open for this plan`, true},
	{"maintenance", "Which machine stood still longest this year?", 500, []string{`maintenance_report {"from": "2026-01-01", "sort": "downtime", "limit": 2, "detail": "short"}`}, `"downtime_minutes":`, false},
	{"maintenance", "Log the lathe's hours.", 900, []string{`record_meter {"asset_id": 1, "reading": 999999}`}, `"reading":999999`, false},
	{"maintenance", "What is low on the shelf?", 500, []string{`list_parts {"low_stock": true, "detail": "short"}`}, `"6204-2RS"`, false},
	{"rental", "Who is behind, and by how much each?", 1400, []string{`arrears_report {"detail": "short"}`}, `"by_tenant":`, false},
	{"rental", "Is a unit free next month?", 1000, []string{`list_units {"status": "vacant", "on": "2026-12-01", "detail": "short"}`}, `"status":"vacant"`, false},
	{"rental", "What did Chloe Martin not pay yet?", 2600, []string{`list_leases {"tenant": "chloe", "status": "active", "detail": "short"}`, `lease_detail {"lease_id": 3, "open_only": true}`}, `"paid":false`, false},
	{"rental", "How much came in this month?", 1000, []string{`rent_roll {"month": "2026-11", "detail": "short"}`}, `"received_cents":`, false},
	{"rental", "How full are the houses?", 500, []string{`list_properties {}`}, `"occupancy":`, false},
	{"rental", "The tap in 1A drips.", 700, []string{`create_ticket {"unit_id": 1, "title": "Tap drips", "priority": "low"}`}, `"Tap drips"`, false},
	{"rental", "Which tickets are open?", 1200, []string{`list_tickets {"status": "open", "detail": "short"}`}, `"status":"open"`, false},
	{"rental", "The bulb is being changed.", 700, []string{`advance_ticket {"ticket_id": 4, "status": "in_progress"}`}, `"status":"in_progress"`, false},
	{"rental", "Which flats are free from December, and for how much are the others let?", 1500, []string{`list_units {"free_from": "2026-12-01", "detail": "short"}`, `list_units {"property": "harbour", "sort": "rent", "detail": "short"}`}, `"rent_cents":`, false},
	{"rental", "Ben Okafor paid 1,000 by bank yesterday.", 700, []string{`record_payment {"lease": "ben okafor", "amount_cents": 100000, "currency": "USD", "paid_date": "2026-11-19", "method": "transfer", "request_key": "okafor-19"}`}, `"after":{"balance_cents":85000`, false},
	{"rental", "Which payments came in for Harbour House in November?", 1400, []string{`list_payments {"property": "harbour", "from": "2026-11-01", "to": "2026-11-30", "detail": "short"}`}, `"received_cents":`, false},
	{"rental", "What was collected at Mill Lane since October?", 600, []string{`rent_roll {"from": "2026-10-01", "to": "2026-11-30", "property": "mill", "detail": "short"}`}, `"collected_cents":`, false},
	{"rental", "Joe looks after the skylight; he comes on Monday.", 700, []string{`update_ticket {"ticket": "skylight", "assigned_to": "Joe", "new_person": true, "note": "Joe comes on Monday", "status": "in_progress"}`}, `"assigned_to":"Joe"`, false},
	{"rental", "Take 50 francs from somebody: rents are in another currency.", 200, []string{`record_payment {"lease": "2A", "amount_cents": 5000, "currency": "CHF", "request_key": "chf"}`}, `rents are in USD`, true},
	{"reorder", "What is to be ordered, from whom, and what does it cost?", 1300, []string{`reorder_report {"limit": 3, "detail": "short"}`}, `"by_supplier":`, false},
	{"reorder", "Only Leaf & Co's, written in any case.", 1300, []string{`list_products {"below_reorder": true, "supplier": "LEAF & CO", "detail": "short"}`}, `"TEA-EARLGREY-100"`, false},
	{"reorder", "How did green tea sell in the last eight weeks?", 1200, []string{`product_detail {"sku": "TEA-GREEN-100", "history_days": 56, "by": "week"}`}, `"total":`, false},
	{"reorder", "What is on its way, and what is in it?", 1100, []string{`list_purchase_orders {"status": "ordered", "detail": "short"}`, `purchase_detail {"number": "PO-000001"}`}, `"lines":`, false},
	{"reorder", "Which three sold best, in money?", 700, []string{`sales_report {"sort": "value", "limit": 3, "detail": "short"}`}, `"cost_cents":`, false},
	{"reorder", "Put the shelf's count in.", 500, []string{`count_stock {"counts": "TEA-DARJ-100=15\nCUP-LATTE=40", "reason": "stock count"}`}, `"counted":2`, false},
	{"reorder", "I counted 22 of it.", 900, []string{`adjust_stock {"sku": "TEA-GREEN-100", "set_to": "22", "reason": "stock count"}`}, `"current_stock":22`, false},
	{"reorder", "Yesterday's sales, one of them with a wrong SKU.", 600, []string{`ingest_sales {"rows": [{"date": "2026-11-19", "sku": "TEA-GREEN-100", "qty": 2}, {"date": "2026-11-19", "sku": "TEA-GREEN", "qty": 1}]}`}, `the nearest are TEA-GREEN-100`, false},
	{"reorder", "Only a wrong one: nothing is stored, and that is an error.", 500, []string{`ingest_sales {"rows": [{"date": "2026-11-19", "sku": "GREEN", "qty": 1}]}`}, `nothing is stored`, true},
	{"reorder", "A supplier that there is not.", 400, []string{`reorder_report {"supplier": "Leef"}`}, `Leaf & Co`, true},
	{"reorder", "Order it: that is done elsewhere, and the answer says where.", 700, []string{`create_purchase {}`}, `reorder po create`, true},
	{"store", "Does anything wait for a person?", 1500, []string{`needs_attention {}`}, `"unbooked_total":`, false},
	{"store", "What did we sell in November, by product?", 1500, []string{`revenue_report {"from": "2026-11-01", "to": "2026-11-30", "by": "product", "detail": "short"}`}, `"net_cents":`, false},
	{"store", "And since the summer, by who took the payment?", 1500, []string{`revenue_report {"from": "2026-07-01",
		"by": "provider", "detail": "short"}`}, `"provider":"paypal"`, false},
	{"store", "What did Ines Sousa buy?", 900, []string{`customer_detail {"customer": "ines sousa", "detail": "short"}`}, `"orders_total":`, false},
	{"store", "A name that is written another way.", 300, []string{`find_customer {"q": "grete lindt"}`}, `"near":["Greta Lind"`, false},
	{"store", "Which orders came by PayPal this month?", 1800, []string{`list_orders {"provider": "paypal", "from": "2026-11-01", "limit": 5, "detail": "short"}`}, `"sums":`, false},
	{"store", "Give five dollars of one of them back.", 1800, []string{`refund_order {"order": "PAY-DEMO-0033", "amount_cents": 500, "reason": "Late delivery", "request_key": "refund-33"}`}, `no money has moved`, false},
	{"store", "Suspend a license until that is cleared up.", 700, []string{`license_action {"license": "#12", "action": "suspend"}`}, `"status":"suspended"`, false},
	{"store", "Revoke it: that is not for agents.", 300, []string{`license_action {"license": "#12", "action": "revoke"}`}, `suspend, resume, extend, release`, true},
}

// TestAgentsDay plays the day with the fewest calls, bounds the answers and compares docs/agents-day.md with them. -update
// rewrites its section.
func TestAgentsDay(t *testing.T) {
	t.Parallel()
	s := apptest.StartFilled(t)
	var page strings.Builder
	service := ""
	for _, j := range agentsDay {
		if j.service != service {
			service = j.service
			list := s.Do(service, "POST", "/mcp", s.Keys[service], `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).Body
			namesTools(t, service, list)
			tokens := len(list) / 4
			assert.That(t, tokens <= 5000, "%s: tools/list has about %d tokens, more than 5,000: shorten an About, or give a new operation no tool",
				service, tokens)
			fmt.Fprintf(&page, "### %s\n\n`tools/list`: %d bytes, about %d tokens.\n\n", strings.ToUpper(service[:1])+service[1:], len(list), len(list)/4)
		}
		t.Run(j.wish, func(t *testing.T) { j.play(t, s, &page) })
	}
	tellDay(t, page.String())
}

// unescaped writes & instead of its escape.
func namesTools(t *testing.T, service, list string) {
	t.Helper()
	var listed struct {
		Result struct{ Tools []struct{ Name string } }
	}
	assert.OK(t, json.Unmarshal([]byte(list), &listed))
	page := assert.Value(os.ReadFile(filepath.Join("../../..", "docs", "agents.md")))(t)
	row := regexp.MustCompile(`(?m)^\| ` + service + ` \| .*/mcp.*$`).FindString(string(page))
	told := regexp.MustCompile("`[a-z_]+`").FindAllString(row, -1)
	for _, tool := range listed.Result.Tools {
		assert.That(t, slices.Contains(told, "`"+tool.Name+"`"),
			"docs/agents.md has no %s among the tools of %s", tool.Name, service)
	}
	if more := len(told) - len(listed.Result.Tools); more > 1 || more == 1 && !slices.Contains(told, "`resend_order`") {
		t.Errorf("docs/agents.md names tools that %s does not have: %s", service, row)
	}
}

// random matches the parts of references and keys that differ in each demo.
var random = regexp.MustCompile(`(ORD-)[0-9A-Z]{10}|(\*{5}-\*)[0-9A-Z]{4}`)

func (j job) play(t *testing.T, s *apptest.Fixture, page *strings.Builder) {
	size := 0
	fmt.Fprintf(page, "**%s**\n\n```\n", j.wish)
	for i, call := range j.calls {
		tool, args, _ := strings.Cut(call, " ")
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, args)
		var got struct {
			Result struct {
				Structured json.RawMessage `json:"structuredContent"`
				Content    []struct{ Text string }
				IsError    bool
			}
			Error *struct{ Message string }
		}
		assert.OK(t, json.Unmarshal([]byte(s.Do(j.service, "POST", "/mcp", s.Keys[j.service], body).Body), &got))
		text, refused := string(got.Result.Structured), got.Result.IsError || got.Error != nil
		switch {
		case got.Error != nil:
			text = got.Error.Message
		case refused:
			text = got.Result.Content[0].Text
		}
		size += len(text)
		text = random.ReplaceAllString(text, "${1}${2}XXXX")
		last := i == len(j.calls)-1
		assert.That(t, refused == (last && j.refused) && (!last || strings.Contains(unescaped(text), j.says)), "%s\n%s", call,
			text)
		fmt.Fprintf(page, "> %s\n%s\n", call, unescaped(text))
	}
	assert.That(t, size <= j.bytes, "the answers have %d bytes, more than %d", size, j.bytes)
	fmt.Fprintf(page, "```\n\n%d bytes, about %d tokens.\n\n", size, size/4)
}

// unescaped writes \u0026 as &.
func unescaped(s string) string { return strings.ReplaceAll(s, `\u0026`, "&") }

// tellDay compares the section of docs/agents-day.md with what was played.
func tellDay(t *testing.T, section string) {
	t.Helper()
	path := filepath.Join("../../..", "docs", "agents-day.md")
	was := assert.Value(os.ReadFile(path))(t)
	between := regexp.MustCompile(`(?s)(<!-- day -->\n).*(<!-- end of the day -->)`)
	parts := between.FindSubmatchIndex(was)
	assert.Must(t, parts != nil, "docs/agents-day.md has no place for the day")
	now := slicesJoin(was[:parts[3]], []byte("\n"+strings.TrimSpace(section)+"\n\n"), was[parts[4]:])
	if bytes.Equal(now, was) {
		return
	}
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		if err := os.WriteFile(path, now, 0o644); err != nil { // #nosec G306 -- a document
			t.Fatal(err)
		}
		return
	}
	t.Error("docs/agents-day.md does not tell the day as it is; run with -update and read the diff")
}

func slicesJoin(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// TestAgentsSettings: a client can read the settings of docs/agents.md, and they lead to the endpoint with a key.
func TestAgentsSettings(t *testing.T) {
	t.Parallel()
	page := assert.Value(os.ReadFile(filepath.Join("../../..", "docs", "agents.md")))(t)
	blocks := regexp.MustCompile("(?s)```(json|toml)\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	assert.Must(t, len(blocks) >= 4, "only %d settings are told", len(blocks))
	for _, b := range blocks {
		if b[1] == "json" && !json.Valid([]byte(b[2])) {
			t.Errorf("no JSON:\n%s", b[2])
		}
		assert.That(t, strings.Contains(b[2], "http://127.0.0.1:8084/mcp") && (strings.Contains(b[2], "Authorization") ||
			strings.Contains(b[2], "bearer_token_env_var")), "no address or no key:\n%s", b[2])
	}
}
