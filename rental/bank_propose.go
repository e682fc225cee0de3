package rental

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// freeLines are the free lines of accounts in the shop's currency, in the order in which they are compared, with what
// each is. Ledgers are to be posted before.
func freeLines(c *db.Conn) ([]BankLine, error) {
	lines, err := lineRows.All(c, "WHERE b.state = 'free' ORDER BY b.day, b.id")
	if err != nil || len(lines) == 0 {
		return lines, err
	}
	shops, err := c.Currency()
	if err != nil {
		return nil, err
	}
	m, err := loadMatcher(c, lines[0].Day, lines[len(lines)-1].Day)
	if err != nil {
		return nil, err
	}
	for i := range lines {
		if lines[i].currency != shops.Code {
			lines[i].Match = new(unknown)
			continue
		}
		m.match(&lines[i])
	}
	return lines, nil
}

// loadMatcher reads what lines of the days are compared with.
func loadMatcher(c *db.Conn, first, last exact.Day) (*matcher, error) {
	leases, err := matchLeases(c)
	if err != nil {
		return nil, err
	}
	m := newMatcher(c.Today(), leases)
	lined := ", EXISTS (SELECT 1 FROM bank_links k WHERE k."
	m.payments, err = db.All(c, scanMatchPayment,
		"SELECT m.id, m.lease_id, m.amount_cents, m.paid_date, m.method = 'cash'"+lined+`payment_id = m.id)
		FROM payments m WHERE m.voided_at IS NULL AND m.paid_date BETWEEN ? AND ? AND m.method NOT IN ('deposit', 'opening')`,
		first-returnDays, last+linkDays)
	if err != nil {
		return nil, err
	}
	for _, p := range m.payments {
		if x := m.byID[p.lease]; x != nil {
			x.payments = append(x.payments, p)
		}
	}
	m.payouts, err = db.All(c, scanMatchPayment, "SELECT m.id, m.lease_id, m.amount_cents, m.day, 0"+lined+
		`payout_id = m.id)
		FROM payouts m WHERE m.day BETWEEN ? AND ? ORDER BY m.id`, first-payoutDays, last+payoutDays)
	if err != nil {
		return nil, err
	}
	m.expenses, err = db.All(c, scanMatchPayment, `SELECT e.id, 0, e.amount_cents, e.day, 0, 0 FROM expenses e
		WHERE e.day BETWEEN ? AND ?
		AND e.reverses_id IS NULL AND NOT EXISTS (SELECT 1 FROM bank_links k WHERE k.expense_id = e.id)
		AND NOT EXISTS (SELECT 1 FROM expenses x WHERE x.reverses_id = e.id) ORDER BY e.day, e.id`, first-payoutDays,
		last+payoutDays)
	if err != nil {
		return nil, err
	}
	err = db.Each(c, func(r *db.Row) error {
		e := expenses.Row(r)
		m.like[signs(r.Text())] = e
		return nil
	}, "SELECT "+expenses.Columns()+", b.payer_account FROM expenses e "+placesOfExpenses+`
		JOIN bank_links k ON k.expense_id = e.id
		JOIN bank_lines b ON b.id = k.line_id
		WHERE b.payer_account <> '' ORDER BY b.day, b.id`)
	if err != nil {
		return nil, err
	}
	return m, db.Each(c, func(r *db.Row) error {
		m.paid(r.Text(), r.Int(), r.Int())
		return nil
	}, `SELECT b.payer_account, m.lease_id, b.amount_cents FROM bank_links k CROSS JOIN bank_lines b
		ON b.id = k.line_id CROSS JOIN payments m ON m.id = k.payment_id
		WHERE b.state IN ('booked', 'linked') AND b.payer_account <> '' ORDER BY b.day, b.id`)
}

func scanMatchPayment(r *db.Row) matchPayment {
	return matchPayment{id: r.Int(), lease: r.Int(), cents: r.Int(), day: r.Day(), cash: r.Bool(), lined: r.Bool()}
}

