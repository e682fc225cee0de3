package maintenance

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// meterRow is one row of the meters' file.
type meterRow struct {
	tag, name, unit string
	reading         *exact.Milli
	date            *exact.Day
}

// meterTable is the meters as CSV.
func (s *Service) meterTable() schema.Table {
	return schema.Table{
		Name: "meters",
		About: "Meters, one row each. A higher reading is posted; a lower one is refused, since that is a correction. " +
			"A new meter without a reading is at 0; its past can then be imported as readings.",
		Row: func(f *schema.Form) schema.Put {
			m := bindMeter(f)
			return func(tx *db.Tx) (schema.Outcome, error) {
				_, o, err := putMeter(tx, f, m)
				return o, err
			}
		},
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return db.Each(c, func(r *db.Row) error { return emit(meterCells(r)...) }, meterRows+" ORDER BY id")
		},
		Find: func(c *db.Conn, given func(column string) string) ([]string, bool, error) {
			return db.One(c, meterCells, meterRows+" WHERE asset_id = (SELECT id FROM assets WHERE asset_tag = ?) AND name = ?",
				given("asset_tag"), given("name"))
		},
	}
}

const meterRows = "SELECT (SELECT asset_tag FROM assets WHERE id = asset_id), " + meterColumns + " FROM meters"

// meterCells is a meter as a row.
func meterCells(r *db.Row) []string {
	tag, m := r.Text(), scanMeter(r)
	return []string{tag, m.Name, m.Unit, m.Reading.String(), schema.Cell(m.ReadDate)}
}

// bindMeter binds a meter's fields: a row's columns, or its form's.
func bindMeter(f *schema.Form) (m meterRow) {
	f.Text(&m.tag, "asset_tag", "the asset that it is on", schema.Required, schema.Most(maxName),
		schema.Choices(tagChoices), schema.Label("Asset"), schema.NewBy("save_asset"))
	f.Text(&m.name, "name", "what it counts: hours, odometer; with asset_tag it identifies the meter", schema.Required,
		schema.Most(maxName))
	f.Text(&m.unit, "unit", "what it counts in: h, km", schema.Most(maxName))
	f.MilliPtr(&m.reading, "reading", "its reading; empty keeps it, 0 for a new meter", schema.Range(0, maxReading))
	f.DayPtr(&m.date, "read_date", "the day of the reading; empty is today")
	return m
}

// putMeter makes the meter that the row names, or applies the row to it.
func putMeter(tx *db.Tx, row *schema.Form, m meterRow) (assetID int64, o schema.Outcome, err error) {
	a, err := assetByTag(&tx.Conn, m.tag)
	if err != nil {
		return 0, o, err
	}
	if m.date != nil {
		if _, err := pastDay(tx, "read_date", m.date); err != nil {
			return 0, o, err
		}
	}
	held, found, err := meters.One(&tx.Conn, "WHERE asset_id = ? AND name = ?", a.ID, m.name)
	if err != nil {
		return 0, o, err
	}
	if !found {
		return a.ID, schema.Outcome{New: true}, newMeter(tx, a, m)
	}
	o.ID = held.ID
	if row.Given("unit") && m.unit != held.Unit {
		changes := map[string][2]string{"unit": {held.Unit, m.unit}}
		held.Unit = m.unit
		tx.Do("UPDATE meters SET unit = ? WHERE id = ?", held.Unit, held.ID)
		if err := tx.Audit("meter.changed", db.Subject("meter", held.ID), changes); err != nil {
			return 0, o, err
		}
		o = schema.Changed(held.ID, changes)
	}
	read, err := readOn(tx, a, held, m)
	if read {
		o.Fields = append(o.Fields, "reading")
	}
	return a.ID, o, err
}

// readOn posts the row's reading of a known meter if it is new: a higher one, or the same one on a later day. It
// reports whether it was.
func readOn(tx *db.Tx, a Asset, held Meter, m meterRow) (news bool, err error) {
	value := schema.Or(m.reading, held.Reading)
	switch {
	case value < held.Reading:
		return false, fault.Conflictf("reading: %v is below the present value %v of the meter %s; to correct it, post a "+
			"reading with correction true",
			value, held.Reading, held.Name)
	case value == held.Reading && (m.date == nil || held.ReadDate != nil && *m.date <= *held.ReadDate):
		return false, nil
	}
	date, err := pastDay(tx, "read_date", m.date)
	if err != nil {
		return false, err
	}
	_, err = post(tx, a, held, point{Day: date, Value: value}, false)
	return true, err
}

// newMeter makes a meter. Its first value is its first reading, which moves nothing and emits nothing; 0 without a date
// is no reading.
func newMeter(tx *db.Tx, a Asset, m meterRow) error {
	made := Meter{Name: m.name, Unit: m.unit}
	var err error
	made.ID, err = tx.Insert("INSERT INTO meters (asset_id, name, unit, reading) VALUES (?, ?, ?, 0)", a.ID, m.name,
		m.unit)
	if err != nil {
		return err
	}
	made.Reading = schema.Or(m.reading, made.Reading)
	if made.Reading > 0 || m.date != nil {
		date, err := pastDay(tx, "read_date", m.date)
		if err != nil {
			return err
		}
		first := point{Day: date, Value: made.Reading}
		made.take(first, false)
		made.store(tx)
		made.keep(tx, first, false)
	}
	return tx.Audit("meter.created", db.Subject("meter", made.ID), map[string]any{
		"asset_id": a.ID, "name": m.name, "unit": m.unit, "reading": made.Reading, "read_date": made.ReadDate})
}
