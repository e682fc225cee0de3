package maintenance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// TestSumsOfAnAssigneeAreKept changes orders at random and compares the stored sums, and the agents' view of an
// assignee, with the orders.
func TestSumsOfAnAssigneeAreKept(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	r := rand.New(rand.NewPCG(3, 1))
	names := []any{"Ana", "Ben", "ben", "BEN", nil}
	for range 40 {
		s.opens(WorkOrder{LaborMinutes: r.Int64N(500)})
	}
	exec := func(query string, args ...any) {
		t.Helper()
		s.Must(db.Exec(ctx, s.DB, cli, func(tx *db.Tx) error {
			if _, err := tx.Exec(query, args...); err != nil {
				return err
			}
			return tx.Audit("test", "test", nil)
		}))
	}
	for i := range 120 {
		id := 1 + r.Int64N(40)
		switch r.IntN(5) {
		case 0:
			_, err := do(s, cli, setLaborRate, r.Int64N(9999))
			s.Must(err)
		case 1:
			exec("UPDATE work_orders SET status = 'done', labor_rate_cents = ?, completed_at = 1, resolution = 'x' WHERE id = ?", r.Int64N(9999), id)
		case 2:
			exec("UPDATE work_orders SET status = 'open', labor_rate_cents = NULL, completed_at = NULL WHERE id = ?", id)
		default:
			exec("UPDATE work_orders SET assigned_to = ?, priority = ?, labor_minutes = ?, typed_cents = ? WHERE id = ?",
				names[r.IntN(5)], []string{"low", "high"}[i%2], r.Int64N(500), r.Int64N(9999), id)
		}
		s.Must(s.DB.View(ctx, func(c *db.Conn) error {
			breaches, err := checkSums(c)
			assert.Must(t, len(breaches) <= 0, "%d: %s", i, breaches)
			return err
		}))
		for _, f := range []Filter{{Status: "open"}, {AssignedTo: "BeN"}, {AssignedTo: "ben", Status: "done"}, {AssignedTo: "Ana", Priority: "high"}} {
			f.Limit = 3
			found, err := s.FindWorkOrders(ctx, f)
			if err != nil {
				continue // the name is new
			}
			f.Limit = 200
			all := assert.Value(s.WorkOrders(ctx, f))(s.T)
			cost := int64(0)
			for _, wo := range all.WorkOrders {
				cost += wo.TotalCostCents
			}
			got, want := fmt.Sprint(found.Total, *found.TotalCostCents, found.Shown), fmt.Sprint(len(all.WorkOrders), cost,
				min(3, len(all.WorkOrders)))
			assert.Must(t, got == want, "%d: %+v: agents are told %s, there are %s", i, f, got, want)
			for j := range found.Shown {
				assert.Must(t, found.WorkOrders[j].Full.ID == all.WorkOrders[j].ID,
					"%d: %+v: the page has %d for %d", i, f, found.WorkOrders[j].Full.ID, all.WorkOrders[j].ID)
			}
		}
	}
	exec("UPDATE work_order_sums SET cents = cents + 1 WHERE assigned_to = 'Ana'")
	s.Must(s.DB.View(ctx, func(c *db.Conn) error {
		breaches, err := checkSums(c)
		assert.That(t, len(breaches) != 0 && strings.Contains(breaches[0], `"Ana"`), "a wrong sum is not found: %s", breaches)
		return err
	}))
	exec("UPDATE work_order_sums SET cents = cents - 1 WHERE assigned_to = 'Ana'")
}

// TestAssigneesListReadsOnlyItsRows: neither the page nor its totals scan the orders.
func TestAssigneesListReadsOnlyItsRows(t *testing.T) {
	s := open(t)
	s.Must(s.DB.View(ctx, func(c *db.Conn) error {
		for f, want := range map[*Filter]string{
			{AssignedTo: "Ana", names: []string{"Ana"}, Cursor: schema.First(50)}:                          "SEARCH w USING INDEX work_orders_assigned (assigned_to=?)",
			{AssignedTo: "Ana", names: []string{"Ana"}, Cursor: schema.First(50), Status: "open"}:          "SEARCH w USING INDEX work_orders_assigned_status (assigned_to=? AND status=?)",
			{AssignedTo: "Ana", names: []string{"Ana"}, Cursor: schema.Cursor[int64]{After: 9, Limit: 50}}: "SEARCH w USING INDEX work_orders_assigned (assigned_to=? AND rowid<?)",
		} {
			query, _ := f.newestFirst(c)
			if plan := strings.Join(s.Steps(query), "\n"); !strings.Contains(plan, want) || strings.Contains(plan, "SCAN w") || strings.Contains(plan, "SCAN a") || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("%s\n%s", query, plan)
			}
			query, _ = f.inAll(c)
			assert.Contains(t, strings.Join(s.Steps(query), "\n"), "SEARCH w USING PRIMARY KEY (assigned_to=?", "%s", query)
		}
		return nil
	}))
}
