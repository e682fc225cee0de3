package audit

import (
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db/dbtest"
)

// TestAuditTrailIsReadFromItsEnd: reading a page of one service takes time in proportion to its rows, however long
// the trail of the other services is, also for entries without a service.
func TestAuditTrailIsReadFromItsEnd(t *testing.T) {
	h := dbtest.Open(t, time.UTC, dbtest.Noon)
	for _, f := range []Filter{{Service: "rental", Limit: 50}, {Service: "rental", Appliance: true, Limit: 50}, {Service: "rental", Limit: 50, After: 9}} {
		query, _ := f.newest()
		plan := strings.Join(h.Steps(query), "\n")
		assert.That(t, strings.Contains(plan, "SEARCH audit USING INDEX audit_service (service=?") &&
			!strings.Contains(plan, "SCAN audit") && (f.Appliance || !strings.Contains(plan, "TEMP B-TREE")), "%s\n%s", query,
			plan)
	}
}
