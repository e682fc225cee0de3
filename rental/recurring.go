package rental

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// recurringTypes are the types of recurring charges.
var recurringTypes = []string{"utility", "repair", "other"}

// Recurring is a charge posted in full with every billing period that starts on a day from From to To.
type Recurring struct {
	ID          int64      `json:"id"`
	LeaseID     int64      `json:"lease_id"`
	Type        string     `json:"type" enum:"utility,repair,other"`
	Label       string     `json:"label"`
	AmountCents int64      `json:"amount_cents"`
	From        exact.Day  `json:"from"`
	To          *exact.Day `json:"to" about:"null is open-ended"`
}

// holds reports whether a period that starts on day gets the charge.
func (r Recurring) holds(day exact.Day) bool { return day >= r.From && (r.To == nil || day <= *r.To) }

var recurrings = record.Read("recurring charge", "r",
	"r.id, r.lease_id, r.type, r.label, r.amount_cents, r.from_day, r.to_day", "recurring_charges r", scanRecurring)

func scanRecurring(r *db.Row) Recurring {
	return Recurring{ID: r.Int(), LeaseID: r.Int(), Type: r.Text(), Label: r.Text(), AmountCents: r.Int(), From: r.Day(),
		To: r.DayPtr()}
}

func recurringOf(c *db.Conn, lease int64) ([]Recurring, error) {
	return recurrings.All(c, "WHERE r.lease_id = ? ORDER BY r.id", lease)
}

// postRecurring charges a lease for a period. A charge of that type, day and label in the ledger, by hand or from a
// file, is not posted again.
func postRecurring(tx *db.Tx, lease int64, r Recurring, first exact.Day) error {
	was, found, err := findSingle(&tx.Conn, lease, r.Type, first, r.Label)
	switch {
	case err != nil:
		return err
	case found:
		tx.Do("UPDATE charges SET recurring_id = ? WHERE id = ?", r.ID, was.ID)
	default:
		_, err = tx.InsertRow("charges", chargeSets+", recurring_id", lease, r.Type, r.Label, first, r.AmountCents, tx.Now(),
			r.ID)
	}
	return err
}

// RecurringDone is a recurring charge with its lease's debt.
type RecurringDone struct {
	Recurring Recurring `json:"recurring"`
	Posted    []Charge  `json:"posted" about:"for periods that were posted already"`
	Withdrawn []Charge  `json:"withdrawn"`
	Totals    Totals    `json:"totals"`
}

// addRecurring charges a lease with every period that starts on a day from r.From to
// r.To; for periods that are posted already, at once.
func addRecurring(tx *db.Tx, r Recurring) (RecurringDone, error) {
	done := RecurringDone{Withdrawn: []Charge{}}
	_, err := leases.ByID(&tx.Conn, r.LeaseID)
	if err != nil {
		return done, err
	}
	var id int64
	done.Totals, err = acted(tx, r.LeaseID, func() error { id, err = insertRecurring(tx, r); return err })
	if err != nil {
		return done, err
	}
	if done.Recurring, err = recurrings.ByID(&tx.Conn, id); err != nil {
		return done, err
	}
	done.Posted, err = charges.All(&tx.Conn, "WHERE c.recurring_id = ? ORDER BY c.due_date", id)
	return done, err
}

// insertRecurring stores a recurring charge and posts it for the posted periods.
func insertRecurring(tx *db.Tx, r Recurring) (id int64, err error) {
	if r.To != nil && *r.To < r.From {
		return 0, fault.Fieldf("to", "to: %s lies before from %s", r.To, r.From)
	}
	other, found, err := recurrings.One(&tx.Conn, `WHERE r.lease_id = ?1 AND r.type = ?2 AND r.label = ?3
		AND r.from_day <= ?5 AND coalesce(r.to_day, 2932896) >= ?4`, r.LeaseID, r.Type, r.Label, r.From, lastDay(r.To))
	if err != nil {
		return 0, err
	}
	if found {
		return 0, fault.Conflictf("lease %d has %s %s with each period from %s already (recurring charge %d): end that "+
			"one first, or give another label",
			r.LeaseID, r.Type, schema.Quote(r.Label), other.From, other.ID)
	}
	id, err = tx.Insert(
		"INSERT INTO recurring_charges (lease_id, type, label, amount_cents, from_day, to_day) VALUES (?, ?, ?, ?, ?, ?)",
		r.LeaseID, r.Type, r.Label, r.AmountCents, r.From, r.To)
	if err != nil {
		return 0, err
	}
	r.ID = id
	if err := tx.Audit("recurring.created", db.Subject("recurring", id), r); err != nil {
		return 0, err
	}
	return id, postPast(tx, r)
}

// postPast posts a recurring charge for posted periods in its range.
func postPast(tx *db.Tx, r Recurring) error {
	days, err := db.All(&tx.Conn, (*db.Row).Day, `SELECT period_start FROM charges
		WHERE lease_id = ? AND type = 'rent' AND period_start BETWEEN ? AND ? ORDER BY period_start`, r.LeaseID, r.From,
		lastDay(r.To))
	if err != nil {
		return err
	}
	for _, day := range days {
		_, have, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM charges WHERE recurring_id = ? AND due_date = ?", r.ID, day)
		if err != nil {
			return err
		}
		if have {
			continue
		}
		if err := postRecurring(tx, r.LeaseID, r, day); err != nil {
			return err
		}
	}
	return catchUp(tx, r.LeaseID)
}

