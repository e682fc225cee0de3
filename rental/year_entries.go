package rental

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// What a part of an entry is.
const (
	partIncome         = "income" // of a type of charges
	partAdvance        = "advance"
	partDeposit        = "deposit" // held for tenants
	partCreditReturned = "credit_returned"
	partReturned       = "returned"
	partSpent          = "spent"  // by category
	partBefore         = "before" // taken over from another book
)

// The kinds of entries, in the order of a day.
const (
	entryOpening = iota
	entryPayment
	entryUse
	entryMoved // an advance that became a deposit
	entryPayout
	entryExpense
	entryReturn
)

// entry is money by the day on which it counts: received amounts are above 0, and its parts add up to what moved at the
// bank or in cash. A deposit that is used, moved or taken over moves nothing there.
type entry struct {
	day            exact.Day
	kind           int
	id             int64
	property, unit int64 // 0: of all houses, of no unit
	method         string
	parts          []yearPart
}

type yearPart struct {
	what, name string // name is the type or the category
	cents      int64
}

// moved is what the bank or the till moved.
func (e entry) moved() (cents int64) {
	for _, p := range e.parts {
		cents += p.cents
	}
	return cents
}

func (e *entry) add(what, name string, cents int64) {
	for i, p := range e.parts {
		if p.what == what && p.name == name {
			e.parts[i].cents += cents
			return
		}
	}
	if cents != 0 {
		e.parts = append(e.parts, yearPart{what, name, cents})
	}
}

// daySpan are the days of the requested entries.
type daySpan struct{ from, to exact.Day }

func (s daySpan) has(d exact.Day) bool { return d >= s.from && d <= s.to }

// always is every day.
var always = daySpan{-1 << 30, 1 << 30}

// moneyEntries calls fn for each entry of the days, those of payments by id.
func moneyEntries(c *db.Conn, s daySpan, fn func(entry)) error {
	for _, read := range []func(*db.Conn, daySpan, func(entry)) error{openingEntries, paymentEntries, depositEntries,
		payoutEntries, expenseEntries, returnEntries} {
		if err := read(c, s, fn); err != nil {
			return err
		}
	}
	return nil
}

// allocated is a part of a payment: the charge that it paid, or nil for credit.
type allocated struct {
	typ     *string
	due     exact.Day
	counted *exact.Day
	cents   int64
}

// held is the day from which a paid deposit is held.
func (a allocated) held(paid exact.Day) exact.Day {
	day := max(paid, a.due)
	if a.counted != nil {
		day = max(day, *a.counted)
	}
	return day
}

// as is the kind of a payment's part in the year of the payment.
func (a allocated) as(paid exact.Day) (what, name string) {
	_, last := yearDays(yearOf(paid))
	switch {
	case a.typ == nil:
		return partAdvance, ""
	case *a.typ == "deposit" && a.held(paid) <= last:
		return partDeposit, ""
	case *a.typ == "deposit", a.counted != nil, a.due > last:
		return partAdvance, ""
	}
	return partIncome, *a.typ
}

// placesOfLeases are each lease's unit and property.
func placesOfLeases(c *db.Conn) (map[int64][2]int64, error) {
	places := map[int64][2]int64{}
	return places, db.Each(c, func(r *db.Row) error {
		places[r.Int()] = [2]int64{r.Int(), r.Int()}
		return nil
	}, "SELECT l.id, u.id, u.property_id FROM leases l JOIN units u ON u.id = l.unit_id")
}

