package maintenance

import (
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Move is a work order's move. Resolution, if not empty, is stored with any move; done needs one in the same request.
// SkipSteps is the reason for completing a job with open steps.
type Move struct {
	ID         int64
	Status     string
	Resolution string
	SkipSteps  string
}

// unresolved refuses to complete a job without a resolution.
func (m Move) unresolved() error {
	if m.Status == "done" && m.Resolution == "" {
		return fault.Fieldf("resolution", "resolution is missing: a work order is done only with a resolution; say what "+
			"was done")
	}
	return nil
}

// unticked refuses to complete a job with open steps, unless a reason is given.
func (m Move) unticked(steps []Step) error {
	open := openCount(steps)
	if m.Status != "done" || open == 0 || m.SkipSteps != "" {
		return nil
	}
	next := ""
	for _, s := range steps {
		if !s.Done {
			next = fmt.Sprintf("%d (%s)", s.Step, schema.Shorten(s.Text, 60))
			break
		}
	}
	return fault.Fieldf("skip_steps", "skip_steps is missing: %d of %d steps of the check list are open, first %s; "+
		"tick them, or give the reason",
		open, len(steps), next)
}

// moveWorkOrder moves a work order. A move that the state machine does not allow, and done without a resolution, are
// 422, an unknown order 404.
//
// Completing a job fixes its labor rate and restarts its plan. Reopening it applies today's rate again, keeps the
// resolution, and restores the plan's former state, unless the plan was changed since.
func moveWorkOrder(tx *db.Tx, m Move) (wo WorkOrder, err error) {
	wo, found, err := lookWorkOrder(&tx.Conn, m.ID)
	switch {
	case err != nil:
		return wo, err
	case !found && m.unresolved() != nil: // a missing field is refused before a missing record
		return wo, m.unresolved()
	case !found:
		return wo, noWorkOrder(m.ID)
	}
	if err := workOrderMoves.Check("work order", wo.Status, m.Status); err != nil {
		return wo, err
	}
	if err := m.unresolved(); err != nil {
		return wo, err
	}
	if err := m.unticked(wo.Checklist); err != nil {
		return wo, err
	}
	if wo, err = move(tx, wo, m, tx.Now()); err != nil {
		return wo, err
	}
	return wo, mailAnswer(tx, wo)
}

// moveEntry is a move in the audit trail.
type moveEntry struct {
	From       string        `json:"from"`
	To         string        `json:"to"`
	Resolution string        `json:"resolution,omitempty"`
	SkipSteps  string        `json:"skip_steps,omitempty"`
	Plan       *serviceEntry `json:"pm,omitempty"`
}

// move carries out a permitted move; at is when a job was completed.
func move(tx *db.Tx, wo WorkOrder, m Move, at exact.Instant) (WorkOrder, error) {
	entry := moveEntry{From: wo.Status, To: m.Status, Resolution: short(m.Resolution)}
	if m.Status == "done" && openCount(wo.Checklist) > 0 {
		entry.SkipSteps = short(m.SkipSteps)
	}
	var completed *exact.Instant
	var started *exact.Instant
	switch m.Status {
	case "in-progress":
		started = new(tx.Now())
	case "done":
		completed = &at
	}
	tx.Do(`UPDATE work_orders SET status = ?1, resolution = coalesce(?2, resolution),
		started_at = coalesce(started_at, ?3),
		completed_at = ?4, updated_at = ?5,
		labor_rate_cents = CASE WHEN ?1 IN ('done', 'cancelled') THEN (SELECT labor_rate_cents FROM maintenance_settings) END
		WHERE id = ?6`, m.Status, db.NullText(m.Resolution), started, completed, tx.Now(), wo.ID)
	var err error
	if wo.PMID != nil {
		if entry.Plan, err = movePlan(tx, wo, m.Status); err != nil {
			return wo, err
		}
	}
	if err := tx.Audit("workorder.status", db.Subject("work_order", wo.ID), entry); err != nil {
		return wo, err
	}
	if wo, err = findWorkOrder(&tx.Conn, wo.ID); err != nil || m.Status != "done" {
		return wo, err
	}
	return wo, tx.Emit("workorder.completed", wo)
}

// movePlan restarts the plan of a completed job, and undoes that when the job is reopened. It returns the plan's new
// state, nil if it is unchanged.
func movePlan(tx *db.Tx, wo WorkOrder, to string) (*serviceEntry, error) {
	if to != "done" && wo.Status != "done" {
		return nil, nil
	}
	p, err := findPlan(&tx.Conn, *wo.PMID)
	if err != nil {
		return nil, err
	}
	if to == "done" {
		if err := tx.CheckClock(); err != nil {
			return nil, err
		}
		due, err := dueRow(&tx.Conn, p.ID)
		if err != nil {
			return nil, err
		}
		tx.Do(`UPDATE work_orders SET pm_before_done = ?, pm_before_baseline = ?, pm_before_by = ?, pm_served = 1,
			pm_due_day = ?
			WHERE id = ?`, p.LastDone, p.Baseline, db.NullID(p.RestartedBy), due.NextDue, wo.ID)
		if err := p.restart(tx, tx.Today(), wo.ID); err != nil {
			return nil, err
		}
		return p.entry(), nil
	}
	tx.Do("UPDATE work_orders SET pm_served = 0, pm_due_day = NULL WHERE id = ?", wo.ID)
	if p.RestartedBy != wo.ID {
		return nil, nil
	}
	type before struct {
		done     *exact.Day
		baseline *exact.Milli
		by       int64
	}
	b, _, err := db.One(&tx.Conn, func(r *db.Row) before {
		return before{done: r.DayPtr(), baseline: r.MilliPtr(), by: r.Int()}
	}, `SELECT pm_before_done, pm_before_baseline, (SELECT b.id FROM work_orders b WHERE b.id = w.pm_before_by
		AND b.status = 'done')
		FROM work_orders w WHERE w.id = ?`, wo.ID)
	if err != nil {
		return nil, err
	}
	p.LastDone, p.Baseline, p.RestartedBy = b.done, b.baseline, b.by
	p.storeService(tx)
	return p.entry(), nil
}
