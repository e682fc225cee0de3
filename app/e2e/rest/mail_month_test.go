package rest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// monthActs are what people do on days of the month, at noon.
var monthActs = map[int][]string{
	1: {
		"store order record --sku PLUGIN --email ann@example.com --name Ann", "store order record --sku PLUGIN --email cay@example.com --mail=false",
	},
	2: {"rental receive 2 --amount-cents 80000"},
	3: {
		"maintenance work-orders create PRESS --description Oil --assigned-to bob --due-date 2026-11-10",
		"maintenance work-orders edit 1 --requester-email dora@example.com",
	},
	5:  {"reorder po create --supplier Leaf --line TEA=24", "reorder po order PO-000001 --mail"},
	8:  {"mail kind order off", "store order record --sku PLUGIN --email eve@example.com", "mail kind order on"},
	11: {"maintenance move in-progress 1"},
	12: {"maintenance move done 1 --resolution Oiled"},
	16: {"rental receive 1 --amount-cents 50000"},
	18: {"store order refund ORDER --yes"},
	19: {"store license rotate 2 --yes", "reorder adjust TEA --set 1 --reason count"},
	21: {"rental receive 1 --amount-cents 45000"},
	25: {"rental mail-statement 1 --year 2026 --yes"},
}

// monthMails are what leaves on each day, and nothing else: first what the timer of the morning sends, then what comes of
// the acts.
var monthMails = map[int][]string{
	1:  {"reminder ada@example.org", "reminder ben@example.org", "order ann@example.com"},
	2:  {"receipt ben@example.org"},
	3:  {"notice bob@example.com"},
	5:  {"purchase orders@leaf.example"},
	6:  {"late-1 ada@example.org"},
	7:  {"expiry ann@example.com", "expiry cay@example.com"},
	10: {"digest bob@example.com"},
	11: {"digest bob@example.com"},
	12: {"digest bob@example.com", "answer dora@example.com"},
	14: {"expiry eve@example.com"},
	15: {"late-2 ada@example.org"},
	16: {"receipt ada@example.org"},
	18: {"refund ann@example.com"},
	19: {"key cay@example.com"},
	20: {"digest bob@example.com"},
	21: {"receipt ada@example.org"},
	25: {"statement ada@example.org"},
	28: {"reminder ada@example.org", "reminder ben@example.org"},
}

// TestAMonthWithMail: orders, rent, jobs and stock of a shop for 31 days, with the timer's command each morning. What
// should leave leaves on its day, once, and nothing else. Without QUARTERMASTER_LONG the month ends on its second day. The
// messages are left in the folder QUARTERMASTER_LETTERS, if that is set, for another program to read.
func TestAMonthWithMail(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 1, 7, 0, 0, 0, time.UTC)
	s, to := apptest.StartAt(t, at), apptest.StartMail(t)
	run := func(line string) { s.MustCLI(strings.Fields(line)...) }
	for _, line := range []string{
		"settings currency EUR", "store product save PLUGIN --kind license --price-cents 4900 --license-days 20",
		"user add bob --role member", "user email bob --email bob@example.com", "maintenance assets save PRESS",
		"reorder suppliers save Leaf --email orders@leaf.example",
		"reorder skus save TEA --supplier Leaf --unit-cost-cents 320 --current-stock 400 --safety-stock-days 5 --lead-time-days 10",
		"rental property save House", "rental unit save House A", "rental unit save House B",
		"rental tenant save Ada --email ada@example.org", "rental tenant save Ben --email ben@example.org",
		"rental lease save House A 2026-11-01 --tenant Ada --rent-cents 95000 --due-day 1",
		"rental lease save House B 2026-11-01 --tenant Ben --rent-cents 80000 --due-day 1",
	} {
		run(line)
	}
	code, _, errs := s.Pipe("date,sku,qty\n2026-10-30,TEA,20\n2026-10-31,TEA,20\n", "import", "reorder", "sales", "-")
	assert.Must(t, code == 0, "%v", errs)
	apptest.SetMail(s, to)
	for _, line := range []string{
		"mail kind receipt on", "mail timer --expiry --reminders --digests", "rental set-reminders --before-days 3",
		"user notices bob --alarms digest",
	} {
		run(line)
	}
	ref, last, sent := "", int64(0), 0
	var all []mailed
	gone := func(what string) {
		t.Helper()
		apptest.Await(t, what, func() bool {
			all = mails(s, "--limit", "200")
			return !slices.ContainsFunc(all, in("queued", "sending"))
		})
	}
	for day := range apptest.Times(2, 31) {
		morning := at.AddDate(0, 0, day)
		s.Clock.Set(morning)
		run("mail daily")
		gone("what the timer sends")
		s.Clock.Set(morning.Add(5 * time.Hour))
		for _, line := range monthActs[day+1] {
			run(strings.ReplaceAll(line, "ORDER", ref))
		}
		gone("the day's messages")
		var left []string
		for _, m := range slices.Backward(all) {
			if m.ID > last && m.State != "held" && m.Tries > 0 { // the others stand in a digest
				left = append(left, m.Kind+" "+m.To)
				assert.That(t, m.State == "sent" && m.Tries == 1, "%+v", m)
			}
			last = max(last, m.ID)
		}
		assert.EqualSlices(t, left, monthMails[day+1], "on day %d leave", day+1)
		if sent += len(monthMails[day+1]); len(to.Got()) != sent {
			t.Fatalf("after day %d %d messages left, want %d", day+1, len(to.Got()), sent)
		}
		if day == 0 && len(all) > 0 {
			ref = all[0].Record
		}
	}
	if folder := os.Getenv("QUARTERMASTER_LETTERS"); folder != "" {
		for i, l := range to.Got() {
			assert.OK(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("%02d %s.eml", i, l.To)), []byte(l.Text), 0o600))
		}
	}
}
