package rental

import (
	"cmp"
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Overview is the landlord's first page.
type Overview struct {
	Today         exact.Day     `json:"today"`
	Month         exact.Month   `json:"month"`
	Totals        Collection    `json:"totals"`
	ArrearsCents  int64         `json:"arrears_cents"`
	EarlierCents  int64         // the part of it that is not of this month
	DueTodayCents int64         // open, and overdue from tomorrow
	Behind        []LeaseBehind // the first behindNamed of them, largest debt first
	BehindCount   int64         // leases
	UnitCount     int64         `json:"unit_count"`
	OccupiedCount int64         `json:"occupied_count"`
	Vacant        []Unit        // the first of them
	OpenTickets   []Ticket
	OpenCount     int64
	Moves         []Lease // those that begin or end in the next 60 days
	Months        []MonthCollection
	Standing
}

// vacantNamed is how many of the vacant units the overview names.
const vacantNamed = 4

// MonthCollection is what fell due in a month, and what of it is paid, at any time.
type MonthCollection struct {
	Month                       exact.Month
	BilledCents, CollectedCents int64
}

// monthsCollected is how many months the overview compares, the present one last.
const monthsCollected = 12

// LeaseBehind is one lease's overdue sum.
type LeaseBehind struct {
	LeaseID      int64
	Tenant       string // of those named
	Unit         string
	Property     string
	BalanceCents int64
	EarlierCents int64 // the part of it that is not of this month; of the overview
	DaysOverdue  int64 // of the oldest
}

// Overview returns this month's summary; due charges are posted first.
func (s *Service) Overview(ctx context.Context, who db.Caller) (Overview, error) {
	var o Overview
	standing, err := s.allPosted(ctx, who, func(c *db.Conn) error {
		o = Overview{Today: c.Today(), Month: c.Today().Month()}
		return o.read(c)
	})
	o.Standing = standing
	return o, err
}

func (o *Overview) read(c *db.Conn) error {
	err := o.readMonths(c)
	if err != nil {
		return err
	}
	if err := o.readBehind(c); err != nil {
		return err
	}
	_, _, err = db.One(c, func(r *db.Row) bool {
		o.UnitCount, o.OccupiedCount, o.OpenCount, o.Totals.ReceivedCents = r.Int(), r.Int(), r.Int(), r.Int()
		return true
	}, `SELECT (SELECT count(*) FROM units), (SELECT count(*) FROM leases WHERE start_date <= ?1 AND last_day >= ?1),
		(SELECT count(*) FROM tickets WHERE `+unresolved+`), (SELECT coalesce(sum(amount_cents), 0) FROM payments
		WHERE voided_at IS NULL AND method NOT IN ('deposit', 'opening') AND paid_date BETWEEN ?2 AND ?3)`, o.Today,
		o.Month.First(), o.Month.Last())
	if err != nil {
		return err
	}
	empty := UnitFilter{Status: vacant}
	empty.Limit = vacantNamed
	free, err := unitsOf(c, empty)
	if err != nil {
		return err
	}
	o.Vacant = free.Units
	o.OpenTickets, err = tickets.All(c, "WHERE "+unresolved+` ORDER BY CASE k.priority WHEN 'urgent' THEN 0
		WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END, k.id DESC LIMIT 6`)
	if err != nil {
		return err
	}
	o.Moves, err = leases.All(c, `WHERE l.last_day BETWEEN ?1 AND ?2 OR l.start_date > ?1 AND l.start_date <= ?2
		ORDER BY CASE WHEN l.start_date > ?1 THEN l.start_date ELSE l.last_day END, l.id LIMIT 6`, o.Today, o.Today+60)
	return err
}

// readMonths adds up the charges due in the last months: 6,000 charges of 500 leases take about 4 ms.
func (o *Overview) readMonths(c *db.Conn) error {
	first := o.Month - monthsCollected + 1
	o.Months = make([]MonthCollection, monthsCollected)
	for i := range o.Months {
		o.Months[i].Month = first + exact.Month(i) // #nosec G115 -- twelve
	}
	err := db.Each(c, func(r *db.Row) error {
		m := &o.Months[r.Day().Month()-first]
		m.BilledCents += r.Int()
		m.CollectedCents += r.Int()
		return nil
	}, "SELECT due_date, amount_cents, paid_cents FROM charges WHERE due_date BETWEEN ? AND ? AND opening = 0",
		first.First(), o.Month.Last())
	this := o.Months[monthsCollected-1]
	o.Totals = Collection{BilledCents: this.BilledCents, CollectedCents: this.CollectedCents,
		OutstandingCents: this.BilledCents - this.CollectedCents}
	return err
}

// behindNamed is how many of those who are behind the overview names.
const behindNamed = 6

// readBehind sums overdue charges by lease from the index of unpaid ones alone, and names those with the largest debts.
func (o *Overview) readBehind(c *db.Conn) error {
	at := map[int64]int{}
	var all []LeaseBehind
	err := db.Each(c, func(r *db.Row) error {
		lease, due, cents, opening := r.Int(), r.Day(), r.Int(), r.Bool()
		days := int64(o.Today - due)
		if days == 0 {
			o.DueTodayCents += cents
			return nil
		}
		o.ArrearsCents += cents
		i, have := at[lease]
		if !have {
			i = len(all)
			at[lease] = i
			all = append(all, LeaseBehind{LeaseID: lease})
		}
		all[i].BalanceCents += cents
		if opening || due < o.Month.First() {
			all[i].EarlierCents += cents
			o.EarlierCents += cents
		}
		all[i].DaysOverdue = max(all[i].DaysOverdue, days)
		return nil
	}, `SELECT lease_id, due_date, amount_cents - paid_cents, opening FROM charges INDEXED BY charges_unpaid
		WHERE paid_date IS NULL AND due_date <= ?`, o.Today)
	if err != nil {
		return err
	}
	o.BehindCount = int64(len(all))
	slices.SortStableFunc(all, func(a, b LeaseBehind) int { return cmp.Compare(b.BalanceCents, a.BalanceCents) })
	o.Behind = all[:min(len(all), behindNamed)]
	for i := range o.Behind {
		l, err := leases.ByID(c, o.Behind[i].LeaseID)
		if err != nil {
			return err
		}
		o.Behind[i].Tenant, o.Behind[i].Unit, o.Behind[i].Property = l.Tenant, l.Unit, l.Property
	}
	return nil
}

// CountBehind counts the leases with an overdue charge among the posted ones.
func (s *Service) CountBehind(ctx context.Context) (int64, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (n int64, err error) {
		return db.Number(c, `SELECT count(DISTINCT lease_id) FROM charges INDEXED BY charges_unpaid
			WHERE paid_date IS NULL AND due_date < ?`, c.Today())
	})
}

