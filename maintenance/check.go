package maintenance

import (
	"fmt"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// check recomputes the service's derived data and names each breach.
func check(c *db.Conn) ([]string, error) {
	var all []string
	for _, part := range []func(*db.Conn) ([]string, error){
		checkMeters, checkPlans, checkUsedParts, checkCounts, checkSums, checkRestarts, checkMonth,
	} {
		found, err := part(c)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// checkMeters walks every meter's readings in the order of posting: each must have been valid, and the result must
// equal the meter.
func checkMeters(c *db.Conn) (breaches []string, err error) {
	meters, err := meters.All(c, "ORDER BY id")
	if err != nil {
		return nil, err
	}
	for _, held := range meters {
		should := Meter{}
		err := db.Each(c, func(r *db.Row) error {
			seq, epoch, p, correction := r.Int(), r.Int(), point{Day: r.Day(), Value: r.Milli()}, r.Bool()
			if p.Value < should.Reading && !correction {
				breaches = append(breaches, fmt.Sprintf("reading %d of meter %d (%s) is below the one before it and no correction",
					seq, held.ID, held.Name))
			}
			should.take(p, correction)
			if seq != should.posted || epoch != should.epoch {
				breaches = append(breaches, fmt.Sprintf("reading %d of meter %d (%s) is counted as number %d after %d corrections",
					should.posted, held.ID, held.Name, seq, epoch))
			}
			return nil
		}, "SELECT seq, epoch, day, value, correction FROM readings WHERE meter_id = ? ORDER BY seq", held.ID)
		if err != nil {
			return nil, err
		}
		if got, want := held.standing(), should.standing(); got != want {
			breaches = append(breaches, fmt.Sprintf("meter %d (%s) holds %s; its readings give %s", held.ID, held.Name, got,
				want))
		}
	}
	return breaches, nil
}

// standing is all that a meter derives from its readings, as text.
func (m *Meter) standing() string {
	last := "none"
	if m.last != nil {
		last = fmt.Sprintf("%v on %v", m.last.Value, m.last.Day)
	}
	corrected := "never"
	if m.correctedDay != nil {
		corrected = m.correctedDay.String()
	}
	return fmt.Sprintf("reading %v of %s, last %s, corrected %d times (%s), %d readings",
		m.Reading, dayOrNever(m.ReadDate), last, m.epoch, corrected, m.posted)
}

func dayOrNever(d *exact.Day) string {
	if d == nil {
		return "never"
	}
	return d.String()
}

// checkPlans looks for plans with an impossible baseline or meter.
func checkPlans(c *db.Conn) ([]string, error) {
	return db.All(c, func(r *db.Row) string {
		return fmt.Sprintf("plan %d (%s): its baseline %v is above the meter's reading %v, or the meter is another asset's",
			r.Int(), r.Text(), r.Milli(), r.Milli())
	}, `SELECT p.id, p.title, p.baseline, m.reading FROM pm_plans p JOIN meters m ON m.id = p.meter_id
		WHERE p.baseline > m.reading OR m.asset_id <> p.asset_id ORDER BY p.id`)
}

// checkUsedParts compares each order's stored parts cost with the sum.
func checkUsedParts(c *db.Conn) (breaches []string, err error) {
	breaches, err = db.All(c, func(r *db.Row) string {
		return fmt.Sprintf("work order %d keeps %d cents of parts used; they sum up to %d", r.Int(), r.Int(), r.Int())
	}, `SELECT w.id, w.used_cents, coalesce(u.cents, 0) FROM work_orders w
		LEFT JOIN (SELECT work_order_id, sum(cost_cents) AS cents FROM part_uses GROUP BY work_order_id) u
		ON u.work_order_id = w.id
		WHERE w.used_cents <> coalesce(u.cents, 0) ORDER BY w.id`)
	if err != nil {
		return nil, err
	}
	err = db.Each(c, func(r *db.Row) error {
		id, qty, unit, cost := r.Int(), r.Milli(), r.Int(), r.Int()
		if want := costOfParts(qty, unit); cost != want {
			breaches = append(breaches, fmt.Sprintf("part use %d costs %d cents; %v at %d is %d", id, cost, qty, unit, want))
		}
		return nil
	}, "SELECT id, qty, unit_cost_cents, cost_cents FROM part_uses ORDER BY id")
	return breaches, err
}

// checkCounts compares the stored numbers of work orders with a count.
func checkCounts(c *db.Conn) ([]string, error) {
	return db.All(c, func(r *db.Row) string {
		return fmt.Sprintf("%d work orders are kept as %s and %s; there are %d", r.Int(), r.Text(), r.Text(), r.Int())
	}, `SELECT coalesce(k.n, 0), x.status, x.priority, coalesce(w.n, 0)
		FROM (SELECT status, priority FROM work_order_counts UNION SELECT status, priority FROM work_orders) x
		LEFT JOIN work_order_counts k ON k.status = x.status AND k.priority = x.priority
		LEFT JOIN (SELECT status, priority, count(*) AS n FROM work_orders GROUP BY status, priority) w
		ON w.status = x.status AND w.priority = x.priority
		WHERE coalesce(k.n, 0) <> coalesce(w.n, 0) ORDER BY x.status, x.priority`)
}

// checkSums compares the stored sums of work orders by assignee with the orders.
func checkSums(c *db.Conn) ([]string, error) {
	return db.All(c, func(r *db.Row) string {
		return fmt.Sprintf("the work orders of %q that are %s and %s are kept as %d that cost %d; there are %d that cost %d",
			r.Text(), r.Text(), r.Text(), r.Int(), r.Int(), r.Int(), r.Int())
	}, `WITH real AS (SELECT coalesce(assigned_to, '') AS assigned_to, status, priority, count(*) AS n,
			sum((labor_minutes * coalesce(labor_rate_cents, (SELECT labor_rate_cents
			FROM maintenance_settings)) + 30) / 60 + typed_cents + used_cents) AS cents
			FROM work_orders GROUP BY 1, 2, 3)
		SELECT x.assigned_to, x.status, x.priority, coalesce(k.n, 0), coalesce(k.cents, 0), coalesce(w.n, 0),
		coalesce(w.cents, 0)
		FROM (SELECT assigned_to, status, priority FROM work_order_sums UNION SELECT assigned_to, status, priority
		FROM real) x
		LEFT JOIN work_order_sums k USING (assigned_to, status, priority) LEFT JOIN real w USING (assigned_to, status,
		priority)
		WHERE coalesce(k.n, 0) <> coalesce(w.n, 0) OR coalesce(k.cents, 0) <> coalesce(w.cents, 0) ORDER BY 1, 2, 3`)
}

// checkRestarts looks for plans restarted by a job that is not done, or not theirs.
func checkRestarts(c *db.Conn) ([]string, error) {
	return db.All(c, func(r *db.Row) string {
		return fmt.Sprintf("plan %d was restarted by work order %d, which is not a done job of it", r.Int(), r.Int())
	}, `SELECT p.id, p.restarted_by FROM pm_plans p LEFT JOIN work_orders w ON w.id = p.restarted_by
		WHERE p.restarted_by IS NOT NULL AND (w.status IS NOT 'done' OR w.pm_id IS NOT p.id) ORDER BY p.id`)
}

// checkMonth checks that served jobs are done, that check lists can be read, and that a request page has its address.
func checkMonth(c *db.Conn) (breaches []string, err error) {
	breaches, err = db.All(c, func(r *db.Row) string {
		return fmt.Sprintf("work order %d counts as a service by plan, and is %s", r.Int(), r.Text())
	}, "SELECT id, status FROM work_orders WHERE pm_served = 1 AND status <> 'done' OR pm_served = 0 AND pm_due_day IS "+
		"NOT NULL ORDER BY id")
	if err != nil {
		return nil, err
	}
	err = db.Each(c, func(r *db.Row) error {
		id, kept := r.Int(), r.Text()
		for line := range strings.SplitSeq(kept, "\n") {
			if len(line) < 2 || line[0] != '0' && line[0] != '1' {
				breaches = append(breaches, fmt.Sprintf("work order %d: a step of its check list cannot be read", id))
				break
			}
		}
		return nil
	}, "SELECT id, checklist FROM work_orders WHERE checklist IS NOT NULL ORDER BY id")
	if err != nil {
		return nil, err
	}
	open, err := db.All(c, func(r *db.Row) string {
		return fmt.Sprintf("asset %d takes requests and has no address for them", r.Int())
	}, "SELECT id FROM assets WHERE requests = 1 AND request_token IS NULL ORDER BY id")
	return append(breaches, open...), err
}