// matchLeases reads every lease with what is open of it, and what its next period will charge.
func matchLeases(c *db.Conn) ([]*matchLease, error) {
	list, err := leases.All(c, "ORDER BY l.id")
	if err != nil {
		return nil, err
	}
	all, byID := make([]*matchLease, len(list)), map[int64]*matchLease{}
	for i, l := range list {
		x := &matchLease{id: l.ID, label: l.Property + " / " + l.Unit, unit: l.Unit, opening: l.OpeningDay, end: l.EndDate,
			from: l.nextPost}
		for _, t := range l.Tenants {
			if !t.Forgotten() {
				x.tenants = append(x.tenants, t.Name)
			}
		}
		if l.nextPost != nil {
			t := l.terms()
			p := t.from(*l.nextPost)
			then := t.at(p.First)
			x.next = then.charge(p)
		}
		all[i], byID[l.ID] = x, x
	}
	err = db.Each(c, func(r *db.Row) error {
		if x := byID[r.Int()]; x != nil {
			x.open = append(x.open, openCharge{r.Day(), r.Int()})
		}
		return nil
	}, "SELECT c.lease_id, c.due_date, c.amount_cents - c.paid_cents FROM charges c INDEXED BY charges_unpaid WHERE "+
		"c.paid_date IS NULL AND c.amount_cents > c.paid_cents")
	if err != nil {
		return nil, err
	}
	for _, x := range all {
		slices.SortStableFunc(x.open, func(a, b openCharge) int { return cmp.Compare(a.due, b.due) })
	}
	err = db.Each(c, func(r *db.Row) error {
		if x := byID[r.Int()]; x != nil {
			x.credit += r.Int()
		}
		return nil
	}, "SELECT lease_id, credit_cents FROM payments INDEXED BY payments_credit WHERE credit_cents > 0")
	if err != nil {
		return nil, err
	}
	return all, db.Each(c, func(r *db.Row) error {
		x, beside := byID[r.Int()], Recurring{AmountCents: r.Int(), From: r.Day(), To: r.DayPtr()}
		if x != nil && x.from != nil && beside.holds(*x.from) {
			x.next += beside.AmountCents
		}
		return nil
	}, "SELECT lease_id, amount_cents, from_day, to_day FROM recurring_charges")
}

// evidence is what speaks for a lease.
type evidence struct {
	lease              *matchLease
	reference, account bool
	due, name          string // why the amount is exact; the word of a tenant's name
	unit               bool
}

func (e evidence) count() (n int) {
	for _, speaks := range []bool{e.reference, e.account, e.due != "", e.name != "", e.unit} {
		if speaks {
			n++
		}
	}
	return n
}

func (e evidence) texts() (all []string) {
	for _, said := range []struct {
		speaks bool
		text   string
	}{
		{e.reference, "it has the reference " + PaymentReference(e.lease.id)},
		{e.account, "its account paid this lease before"},
		{e.due != "", e.due},
		{e.name != "", "the payer has the name " + e.name},
		{e.unit, "it names " + e.lease.unit},
	} {
		if said.speaks {
			all = append(all, said.text)
		}
	}
	return all
}

// proposals are the leases for which something speaks, most first.
func (m *matcher) proposals(l *BankLine) (best []BankCandidate) {
	references, paid := m.referenced(l), m.accounts[signs(l.PayerAccount)]
	if signs(l.PayerAccount) == "" || paid == nil {
		paid = &payerPaid{}
	}
	payer, text := wordsOf(l.PayerName), wordsOf(l.PayerName+" "+l.Text+" "+l.Reference)
	var all []evidence
	for _, x := range m.leases {
		e := evidence{lease: x, reference: slices.Contains(references, x.id), account: paid.leases[x.id],
			name: sharedWord(payer, x), unit: hasRun(text, x.unitWords)}
		e.due, _ = x.exact(l)
		if e.count() > 0 {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b evidence) int {
		return cmp.Or(cmp.Compare(b.count(), a.count()), cmp.Compare(a.lease.id, b.lease.id))
	})
	for _, e := range all[:min(len(all), mostProposed)] {
		best = append(best, BankCandidate{LeaseID: &e.lease.id, PaymentIDs: []int64{}, Evidence: e.texts()})
	}
	return best
}

