package rental

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"
)

// account keeps one lease's money without the program's code. It lives through the calendar day by day and follows
// month.md. Days are counted from the epoch. It refuses what the program should refuse.
type account struct {
	first, end int          // the lease's days; an open end is far in the future
	periods    map[int]span // by their first days, as if the lease had no end
	full       bool         // shortened periods are charged in full
	base       int64
	steps      []step
	recurring  []repeat
	house      *property

	now      int // today
	lived    int // the last processed day
	charges  []item
	payments []money
	parts    []part
	outs     []outflow
	waived   map[int]bool // rent due on these days gets no more late fee
}

type (
	span struct{ last, days, whole int }
	step struct {
		from int
		rent int64
	}
	repeat struct {
		typ, label string
		cents      int64
		from, to   int
	}
	fee struct {
		from, grace    int
		cents, percent int64 // percent in hundredths; -1 if the other applies
	}
	property struct{ fees []fee }
	item     struct {
		typ, label string
		due, last  int
		cents      int64
		rent       int64 // of a whole period, for rent
		of, repeat int   // the rent of a late fee, the recurring charge; -1 for none
		gone       bool
	}
	money struct {
		id              int64
		day             int
		cents           int64
		deposit, undone bool
	}
	part struct {
		payment, charge, out int
		cents                int64
	} // of a payment, to a charge or out; -1 for none
	outflow struct {
		day    int
		cents  int64
		credit bool
	}
)

const never = math.MaxInt32

// calendar walks a lease's days one by one and notes every billing period.
func calendar(n naive, until time.Time) map[int]span {
	all := map[int]span{}
	epoch := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	for d := n.start; !d.After(until); d = tomorrow(d) {
		if !d.Equal(n.start) && !n.due(d) {
			continue
		}
		s := span{last: n.daysBetween(epoch, d), days: 1, whole: 1}
		for x := d; !n.due(x); x = yesterday(x) {
			s.whole++
		}
		for x := tomorrow(d); !n.due(x); x = tomorrow(x) {
			s.last, s.days, s.whole = s.last+1, s.days+1, s.whole+1
		}
		all[n.daysBetween(epoch, d)] = s
	}
	return all
}

// share is the price of some days of a whole.
func (a *account) share(rent int64, days, whole int) int64 {
	if days == whole || a.full {
		return rent
	}
	return halfUp(big.NewRat(rent*int64(days), int64(whole)))
}

func (a *account) rentOn(day int) int64 {
	rent, from := a.base, math.MinInt
	for _, s := range a.steps {
		if s.from <= day && s.from > from {
			rent, from = s.rent, s.from
		}
	}
	return rent
}

// paid, credit, held and sums are added up from the parts each time.
func (a *account) paid(charge int) (cents int64) {
	for _, p := range a.parts {
		if p.charge == charge {
			cents += p.cents
		}
	}
	return cents
}

func (a *account) open(charge int) int64 { return a.charges[charge].cents - a.paid(charge) }

// settled reports whether a charge is paid: something was recorded and nothing is open.
func (a *account) settled(charge int) bool {
	return a.open(charge) == 0 && slices.ContainsFunc(a.parts, func(p part) bool { return p.charge == charge })
}

func (a *account) left(payment int) int64 {
	m := a.payments[payment]
	if m.undone {
		return 0
	}
	for _, p := range a.parts {
		if p.payment == payment {
			m.cents -= p.cents
		}
	}
	return m.cents
}

func (a *account) credit() (cents int64) {
	for i := range a.payments {
		cents += a.left(i)
	}
	return cents
}

func (a *account) held() (cents int64) {
	for i, c := range a.charges {
		if c.typ == "deposit" {
			cents += a.paid(i)
		}
	}
	for _, m := range a.payments {
		if m.deposit && !m.undone {
			cents -= m.cents
		}
	}
	for _, o := range a.outs {
		if !o.credit {
			cents -= o.cents
		}
	}
	return cents
}

// live processes days up to a day. On each day, in this order, rent and recurring charges fall due, then late fees,
// then credit pays what is due. A change may affect earlier days, so it repeats from the beginning until nothing
// changes.
func (a *account) live(today int) {
	begin := a.first
	a.now = max(a.now, today)
	for _, c := range a.charges {
		begin = min(begin, c.due)
	}
	for again := true; again; {
		again = false
		for d := begin; d <= today; d++ {
			if s, due := a.periods[d]; due && d > a.lived && d <= a.end {
				a.letOn(d, s)
			}
			again = a.feesOn(d) || again
			again = a.useCredit(d) || again
		}
		a.lived = max(a.lived, today)
	}
}

func (a *account) letOn(d int, s span) {
	rent, days := a.rentOn(d), s.days
	if a.end < s.last {
		s.last, days = a.end, days-(s.last-a.end)
	}
	a.charges = append(a.charges, item{typ: "rent", due: d, last: s.last, cents: a.share(rent, days, s.whole), rent: rent, of: -1, repeat: -1})
	for i, r := range a.recurring {
		if r.from <= d && d <= r.to {
			a.charges = append(a.charges, item{typ: r.typ, label: r.label, due: d, cents: r.cents, of: -1, repeat: i})
		}
	}
}

