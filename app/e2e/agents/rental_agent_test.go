package agents

import (
	"fmt"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestRentalTools checks each tool's answer.
func TestRentalTools(t *testing.T) {
	t.Parallel()
	l := apptest.Let(t)
	house := `{"id":1,"name":"House","address":"1 Quay","unit_count":3,"occupied_count":1,"vacant_count":2,"occupancy":0.3333,"late_fee":null}`
	const byTenant = `,"by_tenant":[{"tenant_id":1,"tenant":"Tenant U1","tenant_email":"u1@example.org","balance_cents":300000,"charges":3,"leases":1,"oldest_due_date":"2026-09-01","days_overdue":80},` +
		`{"tenant_id":2,"tenant":"Tenant U2","tenant_email":"u2@example.org","balance_cents":154839,"charges":2,"leases":1,"oldest_due_date":"2026-05-15","days_overdue":189}],"tenants":2,"shown":5,"total":5,"next":null}`
	for _, c := range []struct{ tool, arguments, want string }{
		{"list_properties", `{}`, `{"properties":[` + house + `],"shown":1,"total":1,"next":null}`},
		{"list_leases", `{}`, `{"leases":[` + apptest.Lease1 + "," + apptest.Lease2 + "," + apptest.Lease3 + `],"shown":3,"total":3,"balance_cents":454839,"next":null}`},
		{"list_leases", `{"active":true}`, `{"leases":[` + apptest.Lease1 + `],"shown":1,"total":1,"balance_cents":300000,"next":null}`},
		{"list_leases", `{"active":false,"limit":1}`, `{"leases":[` + apptest.Lease1 + `],"shown":1,"total":3,"balance_cents":454839,"next":"1"}`},
		{"lease_detail", `{"lease_id":2}`, strings.TrimSuffix(l.Get("rental", "/api/leases/2/ledger").Body, "}") + `,"payments_total":0,"shown":2,"total":2,"next":null}`},
		{"arrears_report", `{}`, strings.TrimSuffix(l.Get("rental", "/api/arrears").Body, "}") + byTenant},
	} {
		assert.Equal(t, l.Content(c.tool, c.arguments), c.want, "%s %s", c.tool, c.arguments)
	}
	l.Load("properties", "name\nAnnex\n")
	annex := `{"id":2,"name":"Annex","address":null,"unit_count":0,"occupied_count":0,"vacant_count":0,"occupancy":0,"late_fee":null}`
	for arguments, want := range map[string]string{`{"limit":1}`: house + `],"shown":1,"total":2,"next":"1"}`, `{"limit":200}`: house + "," + annex + `],"shown":2,"total":2,"next":null}`} {
		assert.Equal(t, l.Content("list_properties", arguments), `{"properties":[`+want, "list_properties %s", arguments)
	}
	l.Pay(1, "2026-10-01", `,"paid_date":"2026-11-02"`)
	l.Pay(1, "2026-11-01", `,"paid_date":"2026-10-30"`)
	roll := func(unit int, billed, collected, outstanding, received int) string {
		head, tail := "", ""
		if unit > 0 {
			head, tail = fmt.Sprintf(`"unit_id":%d,"unit":"U%[1]d","property":"House",`, unit), `,"lease_id":null,"tenant":null`
		}
		if unit == 1 { // the one that is let today
			tail = `,"lease_id":1,"tenant":"Tenant U1"`
		}
		return "{" + head + fmt.Sprintf(`"billed_cents":%d,"collected_cents":%d,"outstanding_cents":%d,"received_cents":%d`, billed, collected, outstanding, received) + tail + "}"
	}
	month := func(of, sums, first, second string) string {
		return `{"month":"` + of + `","totals":` + sums + `,"units":[` + first + "," + second + "," + roll(3, 0, 0, 0, 0) + `],"shown":3,"total":3,"next":null}`
	}
	november := month("2026-11", roll(0, 100000, 100000, 0, 100000), roll(1, 100000, 100000, 0, 100000), roll(2, 0, 0, 0, 0))
	for arguments, want := range map[string]string{
		`{}`: november, `{"month":"2026-11"}`: november,
		`{"month":"2026-09"}`: month("2026-09", roll(0, 100000, 0, 100000, 0), roll(1, 100000, 0, 100000, 0), roll(2, 0, 0, 0, 0)),
		`{"month":"2026-10"}`: month("2026-10", roll(0, 100000, 100000, 0, 100000), roll(1, 100000, 100000, 0, 100000), roll(2, 0, 0, 0, 0)),
		`{"month":"2026-05"}`: month("2026-05", roll(0, 54839, 0, 54839, 0), roll(1, 0, 0, 0, 0), roll(2, 54839, 0, 54839, 0)),
		`{"month":"2030-01"}`: month("2030-01", roll(0, 0, 0, 0, 0), roll(1, 0, 0, 0, 0), roll(2, 0, 0, 0, 0)),
	} {
		assert.Equal(t, l.Content("rent_roll", arguments), want, "rent_roll %s", arguments)
	}
	made := l.Content("create_ticket", `{"unit_id":1,"title":"Tap drips","description":"Since Monday.","priority":"emergency"}`)
	if made != l.Ticket(1) || !strings.Contains(made, `"priority":"urgent","status":"open","source":"agent","created_by":"owner"`) {
		t.Errorf("create_ticket gives %s", made)
	}
	if moved := l.Content("advance_ticket", `{"ticket_id":1,"status":"in-progress"}`); moved != l.Ticket(1) || !strings.Contains(moved, `"status":"in_progress"`) {
		t.Errorf("advance_ticket gives %s", moved)
	}
	var mcp []string
	for _, e := range l.Trail() {
		if strings.Contains(e, " mcp ticket.") {
			mcp = append(mcp, e)
		}
	}
	assert.Equal(t, strings.Join(mcp, "; "), "owner mcp ticket.created ticket:1; owner mcp ticket.status ticket:1",
		"the audit trail has")
	l.Sound()
}

// TestRentalToolRefusals: each names the refused value and what is allowed, so that the agent can correct itself, and
// changes nothing.
func TestRentalToolRefusals(t *testing.T) {
	t.Parallel()
	l := apptest.Let(t)
	l.Arrears()
	l.Post("rental", "/api/maintenance", `{"unit_id":1,"title":"Tap drips"}`)
	viewer, reader := l.Key("rental", "vera", "viewer", "full"), l.Key("rental", "rolf", "member", "read")
	before := apptest.SnapshotOf(t, l.Fixture)
	for _, c := range []struct {
		tool, arguments string
		says            []string
	}{
		{"list_properties", `{"limit":0}`, []string{"limit", "from 1 to 200"}},
		{"list_properties", `{"limit":201}`, []string{"limit", "from 1 to 200"}},
		{"list_leases", `{"active":"yes"}`, []string{"active", "true or false"}},
		{"list_leases", `{"status":"running"}`, []string{"status", "active, ended, upcoming"}},
		{"list_leases", `{"property":"Castle"}`, []string{"Castle", "House"}},
		{"list_leases", `{"limit":[50]}`, []string{"limit"}},
		{"lease_detail", `{}`, []string{"lease_id is missing"}},
		{"lease_detail", `{"lease_id":"one"}`, []string{"lease_id"}},
		{"lease_detail", `{"lease_id":{"id":1}}`, []string{"lease_id"}},
		{"lease_detail", `{"lease_id":9}`, []string{"lease 9"}},
		{"lease_detail", `{"id":1}`, []string{"id"}},
		{"rent_roll", `{"month":"November"}`, []string{"month", "YYYY-MM"}},
		{"rent_roll", `{"month":"2026-13"}`, []string{"month", "YYYY-MM"}},
		{"arrears_report", `{"page":10}`, []string{"page"}},
		{"create_ticket", `{"title":"x"}`, []string{"unit_id is missing"}},
		{"create_ticket", `{"unit_id":1,"title":""}`, []string{"title is empty"}},
		{"create_ticket", `{"unit_id":9,"title":"x"}`, []string{"no unit 9"}},
		{"create_ticket", `{"unit_id":1,"title":"x","priority":"asap"}`, []string{"priority", "low, medium, high, urgent"}},
		{"create_ticket", `{"unit_id":1,"title":"x","photos":["a"]}`, []string{"photos"}},
		{"create_ticket", `{"unit_id":1,"title":["x"]}`, []string{"title"}},
		{"advance_ticket", `{"ticket_id":1}`, []string{"status is missing"}},
		{"advance_ticket", `{"ticket_id":9,"status":"open"}`, []string{"ticket 9"}},
		{"advance_ticket", `{"ticket_id":1,"status":"done"}`, []string{"status", "open, in_progress, resolved"}},
		{"advance_ticket", `{"ticket_id":1,"status":"resolved"}`, []string{"resolved", "allowed from open: in_progress"}},
		{"advance_ticket", `{"ticket_id":1,"status":"in_progress","force":true}`, []string{"force"}},
		{"record_payment", `{"charge_id":1,"amount_cents":1}`, []string{"request_key is missing"}},
	} {
		_, refusal := l.Tool("rental", c.tool, c.arguments)
		for _, s := range c.says {
			assert.That(t, refusal != "" && strings.Contains(refusal, s),
				"%s %s: %q does not name %q", c.tool, c.arguments, refusal, s)
		}
	}
	for _, c := range []struct{ key, says string }{{viewer, "viewer"}, {reader, "read-only"}} {
		for _, call := range [][2]string{{"create_ticket", `{"unit_id":1,"title":"x"}`}, {"advance_ticket", `{"ticket_id":1,"status":"in_progress"}`}} {
			_, refusal := l.ToolAs("rental", c.key, call[0], call[1])
			assert.That(t, strings.Contains(refusal, call[0]) && strings.Contains(refusal, c.says),
				"%s: %q does not name the tool and %q", call[0], refusal, c.says)
		}
		for _, tool := range []string{"list_properties", "list_leases", "rent_roll", "arrears_report"} {
			_, refusal := l.ToolAs("rental", c.key, tool, `{}`)
			assert.That(t, refusal == "", "%s as %s: %s", tool, c.says, refusal)
		}
	}
	before.Check("refused calls")
	for key, want := range map[string]int{viewer: 12, reader: 8, l.Keys["rental"]: 12} {
		a := l.Do("rental", "POST", "/mcp", key, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		var list struct {
			Result struct{ Tools []struct{ Name string } }
		}
		apptest.Answer{Body: a.Body}.JSON(t, &list)
		got := len(list.Result.Tools)
		assert.That(t, got == want, "%d tools, want %d: %v", got, want, list.Result.Tools)
	}
}