// stopRecurring makes to the last start of a period with the charge. Unpaid ones of later periods are withdrawn; a paid
// one is an obstacle.
func stopRecurring(tx *db.Tx, id int64, to exact.Day) (RecurringDone, error) {
	done := RecurringDone{Posted: []Charge{}, Withdrawn: []Charge{}}
	r, err := recurrings.ByID(&tx.Conn, id)
	if err != nil {
		return done, err
	}
	done.Totals, err = acted(tx, r.LeaseID, func() error { done.Withdrawn, err = endRecurring(tx, r, to); return err })
	if err != nil {
		return done, err
	}
	done.Recurring, err = recurrings.ByID(&tx.Conn, id)
	return done, err
}

func endRecurring(tx *db.Tx, r Recurring, to exact.Day) (withdrawn []Charge, err error) {
	if to < r.From-1 {
		to = r.From - 1
	}
	if r.To != nil && to > *r.To {
		return nil, fault.Fieldf("to", "to: the recurring charge %d ends on %s already; add another one for later periods",
			r.ID, r.To)
	}
	if r.To != nil && to == *r.To {
		return nil, fault.Conflictf("the recurring charge %d ends on %s already", r.ID, to)
	}
	withdrawn, err = charges.All(&tx.Conn, "WHERE c.recurring_id = ? AND c.due_date > ? ORDER BY c.due_date", r.ID, to)
	if err != nil {
		return nil, err
	}
	for _, c := range withdrawn {
		if err := withdraw(tx, "to", c); err != nil {
			return nil, err
		}
	}
	tx.Do("UPDATE recurring_charges SET to_day = ? WHERE id = ?", to, r.ID)
	return withdrawn, tx.Audit("recurring.ended", db.Subject("recurring", r.ID),
		map[string]any{"from": r.To, "to": to, "withdrawn": len(withdrawn)})
}

func (s *Service) recurringTable() schema.Table {
	return schema.Table{
		Name: "recurring", About: "Charges posted with every billing period.",
		Row: func(f *schema.Form) schema.Put {
			key := bindLeaseKey(f, "lease_start")
			var r Recurring
			var amount *int64
			f.Enum(&r.Type, "type", "what it is for", recurringTypes, schema.Required, schema.Folded)
			f.Text(&r.Label, "label", "what it says", schema.Required, schema.Most(maxName))
			f.Day(&r.From, "from", "for periods that start on this day or later", schema.Required)
			f.IntPtr(&amount, "amount_cents", "how much with each period, in cents", schema.Range(0, maxCents))
			f.DayPtr(&r.To, "to", "periods that start up to this day; empty: no end")
			given := f.Given("to")
			return func(tx *db.Tx) (schema.Outcome, error) { return putRecurring(tx, key, r, amount, given) }
		},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				return emit(r.Text(), r.Text(), r.Day().String(), r.Text(), r.Text(), r.Day().String(), number(r),
					schema.Cell(r.DayPtr()))
			}, "SELECT p.name, u.name, l.start_date, r.type, r.label, r.from_day, r.amount_cents, r.to_day"+fromLeases+
				" CROSS JOIN recurring_charges r ON r.lease_id = l.id ORDER BY p.name, u.name, l.start_date, r.type, r.label, "+
				"r.from_day")
		},
	}
}

// putRecurring makes the recurring charge of that key, ends it, or changes the amount of later periods.
func putRecurring(tx *db.Tx, k leaseKey, row Recurring, amount *int64, given bool) (o schema.Outcome, err error) {
	l, err := k.lease(&tx.Conn)
	if err != nil {
		return o, err
	}
	was, found, err := recurrings.One(&tx.Conn,
		"WHERE r.lease_id = ? AND r.type = ? AND r.label = ? AND r.from_day = ?", l.ID, row.Type, row.Label, row.From)
	switch {
	case err != nil:
		return o, err
	case !found && amount == nil:
		return o, fault.Fieldf("amount_cents", "amount_cents is missing: enter the amount in cents")
	case !found:
		row.LeaseID, row.AmountCents = l.ID, *amount
		o.New = true
		_, err := insertRecurring(tx, row)
		return o, err
	}
	if amount != nil && *amount != was.AmountCents {
		o.Fields = []string{"amount_cents"}
		tx.Do("UPDATE recurring_charges SET amount_cents = ? WHERE id = ?", *amount, was.ID)
		if err := tx.Audit("recurring.changed", db.Subject("recurring", was.ID),
			map[string][2]int64{"amount_cents": {was.AmountCents, *amount}}); err != nil {
			return o, err
		}
	}
	if !given || ptrEqual(was.To, row.To) {
		return o, nil
	}
	o.Fields = append(o.Fields, "to")
	if row.To != nil && (was.To == nil || *row.To < *was.To) {
		if _, err := endRecurring(tx, was, *row.To); err != nil {
			return o, err
		}
		return o, catchUp(tx, l.ID)
	}
	tx.Do("UPDATE recurring_charges SET to_day = ? WHERE id = ?", row.To, was.ID)
	if err := tx.Audit("recurring.changed", db.Subject("recurring", was.ID),
		map[string]any{"from": was.To, "to": row.To}); err != nil {
		return o, err
	}
	if was.To != nil {
		was.From = *was.To + 1 // a charge voided in its past days is not posted again
	}
	was.To = row.To
	return o, postPast(tx, was)
}
