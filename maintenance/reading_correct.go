package maintenance

import (
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// correctReading replaces the meter's last reading by the right value: the meter's readings continue. One below the
// reading before it counts as a correction, as over REST.
func correctReading(tx *db.Tx, n NewReading) (none Recorded, err error) {
	if err := checkReading("reading", n.Reading); err != nil {
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
	type row struct {
		day   exact.Day
		value exact.Milli
	}
	last, found, err := db.One(&tx.Conn, func(r *db.Row) row { return row{r.Day(), r.Milli()} },
		"SELECT day, value FROM readings WHERE meter_id = ? AND epoch = ? AND seq = ?", m.ID, m.epoch, m.posted)
	if err != nil {
		return none, err
	}
	before, _, err := db.One(&tx.Conn, (*db.Row).Milli,
		"SELECT coalesce(max(value), 0) FROM readings WHERE meter_id = ? AND epoch = ? AND seq < ?", m.ID, m.epoch, m.posted)
	if err != nil {
		return none, err
	}
	if !found || last.value != m.Reading || n.Reading < before {
		return post(tx, a, m, point{Day: tx.Today(), Value: n.Reading}, true)
	}
	return setRight(tx, a, m, last.day, n.Reading)
}

// setRight gives the meter's last reading, of a day, another value.
func setRight(tx *db.Tx, a Asset, m Meter, day exact.Day, value exact.Milli) (done Recorded, err error) {
	done = Recorded{AssetID: a.ID, PreviousReading: m.Reading, Accepted: true, Moved: value != m.Reading, Correction: true}
	if m.last != nil && m.last.Day == day && m.last.Value == m.Reading {
		m.last = &point{Day: day, Value: value}
	}
	m.Reading = value
	tx.Do("UPDATE readings SET value = ? WHERE meter_id = ? AND epoch = ? AND seq = ?", value, m.ID,
		m.epoch, m.posted)
	m.store(tx)
	used, err := m.use(&tx.Conn, tx.Today())
	if err != nil {
		return done, err
	}
	m.AvgPerDay, done.Meter = used.PerDay(), m
	if !done.Moved {
		return done, nil
	}
	entry := readingEntry{AssetID: a.ID, From: done.PreviousReading, To: value, ReadDate: day, Correction: true}
	if entry.Rebased,
		err = rebasePlans(tx, m.ID,
		func(b exact.Milli) exact.Milli { return rebased(b, done.PreviousReading, value) }); err != nil {
		return done, err
	}
	if err := tx.Audit("meter.reading", db.Subject("meter", m.ID), entry); err != nil {
		return done, err
	}
	return done, tx.Emit("reading.recorded", done.event(a, day))
}

// event is the data of a posted reading's event.
func (done Recorded) event(a Asset, day exact.Day) ReadingRecorded {
	m := done.Meter
	return ReadingRecorded{AssetID: a.ID, Asset: a.Name, Meter: m.Name, MeterID: m.ID, Unit: m.Unit,
		PreviousReading: done.PreviousReading, Reading: m.Reading, ReadDate: day, Correction: done.Correction}
}

// Replacement is a replaced meter: the old one's final reading, nil for the known one, and the new one's first.
type Replacement struct {
	NewReading
	Last *exact.Milli
}

// replaceMeter continues the meter with its replacement's value. The use since each plan's last service is kept.
func replaceMeter(tx *db.Tx, n Replacement) (none Recorded, err error) {
	if n.Last != nil {
		last := n.NewReading
		last.Reading = *n.Last
		if err := notBelow(&tx.Conn, last); err != nil {
			return none, err
		}
		if _, err := recordReading(tx, last); err != nil {
			return none, err
		}
	}
	n.Correction, n.replaced = true, true
	return recordReading(tx, n.NewReading)
}

// notBelow refuses an old meter's last reading below its present value.
func notBelow(c *db.Conn, last NewReading) error {
	a, err := assets.ByID(c, last.AssetID)
	if err != nil {
		return err
	}
	m, err := pickMeter(c, a, last.Meter)
	if err != nil || last.Reading >= m.Reading {
		return err
	}
	return fault.Conflictf("last_reading: %v is below the present value %v of %s; it takes %v or more. If the present value "+
		"is wrong, correct the last reading first: that is under More of the asset", last.Reading, m.Reading, m.Name,
		m.Reading).At("last_reading")
}

// bindReader binds an action's asset and meter.
func bindReader(f *schema.Form, n *NewReading) {
	f.ID(&n.AssetID, "asset_id", "the asset", schema.Required, assetPositional, schema.Choices(assetChoices),
		schema.Label("Asset"))
	f.Ref(&n.Meter, "meter",
		"the meter, by name or id; not needed if the asset has one meter", schema.Most(maxName), schema.Example("hours"),
		schema.Choices(meterChoices))
}

func (s *Service) correctReading() schema.Op {
	return schema.Op{
		Name:   "correct_reading",
		About:  "Correct a meter's last reading. Earlier readings stay.",
		Writes: true, Idempotent: true, Response: samplePosted,
		Bind: schema.Writes(s.db, func(f *schema.Form, n *NewReading) {
			bindReader(f, n)
			f.Milli(&n.Reading, "reading",
				"the right reading", schema.Required, schema.Range(0, maxReading), schema.Positional("READING"),
				schema.Label("Right reading"))
		}, correctReading),
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Example: "maintenance correct-reading LATHE-1 1250.5",
		Did: schema.Said(func(r Recorded) string {
			return fmt.Sprintf("The reading of %s is corrected: %v %s, it was %v.", r.Meter.Name, r.Meter.Reading, r.Meter.Unit,
				r.PreviousReading)
		}),
		Leads: func(answer any) string { return assetPage(answer.(Recorded).AssetID) },
	}
}

func (s *Service) replaceMeter() schema.Op {
	return schema.Op{
		Name: "replace_meter",
		About: "Record that a meter was replaced, with the last reading of the old and the first of the new one. Plans " +
			"keep the use since their last service.",
		Writes: true, Response: samplePosted,
		Bind: schema.Writes(s.db, func(f *schema.Form, n *Replacement) {
			bindReader(f, &n.NewReading)
			f.MilliPtr(&n.Last, "last_reading",
				"the old meter's last reading (default: the known one)", schema.Range(0, maxReading),
				schema.Label("Last reading of the old meter"))
			f.Milli(&n.Reading, "reading",
				"the new meter's reading (default: 0)", schema.Range(0, maxReading), schema.Label("First reading of the new meter"))
			f.DayPtr(&n.ReadDate, "read_date",
				"the day it was replaced (default: today)", schema.Label("Replaced on"), schema.Today)
		}, replaceMeter),
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Example: "maintenance replace-meter LATHE-1 --last-reading 4210 --reading 0",
		Did: schema.Said(func(r Recorded) string {
			return fmt.Sprintf("%s is replaced: it continues from %v %s.", r.Meter.Name, r.Meter.Reading, r.Meter.Unit)
		}),
		Leads: func(answer any) string { return assetPage(answer.(Recorded).AssetID) },
	}
}