// paymentEntries are the payments by id, without reversed ones, and the uses of deposits. It reads the table from its
// beginning: then the allocations and charges lie beside each other too, which is faster than an index of the days.
func paymentEntries(c *db.Conn, s daySpan, fn func(entry)) error {
	places, err := placesOfLeases(c) // a map is faster than two rows of tables for each payment
	if err != nil {
		return err
	}
	var e entry
	var rest int64
	finish := func() {
		if e.id == 0 {
			return
		}
		e.add(partAdvance, "", rest)
		if len(e.parts) > 0 {
			fn(e)
		}
	}
	err = db.Each(c, func(r *db.Row) error {
		id, day, method, place, cents := r.Int(), r.Day(), r.Text(), places[r.Int()], r.Int()
		if id != e.id {
			finish()
			e = entry{id: id, day: day, method: method, unit: place[0], property: place[1], kind: entryPayment}
			rest = cents
		}
		a := allocated{typ: r.TextPtr(), due: r.Day(), counted: r.DayPtr(), cents: r.Int()}
		switch {
		case a.typ == nil:
			return nil // credit, or what was returned of it
		case e.method == byDeposit:
			e.kind = entryUse
			e.add(partIncome, *a.typ, a.cents)
			e.add(partDeposit, "", -a.cents)
		default:
			what, name := a.as(e.day)
			e.add(what, name, a.cents)
		}
		rest -= a.cents
		return nil
	}, `SELECT m.id, m.paid_date, m.method, m.lease_id, m.amount_cents, ch.type, ch.due_date, a.counted, a.amount_cents
		FROM payments m NOT INDEXED LEFT JOIN allocations a ON a.payment_id = m.id LEFT JOIN charges ch ON ch.id = a.charge_id
		WHERE m.voided_at IS NULL AND m.paid_date BETWEEN ? AND ? AND m.method <> 'opening' ORDER BY m.id`, s.from, s.to)
	finish()
	return err
}

// eachDeposit calls fn for what payments that stand paid of deposits.
func eachDeposit(c *db.Conn, fn func(e entry, paid exact.Day, cents int64)) error {
	return db.Each(c, func(r *db.Row) error {
		e := entry{unit: r.Int(), property: r.Int(), id: r.Int()}
		paid := r.Day()
		e.method = r.Text()
		a := allocated{due: r.Day(), counted: r.DayPtr(), cents: r.Int()}
		e.day = a.held(paid)
		fn(e, paid, a.cents)
		return nil
	}, `SELECT l.unit_id, u.property_id, m.id, m.paid_date, m.method, ch.due_date, a.counted, a.amount_cents
		FROM leases l CROSS JOIN units u ON u.id = l.unit_id CROSS JOIN charges ch ON ch.lease_id = l.id
		AND ch.type = 'deposit'
		CROSS JOIN allocations a ON a.charge_id = ch.id CROSS JOIN payments m ON m.id = a.payment_id`)
}

// openingEntries are the deposits that were taken over, and what was paid ahead then and became a deposit.
func openingEntries(c *db.Conn, s daySpan, fn func(entry)) error {
	return eachDeposit(c, func(e entry, _ exact.Day, cents int64) {
		if e.method == byOpening && s.has(e.day) {
			e.kind = entryOpening
			e.add(partDeposit, "", cents)
			e.add(partBefore, "", -cents)
			fn(e)
		}
	})
}

// depositEntries are advances of an earlier year that became deposits.
func depositEntries(c *db.Conn, s daySpan, fn func(entry)) error {
	return eachDeposit(c, func(e entry, paid exact.Day, cents int64) {
		if e.method != byOpening && s.has(e.day) && yearOf(paid) != yearOf(e.day) {
			fn(e.becomes(cents))
		}
	})
}

// becomes is the entry by which an advance is a deposit from its day.
func (e entry) becomes(cents int64) entry {
	e.kind, e.parts = entryMoved, nil
	e.add(partDeposit, "", cents)
	e.add(partAdvance, "", -cents)
	return e
}

func payoutEntries(c *db.Conn, s daySpan, fn func(entry)) error {
	return db.Each(c, func(r *db.Row) error {
		e := entry{kind: entryPayout, id: r.Int(), day: r.Day(), method: r.Text(), unit: r.Int(), property: r.Int()}
		what := partCreditReturned
		if r.Text() == "deposit" {
			what = partDeposit
		}
		e.add(what, "", -r.Int())
		fn(e)
		return nil
	}, `SELECT o.id, o.day, o.method, l.unit_id, u.property_id, o.kind, o.amount_cents FROM payouts o CROSS JOIN leases l
		ON l.id = o.lease_id
		CROSS JOIN units u ON u.id = l.unit_id WHERE o.day BETWEEN ? AND ? ORDER BY o.day, o.id`, s.from, s.to)
}

