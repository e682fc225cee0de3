package rest

import (
	"fmt"
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"strings"
	"testing"
)

// TestRentalLists checks the bodies of the lists, their filters and their pages.
func TestRentalLists(t *testing.T) {
	t.Parallel()
	l := apptest.Let(t)
	for _, title := range []string{"Tap drips", "Door squeaks", "Lamp is out"} {
		l.Post("rental", "/api/maintenance", `{"unit_id":1,"title":"`+title+`"}`)
	}
	l.Post("rental", "/api/maintenance/2/status", `{"status":"in_progress"}`)
	ticket := func(id int, title, status string) string {
		return fmt.Sprintf(`{"id":%d,"unit_id":1,"unit":"U1","property":"House","lease_id":1,"title":%q,"description":null,"priority":"medium","status":%q,`+
			`"source":"api","created_by":"owner","created_at":"2026-11-20T12:00:00Z","updated_at":"2026-11-20T12:00:00Z","resolved_at":null,"assigned_to":null}`, id, title, status)
	}
	ticket1, ticket2, ticket3 := ticket(1, "Tap drips", "open"), ticket(2, "Door squeaks", "in_progress"), ticket(3, "Lamp is out", "open")
	for _, c := range []struct{ path, want string }{
		{"/api/units", `{"units":[` + apptest.Unit1 + "," + apptest.Unit2 + "," + apptest.Unit3 + `],"next":null}`},
		{"/api/units?status=vacant", `{"units":[` + apptest.Unit2 + "," + apptest.Unit3 + `],"next":null}`},
		{"/api/units?status=occupied", `{"units":[` + apptest.Unit1 + `],"next":null}`},
		{"/api/units?limit=2", `{"units":[` + apptest.Unit1 + "," + apptest.Unit2 + `],"next":2}`},
		{"/api/units?limit=2&after=2", `{"units":[` + apptest.Unit3 + `],"next":null}`},
		{"/api/units?after=3", `{"units":[],"next":null}`},
		{"/api/leases", `{"leases":[` + apptest.Lease1 + "," + apptest.Lease2 + "," + apptest.Lease3 + `],"next":null}`},
		{"/api/leases?status=active", `{"leases":[` + apptest.Lease1 + `],"next":null}`},
		{"/api/leases?status=ended", `{"leases":[` + apptest.Lease2 + `],"next":null}`},
		{"/api/leases?status=upcoming", `{"leases":[` + apptest.Lease3 + `],"next":null}`},
		{"/api/leases?limit=1", `{"leases":[` + apptest.Lease1 + `],"next":1}`},
		{"/api/leases?limit=1000000&after=1", `{"leases":[` + apptest.Lease2 + "," + apptest.Lease3 + `],"next":null}`},
		{"/api/maintenance", `{"tickets":[` + ticket3 + "," + ticket2 + "," + ticket1 + `],"next":null}`},
		{"/api/maintenance?status=open", `{"tickets":[` + ticket3 + "," + ticket1 + `],"next":null}`},
		{"/api/maintenance?status=in_progress", `{"tickets":[` + ticket2 + `],"next":null}`},
		{"/api/maintenance?status=in-progress", `{"tickets":[` + ticket2 + `],"next":null}`},
		{"/api/maintenance?status=resolved", `{"tickets":[],"next":null}`},
		{"/api/maintenance?limit=2", `{"tickets":[` + ticket3 + "," + ticket2 + `],"next":2}`},
		{"/api/maintenance?limit=2&after=2", `{"tickets":[` + ticket1 + `],"next":null}`},
	} {
		a := l.Get("rental", c.path)
		assert.That(t, a.Status == 200 && a.Body == c.want, "%s: %d\n%s\nwant\n%s", c.path, a.Status, a.Body, c.want)
	}
	l.Sound()
}

