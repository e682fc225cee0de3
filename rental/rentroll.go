package rental

import (
	"context"

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
		of := today.Month()
		if month != nil {
			of = *month
		}
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

// collected are the sums of a month over all units.
func collected(c *db.Conn, month exact.Month) (sum Collection, err error) {
	sum, _, err = db.One(c, func(r *db.Row) Collection {
		return Collection{BilledCents: r.Int(), CollectedCents: r.Int(), OutstandingCents: r.Int()}
	}, `SELECT coalesce(sum(amount_cents), 0), coalesce(sum(paid_cents), 0), coalesce(sum(amount_cents - paid_cents), 0)
		FROM charges
		WHERE due_date BETWEEN ? AND ? AND opening = 0`, month.First(), month.Last())
	if err != nil {
		return sum, err
	}
	sum.ReceivedCents, _, err = db.One(c, db.Int, `SELECT coalesce(sum(amount_cents), 0) FROM payments
		WHERE voided_at IS NULL AND method NOT IN ('deposit', 'opening') AND paid_date BETWEEN ? AND ?`, month.First(),
		month.Last())
	return sum, err
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