// UnitMonth is the number of days of a month on which a unit is let.
type UnitMonth struct {
	Month exact.Month
	Days  int
	Of    int
}

// Occupancy returns the matching units, and the days on which each is let in n months.
func (s *Service) Occupancy(ctx context.Context, f UnitFilter, first exact.Month, n int) (list Units,
	months map[int64][]UnitMonth, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		if list, err = unitsOf(c, f); err != nil {
			return err
		}
		if list.Total, err = countUnits(c, f); err != nil {
			return err
		}
		months, err = letMonths(c, schema.Map(list.Units, func(u Unit) int64 { return u.ID }), first, n)
		return err
	})
	return list, months, err
}

// LetMonths tells of each unit on how many days of each of n months it is let.
func (s *Service) LetMonths(ctx context.Context, units []int64, first exact.Month, n int) (map[int64][]UnitMonth,
	error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (map[int64][]UnitMonth, error) { return letMonths(c, units, first, n) })
}

func letMonths(c *db.Conn, units []int64, first exact.Month, n int) (map[int64][]UnitMonth, error) {
	end := first + exact.Month(n-1) // #nosec G115 -- a few months
	months := make(map[int64][]UnitMonth, len(units))
	for _, id := range units {
		spans, err := db.All(c, func(r *db.Row) leaseSpan { return leaseSpan{r.Day(), r.Day()} },
			"SELECT start_date, last_day FROM leases WHERE unit_id = ? AND start_date <= ? AND last_day >= ?", id, end.Last(),
			first.First())
		if err != nil {
			return nil, err
		}
		months[id] = letIn(spans, first, end)
	}
	return months, nil
}

// LeaseRecord is a lease with all that its page shows.
type LeaseRecord struct {
	Ledger
	Payments  []PaidBy // that stand, the last first
	Reversed  []StoredPayment
	Payouts   []Payout    // without totals
	Recurring []Recurring // running and ended
	Tickets   []Ticket
	Today     exact.Day
}

// PaidBy is a payment with what it paid.
type PaidBy struct {
	StoredPayment
	Allocations []Allocation
}

