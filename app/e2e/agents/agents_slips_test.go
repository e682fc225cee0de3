package agents

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	official "github.com/modelcontextprotocol/go-sdk/mcp"

	"quartermaster/app/apptest"
	"quartermaster/schema"
	"quartermaster/schema/assert"
)

// slip is a call that an agent gets slightly wrong, or repeats, when it knows only tools/list. says is what the answer
// or the refusal contains; | separates several.
type slip struct {
	service, tool, args string
	refused             bool
	says                string
}

const (
	yes = false // accepted
	no  = true  // refused
)

// agentsSlips are all slips that month.md lists. Calls that write leave the demo so that the table can be played again.
var agentsSlips = []slip{
	// Names in any case.
	{"maintenance", "list_workorders", `{"assigned_to":"BEN"}`, yes, `"assigned_to":"Ben"`},
	{"maintenance", "list_workorders", `{"asset":"lAtHe"}`, yes, `"asset":"Lathe"`},
	{"maintenance", "list_workorders", `{"asset":"lathe-1"}`, yes, `"asset":"Lathe"`},
	{"maintenance", "list_workorders", `{"asset":"lathe-1","asset_id":2}`, no, `asset|is 1, and asset_id says 2`},
	{"rental", "list_leases", `{"tenant":"CHLOE m"}`, yes, `"tenant":"Chloe Martin"`},
	{"rental", "list_leases", `{"property":"hARBOUR"}`, yes, `"property":"Harbour House"`},
	{"rental", "list_units", `{"property":"harbour"}`, yes, `"property":"Harbour House"`},
	{"reorder", "list_products", `{"supplier":"leaf & co"}`, yes, `"supplier":"Leaf \u0026 Co"`},
	{"reorder", "reorder_report", `{"supplier":"LEAF & CO"}`, yes, `"supplier":"Leaf \u0026 Co"`},
	{"reorder", "list_products", `{"q":"GREEN TEA"}`, yes, `TEA-GREEN-100`},
	{"maintenance", "list_assets", `{"sort":"name","limit":1}`, yes, `"name":"Compressor"|"next":"1"`},
	{"maintenance", "list_assets", `{"sort":"name","limit":1,"after":"1"}`, yes, `"name":"Lathe"|"next":"2"`},
	{"maintenance", "list_parts", `{"sort":"stock","limit":1}`, yes, `"name":"Ball bearing 6204"|"next":"1"|"total":8`},
	{"maintenance", "list_parts", `{"sort":"name","limit":1,"after":"7"}`, yes, `"name":"V-belt A42"|"next":null`},
	{"maintenance", "create_workorder", `{"asset":"Van 1","plan":"oil and filter","description":"x","assigned_to":"Nobody"}`, no, `assigned_to: `},
	{"maintenance", "create_workorder", `{"asset":"Lathe","plan":"oil and filter","description":"x"}`, no, `several plans are called|#5 (VAN-1/Oil and filter)`},
	{"reorder", "list_purchase_orders", `{"supplier":"HARBOUR roasters","sort":"oldest"}`, yes, `"supplier":"Harbour Roasters"`},
	{"reorder", "purchase_detail", `{"number":"po-1"}`, yes, `"number":"PO-000001"`},
	{"reorder", "purchase_detail", `{"number":"1"}`, yes, `"number":"PO-000001"`},
	{"store", "find_customer", `{"q":"example","sort":"name","limit":1}`, yes, `"name":"A`},
	// An unknown name is refused with the existing names, or with similar ones.
	{"reorder", "purchase_detail", `{"number":"99"}`, no, `"99"|list_purchase_orders lists them`},
	{"reorder", "list_purchase_orders", `{"supplier":"leaf"}`, no, `supplier|"leaf"|there are Leaf & Co`},
	{"reorder", "list_purchase_orders", `{"q":"harbor"}`, yes, `"near":["Harbour Roasters"]`},
	{"reorder", "list_products", `{"q":"grean"}`, yes, `"near":[|TEA-GREEN-100 (Green tea, 100 g)`},
	{"reorder", "product_detail", `{"sku":"green"}`, no, `the nearest are|TEA-GREEN-100 (Green tea, 100 g)`},
	{"maintenance", "list_workorders", `{"assigned_to":"Benn"}`, no, `assigned_to|"Benn"|there are Ben, Ana, Carla`},
	{"maintenance", "list_workorders", `{"asset":"lathes"}`, no, `asset|"lathes"|LATHE-1 (Lathe)`},
	{"rental", "list_leases", `{"tenant":"nobody"}`, no, `tenant|"nobody"`},
	{"rental", "list_leases", `{"property":"castle"}`, no, `property|"castle"|Harbour House`},
	{"rental", "list_units", `{"property":"castle"}`, no, `property|"castle"|Harbour House`},
	{"reorder", "list_products", `{"supplier":"Leef"}`, no, `supplier|"Leef"|there are Leaf & Co`},
	{"reorder", "reorder_report", `{"supplier":"Leef"}`, no, `supplier|"Leef"|there are Leaf & Co`},
	{"maintenance", "list_workorders", `{"asset":"#1"}`, yes, `"asset":"Lathe"`},
	{"maintenance", "list_workorders", `{"asset":"#99"}`, no, `no asset 99`},
	{"rental", "list_leases", `{"ends_before":"2026-10-01"}`, yes, `"tenant":"Emil Novak"|"end_date":"2026-09-10"`},
	{"rental", "list_units", `{"property":"#1"}`, yes, `"property":"Harbour House"`},
	{"rental", "list_units", `{"property":99}`, no, `property|"99"|Harbour House`},
	{"rental", "list_leases", `{"tenant":9999}`, no, `tenant|"9999"`},
	{"rental", "list_leases", `{"tenant":"CHLOE@example.org"}`, yes, `"tenant":"Chloe Martin"`},
	{"reorder", "product_detail", `{"sku":"tea-green"}`, no, `"tea-green"|the nearest are TEA-GREEN-100`},
	{"reorder", "adjust_stock", `{"sku":"tea-green-100","delta":1}`, no, `"tea-green-100"|the nearest are TEA-GREEN-100`},
	{"maintenance", "workorder_detail", `{"id":"spindle bearing"}`, yes, `"id":29,`},
	{"maintenance", "workorder_detail", `{"id":"lathe"}`, no, `several jobs|#29 (Lathe: Spindle|#28 (Lathe: Check`},
	{"maintenance", "workorder_detail", `{"id":"forklift"}`, no, `"forklift"|list_workorders finds jobs`},
	{"maintenance", "create_workorder", `{"asset":"Lathe","plan":"belts","description":"x"}`, no, `Job 28 is open|again true`},
	{"maintenance", "create_workorder", `{"asset":"Lathe","plan":"brakes","description":"x"}`, no, `the asset has no plan "brakes"|Check the belts`},
	{"maintenance", "update_workorder", `{"id":29,"part":"bearing","qty":1}`, no, `no part "bearing"|the nearest are 6204-2RS (Ball bearing 6204)`},
	{"maintenance", "update_workorder", `{"id":29,"asset":"VAN-1"}`, no, `unknown argument "asset"; the arguments are`},
	{"maintenance", "update_workorder", `{"id":29,"downtime_minutes":120}`, yes, `"parts_cost_in":"USD, not cents"`},
	{"maintenance", "update_workorder", `{"id":29,"tick":"1"}`, no, `tick: work order 29 has no check list`},
	{"maintenance", "pm_due", `{"limit":1}`, yes, `"shown":1,|"next":"1"`},
	{"maintenance", "maintenance_report", `{"sort":"jobs","limit":1,"detail":"short"}`, yes, `"shown":1,|"next":"1"`},
	{"rental", "arrears_report", `{"limit":1}`, yes, `"shown":1,|"next":"1"`},
	{"rental", "arrears_report", `{"property":"#1","detail":"short"}`, yes, `"Ben Okafor"`},
	{"rental", "rent_roll", `{"property":"#2","limit":1}`, yes, `"4 Mill Lane"|"total":4`},
	{"rental", "create_ticket", `{"unit":"harbour/2a","title":"Bell","request_key":"slip-9"}`, yes, `"unit":"2A"`},
	{"rental", "lease_detail", `{"lease":"cloe martin"}`, no, `like it: Chloe Martin`},
	{"rental", "advance_ticket", `{"ticket":"swimming pool","status":"resolved"}`, no, `list_tickets finds tickets`},
	{"rental", "record_payment", `{"tenant":"Chloe","amount_cents":1,"request_key":"x"}`, no, `unknown argument "tenant"; the arguments are lease_id, lease`},
	{"rental", "lease_detail", `{"lease":"2A","detail":"short"}`, yes, `"payments":[{"amount_cents":24500,"paid_date":"2026-10-29","payment_id":43},`},
	{"reorder", "product_detail", `{"sku":"olive oil"}`, no, `no SKU "olive oil"`},
	{"reorder", "product_detail", `{"sku":"masala chai, 100 g"}`, no, `the nearest are TEA-CHAI-100 (Masala chai, 100 g)`},
	{"reorder", "product_detail", `{"sku":"Green tea"}`, no, `the nearest are TEA-GREEN-100 (Green tea`},
	{"reorder", "list_purchase_orders", `{"status":"ordered"}`, yes, `"next":null`},
	{"store", "refund_order", `{"order":"nope","amount_cents":1,"reason":"x"}`, no, `order: there is no order "nope"; list_orders finds`},
	{"store", "list_orders", `{"q":"plugins"}`, yes, `"near":["PLUGIN (`},
	// A number or a boolean as text, and a number for a text.
	{"maintenance", "workorder_detail", `{"id":"29"}`, yes, `"id":29,`},
	{"maintenance", "workorder_detail", `{"id":"#29"}`, yes, `"id":29,`},
	{"maintenance", "list_workorders", `{"asset_id":"1","limit":"2","after":9}`, yes, `"shown":2,`},
	{"maintenance", "list_workorders", `{"q":29,"overdue":"False"}`, yes, `"id":29,`},
	{"maintenance", "pm_due", `{"overdue_only":"True"}`, yes, `"due_status":"overdue"`},
	{"maintenance", "list_parts", `{"low_stock":"true","q":6204}`, yes, `"total":1`},
	{"maintenance", "create_workorder", `{"asset_id":"2","description":7,"labor_minutes":"5","parts_cost":"2.50","request_key":"slip-1"}`, yes, `"description":"7"|"labor_minutes":5|"parts_cost_cents":250`},
	{"maintenance", "record_meter", `{"asset_id":"2","reading":"1e5"}`, yes, `"reading":100000`},
	{"rental", "lease_detail", `{"lease_id":"3","open_only":"true","limit":"1"}`, yes, `"shown":1,`},
	{"rental", "list_leases", `{"active":"true","unit_id":"3","tenant":3}`, yes, `"total":1`},
	{"rental", "create_ticket", `{"unit_id":"1","title":404,"request_key":"slip-2"}`, yes, `"title":"404"`},
	{"reorder", "adjust_stock", `{"sku":"TEA-GREEN-100","set_to":"37"}`, yes, `"current_stock":37`},
	{"reorder", "product_detail", `{"sku":"TEA-GREEN-100","history_days":"56","by":"week"}`, yes, `"total":`},
	{"reorder", "list_products", `{"below_reorder":"true","limit":"1"}`, yes, `"shown":1,`},
	// Rows as a JSON text, and slips in the rows.
	{"reorder", "ingest_sales", `{"replace":"true","rows":"[{\"date\":\"2026-11-19\",\"sku\":\"TEA-GREEN-100\",\"qty\":\"2.5\"}]"}`, yes, `"imported":1`},
	{"maintenance", "create_workorder", `{"asset_id":2,"description":"Listed","checklist":"[\"Isolate\",\"Drain\"]","request_key":"slip-3"}`, yes, `"text":"Isolate"|"step":2,"text":"Drain"`},
	{"maintenance", "create_workorder", `{"asset_id":2,"description":"Lines","checklist":"Isolate\nDrain","request_key":"slip-4"}`, yes, `"text":"Isolate"|"step":2,"text":"Drain"`},
	// A value of a list in another case or with another separator.
	{"maintenance", "list_workorders", `{"status":"In Progress"}`, yes, `"status":"in-progress"`},
	{"maintenance", "list_assets", `{"status":"NEEDS_ATTENTION"}`, yes, `"status":"needs-attention"`},
	{"rental", "list_units", `{"status":"Vacant"}`, yes, `"status":"vacant"`},
	{"rental", "list_tickets", `{"status":"In progress"}`, yes, `"status":"in_progress"`},
	{"reorder", "list_products", `{"status":"Below"}`, yes, `"status":"below"`},
	// A request that would lose data or needs a guess is refused.
	{"maintenance", "list_workorders", `{"from":"2026-11-20","to":"2026-11-01"}`, no, `to|2026-11-01 lies before from`},
	{"maintenance", "list_workorders", `{"limit":"2.5"}`, no, `limit|whole number from 1 to 200`},
	{"maintenance", "list_workorders", `{"limit":500}`, no, `limit|1 to 200`},
	{"maintenance", "list_workorders", `{"status":"finished"}`, no, `status|open, in-progress, done, cancelled`},
	{"maintenance", "record_meter", `{"asset_id":2,"reading":"100,000"}`, no, `reading|"100,000"`},
	{"maintenance", "record_meter", `{"asset_id":2,"reading":"100000 h"}`, no, `reading`},
	{"maintenance", "pm_due", `{"overdue_only":"yes"}`, no, `overdue_only|true or false`},
	{"maintenance", "pm_due", `{"overdue_only":1}`, no, `overdue_only|true or false`},
	{"maintenance", "create_workorder", `{"asset_id":2,"description":"x","checklist":["a"]}`, no, `checklist|nested|single value`},
	{"maintenance", "list_workorders", `{"status":["open"]}`, no, `status|nested|single value`},
	{"rental", "rent_roll", `{"month":"November"}`, no, `month|YYYY-MM`},
	{"rental", "lease_detail", `{"lease_id":"9Z"}`, no, `lease_id|no unit and no tenant named "9Z"`},
	{"reorder", "ingest_sales", `{"rows":"date,sku,qty"}`, no, `rows|array of objects`},
	{"reorder", "ingest_sales", `{"rows":[{"date":20261119,"sku":"TEA-GREEN-100","qty":1}]}`, no, `nothing is stored|date is a number`},
	{"reorder", "ingest_sales", `{"rows":[{"date":"2026-11-19","sku":"TEA-GREEN-100","qty":"two"}]}`, no, `nothing is stored|qty`},
	// Wrong and missing arguments: all are listed.
	{"maintenance", "list_workorders", `{"assignee":"Ben"}`, no, `"assignee"|status, priority, asset_id, asset, assigned_to`},
	{"maintenance", "workorder_detail", `{"workorder_id":9}`, no, `"workorder_id"|the arguments are id|id is missing`},
	{"rental", "create_ticket", `{"unit":"1A"}`, no, `title is missing`},
	{"reorder", "adjust_stock", `{"sku":"TEA-GREEN-100","set_to":3,"delta":1}`, no, `set_to and delta`},
	{"reorder", "list_products", `{"Status":"below"}`, no, `"Status"|status, below_reorder`},
	// Sent twice.
	{"reorder", "ingest_sales", `{"request_key":"twice","rows":[{"date":"2026-11-18","sku":"TEA-GREEN-100","qty":4},{"date":"2026-11-18","sku":"NOPE","qty":1}]}`, yes, `"imported":1|"send_again":"Correct these rows and send only them again: 1.`},
	{"reorder", "ingest_sales", `{"rows":[{"sku":"NOPE","qty":1,"date":"2026-11-18"}],"request_key":"twice-2"}`, no, `nothing is stored`},
	{"reorder", "ingest_sales", `{"request_key":"twice","rows":[{"date":"2026-11-18","sku":"TEA-GREEN-100","qty":5}]}`, no, `request_key "twice" was used`},
	{"reorder", "ingest_sales", `{"rows":[]}`, no, `rows is empty: nothing is stored`},
	{"reorder", "ingest_sales", `{"rows":[{"date":"2026-11-19","sku":"GREEN","qty":1}]}`, no, `nothing is stored|the nearest are`},
	// A page that no longer exists.
	{"reorder", "reorder_report", `{"after":"NOPE"}`, no, `after|"NOPE"|from its beginning`},
	{"maintenance", "pm_due", `{"after":"99"}`, no, `after|from its beginning`},
	{"rental", "arrears_report", `{"after":"x"}`, no, `after|"x"`},
	// An operation of another service or tool.
	{"rental", "record_payment", `{"charge_id":1}`, no, `amount_cents is missing|request_key is missing`},
	{"rental", "pay_rent", `{}`, no, `pay_rent|on the screens|record_payment`},
	{"reorder", "create_purchase_order", `{}`, no, `Purchase orders|quartermaster reorder po|on the screens`},
	{"reorder", "suggest_purchases", `{}`, no, `quartermaster reorder po suggest|/do/suggest_purchases`},
	{"maintenance", "edit_workorder", `{"id":1}`, no, `PATCH /api/work-orders/{id}`},
	{"maintenance", "save_part", `{}`, no, `quartermaster maintenance parts save|/do/save_part`},
}