// sharedWord is the first word of at least four letters of a tenant's name that the payer has, as it is written.
func sharedWord(payer [][2]string, x *matchLease) string {
	for i, name := range x.names {
		for _, w := range name {
			if utf8.RuneCountInString(w[1]) < 4 || !hasWord(payer, w) {
				continue
			}
			for word := range strings.FieldsSeq(x.tenants[i]) {
				if hasWord(wordsOf(word), w) {
					return word
				}
			}
		}
	}
	return ""
}

// hasRun reports whether words stand in a text one after the other.
func hasRun(text, words [][2]string) bool {
	for i := 0; len(words) > 0 && i+len(words) <= len(text); i++ {
		same := true
		for j, w := range words {
			same = same && text[i+j] == w
		}
		if same {
			return true
		}
	}
	return false
}

// debit is what money out may be: a payment that the bank took back, a payout or an expense that is recorded already,
// or an expense like the last one for that account.
func (m *matcher) debit(l *BankLine) (act string, all []BankCandidate) {
	references, paid, payer := m.referenced(l), m.accounts[signs(l.PayerAccount)], wordsOf(l.PayerName)
	for _, p := range m.payments {
		if x := m.byID[p.lease]; x == nil || p.cash || p.cents != -l.AmountCents || p.day > l.Day ||
			l.Day-p.day > returnDays {
			continue
		}
		x := m.byID[p.lease]
		var why string
		switch {
		case slices.Contains(references, x.id):
			why = "it has the reference " + PaymentReference(x.id)
		case signs(l.PayerAccount) != "" && paid != nil && paid.leases[x.id]:
			why = "its account paid this lease before"
		case x.hasPayer(payer):
			why = "it has the tenant's name"
		default:
			continue
		}
		all = append(all, BankCandidate{LeaseID: &x.id, PaymentIDs: []int64{p.id},
			Evidence: []string{why, fmt.Sprintf("payment %d of %s has its amount", p.id, p.day)}})
	}
	if len(all) > 0 {
		slices.SortFunc(all, func(a, b BankCandidate) int { return cmp.Compare(b.PaymentIDs[0], a.PaymentIDs[0]) })
		return actReturn, all[:min(len(all), mostProposed)]
	}
	for _, p := range m.payouts {
		if !p.lined && p.cents == -l.AmountCents && distance(p.day, l.Day) <= payoutDays {
			all = append(all, BankCandidate{LeaseID: &p.lease, PaymentIDs: []int64{}, PayoutID: &p.id,
				Evidence: []string{fmt.Sprintf("payout %d of %s has its amount", p.id, p.day)}})
		}
	}
	for _, p := range m.expenses {
		if p.cents == -l.AmountCents && distance(p.day, l.Day) <= payoutDays {
			all = append(all, BankCandidate{PaymentIDs: []int64{}, ExpenseID: &p.id,
				Evidence: []string{fmt.Sprintf("expense %d of %s has its amount", p.id, p.day)}})
		}
	}
	if len(all) > 0 {
		return actLink, all[:min(len(all), mostProposed)]
	}
	if e, found := m.like[signs(l.PayerAccount)]; found && signs(l.PayerAccount) != "" {
		all = append(all, BankCandidate{PaymentIDs: []int64{}, ExpenseID: &e.ID, like: &e,
			Evidence: []string{fmt.Sprintf("its account was paid for %s on %s (expense %d)", e.Category, e.Day, e.ID)}})
	}
	return actExpense, all
}
