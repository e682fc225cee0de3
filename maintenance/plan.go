package maintenance

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
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

	tag, meter string // its asset's, and the name of its meter
}

// planJoins are what a plan p is read with: its asset a, and its meter m, of which a plan by days has none.
const planJoins = "CROSS JOIN assets a ON a.id = p.asset_id LEFT JOIN meters m ON m.id = p.meter_id"

var plans = record.New("pm", "pm_plans",
	record.ID(func(p *plan) *int64 { return &p.ID }),
	record.Text("asset_tag", func(p *plan) *string { return &p.tag }, "the asset", schema.Required, schema.Most(maxName),
		schema.Choices(tagChoices), schema.Label("Asset"), schema.NewBy("save_asset")).From("a.asset_tag"),
	record.Text("title", func(p *plan) *string { return &p.Title },
		"the service; with asset_tag it identifies the plan", schema.Required, schema.Most(maxName)).Once().Told(),
	record.OptInt("interval_days", func(p *plan) **int64 { return &p.IntervalDays }, "days between services",
		schema.Range(1, maxDays), schema.Label("Days between services"), schema.Usual).Told(),
	record.OptMilli("interval_usage", func(p *plan) **exact.Milli { return &p.IntervalUsage },
		"use between services, in the meter's unit; above 0", schema.Range(0, maxReading),
		schema.Label("Use between services")).Told(),
	record.Text("meter", func(p *plan) *string { return &p.meter },
		"the meter that counts the use, by name or id; not needed if the asset has one meter", schema.Most(maxName),
		schema.Choices(meterChoices)).From("m.name"),
	record.Day("start_date", func(p *plan) *exact.Day { return &p.Start },
		"the day of the first service by days; empty is the day the plan is created", schema.Label("First due on"),
		schema.Today),
	record.OptDay("last_done_date", func(p *plan) **exact.Day { return &p.LastDone },
		"the day of the last service; empty is never", schema.Label("Last done on")),
	record.OptMilli("baseline_reading", func(p *plan) **exact.Milli { return &p.Baseline },
		"the meter's reading at the last service, at most what it shows now; for a new plan what it shows now when empty",
		schema.Range(-maxReading, maxReading), schema.Label("Reading at the last service")).Stored("baseline").Told(),
	record.OptInt("due_soon_days", func(p *plan) **int64 { return &p.DueSoonDays }, "due soon within this many days; "+
		"empty is 14 or a fifth of the interval, whichever is less", schema.Range(0, maxDays),
		schema.Label("Due soon, days before")),
	record.OptMilli("due_soon_usage", func(p *plan) **exact.Milli { return &p.DueSoonUsage },
		"due soon with this much use left; empty is a tenth of the interval", schema.Range(0, maxReading),
		schema.Label("Due soon, use before")),
	record.Of("checklist", func(p *plan) *[]string { return &p.Checklist }, textsKind, "the steps of its jobs, one a line",
		schema.Label("Check list")),
	record.Of("paused", func(p *plan) *bool { return &p.Paused }, record.Truth("1", ""),
		"true (1): it is not in the due list and opens no jobs"),
	record.Int("asset_id", func(p *plan) *int64 { return &p.AssetID }, "").Once().Told(),
	record.Ref("meter_id", func(p *plan) *int64 { return &p.MeterID }),
	record.Ref("restarted_by", func(p *plan) *int64 { return &p.RestartedBy }),
).Joined("p", planJoins).Subject("pm_plan")

// findPlan finds a plan; an unknown one is 404.
func findPlan(c *db.Conn, id int64) (plan, error) {
	p, found, err := plans.One(c, "WHERE p.id = ?", id)
	if err == nil && !found {
		err = noPlan(id)
	}
	return p, err
}

func noPlan(id int64) error { return fault.NotFoundf("there is no PM plan %d", id) }

// readingOn is the value of the plan's meter on a day: its last reading until then, or its present value if no reading
// since its last correction is so old.
func (p *plan) readingOn(c *db.Conn, day exact.Day) (exact.Milli, error) {
	m, err := meters.ByID(c, p.MeterID)
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
func (p *plan) restart(tx *db.Tx, day exact.Day, by int64) error {
	p.LastDone, p.RestartedBy, p.Paused = &day, by, false
	if p.MeterID != 0 {
		reading, err := p.readingOn(&tx.Conn, day)
		if err != nil {
			return err
		}
		p.Baseline = &reading
	}
	p.storeService(tx)
	return nil
}

// storeService writes when the service was last done, at which reading, and by what.
func (p *plan) storeService(tx *db.Tx) {
	tx.Do("UPDATE pm_plans SET last_done_date = ?, baseline = ?, restarted_by = ?, paused = ? WHERE id = ?",
		p.LastDone, p.Baseline, db.NullID(p.RestartedBy), p.Paused, p.ID)
}

// serviceEntry is a plan's restart in the audit trail.
type serviceEntry struct {
	PMID     int64        `json:"pm_id"`
	LastDone *exact.Day   `json:"last_done_date"`
	Baseline *exact.Milli `json:"baseline_reading"`
}

func (p *plan) entry() *serviceEntry {
	return &serviceEntry{PMID: p.ID, LastDone: p.LastDone, Baseline: p.Baseline}
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
	m, err := meters.ByID(&tx.Conn, p.MeterID)
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
	counted, err := plans.All(&tx.Conn, "WHERE p.meter_id = ? ORDER BY p.id", meterID)
	if err != nil {
		return nil, err
	}
	var moved []rebase
	for _, p := range counted {
		before := *p.Baseline
		now := baseline(before)
		if now != before {
			moved = append(moved, rebase{PMID: p.ID, From: before, To: now})
		} else if p.RestartedBy == 0 {
			continue
		}
		p.Baseline, p.RestartedBy = &now, 0
		p.storeService(tx)
	}
	return moved, nil
}
