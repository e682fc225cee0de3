package rental

import (
	"slices"

	"quartermaster/rental/bank"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// keptLine is what an import compares with the lines of a file.
type keptLine struct {
	id            int64
	day           exact.Day
	cents         int64
	bankReference string
	payerAccount  string
	key           string
	kind          string // of the file that it came in
	state         string
	met           bool // by a line of this file

	// Of a part of a booking, in a notice.
	entryReference string
	entryCents     int64
}

func scanKept(r *db.Row) keptLine {
	return keptLine{id: r.Int(), day: r.Day(), cents: r.Int(), bankReference: r.Text(), payerAccount: r.Text(),
		key:  string(r.Bytes()),
		kind: r.Text(), state: r.Text(),
		entryReference: r.Text(), entryCents: r.Int()}
}

// keptLines are the lines of an account from one day to another; parts are not lines of the bank.
func keptLines(c *db.Conn, account int64, from, to exact.Day) ([]keptLine, error) {
	return db.All(c, scanKept, `SELECT b.id, b.day, b.amount_cents, b.bank_reference, b.payer_account, b.payer_key,
		s.kind, b.state, b.entry_reference, b.entry_cents
		FROM bank_lines b CROSS JOIN bank_statements s ON s.id = b.statement_id
		WHERE b.account_id = ? AND b.day BETWEEN ? AND ? AND b.parent_id IS NULL ORDER BY b.id`, account, from, to)
}

// same reports whether the file's line is the stored one: day, amount and the bank's reference, or payer and text if
// one of them has none.
func (k keptLine) same(l bank.Line, key string) bool {
	if k.day != l.Day || k.cents != l.AmountCents {
		return false
	}
	if k.bankReference != "" && l.BankReference != "" {
		return folded(k.bankReference) == folded(l.BankReference)
	}
	return k.key == key
}

// similar reports whether the file's line may be the kept one, in other words.
func (k keptLine) similar(l bank.Line, kind string) bool {
	ours, theirs := signs(k.payerAccount), signs(l.PayerAccount)
	switch {
	case k.met, k.day != l.Day, k.cents != l.AmountCents:
		return false
	case ours != "" && theirs != "" && ours != theirs:
		return false
	case k.kind == kind && k.bankReference != "" && l.BankReference != "" &&
		folded(k.bankReference) != folded(l.BankReference):
		return false
	}
	return true
}

// sortedLines are the lines of a file by what an import does with them.
type sortedLines struct {
	fresh, same []bank.Line
	similar     []int64
	parts       map[int64][]bank.Line // of a kept, free line: the parts that a notice tells
	whole       []wholeLine           // of which the parts are kept already
}

// wholeLine is a line of a statement whose parts came before it, in a notice.
type wholeLine struct {
	bank.Line
	parts []int64
}

// slot is where lines are looked for that may be the same.
type slot struct {
	day   exact.Day
	cents int64
}

// sortLines compares a file's lines with the stored ones, whose met it sets: the n-th equal line of the file is the
// n-th stored one. take are numbers of lines that are new although they look the same. It is pure.
func sortLines(lines []bank.Line, kept []keptLine, kind string, take []int64, key func(bank.Line) string) (
	out sortedLines) {
	taken := map[int64]bool{}
	for _, n := range take {
		taken[n] = true
	}
	at := map[slot][]int{}
	for i, k := range kept {
		at[slot{k.day, k.cents}] = append(at[slot{k.day, k.cents}], i)
	}
	// meet is the first kept line, not met yet, of a day and an amount that is it.
	meet := func(s slot, is func(keptLine) bool) int64 {
		for _, i := range at[s] {
			if !kept[i].met && is(kept[i]) {
				kept[i].met = true
				return kept[i].id
			}
		}
		return 0
	}
	out.parts = map[int64][]bank.Line{}
	groups := noticed(kept)
	entries := map[int]int64{} // of the file: the kept line that a booking in parts is; 0: none
	var left []bank.Line
	for _, l := range lines {
		if kind == "camt.054" && l.EntryCents != l.AmountCents && l.EntryReference != "" {
			id, looked := entries[l.Entry]
			if !looked {
				id = meet(slot{l.Day, l.EntryCents},
					func(k keptLine) bool { return folded(k.bankReference) == folded(l.EntryReference) })
				entries[l.Entry] = id
			}
			if id != 0 {
				out.parts[id] = append(out.parts[id], l)
				continue
			}
		}
		if parts := groups.take(kept, l); parts != nil && kind != "camt.054" {
			out.whole = append(out.whole, wholeLine{l, parts})
			continue
		}
		if !taken[int64(l.Number)] &&
			meet(slot{l.Day, l.AmountCents}, func(k keptLine) bool { return k.same(l, key(l)) }) != 0 {
			out.same = append(out.same, l)
		} else {
			left = append(left, l)
		}
	}
	for _, l := range left {
		similar := func(i int) bool { return kept[i].similar(l, kind) }
		if !taken[int64(l.Number)] && slices.ContainsFunc(at[slot{l.Day, l.AmountCents}], similar) {
			out.similar = append(out.similar, int64(l.Number))
		} else {
			out.fresh = append(out.fresh, l)
		}
	}
	return out
}

// booking is what a notice says of the booking that a line is a part of.
type booking struct {
	slot
	reference string
}

// notices are kept parts by their booking: places among the kept lines.
type notices map[booking][]int

// noticed are the kept parts that no statement's line was found for yet.
func noticed(kept []keptLine) notices {
	all := notices{}
	for i, k := range kept {
		if k.kind == "camt.054" && k.entryReference != "" {
			b := booking{slot{k.day, k.entryCents}, folded(k.entryReference)}
			all[b] = append(all[b], i)
		}
	}
	return all
}

// take gives the kept parts that add up to a statement's line, once; nil if there are none.
func (n notices) take(kept []keptLine, l bank.Line) (ids []int64) {
	if l.BankReference == "" {
		return nil
	}
	b := booking{slot{l.Day, l.AmountCents}, folded(l.BankReference)}
	sum := int64(0)
	for _, i := range n[b] {
		sum += kept[i].cents
	}
	if len(n[b]) == 0 || sum != l.AmountCents {
		return nil
	}
	for _, i := range n[b] {
		kept[i].met = true
		ids = append(ids, kept[i].id)
	}
	delete(n, b)
	return ids
}
