package rental

import (
	"cmp"
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

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
