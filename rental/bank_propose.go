package rental

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

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