// lateFee finds the fee rule for the rent, if any.
func (a *account) lateFee(rent int) (f *fee) {
	c := &a.charges[rent]
	if c.typ != "rent" || c.gone || a.waived[c.due] {
		return nil
	}
	for i := range a.house.fees {
		if x := &a.house.fees[i]; x.from <= c.due && (f == nil || x.from > f.from) {
			f = x
		}
	}
	return f
}

// fee is the rent's late fee by the days of its payments, and its due date.
func (a *account) fee(rent int) (cents int64, due int) {
	f, c := a.lateFee(rent), a.charges[rent]
	if f == nil {
		return 0, 0
	}
	open := c.cents
	for _, p := range a.parts {
		if p.charge == rent && a.payments[p.payment].day <= c.due+f.grace {
			open -= p.cents
		}
	}
	due = c.due + f.grace + 1
	switch {
	case open <= 0:
		return 0, due
	case f.percent < 0:
		return f.cents, due
	}
	return halfUp(big.NewRat(open*f.percent, 10_000)), due
}

func (a *account) feeOf(rent int) int {
	return slices.IndexFunc(a.charges, func(c item) bool { return c.of == rent && !c.gone })
}

// feesOn posts the late fees that fall due on a day.
func (a *account) feesOn(d int) (done bool) {
	for i := range a.charges {
		f := a.lateFee(i)
		if f == nil || a.charges[i].due+f.grace+1 != d || a.feeOf(i) >= 0 {
			continue
		}
		if cents, _ := a.fee(i); cents > 0 {
			label := "Late fee for rent due " + dayText(a.charges[i].due)
			a.charges = append(a.charges, item{typ: "late_fee", label: label, due: d, cents: cents, of: i, repeat: -1})
			done = true
		}
	}
	return done
}

// reconcile updates every unpaid late fee to its present amount.
func (a *account) reconcile() {
	for i := range a.charges {
		f := a.feeOf(i)
		if f < 0 || a.settled(f) {
			continue
		}
		cents, due := a.fee(i)
		if due > a.now {
			cents = 0
		}
		if a.release(f, a.paid(f)-cents); cents == 0 {
			a.charges[f].gone = true
			continue
		}
		a.charges[f].cents, a.charges[f].due = cents, due
	}
}

// release takes cents of a charge back, last payment first.
func (a *account) release(charge int, cents int64) {
	for cents > 0 {
		last := -1
		for i, p := range a.parts {
			if p.charge == charge && (last < 0 || a.later(p.payment, a.parts[last].payment)) {
				last = i
			}
		}
		n := min(cents, a.parts[last].cents)
		cents -= n
		if a.parts[last].cents -= n; a.parts[last].cents == 0 {
			a.parts = slices.Delete(a.parts, last, last+1)
		}
	}
}

func (a *account) later(p, q int) bool {
	return a.payments[p].day > a.payments[q].day || a.payments[p].day == a.payments[q].day && p > q
}

func (a *account) useCredit(d int) (done bool) {
	for {
		oldest := -1
		for i := range a.payments {
			if a.left(i) > 0 && (oldest < 0 || a.later(oldest, i)) {
				oldest = i
			}
		}
		if oldest < 0 || !a.spend(oldest, d) {
			return done
		}
		done = true
	}
}

// spend pays charges due by a day from a payment, oldest first.
func (a *account) spend(payment, by int) (done bool) {
	for a.left(payment) > 0 {
		oldest := -1
		for i, c := range a.charges {
			if !c.gone && c.due <= by && a.open(i) > 0 && (oldest < 0 || c.due < a.charges[oldest].due) {
				oldest = i
			}
		}
		if oldest < 0 {
			return done
		}
		a.give(payment, oldest, min(a.left(payment), a.open(oldest)))
		done = true
	}
	return done
}

// give pays cents of a charge from a payment.
func (a *account) give(payment, charge int, cents int64) {
	i := slices.IndexFunc(a.parts, func(p part) bool { return p.payment == payment && p.charge == charge })
	if i < 0 {
		i = len(a.parts)
		a.parts = append(a.parts, part{payment, charge, -1, 0})
	}
	a.parts[i].cents += cents
	a.reconcile()
}

func dayText(d int) string { return time.Unix(int64(d)*86400, 0).UTC().Format(time.DateOnly) }

// rows are the account's charges and sums as text, in the format of the program's.
func (a *account) rows() (all []string) {
	for i, c := range a.charges {
		if c.gone {
			continue
		}
		last := ""
		if c.typ == "rent" {
			last = dayText(c.last)
		}
		on := ""
		if a.settled(i) {
			for _, p := range a.parts {
				if p.charge == i {
					on = max(on, dayText(a.payments[p.payment].day))
				}
			}
		}
		all = append(all, fmt.Sprint(c.typ, " ", c.label, " ", dayText(c.due), " ", last, " ", c.cents, " ", a.paid(i), " ", on))
	}
	slices.Sort(all)
	return append(all, fmt.Sprint("credit ", a.credit(), ", held ", a.held()))
}
