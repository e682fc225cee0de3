package rental

import (
	"fmt"
	"slices"
	"strings"

	"quartermaster/schema/exact"
)

// What a match is, and what it leads to.
const (
	certain  = "certain"
	proposed = "proposed"
	unknown  = "unknown"

	actPayment = "payment"
	actLink    = "link"
	actReturn  = "return"
	actExpense = "expense"
)

// The days within which a payment by hand is a line's, a payout is, and a return comes.
const (
	linkDays     = 7
	payoutDays   = 10
	returnDays   = 400
	forgottenFor = 90 // after a lease's end
	soonDays     = 14
	mostLinked   = 5
	mostProposed = 5
)

// matchLease are the data of a lease for the comparison with lines.
type matchLease struct {
	id       int64
	label    string // Property / Unit
	unit     string
	tenants  []string
	opening  *exact.Day
	end      *exact.Day
	open     []openCharge // oldest first
	credit   int64
	next     int64      // what the next period will charge; 0: nothing
	from     *exact.Day // its first day
	payments []matchPayment

	names     [][][2]string // words of the tenants' names
	unitWords [][2]string
}

// hasPayer reports whether a tenant's whole name is the payer's.
func (x *matchLease) hasPayer(payer [][2]string) bool {
	return slices.ContainsFunc(x.names, func(name [][2]string) bool { return hasName(payer, name) })
}

// openCharge is what is open of a charge.
type openCharge struct {
	due   exact.Day
	cents int64
}

// matchPayment is a payment that stands, or a payout.
type matchPayment struct {
	id, lease, cents int64
	day              exact.Day
	cash             bool
	lined            bool // a line is linked to it
}

// payerPaid is what the settled lines of a payer's account paid.
type payerPaid struct {
	leases map[int64]bool
	last   int64
}

// matcher compares lines with leases. It is pure: match treats its certain decisions as done, so that the next line is
// compared with what is open then.
type matcher struct {
	today    exact.Day
	leases   []*matchLease // by id
	byID     map[int64]*matchLease
	payments []matchPayment     // all that stand in the days of returns
	payouts  []matchPayment     // without a line
	expenses []matchPayment     // without a line
	like     map[string]Expense // by the account that was paid: the last one booked for it
	accounts map[string]*payerPaid
}

func newMatcher(today exact.Day, leases []*matchLease) *matcher {
	m := &matcher{today: today, leases: leases, byID: map[int64]*matchLease{}, accounts: map[string]*payerPaid{},
		like: map[string]Expense{}}
	for _, l := range leases {
		m.byID[l.id] = l
		l.unitWords = wordsOf(l.unit)
		for _, name := range l.tenants {
			l.names = append(l.names, wordsOf(name))
		}
	}
	return m
}

// paid notes that a line from the account went to the lease.
func (m *matcher) paid(account string, lease, cents int64) {
	if account = signs(account); account == "" {
		return
	}
	if m.accounts[account] == nil {
		m.accounts[account] = &payerPaid{leases: map[int64]bool{}}
	}
	m.accounts[account].leases[lease] = true
	m.accounts[account].last = cents
}

// match sets what a free line is.
func (m *matcher) match(l *BankLine) {
	set := func(match, act string, all ...BankCandidate) {
		l.Match, l.Candidates = &match, append([]BankCandidate{}, all...)
		for i, c := range l.Candidates {
			if x := m.leaseOf(c); x != nil {
				l.Candidates[i].Lease = x.label + ", " + strings.Join(x.tenants, " & ")
				l.Candidates[i].early = act == actPayment && x.opening != nil && l.Day < *x.opening
			}
		}
		if act != "" {
			l.Act = &act
		}
	}
	if l.AmountCents < 0 {
		if act, all := m.debit(l); len(all) > 0 {
			set(proposed, act, all...)
			return
		}
		set(unknown, "")
		return
	}
	lease, named, sure := m.find(l)
	if lease != nil {
		if links, only := m.links(lease, l, named); len(links) > 0 {
			if only && m.may(lease, l) {
				m.linked(lease, l, links[0].PaymentIDs[0])
				set(certain, actLink, links...)
			} else {
				set(proposed, actLink, links...)
			}
			return
		}
		if sure && m.may(lease, l) {
			m.booked(lease, l)
			set(certain, actPayment, BankCandidate{LeaseID: &lease.id, PaymentIDs: []int64{}, Evidence: []string{named}})
			return
		}
	}
	if all := m.proposals(l); len(all) > 0 {
		set(proposed, actPayment, all...)
		return
	}
	set(unknown, "")
}

// leaseOf is the lease of a candidate; nil without one.
func (m *matcher) leaseOf(c BankCandidate) *matchLease {
	if c.LeaseID == nil {
		return nil
	}
	return m.byID[*c.LeaseID]
}

// find is the one lease of a line: by its reference, else by the account if it pays only that lease, else by the
// tenant's name; sure means that the amount is right too, where that counts.
func (m *matcher) find(l *BankLine) (lease *matchLease, evidence string, sure bool) {
	if ids := m.referenced(l); len(ids) > 0 {
		if len(ids) > 1 {
			return nil, "", false
		}
		return m.byID[ids[0]], "it has the reference " + PaymentReference(ids[0]), true
	}
	paid := m.accounts[signs(l.PayerAccount)]
	if signs(l.PayerAccount) != "" && paid != nil {
		if len(paid.leases) > 1 { // of a tenant with two leases, say
			if lease, evidence, sure = m.byName(l); lease == nil || !paid.leases[lease.id] {
				return nil, "", false
			}
			return lease, evidence, sure
		}
		for id := range paid.leases {
			if lease = m.byID[id]; lease != nil {
				_, exactly := lease.exact(l)
				return lease, "its account paid this lease alone", exactly || paid.last == l.AmountCents
			}
		}
	}
	return m.byName(l)
}

