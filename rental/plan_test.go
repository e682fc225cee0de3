package rental

import (
	"strings"
	"testing"
)

// TestStatementsUseIndexes holds every request's statements to indexes: none walks a
// table that grows with the years.
func TestStatementsUseIndexes(t *testing.T) {
	h := open(t, "2026-11-20")
	charge := "SELECT " + chargeColumns + " FROM charges c WHERE "
	for _, c := range []struct {
		about, query string
		want         []string // the steps of the plan that read the tables which grow
		sorts        bool     // what it found, which is no more than it gives
	}{
		{"the ledger's lease", "SELECT " + leaseColumns + fromLeases + " WHERE l.id = ?", []string{"SEARCH l USING INTEGER PRIMARY KEY", "SEARCH c USING COVERING INDEX charges_unpaid"}, false},
		{"the ledger's charges", charge + "c.lease_id = ?", []string{"SEARCH c USING INDEX charges_posting (lease_id=?)"}, false},
		{"the charge to be paid", charge + "c.id = ? AND c.lease_id = ?", []string{"SEARCH c USING INTEGER PRIMARY KEY"}, false},
		{"totals", "SELECT sum(amount_cents) FROM charges WHERE lease_id = ?", []string{"SEARCH charges USING INDEX charges_posting (lease_id=?)"}, false},
		{"what is to be posted", "SELECT id FROM leases WHERE next_event_day <= ?", []string{"SEARCH leases USING COVERING INDEX leases_to_post (next_event_day<?)"}, false},
		{"running leases", leasePage(active), []string{"SEARCH leases USING COVERING INDEX leases_last (last_day>?)", "charges_unpaid"}, true},
		{"coming leases", leasePage(upcoming), []string{"SEARCH leases USING COVERING INDEX leases_start (start_date>?)", "charges_unpaid"}, true},
		{"leases by id", leasePage(""), []string{"SEARCH leases USING INTEGER PRIMARY KEY (rowid>?)", "charges_unpaid"}, true},
		{"ended leases by id", leasePage(ended), []string{"SEARCH leases USING INTEGER PRIMARY KEY (rowid>?)", "charges_unpaid"}, true},
		{"units with today's lease", "SELECT " + unitColumns + unitsOn + " WHERE u.id > ?2 ORDER BY u.id LIMIT ?3", []string{"SEARCH u USING INTEGER PRIMARY KEY", "SEARCH l USING INDEX sqlite_autoindex_leases_1 (unit_id=? AND start_date<?)"}, false},
		{"properties", "SELECT " + propertyColumns + " FROM properties p ORDER BY p.id LIMIT ?2", []string{"SEARCH l USING INDEX sqlite_autoindex_leases_1 (unit_id=? AND start_date<?)"}, false},
		{"the unit's lease of a day", "SELECT id FROM leases WHERE unit_id = ?1 AND start_date <= ?2 AND last_day >= ?2", []string{"SEARCH leases USING INDEX sqlite_autoindex_leases_1"}, false},
		{"a lease's overlaps", "SELECT id, start_date, end_date FROM leases WHERE unit_id = ? AND start_date <= ? AND last_day >= ? AND id <> ?", []string{"sqlite_autoindex_leases_1"}, false},
		{"a month's charges", "SELECT l.unit_id, c.amount_cents, c.paid_cents FROM charges c CROSS JOIN leases l ON l.id = c.lease_id WHERE c.due_date BETWEEN ? AND ?",
			[]string{"SEARCH c USING INDEX charges_due (due_date>? AND due_date<?)"}, false},
		{"a month's payments", "SELECT l.unit_id, m.amount_cents FROM payments m CROSS JOIN leases l ON l.id = m.lease_id WHERE m.voided_at IS NULL AND m.method <> 'deposit' AND m.paid_date BETWEEN ? AND ?",
			[]string{"SEARCH m USING INDEX payments_received (paid_date>? AND paid_date<?)"}, false},
		{"the last posting", charge + "c.lease_id = ? AND c.type = 'rent' ORDER BY c.period_start DESC LIMIT 1", []string{"SEARCH c USING INDEX charges_posting (lease_id=? AND type=?)"}, false},
		{"one charge of its kind", charge + "c.lease_id = ? AND c.type = ? AND c.due_date = ? AND c.label = ? AND c.period_start IS NULL", []string{"charges_single (lease_id=? AND type=? AND due_date=? AND label=?)"}, false},
		{"newest tickets", "SELECT " + ticketColumns + fromTickets + " WHERE 1 AND k.id < ? ORDER BY k.id DESC LIMIT ?", []string{"SEARCH k USING INTEGER PRIMARY KEY (rowid<?)"}, false},
		{"tickets of a status", "SELECT " + ticketColumns + fromTickets + " WHERE 1 AND k.status = ? AND k.id < ? ORDER BY k.id DESC LIMIT ?", []string{"SEARCH k USING INDEX tickets_status (status=? AND id<?)"}, false},
	} {
		plan := strings.Join(h.Steps(c.query), "\n")
		for _, want := range c.want {
			if !strings.Contains(plan, want) {
				t.Errorf("%s:\n%s\nhas no %q", c.about, plan, want)
			}
		}
		for line := range strings.Lines(plan) {
			if strings.Contains(line, "TEMP B-TREE") && !strings.Contains(line, "group_concat") && !c.sorts {
				t.Errorf("%s sorts: %s", c.about, line)
			}
			if strings.Contains(line, "SCAN") && !strings.Contains(line, "SCAN p") && !strings.Contains(line, "SCAN x") {
				t.Errorf("%s scans: %s", c.about, line)
			}
		}
	}
}

// TestArrearsReadWhatIsUnpaid: the whole of a partial index, and of nothing else.
func TestArrearsReadWhatIsUnpaid(t *testing.T) {
	h := open(t, "2026-11-20")
	h.lease("start_date=2026-01-01")
	plan := strings.Join(h.Steps(overdueQuery), "\n")
	if !strings.Contains(plan, "SCAN c USING INDEX charges_unpaid") || strings.Count(plan, "SEARCH") != 5 || strings.Contains(plan, "TEMP B-TREE FOR ORDER") {
		t.Errorf("%s", plan)
	}
}
