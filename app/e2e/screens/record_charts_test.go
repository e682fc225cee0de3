package screens

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestRecordsHaveCharts sells, orders and repairs over some weeks and opens the records. A supplier's page compares
// promised with actual arrival, a product's and a customer's show their months, and an asset's readings share one axis
// with its repairs and due dates, which a machine without a meter has too. Units have a square a month, and figures
// the time before beside them.
func TestRecordsHaveCharts(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("reorder", "ann", "admin")
	at := func(service string) *apptest.Visitor { return v.At(s.URL(service, "")) }
	do := func(commands ...string) {
		t.Helper()
		for _, c := range commands {
			s.MustCLI(append(strings.Split(c, "|"), "--db", s.Path)...)
		}
	}
	later := func(days int) { s.Clock.Set(s.Clock.Now().Add(time.Duration(days) * 24 * time.Hour)) }

	do("reorder|suppliers|save|Leaf|--lead-time-days|5", "reorder|skus|save|TEA|--name|Tea|--supplier|Leaf",
		"reorder|po|create|--supplier|Leaf|--line|TEA=10", "reorder|po|create|--supplier|Leaf|--line|TEA=10|--order",
		"reorder|po|order|PO-000001",
		"store|product|save|PLUG|--name|Plugin|--price-cents|4900|--kind|other",
		"store|order|record|--email|maja@example.com|--line|PLUG=2",
		"maintenance|assets|save|L-1|--name|Lathe", "maintenance|meters|save|L-1|hours|--unit|h|--reading|100",
		"maintenance|plans|save|L-1|Oil|--interval-days|30",
		"maintenance|work-orders|create|L-1|--description|Belt slips",
		"maintenance|assets|save|P-1|--name|Press", "maintenance|work-orders|create|P-1|--description|Leaks",
		"rental|property|save|House", "rental|unit|save|House|1A")
	later(4)
	do("reorder|po|receive|PO-000001", "maintenance|reading|L-1|110",
		"maintenance|work-orders|advance|1|in-progress",
		"maintenance|work-orders|advance|1|done|--resolution|tightened|--labor-minutes|30",
		"maintenance|work-orders|advance|2|in-progress", "maintenance|work-orders|advance|2|done|--resolution|sealed")
	later(8)
	do("reorder|po|receive|PO-000002", "maintenance|reading|L-1|150",
		"store|order|record|--email|maja@example.com|--line|PLUG=1")

	holds := func(service, path string, parts ...string) {
		t.Helper()
		got := strings.Join(strings.Fields(status(t, at(service).Get(path), http.StatusOK).Body), " ")
		for _, p := range parts {
			assert.Contains(t, got, p, "%s of %s has no", path, service)
		}
	}
	holds("reorder", "/suppliers/Leaf", "1 of the last 2 came late", "<title>PO-000001: 4</title>",
		"<title>PO-000002: 12</title>", "<title>PO-000002: 5</title>")
	holds("store", "/products/PLUG", "<title>November 2026: 2</title>", "<title>December 2026: 1</title>")
	holds("store", "/customers/1", "<title>November 2026: 98.00</title>", "<title>December 2026: 49.00</title>")
	holds("store", "/figures?by=day&from=2026-11-28&to=2026-12-07", `class="key past"`, `class="bar past"`)
	holds("rental", "/rent-roll", "Occupancy by month", "Let in 0 of 12 months")
	holds("rental", "/properties/1", "Occupancy by month", "Let in 0 of 12 months")
	holds("maintenance", "/assets/2", "The last 12 months", "Repair: Leaks")
	holds("maintenance", "/assets/1", "Repair: Belt slips", "Oil, ", `<span class="key event bad">Repair</span>`, `class="event bad"`,
		"Reading, h", `placeholder="150"`, "replace_meter?asset_id=1&amp;meter=hours")
	holds("maintenance", "/do/create_workorder", `placeholder="Nobody yet"`)
	do("maintenance|labor-rate|5400")
	holds("maintenance", "/figures", "1 job was done before there was an hourly rate", "Cost them anew")
}