// byName is the one lease with a tenant whose whole name is the payer's. Of several, it is the one whose amount is
// exact.
func (m *matcher) byName(l *BankLine) (lease *matchLease, evidence string, sure bool) {
	payer := wordsOf(l.PayerName)
	var all, exactly []*matchLease
	for _, x := range m.leases {
		if !x.hasPayer(payer) {
			continue
		}
		all = append(all, x)
		if _, ok := x.exact(l); ok {
			exactly = append(exactly, x)
		}
	}
	why := "the payer has the tenant's name"
	switch {
	case len(exactly) == 1:
		return exactly[0], why + " and the amount is due", true
	case len(all) == 1 && len(exactly) == 0:
		return all[0], why, false
	}
	return nil, "", false
}

// referenced are the leases whose references a line has.
func (m *matcher) referenced(l *BankLine) (ids []int64) {
	for _, id := range referencesIn(l.Reference, l.Text) {
		if m.byID[id] != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// exact reports whether the amount is what is due: all by the day, all within two weeks, one charge, or the next
// period less credit.
func (x *matchLease) exact(l *BankLine) (why string, ok bool) {
	var due, soon int64
	one := false
	for _, c := range x.open {
		if c.due <= l.Day {
			due += c.cents
		}
		if c.due <= l.Day+soonDays {
			soon += c.cents
		}
		one = one || c.cents == l.AmountCents
	}
	switch n := l.AmountCents; {
	case n == due:
		return "the amount is all that is due", true
	case one:
		return "the amount is one charge that is open", true
	case n == soon:
		return "the amount is all that is due within 14 days", true
	case x.next > 0 && n == x.next-x.credit:
		return "the amount is the next period's", true
	}
	return "", false
}

// may reports whether a line may be certain for the lease at all.
func (m *matcher) may(x *matchLease, l *BankLine) bool {
	if x.opening != nil && l.Day < *x.opening {
		return false
	}
	return x.end == nil || *x.end+forgottenFor >= l.Day || len(x.open) > 0
}

// links are the payments of the lease that the line may be, recorded by hand: each of its amount, else a few that add
// up to it. only is true for one that is not cash.
func (m *matcher) links(x *matchLease, l *BankLine, named string) (all []BankCandidate, only bool) {
	var near, same []matchPayment
	for _, p := range x.payments {
		if p.lined || distance(p.day, l.Day) > linkDays {
			continue
		}
		near = append(near, p)
		if p.cents == l.AmountCents {
			same = append(same, p)
		}
	}
	link := func(why string, payments ...matchPayment) {
		c := BankCandidate{LeaseID: &x.id, PaymentIDs: []int64{}, Evidence: []string{why, named}}
		for _, p := range payments {
			c.PaymentIDs = append(c.PaymentIDs, p.id)
		}
		all = append(all, c)
	}
	for _, p := range same[:min(len(same), mostProposed)] {
		link(fmt.Sprintf("payment %d of %s has its amount", p.id, p.day), p)
	}
	if len(same) > 0 {
		return all, len(same) == 1 && !same[0].cash
	}
	if some := adding(near, l.AmountCents); some != nil {
		link(fmt.Sprintf("%d payments add up to it", len(some)), some...)
	}
	return all, false
}

func distance(a, b exact.Day) int { return int(max(a, b) - min(a, b)) }

// adding finds 2 to 5 payments that add up to an amount, of the first twelve.
func adding(all []matchPayment, cents int64) []matchPayment {
	all = all[:min(len(all), 12)]
	var chosen []matchPayment
	var search func(from int, left int64) bool
	search = func(from int, left int64) bool {
		if left == 0 && len(chosen) > 1 {
			return true
		}
		if len(chosen) == mostLinked {
			return false
		}
		for i := from; i < len(all); i++ {
			if all[i].cents > left {
				continue
			}
			chosen = append(chosen, all[i])
			if search(i+1, left-all[i].cents) {
				return true
			}
			chosen = chosen[:len(chosen)-1]
		}
		return false
	}
	if search(0, cents) {
		return chosen
	}
	return nil
}

// booked takes a line as a payment of the lease, which pays what is due first.
func (m *matcher) booked(x *matchLease, l *BankLine) {
	m.paid(l.PayerAccount, x.id, l.AmountCents)
	left := l.AmountCents
	var open []openCharge
	for _, c := range x.open {
		n := int64(0)
		if c.due <= m.today {
			n = min(left, c.cents)
		}
		left -= n
		if c.cents > n {
			open = append(open, openCharge{c.due, c.cents - n})
		}
	}
	x.open = open
	x.credit += left
}

// linked takes a line as the payment.
func (m *matcher) linked(x *matchLease, l *BankLine, payment int64) {
	m.paid(l.PayerAccount, x.id, l.AmountCents)
	for i := range x.payments {
		x.payments[i].lined = x.payments[i].lined || x.payments[i].id == payment
	}
}