// withKey is a transport that adds a key.
type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// clientOf is the official client, connected to a service.
type clientOf struct {
	*official.ClientSession
	tools map[string]*official.Tool
}

func officialClient(t *testing.T, s *apptest.Fixture, service, key, version string) clientOf {
	t.Helper()
	client := official.NewClient(&official.Implementation{Name: "agent", Version: "1"}, nil)
	transport := &official.StreamableClientTransport{Endpoint: s.URL(service, "/mcp"), HTTPClient: &http.Client{Transport: withKey(key)}}
	session, err := client.Connect(context.Background(), transport, &official.ClientSessionOptions{ProtocolVersion: version})
	assert.OK(t, err, "%s %s", service, version)
	t.Cleanup(func() { _ = session.Close() })
	list, err := session.ListTools(context.Background(), nil)
	assert.OK(t, err, "%s %s", service, version)
	a := clientOf{session, map[string]*official.Tool{}}
	for _, tool := range list.Tools {
		a.tools[tool.Name] = tool
	}
	return a
}

// call returns the whole answer as JSON, or the text of the refusal.
func (c clientOf) call(t *testing.T, tool, args string) (text string, refused bool) {
	t.Helper()
	result, err := c.CallTool(context.Background(), &official.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		return err.Error(), true
	}
	text = result.Content[0].(*official.TextContent).Text
	if result.IsError {
		return text, true
	}
	fits(t, tool, c.tools[tool].OutputSchema, result.StructuredContent)
	return apptest.JSONText(result.StructuredContent), false
}