func expenseEntries(c *db.Conn, s daySpan, fn func(entry)) error {
	return db.Each(c, func(r *db.Row) error {
		e := entry{kind: entryExpense, id: r.Int(), day: r.Day(), method: "cash", unit: r.Int(), property: r.Int()}
		e.add(partSpent, r.Text(), -r.Int())
		fn(e)
		return nil
	}, "SELECT id, day, unit_id, property_id, category, amount_cents FROM expenses WHERE day BETWEEN ? AND ? ORDER BY "+
		"day, id", s.from, s.to)
}

// returnEntries are payments of closed years that were reversed: that year counts them, and the day of their return
// takes them away.
func returnEntries(c *db.Conn, s daySpan, fn func(entry)) error {
	type returned struct {
		entry
		paid  exact.Day
		parts []allocated
	}
	var all []*returned
	err := db.Each(c, func(r *db.Row) error {
		id := r.Int()
		if n := len(all); n == 0 || all[n-1].id != id {
			all = append(all, &returned{entry: entry{id: id}})
		}
		x := all[len(all)-1]
		x.day, x.paid, x.method, x.unit, x.property = r.Day(), r.Day(), r.Text(), r.Int(), r.Int()
		x.parts = append(x.parts, allocated{typ: r.TextPtr(), due: r.Day(), cents: r.Int()})
		return nil
	}, `SELECT b.payment_id, b.day, m.paid_date, m.method, l.unit_id, u.property_id, p.type, p.counted, p.amount_cents
		FROM payment_returns b CROSS JOIN payments m ON m.id = b.payment_id CROSS JOIN leases l ON l.id = m.lease_id CROSS
		JOIN units u ON u.id = l.unit_id
		CROSS JOIN payment_return_parts p ON p.payment_id = b.payment_id ORDER BY b.payment_id, p.id`)
	for _, x := range all {
		first, back := x.entry, x.entry
		first.day, first.kind, back.kind = x.paid, entryPayment, entryReturn
		for _, p := range x.parts {
			switch what, name := p.as(x.paid); {
			case x.method == byDeposit:
				first.kind = entryUse
				first.add(partIncome, *p.typ, p.cents)
				first.add(partDeposit, "", -p.cents)
				back.add(partIncome, *p.typ, -p.cents)
				back.add(partDeposit, "", p.cents)
			case p.typ != nil && *p.typ == "deposit":
				first.add(what, name, p.cents)
				back.add(partDeposit, "", -p.cents)
				if held := x.entry; what != partDeposit {
					if held.day = p.due; s.has(held.day) {
						fn(held.becomes(p.cents))
					}
				}
			default:
				first.add(what, name, p.cents)
				back.add(partReturned, "", -p.cents)
			}
		}
		for _, e := range []entry{first, back} {
			if s.has(e.day) && len(e.parts) > 0 {
				fn(e)
			}
		}
	}
	return err
}

// keepReturn stores what a payment of a closed year had paid, before it is reversed on a day.
func keepReturn(tx *db.Tx, m StoredPayment, on exact.Day) error {
	tx.Do("INSERT INTO payment_returns (payment_id, day) VALUES (?, ?)", m.ID, on)
	parts, err := db.All(&tx.Conn, func(r *db.Row) allocated {
		return allocated{typ: r.TextPtr(), due: r.Day(), counted: r.DayPtr(), cents: r.Int()}
	}, `SELECT ch.type, ch.due_date, a.counted, a.amount_cents FROM allocations a CROSS JOIN charges ch
		ON ch.id = a.charge_id
		WHERE a.payment_id = ? ORDER BY a.id`, m.ID)
	if err != nil {
		return err
	}
	if m.CreditCents > 0 {
		parts = append(parts, allocated{cents: m.CreditCents})
	}
	for _, p := range parts {
		counted := m.PaidDate
		switch what, _ := p.as(m.PaidDate); {
		case m.Method == byDeposit: // it is income of its type
		case p.typ != nil && *p.typ == "deposit" && p.held(m.PaidDate) <= on:
			counted = p.held(m.PaidDate)
		case what != partIncome:
			p.typ = nil
		}
		tx.Do("INSERT INTO payment_return_parts (payment_id, type, counted, amount_cents) VALUES (?, ?, ?, ?)",
			m.ID, p.typ, counted, p.cents)
	}
	return nil
}