// LeaseRecord returns a lease's ledger with its payments; an unknown one is not found.
func (s *Service) LeaseRecord(ctx context.Context, who db.Caller, lease int64) (v LeaseRecord, err error) {
	if v.Ledger, err = s.Ledger(ctx, who, lease); err != nil {
		return v, err
	}
	err = s.db.View(ctx, func(c *db.Conn) error {
		v.Today = c.Today()
		if v.Payments, err = paidBy(c, lease); err != nil {
			return err
		}
		if v.Reversed, err = payments.All(c, `WHERE m.lease_id = ? AND m.voided_at IS NOT NULL
			ORDER BY m.paid_date DESC, m.id DESC`, lease); err != nil {
			return err
		}
		v.Payouts, err = db.All(c, func(r *db.Row) Payout {
			return Payout{ID: r.Int(), LeaseID: r.Int(), Kind: r.Text(), Day: r.Day(), AmountCents: r.Int(), Method: r.Text()}
		}, "SELECT id, lease_id, kind, day, amount_cents, method FROM payouts WHERE lease_id = ? ORDER BY day DESC, id DESC",
			lease)
		if err != nil {
			return err
		}
		if v.Recurring, err = recurringOf(c, lease); err != nil {
			return err
		}
		v.Tickets, err = tickets.All(c, "WHERE k.lease_id = ? ORDER BY k.id DESC LIMIT 10", lease)
		return err
	})
	return v, err
}

func paidBy(c *db.Conn, lease int64) ([]PaidBy, error) {
	all, err := payments.All(c, "WHERE m.lease_id = ? AND m.voided_at IS NULL ORDER BY m.paid_date DESC, m.id DESC", lease)
	if err != nil {
		return nil, err
	}
	paid, place := make([]PaidBy, len(all)), make(map[int64]int, len(all))
	for i, m := range all {
		paid[i].StoredPayment, place[m.ID] = m, i
	}
	// One statement for all payments: a ledger of ten years has hundreds of them.
	due := map[int64]exact.Day{}
	err = db.Each(c, func(r *db.Row) error {
		if i, known := place[r.Int()]; known {
			a := Allocation{r.Int(), r.Text(), r.Int()}
			due[a.ChargeID] = r.Day()
			paid[i].Allocations = append(paid[i].Allocations, a)
		}
		return nil
	}, `SELECT m.id, c.id, c.label, a.amount_cents, c.due_date FROM payments m CROSS JOIN allocations a
		ON a.payment_id = m.id CROSS JOIN charges c ON c.id = a.charge_id
		WHERE m.lease_id = ? AND m.voided_at IS NULL`, lease)
	for _, m := range paid {
		slices.SortFunc(m.Allocations, func(a, b Allocation) int {
			return cmp.Or(cmp.Compare(due[a.ChargeID], due[b.ChargeID]), cmp.Compare(a.ChargeID, b.ChargeID))
		})
	}
	return paid, err
}

// TicketBoard returns the newest tickets of each status, the most urgent first; of resolved ones those of the last
// 14 days.
func (s *Service) TicketBoard(ctx context.Context, f TicketFilter) (columns map[string][]Ticket,
	counts map[string]int64, err error) {
	columns, counts = map[string][]Ticket{}, map[string]int64{}
	err = s.db.View(ctx, func(c *db.Conn) error {
		for _, status := range ticketMoves.States() {
			f.Status = status
			w := f.where()
			w.And(status == resolved, "k.resolved_at >= ?", c.Now()-14*24*60*60)
			all, err := tickets.All(c, "WHERE 1"+w.Text+" ORDER BY k.id DESC LIMIT 50", w.Args...)
			if err != nil {
				return err
			}
			if status != resolved {
				slices.SortStableFunc(all, byPriority)
			}
			n, err := tickets.Count(c, "WHERE 1"+w.Text, w.Args...)
			if err != nil {
				return err
			}
			columns[status], counts[status] = all, n
		}
		return nil
	})
	return columns, counts, err
}

// TicketStates are the states of tickets.
func TicketStates() []string { return ticketMoves.States() }

// TicketNext lists the states that may follow one.
func TicketNext(status string) []string { return ticketMoves.From(status) }

// Photo returns a ticket's picture; an unknown one is not found.
func (s *Service) Photo(ctx context.Context, _ db.Caller, id int64) (media string, image []byte, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		media, image, err = photo(c, id, "")
		return err
	})
	return media, image, err
}
