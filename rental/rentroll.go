package rental

import (
	"cmp"
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Collection is the result of a month's charges, in cents. Billed are the charges due in the month, collected is what
// is paid of them, outstanding the rest; received is the money received in the month, for any charges.
type Collection struct {
	BilledCents      int64 `json:"billed_cents"`
	CollectedCents   int64 `json:"collected_cents"`
	OutstandingCents int64 `json:"outstanding_cents"`
	ReceivedCents    int64 `json:"received_cents"`
}

func (c *Collection) add(o Collection) {
	c.BilledCents += o.BilledCents
	c.CollectedCents += o.CollectedCents
	c.OutstandingCents += o.OutstandingCents
	c.ReceivedCents += o.ReceivedCents
}

// UnitRoll is a unit's line of the rent roll.
type UnitRoll struct {
	UnitID   int64  `json:"unit_id"`
	Unit     string `json:"unit"`
	Property string `json:"property"`
	Collection
}

// RentRoll compares billed and collected for a month: every unit by property and name.
type RentRoll struct {
	Month  exact.Month `json:"month"`
	Totals Collection  `json:"totals"`
	Units  []UnitRoll  `json:"units"`
	Standing
}

// RentRoll returns the rent roll of a month, nil for the present one; due charges are posted first. Reversed payments
// do not count as received.
func (s *Service) RentRoll(ctx context.Context, who db.Caller, month *exact.Month) (RentRoll, error) {
	return s.rollOf(ctx, who, func(today exact.Day) (first, last exact.Day) {
		of := schema.Or(month, today.Month())
		return of.First(), of.Last()
	})
}

// rollOf is RentRoll of the days that days gives; its month is that of the first.
func (s *Service) rollOf(ctx context.Context, who db.Caller, days func(today exact.Day) (first, last exact.Day)) (
	roll RentRoll, err error) {
	roll.Standing, err = s.allPosted(ctx, who, func(c *db.Conn) error {
		first, last := days(c.Today())
		roll = RentRoll{Month: first.Month()}
		return roll.read(c, first, last)
	})
	return roll, err
}

func (roll *RentRoll) read(c *db.Conn, first, last exact.Day) error {
	byUnit := map[int64]Collection{}
	err := db.Each(c, func(r *db.Row) error {
		unit, cents, paid := r.Int(), r.Int(), r.Int()
		sum := byUnit[unit]
		sum.BilledCents += cents
		sum.CollectedCents += paid
		sum.OutstandingCents += cents - paid
		byUnit[unit] = sum
		return nil
	}, `SELECT l.unit_id, c.amount_cents, c.paid_cents FROM charges c CROSS JOIN leases l ON l.id = c.lease_id
		WHERE c.due_date BETWEEN ? AND ? AND c.opening = 0`, first, last)
	if err != nil {
		return err
	}
	err = db.Each(c, func(r *db.Row) error {
		unit, cents := r.Int(), r.Int()
		sum := byUnit[unit]
		sum.ReceivedCents += cents
		byUnit[unit] = sum
		return nil
	}, `SELECT l.unit_id, m.amount_cents FROM payments m CROSS JOIN leases l ON l.id = m.lease_id
		WHERE m.voided_at IS NULL AND m.method NOT IN ('deposit', 'opening') AND m.paid_date BETWEEN ? AND ?`, first, last)
	if err != nil {
		return err
	}
	roll.Units, err = db.All(c, func(r *db.Row) UnitRoll {
		u := UnitRoll{UnitID: r.Int(), Unit: r.Text(), Property: r.Text()}
		u.Collection = byUnit[u.UnitID]
		roll.Totals.add(u.Collection)
		return u
	}, `SELECT u.id, u.name, p.name FROM properties p CROSS JOIN units u ON u.property_id = p.id ORDER BY p.name, u.name`)
	return err
}

func (s *Service) rentRoll() schema.Op {
	return schema.Op{
		Name: "rent_roll", About: "Billed and collected in a month, in total and by unit. What is due by today is posted " +
			"first.",
		Response: exampleRoll(), Says: "What was billed and collected",
		AgentAbout: "Billed versus collected for a month, or the days from, to. billed = charges due then, collected = " +
			"what is paid of them, whenever, outstanding = the rest; " +
			"received = money that came in then, for whichever charges. totals are of all units that match; detail short: " +
			"unit, property, outstanding.",
		AgentResponse: exampleFoundRoll(),
		Bind:          schema.Agents(schema.Does(bindFoundRoll, s.FindRoll), schema.Does(bindMonth, s.RentRoll)),
		Print:         schema.Printed(printRoll), Example: "rental rent-roll --month 2026-11",
	}
}

// RollRow is a unit's line of the rent roll with its tenant today.
type RollRow struct {
	UnitRoll
	LeaseID *int64  `json:"lease_id" about:"the lease of today"`
	Tenant  *string `json:"tenant"`
}

// ShortRoll are the few fields of a rent roll's line that identify and decide.
type ShortRoll struct {
	Unit             string `json:"unit"`
	Property         string `json:"property"`
	OutstandingCents int64  `json:"outstanding_cents"`
}

func (r RollRow) short() ShortRoll { return ShortRoll{r.Unit, r.Property, r.OutstandingCents} }

// FoundRoll is the rent roll of a month, or of the days from From to To, for agents.
type FoundRoll struct {
	Month  *exact.Month                     `json:"month,omitempty"`
	From   *exact.Day                       `json:"from,omitempty"`
	To     *exact.Day                       `json:"to,omitempty"`
	Totals *Collection                      `json:"totals,omitempty" about:"of all units, on the first page"`
	Units  []schema.Row[RollRow, ShortRoll] `json:"units"`
	Shown  int                              `json:"shown"`
	Total  int                              `json:"total"`
	Next   *string                          `json:"next" about:"pass it as after; null at the end"`
	Standing
}

// RollWish is an agent's request for the rent roll.
type RollWish struct {
	Month    *exact.Month
	From, To *exact.Day
	Property string // a part of its name
	Sort     string
	schema.Listing
}

// FindRoll is RentRoll for agents.
func (s *Service) FindRoll(ctx context.Context, who db.Caller, w RollWish) (done FoundRoll, err error) {
	if err := s.known(ctx, &w.Property, nil); err != nil {
		return done, err
	}
	var roll RentRoll
	if w.From != nil {
		done.From, done.To = w.From, w.To
		roll, err = s.rollOf(ctx, who, func(exact.Day) (exact.Day, exact.Day) { return *w.From, *w.To })
	} else {
		roll, err = s.RentRoll(ctx, who, w.Month)
		done.Month = &roll.Month
	}
	if err != nil {
		return done, err
	}
	if w.Property != "" {
		of, err := s.propertiesOf(ctx, w.Property)
		if err != nil {
			return done, err
		}
		roll.Totals = Collection{}
		roll.Units = slices.DeleteFunc(roll.Units, func(u UnitRoll) bool { return !slices.Contains(of, u.Property) })
		for _, u := range roll.Units {
			roll.Totals.add(u.Collection)
		}
	}
	if w.Sort == "outstanding" {
		slices.SortStableFunc(roll.Units,
			func(a, b UnitRoll) int { return cmp.Compare(b.OutstandingCents, a.OutstandingCents) })
	}
	if w.First() {
		done.Totals = &roll.Totals
	}
	rows, err := s.withTenants(ctx, roll.Units)
	if err != nil {
		return done, err
	}
	done.Units, done.Next = schema.PageOf(rows, w.Listing, RollRow.short, schema.AnswerBytes)
	done.Shown, done.Total, done.Standing = len(done.Units), len(roll.Units), roll.Standing
	return done, nil
}

// withTenants adds whom units are let to today.
func (s *Service) withTenants(ctx context.Context, units []UnitRoll) (rows []RollRow, err error) {
	rows = make([]RollRow, len(units))
	return rows, s.db.View(ctx, func(c *db.Conn) error {
		type let struct {
			lease  *int64
			tenant *string
		}
		now := map[int64]let{}
		err := db.Each(c, func(r *db.Row) error {
			u := scanUnit(r)
			now[u.ID] = let{u.LeaseID, u.Tenant}
			return nil
		}, "SELECT "+unitColumns+unitsOn, c.Today())
		for i, u := range units {
			rows[i] = RollRow{u, now[u.UnitID].lease, now[u.UnitID].tenant}
		}
		return err
	})
}

func bindFoundRoll(f *schema.Form, w *RollWish) {
	w.Sort = "unit"
	bindMonth(f, &w.Month)
	f.DayPtr(&w.From, "from", "instead of month: the first day")
	f.DayPtr(&w.To, "to", "the last day")
	bindFilters(f, &w.Property, nil)
	f.Enum(&w.Sort, "sort", "outstanding: the most first", []string{"unit", "outstanding"})
	w.Asked = f.Int(&w.Limit, "limit", "rows at most", schema.Range(1, 200))
	f.After(&w.After)
	f.Short(&w.Short)
	switch {
	case w.Month != nil && (w.From != nil || w.To != nil):
		f.Refuse("month", "give month, or from and to")
	case (w.From == nil) != (w.To == nil):
		f.Refuse("to", "from and to belong together: give both")
	case w.From != nil && *w.To < *w.From:
		f.Refuse("to", "to: %s lies before from, %s", w.To, w.From)
	}
}

// bindMonth binds a month, nil without one.
func bindMonth(f *schema.Form, month **exact.Month) {
	var m exact.Month
	if f.Month(&m, "month", "the month (default: this month)") {
		*month = &m
	}
}

func exampleRoll() RentRoll {
	sums := Collection{BilledCents: 95_000, CollectedCents: 95_000, ReceivedCents: 190_000}
	return RentRoll{Month: exampleDay("2026-11-01").Month(), Totals: sums,
		Units: []UnitRoll{{UnitID: 2, Unit: "2A", Property: "Harbour House", Collection: sums}}}
}

func exampleFoundRoll() FoundRoll {
	roll := exampleRoll()
	return FoundRoll{Month: &roll.Month, Totals: &roll.Totals, Units: schema.Rows([]RollRow{{UnitRoll: roll.Units[0]}},
		false, RollRow.short), Shown: 1, Total: 1}
}
