package webhook

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// TestStatementsUseIndexes: statements that run for every delivery, or beside a long backlog, use the indexes made for
// them.
func TestStatementsUseIndexes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "shop.db")
	assert.OK(t, db.Create(path, db.Options{}))
	d, err := db.Open(path, db.Options{})
	assert.OK(t, err)
	defer d.Close()
	log := func(f Filter) string {
		return "SELECT " + deliveryColumns + f.where().SQL() + " ORDER BY d.id DESC LIMIT 100"
	}
	cases := map[string]struct {
		query string
		uses  []string // each must be in the plan
		scans bool     // it scans a whole index or table
	}{
		"the oldest pending":     {oldestPending, []string{"deliveries_pending (endpoint_id=?)"}, false},
		"who is owed something":  {receiversOwed, []string{"deliveries_pending (endpoint_id=?)"}, true}, // of the receivers
		"the newest to go":       {newestToGo, []string{"deliveries_done (endpoint_id=?)"}, false},
		"what a crash left":      {leftBehind, []string{"deliveries_sending (kind=? AND attempted_at<?)"}, false},
		"events nobody asks for": {eventsDone, []string{"deliveries_event (event_seq=?)", "USING INTEGER PRIMARY KEY (rowid<?)"}, false},
		"the log":                {log(Filter{}), nil, true}, // in the order of the ids, until the limit
		// likewise: its own index would make every write slower
		"a receiver's log":      {log(Filter{Endpoint: 1}), nil, true},
		"a receiver's failures": {log(Filter{Endpoint: 1, Failed: true}), []string{"deliveries_missed (endpoint_id=?)"}, false},
		"what failed":           {missed, []string{"deliveries_missed", "deliveries_event (event_seq=? AND endpoint_id=?)"}, true},
		"how many are pending":  {"SELECT COUNT(*) FROM deliveries WHERE state = 'pending'", []string{"deliveries_pending"}, true},
	}
	err = d.View(t.Context(), func(c *db.Conn) error {
		for name, want := range cases {
			steps, err := db.All(c, func(r *db.Row) string { r.Int(); r.Int(); r.Int(); return r.Text() }, "EXPLAIN QUERY PLAN "+want.query)
			if err != nil {
				return err
			}
			plan := strings.Join(steps, "\n")
			for _, use := range want.uses {
				assert.Contains(t, plan, use, "%s: the plan lacks", name)
			}
			scans := slices.ContainsFunc(steps, func(s string) bool { return strings.HasPrefix(s, "SCAN") })
			if sorts := strings.Contains(plan, "TEMP B-TREE"); scans != want.scans || sorts && name != "what failed" {
				t.Errorf("%s: the plan scans or sorts:\n%s", name, plan)
			}
		}
		return nil
	})
	assert.OK(t, err)
}