// TestRentalLedgerAndArrears checks the two bodies that report debts.
func TestRentalLedgerAndArrears(t *testing.T) {
	t.Parallel()
	l := apptest.Let(t)
	rent := func(id int, month, label, first, last string, cents int, paid string) string {
		settled := 0
		if strings.HasPrefix(paid, `"paid":true`) {
			settled = cents
		}
		return fmt.Sprintf(`{"id":%d,"type":"rent","period":"2026-%s","label":%q,"due_date":"2026-%s","amount_cents":%d,%s,"period_start":"2026-%s","period_end":"2026-%s",`+
			`"paid_cents":%d,"balance_cents":%d`, id, month, label, first, cents, paid, first, last, settled, cents-settled)
	}
	const unpaid = `"paid":false,"paid_date":null,"method":null`
	september := rent(1, "09", "1-30 September 2026", "09-01", "09-30", 100000, unpaid)
	october := rent(2, "10", "1-31 October 2026", "10-01", "10-31", 100000, unpaid)
	november := rent(3, "11", "1-30 November 2026", "11-01", "11-30", 100000, unpaid)
	may := rent(4, "05", "15-31 May 2026, 17 of 31 days", "05-15", "05-31", 54839, unpaid)
	june := rent(5, "06", "1-30 June 2026", "06-01", "06-30", 100000, unpaid)
	for _, c := range []struct{ path, want string }{
		{"/api/leases/1/ledger", `{"lease":` + apptest.Lease1 + `,"charges":[` + september + "}," + october + "}," + november + `}],"totals":{"billed_cents":300000,"paid_cents":0,"balance_cents":300000,"credit_cents":0,"deposit_held_cents":0}}`},
		{"/api/leases/2/ledger", `{"lease":` + apptest.Lease2 + `,"charges":[` + may + "}," + june + `}],"totals":{"billed_cents":154839,"paid_cents":0,"balance_cents":154839,"credit_cents":0,"deposit_held_cents":0}}`},
		{"/api/leases/3/ledger", `{"lease":` + apptest.Lease3 + `,"charges":[],"totals":{"billed_cents":0,"paid_cents":0,"balance_cents":0,"credit_cents":0,"deposit_held_cents":0}}`},
	} {
		a := l.Get("rental", c.path)
		assert.That(t, a.Status == 200 && a.Body == c.want, "%s: %d\n%s\nwant\n%s", c.path, a.Status, a.Body, c.want)
	}
	who := func(lease, days int) string {
		return fmt.Sprintf(`,"lease_id":%d,"unit":"U%[1]d","property":"House","tenant":"Tenant U%[1]d","tenant_email":"u%[1]d@example.org","days_overdue":%[2]d}`, lease, days)
	}
	want := `{"today":"2026-11-20","arrears":[` + may + who(2, 189) + "," + june + who(2, 172) + "," + september + who(1, 80) + "," + october + who(1, 50) + "," + november + who(1, 19) +
		`],"total_cents":454839,"buckets":{"days_1_30":100000,"days_31_60":100000,"days_61_90":100000,"days_over_90":154839}}`
	a := l.Get("rental", "/api/arrears")
	assert.That(t, a.Status == 200 && a.Body == want, "arrears: %d\n%s\nwant\n%s", a.Status, a.Body, want)
	p := l.Post("rental", "/api/leases/1/payments", `{"charge_id":1,"method":"card","paid_date":"2026-09-02"}`)
	paid := rent(1, "09", "1-30 September 2026", "09-01", "09-30", 100000, `"paid":true,"paid_date":"2026-09-02","method":"card"`)
	want = `{"payment_id":1,"charge":` + paid + `},"totals":{"billed_cents":300000,"paid_cents":100000,"balance_cents":200000,"credit_cents":0,"deposit_held_cents":0},"amount_cents":100000,` +
		`"allocations":[{"charge_id":1,"label":"1-30 September 2026","amount_cents":100000}],"credit_cents":0}`
	assert.That(t, p.Status == 201 && p.Body == want, "payment: %d\n%s\nwant\n%s", p.Status, p.Body, want)
}

// TestRentalPingReportsTheRole: a key acts as its user, with the role that ping reports.
func TestRentalPingReportsTheRole(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	for _, c := range []struct{ role, scope string }{{"viewer", "read"}, {"viewer", "full"}, {"member", "full"}, {"admin", "read"}} {
		key := l.Key("rental", "user-"+c.role, c.role, c.scope)
		assert.That(t, strings.HasPrefix(key, "apk_") && len(key) == 44 && strings.Trim(key[4:], "0123456789abcdef") == "",
			"key %q", key)
		m := l.Do("rental", "GET", "/api/ping", key, "").Map(t)
		assert.That(t, m["ok"] == true && m["app"] == "rental" && m["user"] == "user-"+c.role && m["role"] == c.role &&
			m["scope"] == c.scope && m["version"] != "", "ping as %v: %v", c, m)
	}
	for _, key := range []string{"", "apk_", "apk_" + strings.Repeat("f", 40), "rk_" + strings.Repeat("f", 40), l.Keys["maintenance"]} {
		l.Refused(l.Do("rental", "GET", "/api/ping", key, ""), 401)
	}
	for _, c := range []struct{ method, path string }{{"GET", "/healthz"}, {"GET", "/api/openapi.json"}} {
		assert.Equal(t, l.Do("rental", c.method, c.path, "", "").Status, 200, "%s needs a key", c.path)
	}
	a := l.Do("rental", "GET", "/mcp", "", "")
	assert.That(t, a.Status == 405 && a.Header.Get("Allow") == "POST", "GET /mcp: %d %v", a.Status, a.Header)
}

