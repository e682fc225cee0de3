package maintenance

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// plan is a preventive maintenance plan: a recurring service of an asset.
type plan struct {
	schedule
	ID          int64
	AssetID     int64
	Title       string
	MeterID     int64 // 0 without a usage trigger
	RestartedBy int64 // the work order that set the last service; 0: none did
	Checklist   []string
	Paused      bool // it is not in the due list and opens no jobs
}

// planSets are the columns of a plan that change, with their values: one list for INSERT,
// UPDATE and scanPlan.
const planSets db.Columns = "interval_days, interval_usage, meter_id, start_date, last_done_date, baseline, " +
	"due_soon_days, due_soon_usage, " +
	"restarted_by, checklist, paused"

func (p *plan) sets() []any {
	return []any{p.IntervalDays, p.IntervalUsage, db.NullID(p.MeterID), p.Start, p.LastDone, p.baseline(), p.DueSoonDays,
		p.DueSoonUsage,
		db.NullID(p.RestartedBy), keptTexts(p.Checklist), p.Paused}
}

// planColumns are of pm_plans p.
var planColumns = "p.id, p.asset_id, p.title, " + planSets.Of("p")

// scanPlan reads a row of planColumns.
func scanPlan(r *db.Row) plan {
	p := plan{ID: r.Int(), AssetID: r.Int(), Title: r.Text()}
	p.IntervalDays, p.IntervalUsage, p.MeterID, p.Start, p.LastDone = r.IntPtr(), r.MilliPtr(), r.Int(), r.Day(),
		r.DayPtr()
	p.Baseline, p.DueSoonDays, p.DueSoonUsage, p.RestartedBy = r.Milli(), r.IntPtr(), r.MilliPtr(), r.Int()
	p.Checklist, p.Paused = readTexts(r.Text()), r.Bool()
	return p
}

// baseline is the plan's stored baseline: none without a usage trigger.
func (p *plan) baseline() *exact.Milli {
	if p.MeterID == 0 {
		return nil
	}
	return &p.Baseline
}

// findPlan finds a plan; an unknown one is 404.
func findPlan(c *db.Conn, id int64) (plan, error) {
	return db.ByID(c, scanPlan, "PM plan", "SELECT "+planColumns+" FROM pm_plans p WHERE p.id = ?", id)
}

// readingOn is the value of the plan's meter on a day: its last reading until then, or its present value if no reading
// since its last correction is so old.
func (p *plan) readingOn(c *db.Conn, day exact.Day) (exact.Milli, error) {
	m, err := findMeter(c, p.MeterID)
	if err != nil || m.ReadDate == nil || day >= *m.ReadDate {
		return m.Reading, err
	}
	v, found, err := db.One(c, (*db.Row).Milli,
		"SELECT value FROM readings WHERE meter_id = ? AND epoch = ? AND day <= ? ORDER BY day DESC, seq DESC LIMIT 1", m.ID,
		m.epoch, day)
	if err != nil || !found {
		return m.Reading, err
	}
	return v, nil
}

// restart restarts the plan on the day, and resumes it if it is paused: by is the work order that did the service, 0 if
// none did.
func (p *plan) restart(tx *db.Tx, day exact.Day, by int64) (err error) {
	p.LastDone, p.RestartedBy, p.Paused = &day, by, false
	if p.MeterID != 0 {
		if p.Baseline, err = p.readingOn(&tx.Conn, day); err != nil {
			return err
		}
	}
	p.storeService(tx)
	return nil
}

// storeService writes when the service was last done, at which reading, and by what.
func (p *plan) storeService(tx *db.Tx) {
	tx.Do("UPDATE pm_plans SET last_done_date = ?, baseline = ?, restarted_by = ?, paused = ? WHERE id = ?",
		p.LastDone, p.baseline(), db.NullID(p.RestartedBy), p.Paused, p.ID)
}

// serviceEntry is a plan's restart in the audit trail.
type serviceEntry struct {
	PMID     int64        `json:"pm_id"`
	LastDone *exact.Day   `json:"last_done_date"`
	Baseline *exact.Milli `json:"baseline_reading"`
}

func (p *plan) entry() *serviceEntry {
	return &serviceEntry{PMID: p.ID, LastDone: p.LastDone, Baseline: p.baseline()}
}

// markDone records that a plan's service was done on a day (nil is today) without a work order, and restarts the plan.
// A future day is 422, an unknown plan 404.
//
// reading is the value of the plan's meter then, nil for the known one.
func markDone(tx *db.Tx, id int64, date *exact.Day, reading *exact.Milli) (none PMDueRow, err error) {
	day, err := pastDay(tx, "date", date)
	if err != nil {
		return none, err
	}
	p, err := findPlan(&tx.Conn, id)
	if err != nil {
		return none, err
	}
	doubt := ""
	if reading != nil {
		if doubt, err = p.read(tx, day, *reading); err != nil {
			return none, err
		}
	}
	if err := p.restart(tx, day, 0); err != nil {
		return none, err
	}
	if err := tx.Audit("pm.done", db.Subject("pm_plan", id), p.entry()); err != nil {
		return none, err
	}
	row, err := dueRow(&tx.Conn, id)
	row.doubt = doubt
	return row, err
}

// read posts the reading of the plan's meter on the day of its service, and returns why it is implausible, "" if it is
// not.
func (p *plan) read(tx *db.Tx, day exact.Day, reading exact.Milli) (doubt string, err error) {
	if p.MeterID == 0 {
		return "", fault.Fieldf("reading", "reading: %s goes by days only and has no meter; leave reading out", p.Title)
	}
	if err := checkReading("reading", reading); err != nil {
		return "", err
	}
	a, err := assets.ByID(&tx.Conn, p.AssetID)
	if err != nil {
		return "", err
	}
	m, err := findMeter(&tx.Conn, p.MeterID)
	if err != nil {
		return "", err
	}
	if m.ReadDate != nil && day < *m.ReadDate && reading < m.Reading {
		return "", fault.Fieldf("reading",
			"reading: %s shows %v since %v; leave out the reading of %v", m.Name, m.Reading, *m.ReadDate, day)
	}
	done, err := post(tx, a, m, point{Day: day, Value: reading}, false)
	return done.doubt, err
}

// rebase is a plan's baseline that followed its meter's correction.
type rebase struct {
	PMID int64       `json:"pm_id"`
	From exact.Milli `json:"from"`
	To   exact.Milli `json:"to"`
}

// rebasePlans moves the baselines of a corrected meter's plans. Each counts as changed: reopening a job must not
// restore values of the meter's old numbers.
func rebasePlans(tx *db.Tx, meterID int64, baseline func(exact.Milli) exact.Milli) ([]rebase, error) {
	plans, err := db.All(&tx.Conn, scanPlan, "SELECT "+planColumns+" FROM pm_plans p WHERE p.meter_id = ? ORDER BY p.id",
		meterID)
	if err != nil {
		return nil, err
	}
	var moved []rebase
	for _, p := range plans {
		before := p.Baseline
		p.Baseline = baseline(before)
		if p.Baseline != before {
			moved = append(moved, rebase{PMID: p.ID, From: before, To: p.Baseline})
		} else if p.RestartedBy == 0 {
			continue
		}
		p.RestartedBy = 0
		p.storeService(tx)
	}
	return moved, nil
}