// fits checks a value against the schema that the client received.
func fits(t *testing.T, what string, schema, value any) {
	t.Helper()
	b := assert.Value(json.Marshal(schema))(t)
	var parsed jsonschema.Schema
	assert.OK(t, json.Unmarshal(b, &parsed), "%s", what)
	resolved, err := parsed.Resolve(nil)
	if err == nil {
		err = resolved.Validate(value)
	}
	assert.NoError(t, err, "%s", what)
}

// TestAgentsSlips plays every slip with the official client in both versions of the protocol. Each is accepted, or
// refused with the next step, alike in both.
func TestAgentsSlips(t *testing.T) {
	t.Parallel()
	s := apptest.StartFilled(t)
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		agents := map[string]clientOf{}
		for _, service := range schema.ServiceNames {
			agents[service] = officialClient(t, s, service, s.Keys[service], version)
			info := agents[service].InitializeResult()
			for _, words := range []string{"Today is 2026-11-20", "time zone UTC", "belongs to owner, role admin, scope full"} {
				assert.That(t, info.ProtocolVersion == version && strings.Contains(info.Instructions, words),
					"%s %s: the instructions do not tell %q: %s", service, version, words, info.Instructions)
			}
		}
		for _, c := range agentsSlips {
			text, refused := agents[c.service].call(t, c.tool, c.args)
			if refused != c.refused {
				t.Errorf("%s: %s %s: refused %v: %s", version, c.tool, c.args, refused, text)
				continue
			}
			for words := range strings.SplitSeq(c.says, "|") {
				assert.Contains(t, text, words, "%s: %s %s", version, c.tool, c.args)
			}
		}
	}
	// The keyed writes of all three rounds were done once.
	for path, want := range map[string]string{"/api/work-orders?q=Lines": `"total":1`, "/api/work-orders?q=Listed": `"total":1`} {
		assert.Contains(t, s.Get("maintenance", path).Body, want, "%s", path)
	}
	assert.Equal(t, strings.Count(s.Get("rental", "/api/maintenance").Body, `"title":"404"`), 1,
		"tickets were made by one key")
	detail, _ := s.Tool("reorder", "product_detail", `{"sku":"TEA-GREEN-100","history_days":3}`)
	assert.Contains(t, apptest.JSONText(detail["history"]), `{"date":"2026-11-19","qty":2.5}`, "sold")
}

// TestAgentsArgumentsAreScalars: rows is the only nested argument, no schema says anyOf, and no description exceeds 400
// characters.
func TestAgentsArgumentsAreScalars(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	for _, service := range schema.ServiceNames {
		for name, tool := range officialClient(t, s, service, s.Keys[service], "").tools {
			n := len([]rune(tool.Description))
			assert.That(t, n != 0 && n <= 400, "%s is described in %d characters", name, n)
			schema := tool.InputSchema.(map[string]any)
			assert.Lacks(t, apptest.JSONText(schema), "anyOf", "%s says anyOf", name)
			props := schema["properties"].(map[string]any)
			assert.That(t, tool.Annotations.ReadOnlyHint || props["request_key"] != nil, "%s takes no request_key", name)
			for arg, p := range props {
				kind, _ := p.(map[string]any)["type"].(string)
				scalar := kind == "string" || kind == "integer" || kind == "number" || kind == "boolean"
				assert.That(t, scalar != (name == "ingest_sales" && arg == "rows"), "%s.%s is a %s", name, arg, kind)
			}
		}
	}
}