// TestRentalRefusals: each refusal names the fault and changes nothing.
func TestRentalRefusals(t *testing.T) {
	t.Parallel()
	l := apptest.Let(t)
	l.Arrears() // posts due charges
	l.Post("rental", "/api/maintenance", `{"unit_id":1,"title":"Tap drips"}`)
	before := apptest.SnapshotOf(t, l.Fixture)
	for _, c := range []struct {
		method, path, body string
		status             int
		says               []string
	}{
		{"GET", "/api/units?status=empty", "", 422, []string{"status", "vacant, occupied"}},
		{"GET", "/api/units?status=", "", 422, []string{"status", "vacant, occupied"}},
		{"GET", "/api/units?limit=0", "", 422, []string{"limit"}},
		{"GET", "/api/units?limit=-1", "", 422, []string{"limit"}},
		{"GET", "/api/units?limit=all", "", 422, []string{"limit"}},
		{"GET", "/api/units?after=x", "", 422, []string{"after"}},
		{"GET", "/api/units?tenant=Ada", "", 422, []string{"tenant"}},
		{"GET", "/api/leases?status=running", "", 422, []string{"status", "active, ended, upcoming"}},
		{"GET", "/api/leases?active=true", "", 422, []string{"active"}},
		{"GET", "/api/maintenance?status=done", "", 422, []string{"status", "open, in_progress, resolved"}},
		{"GET", "/api/arrears?limit=5", "", 422, []string{"limit"}},
		{"GET", "/api/leases/4/ledger", "", 404, []string{"lease 4"}},
		{"GET", "/api/leases/0/ledger", "", 404, nil},
		{"GET", "/api/leases/-1/ledger", "", 404, nil},
		{"GET", "/api/leases/one/ledger", "", 404, nil},
		{"GET", "/api/leases/1/ledger?month=2026-01", "", 422, []string{"month"}},
		{"GET", "/api/leases/1", "", 404, nil},
		{"POST", "/api/leases/4/payments", `{"charge_id":1}`, 404, []string{"lease 4"}},
		{"POST", "/api/leases/x/payments", `{"charge_id":1}`, 404, nil},
		{"POST", "/api/leases/1/payments", `{}`, 422, []string{"charge_id is missing"}},
		{"POST", "/api/leases/1/payments", `{"charge_id":null}`, 422, []string{"charge_id"}},
		{"POST", "/api/leases/1/payments", `{"charge_id":"1"}`, 422, []string{"charge_id"}},
		{"POST", "/api/leases/1/payments", `{"charge_id":1.5}`, 422, []string{"charge_id"}},
		{"POST", "/api/leases/1/payments", `{"charge_id":1e400}`, 422, []string{"charge_id"}},
		{"POST", "/api/leases/1/payments", `{"charge_id":0}`, 422, []string{"charge_id", "lease 1"}},
		{"POST", "/api/leases/1/payments", `{"charge_id":-3}`, 422, []string{"charge_id", "lease 1"}},
		{"POST", "/api/leases/1/payments", `{"charge_id":4}`, 422, []string{"charge_id: 4 is not a charge of lease 1"}},
		{"POST", "/api/leases/1/payments", `{"charge_id":99}`, 422, []string{"charge_id: 99 is not a charge of lease 1"}},
		{"POST", "/api/leases/1/payments", `{"charge_id":1,"amount_cents":100001}`, 422, []string{"amount_cents"}},
		{"POST", "/api/leases/1/payments", `{"charge_id":1,"Method":"cash"}`, 422, []string{"Method"}},
		{"POST", "/api/maintenance", `{"title":"x"}`, 422, []string{"unit_id is missing"}},
		{"POST", "/api/maintenance", `{"unit_id":9,"title":"x"}`, 422, []string{"unit_id", "no unit 9"}},
		{"POST", "/api/maintenance", `{"unit_id":"1","title":"x"}`, 422, []string{"unit_id"}},
		{"POST", "/api/maintenance", `{"unit_id":1}`, 422, []string{"title is missing"}},
		{"POST", "/api/maintenance", `{"unit_id":1,"title":"  "}`, 422, []string{"title is empty"}},
		{"POST", "/api/maintenance", `{"unit_id":1,"title":"` + strings.Repeat("é", 201) + `"}`, 422, []string{"title", "200"}},
		{"POST", "/api/maintenance", `{"unit_id":1,"title":"x","description":"` + strings.Repeat("é", 10_001) + `"}`, 422, []string{"description", "10000"}},
		{"POST", "/api/maintenance", `{"unit_id":1,"title":"a\u0000"}`, 422, []string{"title"}},
		{"POST", "/api/maintenance", `{"unit_id":1,"title":"x","priority":"asap"}`, 422, []string{"priority", "low, medium, high, urgent"}},
		{"POST", "/api/maintenance", `{"unit_id":1,"title":"x","status":"open"}`, 422, []string{"status"}},
		{"POST", "/api/maintenance/9/status", `{"status":"in_progress"}`, 404, []string{"ticket 9"}},
		{"POST", "/api/maintenance/0/status", `{"status":"in_progress"}`, 404, nil},
		{"POST", "/api/maintenance/1/status", `{}`, 422, []string{"status is missing"}},
		{"POST", "/api/maintenance/1/status", `{"status":"done"}`, 422, []string{"status", "open, in_progress, resolved"}},
		{"POST", "/api/maintenance/1/status", `{"status":"resolved"}`, 422, []string{"open", "resolved", "in_progress"}},
		{"POST", "/api/maintenance/1/status", `{"status":"in_progress","resolution":"x"}`, 422, []string{"resolution"}},
	} {
		l.T.Logf("%s %s %.80s", c.method, c.path, c.body)
		l.Refused(l.Do("rental", c.method, c.path, l.Keys["rental"], c.body), c.status, c.says...)
	}
	before.Check("refused requests")
}
