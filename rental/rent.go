package rental

import (
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// RentStep is the rent of a whole period from a day on: of the periods that start then
// or later.
type RentStep struct {
	From      exact.Day `json:"from"`
	RentCents int64     `json:"rent_cents"`
}

// stepsColumn reads the steps of a lease l as one text, in order of their days.
const stepsColumn = `(SELECT group_concat(from_day || ':' || rent_cents, ',' ORDER BY from_day) FROM rent_steps
	WHERE lease_id = l.id)`

// parseSteps reads what stepsColumn gives; never nil.
func parseSteps(text string) []RentStep {
	steps := []RentStep{}
	if text == "" {
		return steps
	}
	for part := range strings.SplitSeq(text, ",") {
		from, cents, _ := strings.Cut(part, ":")
		day, _ := strconv.ParseInt(from, 10, 32)
		rent, _ := strconv.ParseInt(cents, 10, 64)
		steps = append(steps, RentStep{From: exact.Day(day), RentCents: rent}) // #nosec G115 -- parsed as 32 bits
	}
	return steps
}

// rentOn is the rent of a whole period that starts on day.
func rentOn(base int64, steps []RentStep, day exact.Day) int64 {
	for _, s := range steps {
		if s.From > day {
			break
		}
		base = s.RentCents
	}
	return base
}

// setRent sets the rent of a lease from a day on, for unposted periods that start then or later. A step of the same day
// is replaced; without a rent it is removed.
func setRent(tx *db.Tx, lease int64, from exact.Day, rent *int64) (Lease, error) {
	if err := post(tx, lease); err != nil {
		return Lease{}, err
	}
	l, err := leases.ByID(&tx.Conn, lease)
	if err != nil {
		return l, err
	}
	if from < l.StartDate {
		return l, fault.Fieldf("from", "from: %s lies before the lease's start_date %s", from, l.StartDate)
	}
	back, err := rentBack(tx, l, from)
	if err != nil {
		return l, err
	}
	o, err := setStep(tx, l, from, rent)
	if err != nil {
		return l, err
	}
	if l, err = leases.ByID(&tx.Conn, lease); o.New || len(o.Fields) > 0 {
		l.rentBack = back
	}
	return l, err
}

// rentBack gives the day the rent step that it has now, or none.
func rentBack(tx *db.Tx, l Lease, from exact.Day) (*schema.Undo, error) {
	back := &schema.Undo{Op: "set_rent", Label: "Undo", Fields: map[string]string{
		"lease_id": strconv.FormatInt(l.ID, 10), "from": from.String(), "rent": ""}}
	shops, err := tx.Currency()
	for _, s := range l.Rents {
		if s.From == from {
			back.Fields["rent"] = shops.Plain(s.RentCents)
		}
	}
	return back, err
}

// setStep writes or removes one step of a lease's rent. An unchanged one is not written.
func setStep(tx *db.Tx, l Lease, from exact.Day, rent *int64) (o schema.Outcome, err error) {
	var was *int64
	for _, s := range l.Rents {
		if s.From == from {
			was = &s.RentCents
		}
	}
	switch {
	case was == nil && rent == nil:
		return o, fault.Fieldf("from", "from: lease %d has no rent change on %s; it has %s", l.ID, from, stepDays(l.Rents))
	case was != nil && rent != nil && *was == *rent:
		return o, nil
	}
	if o.New = was == nil; !o.New {
		o.Fields = []string{"rent_cents"}
	}
	if rent == nil {
		tx.Do("DELETE FROM rent_steps WHERE lease_id = ? AND from_day = ?", l.ID, from)
	} else {
		tx.Do(`INSERT INTO rent_steps (lease_id, from_day, rent_cents) VALUES (?1, ?2, ?3)
			ON CONFLICT (lease_id, from_day) DO UPDATE SET rent_cents = ?3`, l.ID, from, *rent)
	}
	return o, tx.Audit("lease.rent", db.Subject("lease", l.ID), struct {
		From      exact.Day `json:"from"`
		Before    *int64    `json:"before"`
		RentCents *int64    `json:"rent_cents"`
	}{from, was, rent})
}

func stepDays(steps []RentStep) string {
	if len(steps) == 0 {
		return "none"
	}
	return strings.Join(schema.Map(steps, func(s RentStep) string { return s.From.String() }), ", ")
}

func (s *Service) rentTable() schema.Table {
	return schema.Table{
		Name: "rents", About: "Rent changes: what a lease costs from a day on.",
		Row: func(f *schema.Form) schema.Put {
			key := bindLeaseKey(f, "lease_start")
			var from exact.Day
			var rent *int64
			f.Day(&from, "from", "for periods that start on this day or later and are not posted", schema.Required)
			f.IntPtr(&rent, "rent_cents", "the rent of a whole period, in cents", schema.Range(0, maxCents))
			return func(tx *db.Tx) (o schema.Outcome, err error) {
				l, err := key.lease(&tx.Conn)
				switch {
				case err != nil:
					return o, err
				case rent == nil:
					return o, fault.Fieldf("rent_cents", "rent_cents is missing: enter the new rent in cents")
				case from < l.StartDate:
					return o, fault.Fieldf("from", "from: %s lies before the lease's start_date %s", from, l.StartDate)
				}
				return setStep(tx, l, from, rent)
			}
		},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				return emit(r.Text(), r.Text(), r.Day().String(), r.Day().String(), number(r))
			}, "SELECT p.name, u.name, l.start_date, s.from_day, s.rent_cents"+fromLeases+
				" CROSS JOIN rent_steps s ON s.lease_id = l.id ORDER BY p.name, u.name, l.start_date, s.from_day")
		},
	}
}
