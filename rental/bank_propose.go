package rental

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// proposals are the leases for which something speaks, most first.
func (m *matcher) proposals(l *BankLine) []BankCandidate {
	references, paid := m.referenced(l), m.accounts[signs(l.PayerAccount)]
	payer, text := wordsOf(l.PayerName), wordsOf(l.PayerName+" "+l.Text+" "+l.Reference)
	var all []BankCandidate
	for _, x := range m.leases {
		var why []string
		if slices.Contains(references, x.id) {
			why = append(why, "it has the reference "+PaymentReference(x.id))
		}
		if signs(l.PayerAccount) != "" && paid != nil && paid.leases[x.id] {
			why = append(why, "its account paid this lease before")
		}
		if what, ok := x.exact(l); ok {
			why = append(why, what)
		}
		if name := sharedWord(payer, x.tenants); name != "" {
			why = append(why, "the payer has the name "+name)
		}
		if unit := wordsOf(x.unit); hasRun(text, unit) {
			why = append(why, "it names "+x.unit)
		}
		if len(why) > 0 {
			all = append(all, BankCandidate{LeaseID: &x.id, PaymentIDs: []int64{}, Evidence: why})
		}
	}
	slices.SortStableFunc(all, func(a, b BankCandidate) int {
		return cmp.Or(cmp.Compare(len(b.Evidence), len(a.Evidence)), cmp.Compare(*a.LeaseID, *b.LeaseID))
	})
	return all[:min(len(all), mostProposed)]
}

// sharedWord is the first word of at least four letters of a tenant's name that the payer has.
func sharedWord(payer [][2]string, tenants []string) string {
	for _, name := range tenants {
		for word := range strings.FieldsSeq(name) {
			for _, w := range wordsOf(word) {
				if len([]rune(w[1])) >= 4 && hasWord(payer, w) {
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
			Evidence: []string{why, fmt.Sprintf("payment %d of %s is of its amount", p.id, p.day)}})
	}
	if len(all) > 0 {
		slices.SortFunc(all, func(a, b BankCandidate) int { return cmp.Compare(b.PaymentIDs[0], a.PaymentIDs[0]) })
		return actReturn, all[:min(len(all), mostProposed)]
	}
	for _, p := range m.payouts {
		if !p.lined && p.cents == -l.AmountCents && distance(p.day, l.Day) <= payoutDays {
			all = append(all, BankCandidate{LeaseID: &p.lease, PaymentIDs: []int64{}, PayoutID: &p.id,
				Evidence: []string{fmt.Sprintf("payout %d of %s is of its amount", p.id, p.day)}})
		}
	}
	for _, p := range m.expenses {
		if p.cents == -l.AmountCents && distance(p.day, l.Day) <= payoutDays {
			all = append(all, BankCandidate{PaymentIDs: []int64{}, ExpenseID: &p.id,
				Evidence: []string{fmt.Sprintf("expense %d of %s is of its amount", p.id, p.day)}})
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
