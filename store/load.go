package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// loadOrders imports a whole file of orders: the rows of one payment are its lines, wherever they are. A refused row
// refuses its order, each row by name.
func (s *Service) loadOrders(ctx context.Context, who db.Caller, lines []schema.Line, o schema.LoadOptions) (
	schema.Loaded, error) {
	done := schema.Loaded{Errors: []schema.Refused{}}
	groups := groupRows(lines, o)
	var names theirNames
	err := db.Exec(ctx, s.db, who, func(tx *db.Tx) error {
		for _, g := range groups {
			if err := ctx.Err(); err != nil {
				return err
			}
			unknown, err := names.resolve(&tx.Conn, g.rows)
			if err != nil {
				return err
			}
			if err = g.refusal(); err == nil {
				var o schema.Outcome
				if o, err = schema.Put(func(tx *db.Tx) (schema.Outcome, error) { return putOrder(tx, g.rows) }).Try(
					tx); err == nil {
					done.Note(o, g.numbers...)
				}
			}
			if err == nil {
				continue
			}
			reason, ofRow := fault.As(err)
			if !ofRow || reason.Kind != fault.Invalid && reason.Kind != fault.Conflict && reason.Kind != fault.NotFound {
				return fmt.Errorf("line %d: %w", g.numbers[0], err)
			}
			done.Errors = append(done.Errors, g.refused(reason.Detail)...)
			for _, u := range unknown {
				done.Miss(u)
			}
		}
		return nil
	})
	return done, err
}

// group is the rows of one order with their numbers, and what was refused of each.
type group struct {
	rows     []orderRow
	numbers  []int
	refusals map[int]error // by row number
}

// refusal is the first of a group's rows that were refused by themselves.
func (g *group) refusal() error {
	for _, n := range g.numbers {
		if err := g.refusals[n]; err != nil {
			return err
		}
	}
	return nil
}

// refused names every row of the group: a refused one with its own reason, the others with the reason of their group.
func (g *group) refused(why string) []schema.Refused {
	list := make([]schema.Refused, 0, len(g.numbers))
	bad := 0
	for _, n := range g.numbers {
		if g.refusals[n] != nil && bad == 0 {
			bad = n
		}
	}
	for _, n := range g.numbers {
		reason := why
		switch own, refused := fault.As(g.refusals[n]); {
		case refused:
			reason = own.Detail
		case bad != 0:
			reason = fmt.Sprintf("line %d of the same order was refused: %s", bad, why)
		}
		list = append(list, schema.Refused{Line: n, Reason: reason})
	}
	return list
}

// groupRows reads the rows and groups those of one payment, in the order of their first rows.
func groupRows(lines []schema.Line, o schema.LoadOptions) []*group {
	var groups []*group
	by := map[string]*group{}
	schema.BindLines(lines, o, bindOrderRow, func(number int, cells map[string]string, r orderRow, refusal error) {
		key := strings.TrimSpace(cells["provider"]) + "\x00" + strings.TrimSpace(cells["provider_ref"])
		g := by[key]
		if g == nil || strings.HasSuffix(key, "\x00") || strings.HasPrefix(key, "\x00") {
			g = &group{refusals: map[int]error{}}
			groups, by[key] = append(groups, g), g
		}
		r.number = number
		g.rows, g.numbers = append(g.rows, r), append(g.numbers, number)
		if refusal != nil {
			g.refusals[number] = refusal
		}
	})
	return groups
}

// dayRefund is what was given back on a day.
type dayRefund struct {
	day   exact.Day
	cents int64
}

// refunds are an order's, oldest first; they travel as DAY=CENTS|DAY=CENTS.
type refunds []dayRefund

func (l refunds) String() string {
	return strings.Join(schema.Map(l, func(r dayRefund) string { return fmt.Sprintf("%s=%d", r.day, r.cents) }), "|")
}

// total is what was given back in all.
func (l refunds) total() (cents int64) {
	for _, r := range l {
		cents += r.cents
	}
	return cents
}

func readRefunds(written string) (refunds, error) {
	var list refunds
	for part := range strings.SplitSeq(written, "|") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		left, right, _ := strings.Cut(part, "=")
		d, ok := exact.ParseDay(strings.TrimSpace(left))
		cents, digits := wholeNumber(strings.TrimSpace(right))
		if !ok || !digits || cents < 0 || cents > maxPrice {
			return nil, fmt.Errorf("refunds: %s is not allowed; it takes DAY=CENTS, such as 2026-11-25=1900, split by |",
				schema.Quote(part))
		}
		list = append(list, dayRefund{d, cents})
	}
	slices.SortStableFunc(list, func(a, b dayRefund) int { return int(a.day) - int(b.day) })
	return list, nil
}

// refundsOf are an order's refunds by day in the shop's zone.
func refundsOf(c *db.Conn, o Order) (refunds, error) {
	if o.RefundedCents == 0 && o.Status == statusPaid {
		return nil, nil
	}
	return db.All(c, func(r *db.Row) dayRefund {
		return dayRefund{day: r.Instant().Day(c.Zone()), cents: r.Int()}
	}, "SELECT at, cents FROM store_refunds WHERE order_id = ? ORDER BY at, id", o.id)
}

// apply gives back what the list says, each on its day.
func (l refunds) apply(tx *db.Tx, d OrderDetail, emit bool) error {
	for _, r := range l {
		total := d.RefundedCents + r.cents
		if total > d.TotalCents {
			return fault.Fieldf("refunds",
				"refunds: %d cents are more than the order's remaining %d", r.cents, d.TotalCents-d.RefundedCents)
		}
		at := max(exact.InstantOf(r.day.Time(tx.Zone())), d.PaidAt)
		if at.Day(tx.Zone()) != r.day || at > tx.Now() {
			return fault.Fieldf("refunds", "refunds: %s is not allowed; it takes a day from when the order was paid until today",
				r.day)
		}
		after, err := refundAt(tx, d, total, at, emit)
		if err != nil {
			return err
		}
		d = after.OrderDetail
	}
	return nil
}

// complete applies the listed refunds that the order lacks. A list that lacks one of the order's is refused: an import
// removes no refund.
func (l refunds) complete(tx *db.Tx, d OrderDetail, emit bool) error {
	is, err := refundsOf(&tx.Conn, d.Order)
	if err != nil {
		return err
	}
	left := slices.Clone(l)
	for _, r := range is {
		at := slices.Index(left, r)
		if at < 0 {
			return fault.Conflictf("refunds: order %s is recorded with %s, not %s; an import cannot undo a refund",
				d.OrderRef, schema.Quote(is.String()), schema.Quote(l.String()))
		}
		left = slices.Delete(left, at, at+1)
	}
	return left.apply(tx, d, emit)
}
