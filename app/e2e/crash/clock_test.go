package crash

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// dated is a write whose result depends on the date.
type dated struct {
	name    string
	attempt func(s *apptest.Fixture) (done bool, said string)
}

func posts(service, path, body string) func(*apptest.Fixture) (bool, string) {
	return func(s *apptest.Fixture) (bool, string) {
		a := s.Post(service, path, body)
		return a.Status/100 == 2, fmt.Sprint(a.Status, " ", a.Body)
	}
}

func calls(service, tool, arguments string) func(*apptest.Fixture) (bool, string) {
	return func(s *apptest.Fixture) (bool, string) {
		a := s.Do(service, "POST", "/mcp", s.Keys[service],
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`)
		if strings.Contains(a.Body, `"isError":true`) {
			return false, "an agent is told: " + a.Body
		}
		return strings.Contains(a.Body, `"structuredContent"`), fmt.Sprint(a.Status, " ", a.Body)
	}
}

func commands(stdin string, args ...string) func(*apptest.Fixture) (bool, string) {
	return func(s *apptest.Fixture) (bool, string) {
		code, out, errs := s.Pipe(stdin, args...)
		return code == 0, fmt.Sprint("exit ", code, ": ", out, errs)
	}
}

// datedWrites are all of them; their codes are unused.
func datedWrites(codes []string) []dated {
	return []dated{
		{"reading a ledger with rent to post", func(s *apptest.Fixture) (bool, string) {
			a := s.Get("rental", "/api/leases/1/ledger")
			return a.Status == 200, fmt.Sprint(a.Status, " ", a.Body)
		}},
		{"ending a lease with rent to post", commands("", "rental", "end-lease", "2", "--date", "2026-11-30")},
		{"a payment of today", posts("rental", "/api/leases/3/payments", `{"charge_id":1}`)},
		{"sales", posts("reorder", "/api/sales-history", `{"rows":[{"sku":"A","date":"2026-11-01","qty":1}]}`)},
		{"sales by an agent", calls("reorder", "ingest_sales", `{"rows":[{"sku":"A","date":"2026-11-01","qty":1}]}`)},
		{"sales by CSV", commands("sku,date,qty\nA,2026-11-02,1\n", "import", "reorder", "sales", "-")},
		{"a count", calls("reorder", "adjust_stock", `{"sku":"A","set_to":5}`)},
		{"settings", commands("", "reorder", "settings", "--cover", "20")},
		{"a reading of today", posts("maintenance", "/api/assets/1/readings", `{"reading":5}`)},
		{"a reading by an agent", calls("maintenance", "record_meter", `{"asset_id":1,"reading":6}`)},
		{"completing a planned job", posts("maintenance", "/api/work-orders/1/status", `{"status":"done","resolution":"oiled"}`)},
		{"a plan done", commands("", "maintenance", "pm-done", "1")},
		{"an order", commands("", "store", "order", "record", "--email", "ann@shop.example", "--sku", "APP")},
		{"redeeming a code", posts("store", "/license/redeem", `{"code":"`+codes[0]+`","email":"bob@shop.example"}`)},
	}
}

// aShop has what every dated write needs.
func aShop(t *testing.T) (*apptest.Fixture, []dated) {
	t.Helper()
	s := apptest.Start(t)
	for _, f := range [][2]string{
		{"reorder skus", "sku,name,current_stock\nA,Apple,7\n"},
		{"maintenance assets", "asset_tag,name\nLATHE,Lathe\n"},
		{"maintenance meters", "asset_tag,name,unit,reading,read_date\nLATHE,hours,h,1,2026-11-01\n"},
		{"maintenance pm-plans", "asset_tag,title,interval_days\nLATHE,Oil,30\n"},
		{"rental properties", "name\nHouse\n"},
		{"rental units", "property,name\nHouse,1\nHouse,2\nHouse,3\n"},
		{"rental tenants", "name\nAnn\n"},
		{"rental leases", "property,unit,start_date,tenant,rent_cents,frequency\nHouse,1,2026-11-01,Ann,100,weekly\nHouse,2,2026-11-01,Ann,100,weekly\nHouse,3,2026-11-01,Ann,100,monthly\n"},
		{"store products", "sku,name,kind,price_cents,license_days\nAPP,App,license,1000,30\n"},
	} {
		done, said := commands(f[1], append(append([]string{"import"}, strings.Fields(f[0])...), "-")...)(s)
		assert.Must(t, done, "%v", said)
	}
	a := s.Get("rental", "/api/leases/3/ledger")
	assert.Must(t, a.Status == 200, "%v", a.Body)
	for _, do := range []func(*apptest.Fixture) (bool, string){
		posts("maintenance", "/api/work-orders", `{"asset_id":1,"description":"oil","pm_id":1}`),
		posts("maintenance", "/api/work-orders/1/status", `{"status":"in-progress"}`),
	} {
		done, said := do(s)
		assert.Must(t, done, "%v", said)
	}
	var minted struct{ Codes []string }
	s.Post("store", "/api/redeem-codes", `{"sku":"APP","count":1}`).JSON(t, &minted)
	return s, datedWrites(minted.Codes)
}

// TestWrongClock sets the clock a day back, as on a machine without a battery, and far ahead. Operations that depend on
// the date are refused as unavailable and write nothing; the others work. The operator can accept the clock.
func TestWrongClock(t *testing.T) {
	t.Parallel()
	s, writes := aShop(t)
	for _, wrong := range []time.Duration{-24 * time.Hour, -2 * time.Minute, 401 * 24 * time.Hour} {
		s.Clock.Set(apptest.Noon.Add(wrong))
		was := s.MustCLI("audit", "--json", "--limit", "1000")
		for _, w := range writes {
			done, said := w.attempt(s)
			free := wrong == -2*time.Minute && ofTheDay[w.name] // two minutes wrong, on the same day
			if done != free || !free && (!strings.Contains(said, "--accept-clock") || !slices.ContainsFunc(unavailable, func(p string) bool { return strings.HasPrefix(said, p) })) {
				t.Errorf("%s with the clock %v wrong: %s", w.name, wrong, said)
			}
		}
		now := s.MustCLI("audit", "--json", "--limit", "1000")
		assert.That(t, now == was || wrong == -2*time.Minute, "something was written with the clock %v wrong: %s", wrong, now)
		for service, path := range map[string]string{"rental": "/api/units", "reorder": "/api/reorder-report", "maintenance": "/api/pm-due", "store": "/api/stats"} {
			a := s.Get(service, path)
			assert.That(t, a.Status == 200, "reading %s with the clock %v wrong: %d %s", path, wrong, a.Status, a.Body)
		}
	}

	s.Clock.Set(apptest.Noon.Add(-24 * time.Hour))
	a := s.Post("rental", "/api/maintenance", `{"unit_id":1,"title":"it leaks"}`)
	assert.That(t, a.Status == 201, "a ticket by a wrong clock: %d %s", a.Status, a.Body)
	s.Down()
	s.MustCLI("--accept-clock", "user", "list")
	s.Up()
	for _, w := range writes {
		done, said := w.attempt(s)
		assert.That(t, done || ofTheDay[w.name], "%s after the operator's word: %s", w.name, said)
	}
	inSequence(t, s)
}

// unavailable is the start of the refusal on each surface.
var unavailable = []string{`503 {"error":"unavailable"`, "exit 1", "an agent is told"}

// ofTheDay are the writes that check the clock only when its day differs from that of the last write. Two minutes do
// not affect them.
var ofTheDay = map[string]bool{"a count": true}

// inSequence requires lists to be in the order of writing although the clock was set back.
func inSequence(t *testing.T, s *apptest.Fixture) {
	t.Helper()
	var audit struct {
		Entries []struct {
			ID int64
			At time.Time
		}
	}
	assert.OK(t, json.Unmarshal([]byte(s.MustCLI("audit", "--json", "--limit", "1000")), &audit))
	back := 0
	for i, e := range audit.Entries[1:] {
		assert.That(t, e.ID < audit.Entries[i].ID, "entry %d comes after %d", e.ID, audit.Entries[i].ID)
		if e.At.After(audit.Entries[i].At) {
			back++
		}
	}
	assert.That(t, back != 0, "the clock was never set back")
	a := s.Post("maintenance", "/api/work-orders", `{"asset_id":1,"description":"later by number, earlier by the clock"}`)
	assert.Must(t, a.Status == 201, "%v", a.Body)
	var list struct {
		Orders []struct {
			ID      int64
			Created time.Time `json:"created_at"`
		} `json:"work_orders"`
	}
	s.Get("maintenance", "/api/work-orders").JSON(t, &list)
	assert.That(t, slices.IsSortedFunc(list.Orders, func(a, b struct {
		ID      int64
		Created time.Time `json:"created_at"`
	}) int {
		return int(b.ID - a.ID)
	}) && !list.Orders[0].Created.After(list.Orders[1].Created), "work orders: %v", list.Orders)
}
