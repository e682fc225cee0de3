package rental

import (
	"cmp"
	"maps"
	"slices"
)

// The actions on an account. Each reports whether it is done, and leaves the account in an undefined state if not; try
// works on a copy.

func (a *account) copy() *account {
	b := *a
	b.steps, b.recurring, b.charges = slices.Clone(a.steps), slices.Clone(a.recurring), slices.Clone(a.charges)
	b.payments, b.parts, b.outs, b.waived = slices.Clone(a.payments), slices.Clone(a.parts), slices.Clone(a.outs), maps.Clone(a.waived)
	return &b
}

// pay records a payment: of one charge, or on account if charge is -1.
func (a *account) pay(today, charge int, m money) bool {
	if charge >= 0 && (a.settled(charge) || m.cents < 1 || m.cents > a.open(charge)) {
		return false
	}
	a.payments = append(a.payments, m)
	n := len(a.payments) - 1
	if charge >= 0 {
		a.give(n, charge, m.cents)
	} else {
		a.spend(n, today)
	}
	a.live(today)
	return true
}

func (a *account) reverse(today, payment int) bool {
	if a.payments[payment].undone || slices.ContainsFunc(a.parts, func(p part) bool { return p.payment == payment && p.out >= 0 }) {
		return false
	}
	a.payments[payment].undone = true
	a.parts = slices.DeleteFunc(a.parts, func(p part) bool { return p.payment == payment })
	a.reconcile()
	a.live(today)
	return a.held() >= 0
}

func (a *account) chargeFor(today int, c item) bool {
	c.of, c.repeat = -1, -1
	a.charges = append(a.charges, c)
	a.live(today)
	return true
}

// useDeposit pays cents of a charge; 0 means as much as possible.
func (a *account) useDeposit(today, charge int, cents int64) bool {
	held, open := a.held(), a.open(charge)
	if cents == 0 {
		cents = min(held, open)
	}
	if a.charges[charge].typ == "deposit" || open == 0 || held == 0 || cents > min(held, open) {
		return false
	}
	a.payments = append(a.payments, money{day: today, cents: cents, deposit: true})
	a.give(len(a.payments)-1, charge, cents)
	a.live(today)
	return true
}

// payOut returns cents of the credit or the deposit; 0 means all.
func (a *account) payOut(today int, credit bool, cents int64) bool {
	have := a.held()
	if credit {
		have = a.credit()
	}
	if cents == 0 {
		cents = have
	}
	if have == 0 || cents > have {
		return false
	}
	a.outs = append(a.outs, outflow{today, cents, credit})
	for credit && cents > 0 {
		oldest := -1
		for i := range a.payments {
			if a.left(i) > 0 && (oldest < 0 || a.later(oldest, i)) {
				oldest = i
			}
		}
		n := min(cents, a.left(oldest))
		a.parts = append(a.parts, part{oldest, -1, len(a.outs) - 1, n})
		cents -= n
	}
	a.live(today)
	return true
}

func (a *account) void(today, charge int) bool {
	if a.charges[charge].typ == "rent" || a.settled(charge) || a.paid(charge) > 0 {
		return false
	}
	a.charges[charge].gone = true
	if rent := a.charges[charge].of; rent >= 0 {
		a.waived[a.charges[rent].due] = true
	}
	a.live(today)
	return true
}

func (a *account) setRent(from int, rent int64) bool {
	if from < a.first {
		return false
	}
	a.steps = slices.DeleteFunc(a.steps, func(s step) bool { return s.from == from })
	a.steps = append(a.steps, step{from, rent})
	return true
}

func (a *account) repeatCharge(today int, r repeat) bool {
	a.recurring = append(a.recurring, r)
	var past []int
	for _, c := range a.charges {
		if c.typ == "rent" && !c.gone && r.from <= c.due && c.due <= r.to {
			past = append(past, c.due)
		}
	}
	slices.Sort(past)
	for _, due := range past {
		a.charges = append(a.charges, item{typ: r.typ, label: r.label, due: due, cents: r.cents, of: -1, repeat: len(a.recurring) - 1})
	}
	a.live(today)
	return true
}

func (a *account) stopRepeat(today, n, to int) bool {
	r := &a.recurring[n]
	to = max(to, r.from-1)
	if to >= r.to {
		return false
	}
	for i, c := range a.charges {
		if c.repeat == n && !c.gone && c.due > to && !a.withdraw(i) {
			return false
		}
	}
	r.to = to
	a.live(today)
	return true
}

// withdraw removes an unpaid charge with its late fee; a paid fee stays.
func (a *account) withdraw(charge int) bool {
	if a.settled(charge) || a.paid(charge) > 0 {
		return false
	}
	if f := a.feeOf(charge); f >= 0 {
		if a.settled(f) {
			a.charges[f].of = -1
		} else {
			a.release(f, a.paid(f))
			a.charges[f].gone = true
		}
	}
	a.charges[charge].gone = true
	return true
}

func (a *account) finish(today, last int) bool {
	if last < a.first || last >= a.end {
		return false
	}
	order := make([]int, len(a.charges))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(a.charges[i].due, a.charges[j].due) })
	for _, i := range order {
		c := &a.charges[i]
		switch {
		case c.gone || c.typ != "rent" && c.repeat < 0:
		case c.due > last:
			if !a.withdraw(i) {
				return false
			}
		case c.typ == "rent" && c.last > last:
			s := a.periods[c.due]
			cents := a.share(c.rent, s.days-(s.last-last), s.whole)
			if a.settled(i) && cents != c.cents || a.paid(i) > cents {
				return false
			}
			c.cents, c.last = cents, last
			a.reconcile()
		}
	}
	a.end = last
	a.live(today)
	return true
}

// year adds up a statement's sums from first to last.
func (a *account) year(first, last int) (s Statement) {
	within := func(day int, before, in *int64, cents int64) {
		switch {
		case day < first:
			*before += cents
		case day <= last:
			*in += cents
		}
	}
	var minus int64
	for _, c := range a.charges {
		if !c.gone {
			within(c.due, &s.OpeningBalanceCents, &s.ChargedCents, c.cents)
		}
	}
	for _, m := range a.payments {
		switch {
		case m.undone:
		case m.deposit:
			within(m.day, &minus, &s.DepositUsedCents, m.cents)
		default:
			within(m.day, &minus, &s.ReceivedCents, m.cents)
		}
	}
	for _, o := range a.outs {
		if o.credit {
			within(o.day, &s.OpeningBalanceCents, &s.CreditReturnedCents, o.cents)
		}
	}
	s.OpeningBalanceCents -= minus
	s.ClosingBalanceCents = s.OpeningBalanceCents + s.ChargedCents - s.ReceivedCents - s.DepositUsedCents + s.CreditReturnedCents
	s.CreditCents, s.DepositHeldCents = a.credit(), a.held()
	return s
}
