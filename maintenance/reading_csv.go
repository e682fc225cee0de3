package maintenance

import (
	"context"
	"errors"
	"strconv"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// readingRow is one row of the readings' file.
type readingRow struct {
	line int
	tag  string
	NewReading
	filed bool // as part of its meter's past
	stood bool // as the meter's one reading
}

// readingTable is every reading that was posted, as CSV.
func (s *Service) readingTable() schema.Table {
	return schema.Table{
		Name: "readings",
		About: "Readings, posted in the order of the rows. One that is stored already (meter, day, value) is skipped, " +
			"a correction only if it was one. For a meter with only its first reading, a file that ends in that reading " +
			"becomes its past: " +
			"the meter stays.",
		Row: func(f *schema.Form) schema.Put {
			r := bindReadingRow(f)
			return func(tx *db.Tx) (schema.Outcome, error) { return putReading(tx, r) }
		},
		Load: func(ctx context.Context, d *db.DB, who db.Caller, lines []schema.Line, o schema.LoadOptions) (schema.Loaded,
			error) {
			return New(d).LoadReadings(ctx, who, lines, o)
		},
		Together: []string{"asset_tag"},
		Export:   exportReadings,
	}
}

func bindReadingRow(f *schema.Form) (r readingRow) {
	f.Text(&r.tag, "asset_tag", "the asset", schema.Required, schema.Most(maxName))
	f.Text(&r.Meter, "meter", "the meter, by name or id; not needed if the asset has one meter", schema.Most(maxName))
	f.Milli(&r.Reading, "reading", "what it showed", schema.Required, schema.Range(0, maxReading))
	f.DayPtr(&r.ReadDate, "read_date", "when; today when empty")
	f.Bool(&r.Correction, "correction", "1 for a correction, which may be lower")
	return r
}

// LoadReadings stores the rows of a file of readings: a refused row is skipped, with its line and the reason, the
// others are stored.
func (s *Service) LoadReadings(ctx context.Context, who db.Caller, lines []schema.Line, o schema.LoadOptions) (
	schema.Loaded, error) {
	done := schema.Loaded{Errors: []schema.Refused{}}
	rows := bindReadings(lines, o, &done)
	for i := 0; i == 0 || i < len(rows); {
		err := db.Exec(ctx, s.db, who, func(tx *db.Tx) (err error) {
			i, err = loadReadings(ctx, tx, rows, i, &done)
			return err
		})
		if err != nil {
			return schema.Loaded{}, err
		}
		if len(rows) == 0 {
			break
		}
	}
	return done, nil
}

// loadReadings stores rows from the i-th on for one batch's time, and returns the number of the next.
func loadReadings(ctx context.Context, tx *db.Tx, rows []readingRow, i int, done *schema.Loaded) (int, error) {
	if i == 0 {
		if err := filePasts(tx, rows); err != nil {
			return 0, err
		}
	}
	for began := time.Now(); i < len(rows) && time.Since(began) < sliceFor; i++ {
		if err := errors.Join(loadReading(tx, &rows[i], done), ctx.Err()); err != nil {
			return i, err
		}
	}
	return i, nil
}

// sliceFor is how long a file of one asset's readings blocks other writers.
const sliceFor = 50 * time.Millisecond

// bindReadings reads the lines; one with a fault of its own is refused.
func bindReadings(lines []schema.Line, o schema.LoadOptions, done *schema.Loaded) []readingRow {
	rows := make([]readingRow, 0, len(lines))
	schema.BindLines(lines, o, bindReadingRow, func(number int, _ map[string]string, r readingRow, refusal error) {
		if refusal != nil {
			done.Errors = append(done.Errors, schema.Refused{Line: number, Reason: refusal.Error()})
			return
		}
		r.line = number
		rows = append(rows, r)
	})
	return rows
}

// loadReading stores one row of a file, or notes why it is refused.
func loadReading(tx *db.Tx, r *readingRow, done *schema.Loaded) error {
	o := schema.Outcome{New: !r.stood}
	if !r.filed {
		put := schema.Put(func(tx *db.Tx) (schema.Outcome, error) { return putReading(tx, *r) })
		var err error
		o, err = put.Try(tx)
		if e, is := fault.As(err); is && e.Kind != fault.Unavailable {
			done.Errors = append(done.Errors, schema.Refused{Line: r.line, Reason: e.Detail})
			return nil
		} else if err != nil {
			return err
		}
	}
	done.Note(o, r.line)
	return nil
}

// putReading posts one row, unless that reading is stored.
func putReading(tx *db.Tx, r readingRow) (o schema.Outcome, err error) {
	date, err := pastDay(tx, "read_date", r.ReadDate)
	if err != nil {
		return o, err
	}
	a, err := assetByTag(&tx.Conn, r.tag)
	if err != nil {
		return o, err
	}
	m, err := pickMeter(&tx.Conn, a, r.Meter)
	if err != nil {
		return o, err
	}
	_, stored, err := db.One(&tx.Conn, db.Int, `WITH RECURSIVE epochs (epoch) AS (SELECT 0 UNION ALL SELECT epoch + 1
		FROM epochs WHERE epoch < ?2)
		SELECT 1 FROM epochs e CROSS JOIN readings r ON r.meter_id = ?1 AND r.epoch = e.epoch AND r.day = ?3
		WHERE r.value = ?4 AND r.correction >= ?5 LIMIT 1`, m.ID, m.epoch, date, r.Reading, r.Correction)
	if err != nil || stored {
		return o, err
	}
	_, err = post(tx, a, m, point{Day: date, Value: r.Reading}, r.Correction)
	return schema.Outcome{New: true}, err
}

// past is the rows of a file for one meter.
type past struct {
	meter Meter
	rows  []*readingRow
}

// filePasts stores the past of each meter in the file.
func filePasts(tx *db.Tx, rows []readingRow) error {
	byID := map[int64]*past{}
	named := map[[2]string]*past{}
	var order []*past
	for i := range rows {
		r := &rows[i]
		name := [2]string{r.tag, r.Meter}
		p, known := named[name]
		if !known {
			m, err := meterOfRow(&tx.Conn, r)
			if err != nil {
				return err
			}
			if p = byID[m.ID]; p == nil {
				p = &past{meter: m}
				byID[m.ID] = p
				order = append(order, p)
			}
			named[name] = p
		}
		p.rows = append(p.rows, r)
	}
	for _, p := range order {
		if err := p.file(tx); err != nil {
			return err
		}
	}
	return nil
}

// meterOfRow is the meter that a row names; the zero meter if there is none, which posting the row will refuse.
func meterOfRow(c *db.Conn, r *readingRow) (Meter, error) {
	a, err := assetByTag(c, r.tag)
	var m Meter
	if err == nil {
		m, err = pickMeter(c, a, r.Meter)
	}
	if _, refused := fault.As(err); refused {
		return Meter{}, nil
	}
	return m, err
}

// file stores the rows as the meter's past, if they are: more than its one reading, or that one as a correction, and by
// the rules for readings a new meter would end with the same value. Nothing moves then, so nothing is emitted and no
// plan follows.
func (p *past) file(tx *db.Tx) error {
	if p.meter.posted != 1 || p.meter.epoch != 0 || len(p.rows) == 1 && !p.rows[0].Correction {
		return nil
	}
	stands := Meter{ID: p.meter.ID}
	for _, r := range p.rows {
		if r.ReadDate == nil || *r.ReadDate > tx.Today() || r.Reading < stands.Reading && !r.Correction {
			return nil
		}
		stands.take(point{Day: *r.ReadDate, Value: r.Reading}, r.Correction)
	}
	if stands.Reading != p.meter.Reading || *stands.ReadDate != *p.meter.ReadDate {
		return nil
	}
	tx.Do("DELETE FROM readings WHERE meter_id = ?", stands.ID)
	filed := Meter{ID: p.meter.ID}
	for _, r := range p.rows {
		at := point{Day: *r.ReadDate, Value: r.Reading}
		filed.take(at, r.Correction)
		filed.keep(tx, at, r.Correction)
		r.filed, r.stood = true, at == point{Day: *p.meter.ReadDate, Value: p.meter.Reading} && !r.Correction
	}
	filed.store(tx)
	return tx.Audit("meter.past", db.Subject("meter", filed.ID), map[string]any{"readings": filed.posted,
		"reading": filed.Reading, "read_date": filed.ReadDate})
}

// exportReadings emits each meter's readings in the order of posting.
func exportReadings(c *db.Conn, emit func(cells ...string) error) error {
	return db.Each(c, func(r *db.Row) error {
		tag, meter, value, day := r.Text(), r.Text(), r.Milli(), r.Day()
		return emit(tag, meter, value.String(), day.String(), strconv.FormatInt(r.Int(), 10))
	}, `SELECT a.asset_tag, m.name, r.value, r.day, r.correction
		FROM meters m CROSS JOIN assets a ON a.id = m.asset_id CROSS JOIN readings r ON r.meter_id = m.id
		ORDER BY m.id, r.epoch, r.seq`)
}
