package maintenance

import (
	"fmt"
	"io"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// setPaused pauses or resumes a plan; an equal state changes nothing. An unknown plan is 404.
func setPaused(tx *db.Tx, id int64, paused bool) (none Plan, err error) {
	p, err := findPlan(&tx.Conn, id)
	if err != nil {
		return none, err
	}
	if p.Paused != paused {
		p.Paused = paused
		p.storeService(tx)
		action := "pm.resumed"
		if paused {
			action = "pm.paused"
		}
		if err := tx.Audit(action, db.Subject("pm_plan", id), map[string]any{"title": p.Title}); err != nil {
			return none, err
		}
	}
	return planByID(&tx.Conn, id)
}

// RemovedPlan is a plan that was removed.
type RemovedPlan struct {
	PMID       int64  `json:"pm_id"`
	AssetID    int64  `json:"asset_id"`
	Title      string `json:"title"`
	WorkOrders int64  `json:"work_orders" about:"jobs that served it, which stay without it"`
}

// removePlan removes a plan. Its work orders stay, without pm_id.
func removePlan(tx *db.Tx, id int64) (gone RemovedPlan, err error) {
	p, err := findPlan(&tx.Conn, id)
	if err != nil {
		return gone, err
	}
	gone = RemovedPlan{PMID: id, AssetID: p.AssetID, Title: p.Title}
	n, err := tx.Exec(`UPDATE work_orders SET pm_id = NULL, pm_before_done = NULL, pm_before_baseline = NULL,
		pm_before_by = NULL, updated_at = ?
		WHERE pm_id = ?`, tx.Now(), id)
	if err != nil {
		return gone, err
	}
	gone.WorkOrders = int64(n)
	tx.Do("DELETE FROM pm_plans WHERE id = ?", id)
	return gone, tx.Audit("pm.removed", db.Subject("pm_plan", id), gone)
}

// bindPlan binds the plan that an act is about.
func bindPlan(f *schema.Form, id *int64) {
	f.ID(id, "id", "the plan, by its id or as TAG/Title", schema.Required, planPositional, schema.Choices(planChoices),
		schema.Label("Plan"))
}

// planAct is an operation that pauses or resumes a plan.
func (s *Service) planAct(name, command, about string, did string, paused bool, undo, label string) schema.Op {
	return schema.Op{
		Name: name, About: about, Writes: true, Idempotent: true, Response: samplePlan,
		Bind:    schema.Writes(s.db, bindPlan, func(tx *db.Tx, id int64) (Plan, error) { return setPaused(tx, id, paused) }),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance " + command + " \"LATHE-1/Change the oil\"\nmaintenance " + command + " 3",
		Did:     schema.Said(func(p Plan) string { return fmt.Sprintf("%s, %s: %s.", p.Asset, p.Title, did) }),
		Leads:   leadsToPlan,
		Undo: func(answer any) *schema.Undo {
			return &schema.Undo{Op: undo, Label: label,
				Fields: map[string]string{"id": strconv.FormatInt(answer.(Plan).PMID, 10)}}
		},
	}
}

func (s *Service) pausePlan() schema.Op {
	return s.planAct("pause_plan", "pause-plan", "Pause a plan: it is not in the due list and opens no jobs until it is "+
		"resumed, or its service is done.",
		"paused", true, "resume_plan", "Resume it")
}

func (s *Service) resumePlan() schema.Op {
	return s.planAct("resume_plan", "resume-plan", "Resume a paused plan: it is due as if it had never been paused.",
		"resumed", false, "pause_plan", "Pause it")
}

func (s *Service) removePlan() schema.Op {
	return schema.Op{
		Name: "remove_plan", About: "Remove a plan. Its work orders stay.",
		Writes: true, Destructive: true, Response: RemovedPlan{PMID: 3, AssetID: 1, Title: "Change the oil", WorkOrders: 4},
		Bind:    schema.Writes(s.db, bindPlan, removePlan),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance remove-plan \"LATHE-1/Change the oil\"",
		Did: schema.Said(func(p RemovedPlan) string {
			return fmt.Sprintf("The plan %s is removed; %s without it.", p.Title, stay(p.WorkOrders))
		}),
		Thing: func(answer any) string { return "the plan " + answer.(RemovedPlan).Title },
		Will: schema.Said(func(p RemovedPlan) string {
			return fmt.Sprintf("The plan %s will be removed for good; %s without it.", p.Title, stay(p.WorkOrders))
		}),
		Leads: func(answer any) string { return assetPage(answer.(RemovedPlan).AssetID) },
	}
}

func stay(orders int64) string {
	switch orders {
	case 0:
		return "no work order is"
	case 1:
		return "1 work order stays"
	}
	return fmt.Sprintf("%d work orders stay", orders)
}

func (s *Service) completePlan() schema.Op {
	return schema.Op{
		Name: "complete_plan",
		About: "Record a planned service that was done without a work order, and restart its plan. " +
			"A job opened with the plan's pm_id does that by itself when done.",
		Writes: true, Response: sampleDue,
		Bind: schema.Writes3(s.db, func(f *schema.Form, id *int64, day **exact.Day, reading **exact.Milli) {
			f.ID(id, "id", "the plan, by its id or as TAG/Title", schema.Required, named(planNamed, "PM_ID"),
				schema.Choices(planChoices), schema.Label("Plan"))
			f.DayPtr(day, "date",
				"the day it was done (default: today), not in the future", schema.Label("Done on"), schema.Today)
			f.MilliPtr(reading, "reading",
				"the meter's reading then (default: what is known of that day)", schema.Range(0, maxReading),
				schema.Label("Reading"))
		}, markDone),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance pm-done 3\nmaintenance pm-done 3 --date 2026-11-18 --json",
		Print: schema.Printed(func(w io.Writer, r PMDueRow) {
			fmt.Fprintf(w, "%s, %s: done %s, next due %s (%s)\n", r.Asset, r.Title, r.LastDoneDate, nextDay(r.NextDue),
				r.DueStatus)
		}),
		Did: schema.Said(func(r PMDueRow) string {
			text := fmt.Sprintf("%s, %s: done on %s, next due %s.", r.Asset, r.Title, r.LastDoneDate, nextDay(r.NextDue))
			if r.OpenJob != nil {
				text += fmt.Sprintf(" Job %d is still open for this plan.", *r.OpenJob)
			}
			return text
		}),
		Doubt: func(answer any, _ schema.Money) schema.Question {
			r := answer.(PMDueRow)
			return askReading(r.doubt, "Mark "+r.Title+" of "+r.Asset+" as done?", "Mark as done")
		},
		Leads: func(answer any) string { return planPage(answer.(PMDueRow).PMID) },
	}
}

func nextDay(d *exact.Day) string {
	if d == nil {
		return "at a date not yet known"
	}
	return d.String()
}
