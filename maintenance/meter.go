package maintenance

import (
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// Meter counts an asset's use: hours, kilometers, cycles.
type Meter struct {
	ID        int64          `json:"id"`
	Name      string         `json:"name"`
	Unit      string         `json:"unit"`
	Reading   exact.Milli    `json:"reading" about:"what it shows now"`
	ReadDate  *exact.Day     `json:"read_date" about:"the date of its latest reading; null without any"`
	AvgPerDay *exact.Decimal `json:"avg_per_day" about:"use per day over the readings of the last 90 days since its last correction; null while it is unknown"`

	meterState
}

// meterState is the basis of a meter's use per day beside its readings.
type meterState struct {
	assetID      int64
	epoch        int64 // number of corrections
	correctedDay *exact.Day
	last         *point // the latest reading by date since then
	posted       int64
}

const meterColumns = "id, name, unit, reading, read_date, asset_id, epoch, corrected_day, last_day, last_value, posted"

var meters = record.Read("meter", "meters", meterColumns, "meters", scanMeter)

func scanMeter(r *db.Row) Meter {
	m := Meter{ID: r.Int(), Name: r.Text(), Unit: r.Text(), Reading: r.Milli(), ReadDate: r.DayPtr()}
	m.assetID, m.epoch, m.correctedDay = r.Int(), r.Int(), r.DayPtr()
	if day, value := r.DayPtr(), r.Milli(); day != nil {
		m.last = &point{Day: *day, Value: value}
	}
	m.posted = r.Int()
	return m
}

const ofAsset = "WHERE asset_id = ? ORDER BY name"

// metersOf lists an asset's meters by name, with their use per day.
func metersOf(c *db.Conn, assetID int64) ([]Meter, error) {
	meters, err := meters.All(c, ofAsset, assetID)
	if err != nil {
		return nil, err
	}
	for i := range meters {
		u, err := meters[i].use(c, c.Today())
		if err != nil {
			return nil, err
		}
		meters[i].AvgPerDay = u.PerDay()
	}
	return meters, nil
}

// from is the first day of the readings for the meter's use per day: 90 days back, and not before its last correction.
func (m *meterState) from(today exact.Day) exact.Day {
	if m.correctedDay != nil {
		return max(windowStart(today), *m.correctedDay)
	}
	return windowStart(today)
}

// firstReading is the first reading for use per day: one step into the readings' index.
const firstReading = "SELECT day, value FROM readings WHERE meter_id = ? AND epoch = ? AND day >= ? ORDER BY day, " +
	"seq LIMIT 1"

// use is the meter's use in the window that ends today.
func (m *Meter) use(c *db.Conn, today exact.Day) (use, error) {
	first, err := c.Prepare(firstReading)
	if err != nil {
		return use{}, err
	}
	return m.useBy(first, today)
}

// useBy is use with the statement of firstReading, for a loop over many meters.
func (m *Meter) useBy(first *db.Stmt, today exact.Day) (u use, err error) {
	from := m.from(today)
	if m.last == nil || m.last.Day < from {
		return u, nil
	}
	if err := first.Ints(m.ID, m.epoch, int64(from)); err != nil {
		return u, err
	}
	defer first.Reset()
	r, err := first.Step()
	if err != nil || r == nil {
		return u, err
	}
	return use{Any: true, First: point{Day: r.Day(), Value: r.Milli()}, Last: *m.last}, nil
}

// pickMeter is the asset's meter with the name or id ref. An asset with a single meter needs no ref.
func pickMeter(c *db.Conn, a Asset, ref string) (none Meter, err error) {
	meters, err := meters.All(c, ofAsset, a.ID)
	if err != nil {
		return none, err
	}
	names := schema.Map(meters, func(m Meter) string { return m.Name + " (" + strconv.FormatInt(m.ID, 10) + ")" })
	switch {
	case len(meters) == 0:
		return none, fault.Invalidf("meter: asset %d (%s) has no meter; import one with the meters first", a.ID, a.Name)
	case ref == "" && len(meters) == 1:
		return meters[0], nil
	case ref == "":
		return none, fault.Invalidf("meter is missing: asset %d (%s) has several; name one of %s",
			a.ID, a.Name, strings.Join(names, ", "))
	}
	if m, ok := meterNamed(meters, ref); ok {
		return m, nil
	}
	return none, fault.Invalidf("meter: %s is not a meter of asset %d (%s); it has %s", schema.Quote(ref), a.ID, a.Name,
		strings.Join(names, ", "))
}

// meterNamed looks for the exact name, then for the id, then for the name in any case.
func meterNamed(meters []Meter, ref string) (Meter, bool) {
	for _, same := range []func(Meter) bool{
		func(m Meter) bool { return m.Name == ref },
		func(m Meter) bool { return strconv.FormatInt(m.ID, 10) == ref },
		func(m Meter) bool { return strings.EqualFold(m.Name, ref) },
	} {
		for _, m := range meters {
			if same(m) {
				return m, true
			}
		}
	}
	return Meter{}, false
}
