package maintenance

import (
	"fmt"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// NewReading is a reading to post. Meter, a name or an id, may be empty if the asset has one meter; ReadDate nil is
// today. A Correction may lower the meter.
type NewReading struct {
	AssetID    int64
	Meter      string
	Reading    exact.Milli
	ReadDate   *exact.Day
	Correction bool

	replaced bool // a Correction because the meter was replaced: plans keep the use since their last service
}

// Recorded is the result of a posted reading.
type Recorded struct {
	Warning         *string     `json:"warning" about:"set when the reading rose more than ten times its usual use"`
	AssetID         int64       `json:"asset_id"`
	Meter           Meter       `json:"meter" about:"the meter as it is now"`
	PreviousReading exact.Milli `json:"previous_reading"`
	Accepted        bool        `json:"accepted"`
	Moved           bool        `json:"moved" about:"the meter's value changed"`
	Correction      bool        `json:"correction"`

	doubt string // why the reading is implausible, "" if it is not
}

// ReadingRecorded is the event of a reading that moved its meter.
type ReadingRecorded struct {
	AssetID         int64       `json:"asset_id"`
	Asset           string      `json:"asset" about:"the asset's name"`
	Meter           string      `json:"meter" about:"the meter's name"`
	MeterID         int64       `json:"meter_id"`
	Unit            string      `json:"unit"`
	PreviousReading exact.Milli `json:"previous_reading"`
	Reading         exact.Milli `json:"reading"`
	ReadDate        exact.Day   `json:"read_date"`
	Correction      bool        `json:"correction"`
}

// recordReading posts a reading. One below the meter's present value, unless it is a correction, is refused: 409. An
// equal one is accepted and does not move the meter. A future date and an unknown meter are 422, an unknown asset 404.
func recordReading(tx *db.Tx, n NewReading) (none Recorded, err error) {
	if err := checkReading("reading", n.Reading); err != nil {
		return none, err
	}
	date, err := pastDay(tx, "read_date", n.ReadDate)
	if err != nil {
		return none, err
	}
	a, err := assets.ByID(&tx.Conn, n.AssetID)
	if err != nil {
		return none, err
	}
	m, err := pickMeter(&tx.Conn, a, n.Meter)
	if err != nil {
		return none, err
	}
	if n.replaced {
		return replace(tx, a, m, point{Day: date, Value: n.Reading})
	}
	return post(tx, a, m, point{Day: date, Value: n.Reading}, n.Correction)
}

func checkReading(name string, v exact.Milli) error {
	if v < 0 || v > maxReading*1000 {
		return fault.Invalidf("%s: %v is out of range; it takes a number from 0 to %d", name, v, int64(maxReading))
	}
	return nil
}

// pastDay is the given day, by default today; a future one is refused. If the clock decides, it must be plausible.
func pastDay(tx *db.Tx, name string, d *exact.Day) (exact.Day, error) {
	today := tx.Today()
	if d != nil && *d <= today {
		return *d, nil
	}
	if err := tx.CheckClock(); err != nil {
		return 0, err
	}
	if d != nil {
		return 0, fault.Invalidf("%s: %v is in the future; it takes a day up to today, %v", name, *d, today)
	}
	return today, nil
}

// post records a reading.
func post(tx *db.Tx, a Asset, m Meter, p point, correction bool) (Recorded, error) {
	return takeReading(tx, a, m, p, correction, func(b exact.Milli) exact.Milli { return rebased(b, m.Reading, p.Value) })
}

// replace records the first reading of a meter that replaced another.
func replace(tx *db.Tx, a Asset, m Meter, p point) (Recorded, error) {
	return takeReading(tx, a, m, p, true, func(b exact.Milli) exact.Milli { return p.Value - (m.Reading - b) })
}

// What to do about a reading below the present value.
const (
	lowerOverREST = "If the meter was replaced, or the present value is wrong, post the reading over REST with correction true"
	lowerOnPages  = "If the present value is wrong, correct the last reading; if the meter was replaced, replace it: both are " +
		"under More of the asset"
)

// takeReading applies a reading to a meter, and a correction to its plans' baselines. A meter moves only here, except
// when its last reading is corrected.
func takeReading(tx *db.Tx, a Asset, m Meter, p point, correction bool, baseline func(exact.Milli) exact.Milli) (
	done Recorded, err error) {
	previous := m.Reading
	if p.Value < previous && !correction {
		next := lowerOverREST
		if tx.Who().Via == "web" {
			next = lowerOnPages
		}
		return done, fault.Conflictf(
			"reading: %v is below the present value %v of the meter %s of asset %d (%s); it takes %v or more. %s",
			p.Value, previous, m.Name, a.ID, a.Name, previous, next)
	}
	today := tx.Today()
	used, err := m.use(&tx.Conn, today)
	if err != nil {
		return done, err
	}
	done = Recorded{AssetID: a.ID, PreviousReading: previous, Accepted: true, Moved: p.Value != previous,
		Correction: correction}
	if !correction {
		done.Warning = m.warn(used, p)
		done.doubt = m.doubt(used, p, done.Warning)
	}
	m.take(p, correction)
	if correction {
		used = use{}
	}
	m.AvgPerDay = used.with(p, m.from(today)).PerDay()
	done.Meter = m
	m.store(tx)
	m.keep(tx, p, correction)
	entry := readingEntry{AssetID: a.ID, From: previous, To: p.Value, ReadDate: p.Day, Correction: correction}
	if correction && done.Moved {
		if entry.Rebased, err = rebasePlans(tx, m.ID, baseline); err != nil {
			return done, err
		}
	}
	if err := tx.Audit("meter.reading", db.Subject("meter", m.ID), entry); err != nil || !done.Moved {
		return done, err
	}
	return done, tx.Emit("reading.recorded", done.event(a, p.Day))
}

// readingEntry is a reading in the audit trail.
type readingEntry struct {
	AssetID    int64       `json:"asset_id"`
	From       exact.Milli `json:"from"`
	To         exact.Milli `json:"to"`
	ReadDate   exact.Day   `json:"read_date"`
	Correction bool        `json:"correction"`
	Rebased    []rebase    `json:"rebased,omitempty"`
}

// warn is the warning about a reading that moves the meter implausibly far.
func (m *Meter) warn(u use, p point) *string {
	days := int64(1)
	if m.ReadDate != nil {
		days = max(1, int64(p.Day)-int64(*m.ReadDate))
	}
	if !u.jumped(m.Reading, p.Value, days) {
		return nil
	}
	unit := "days"
	if days == 1 {
		unit = "day"
	}
	s := fmt.Sprintf("%s went up by %v %s in %d %s, more than ten times its use of %v a day: check the reading",
		m.Name, p.Value-m.Reading, m.Unit, days, unit, u.PerDay())
	return &s
}

// doubt is the question to a person about a reading: one with a warning or, without a known use per day, one with more
// digits than the last.
func (m *Meter) doubt(u use, p point, warning *string) string {
	switch digits := func(v exact.Milli) int { return len(strconv.FormatInt(int64(v)/1000, 10)) }; {
	case warning != nil:
		return *warning
	case !u.known() && m.ReadDate != nil && digits(p.Value) > digits(m.Reading):
		return fmt.Sprintf("%v %s has more digits than the last reading of %s, %v: check the reading", p.Value, m.Unit,
			m.Name, m.Reading)
	}
	return ""
}

// take is the meter's state after the reading.
func (m *Meter) take(p point, correction bool) {
	m.posted++
	m.Reading = p.Value
	if m.ReadDate == nil || p.Day > *m.ReadDate {
		m.ReadDate = &p.Day
	}
	switch {
	case correction:
		m.epoch++
		m.correctedDay, m.last = &p.Day, &p
	case m.correctedDay != nil && p.Day < *m.correctedDay: // dated before the last correction
	case m.last == nil || p.Day >= m.last.Day:
		m.last = &p
	}
}

// store writes the meter's state.
func (m *Meter) store(tx *db.Tx) {
	var lastDay *exact.Day
	var lastValue *exact.Milli
	if m.last != nil {
		lastDay, lastValue = &m.last.Day, &m.last.Value
	}
	tx.Do(`UPDATE meters SET reading = ?, read_date = ?, epoch = ?, corrected_day = ?, last_day = ?,
		last_value = ?, posted = ?
		WHERE id = ?`, m.Reading, m.ReadDate, m.epoch, m.correctedDay, lastDay, lastValue, m.posted, m.ID)
}

// keep writes the reading that the meter just took.
func (m *Meter) keep(tx *db.Tx, p point, correction bool) {
	tx.Do("INSERT INTO readings (meter_id, epoch, day, seq, value, correction) VALUES (?, ?, ?, ?, ?, ?)",
		m.ID, m.epoch, p.Day, m.posted, p.Value, correction)
}

// bindReading binds a reading's fields, on any surface.
func bindReading(f *schema.Form, n *NewReading, asset ...schema.Opt) {
	f.ID(&n.AssetID, "asset_id", "the asset", append(asset, assetPositional, schema.Choices(assetChoices),
		schema.Label("Asset"))...)
	f.Ref(&n.Meter, "meter", "the meter, by name or id; not needed if the asset has one meter", schema.Most(maxName),
		schema.Example("hours"), schema.Choices(meterChoices))
	f.Milli(&n.Reading, "reading", "what the meter shows, with at most 3 decimals", schema.Required,
		schema.Range(0, maxReading), schema.Example(1250.5), schema.Positional("READING"))
	f.DayPtr(&n.ReadDate, "read_date", "the day of the reading (default: today), not in the future", schema.Today)
}

func (s *Service) postReading() schema.Op {
	return schema.Op{
		Name: "record_meter", Says: "Log a meter reading",
		About: "Post a meter reading. One below the present value is refused with 409 unless correction is true: " +
			"then the meter and the baselines of its plans are corrected.",
		AgentAbout: "Log a meter reading, at least the present value. One above ten times the usual use is recorded with a " +
			"warning. became_due names plans that became due. " +
			"Correct a wrong reading over REST or on the screens.",
		Writes: true, Creates: true, Idempotent: true, Response: samplePosted,
		AgentResponse: Logged{Recorded: samplePosted,
			BecameDue: []BecameDue{{PMID: 3, Title: "Change the oil", DueStatus: dueOverdue}}},
		Bind: schema.Agents(
			schema.Writes(s.db, func(f *schema.Form, n *NewReading) { bindReading(f, n, schema.Required) }, logReading),
			schema.Writes(s.db, func(f *schema.Form, n *NewReading) {
				bindReading(f, n, schema.InPath("id"))
				f.Bool(&n.Correction, "correction", "the meter was replaced, or its present value is wrong", schema.Rare)
			}, recordReading)),
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Doubt: func(answer any, _ schema.Money) schema.Question {
			r := answer.(Recorded)
			return askReading(r.doubt, fmt.Sprintf("Record %v %s?", r.Meter.Reading, r.Meter.Unit), "Record reading")
		},
		Example: "maintenance reading LATHE-1 1250.5\nmaintenance reading VAN-3 310.2 --meter cooler --read-date 2026-11-18",
		Did: schema.Said(func(r Recorded) string {
			text := fmt.Sprintf("%s shows %v %s, it was %v.", r.Meter.Name, r.Meter.Reading, r.Meter.Unit, r.PreviousReading)
			if r.Warning != nil {
				text += " " + *r.Warning + "."
			}
			return text
		}),
		Leads: func(answer any) string { return assetPage(answer.(Recorded).AssetID) },
	}
}

// askReading asks about an implausible reading before it is saved.
func askReading(doubt, title, button string) schema.Question {
	if doubt == "" {
		return schema.Question{}
	}
	return schema.Question{Title: title, Text: doubt + ".", Button: button}
}

// Logged is a reading that an agent logged.
type Logged struct {
	Recorded
	BecameDue []BecameDue `json:"became_due" about:"plans that the reading made due"`
}

// BecameDue is a plan that a reading made due.
type BecameDue struct {
	PMID      int64  `json:"pm_id"`
	Title     string `json:"title"`
	DueStatus string `json:"due_status" enum:"overdue,due-soon"`
	OpenJob   *int64 `json:"open_job,omitempty"`
}

// logReading is RecordReading for agents: it also returns the consequences.
func logReading(tx *db.Tx, n NewReading) (done Logged, err error) {
	before, err := dueOf(&tx.Conn, n.AssetID)
	if err != nil {
		return done, err
	}
	if done.Recorded, err = recordReading(tx, n); err != nil {
		return done, err
	}
	after, err := dueOf(&tx.Conn, n.AssetID)
	if err != nil {
		return done, err
	}
	done.BecameDue = []BecameDue{}
	for i, r := range after {
		if dueRank(r.DueStatus) < dueRank(before[i].DueStatus) {
			done.BecameDue = append(done.BecameDue, BecameDue{r.PMID, r.Title, r.DueStatus, r.OpenJob})
		}
	}
	if done.Warning != nil {
		done.Warning = new(*done.Warning +
			". It is recorded, and plans by use may become due. Correct a wrong one on the asset's page, " +
			"by `quartermaster maintenance correct-reading`, or over REST with correction true")
	}
	return done, nil
}

// dueOf lists the asset's active plans, by title.
func dueOf(c *db.Conn, assetID int64) (rows []PMDueRow, err error) {
	plans, err := plansWhere(c, " WHERE p.asset_id = ? ORDER BY p.title", assetID)
	for _, p := range plans {
		if !p.Paused {
			rows = append(rows, p.PMDueRow)
		}
	}
	return rows, err
}
