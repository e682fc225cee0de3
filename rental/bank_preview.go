package rental

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/exact"
)

// previewBankImport says what a bank's file would bring before anything is kept: each statement in a sentence or
// two, and a box for each line that would be left out since a kept one looks like it.
func previewBankImport(a any, _ schema.Money) schema.Question {
	all := a.(BankImport)
	var fresh int
	q := schema.Question{Title: "Import bank file?", Button: "Import"}
	for _, st := range all.Statements {
		fresh += st.New
		q.Points = append(q.Points, st.told())
		for _, l := range st.left {
			label := fmt.Sprintf("Import line %d too: %s, %s, %s", l.Number, l.Day,
				exact.CurrencyOf(st.currency).Format(l.AmountCents), cmp.Or(l.PayerName, l.Text))
			q.Boxes = append(q.Boxes, schema.Box{Field: "take", Value: strconv.Itoa(l.Number),
				Label: strings.TrimSuffix(label, ", ")})
		}
	}
	q.Points = append(q.Points, previewLines(all.fresh)...)
	for _, name := range all.Skipped {
		q.Points = append(q.Points, name+" is no account here: its lines are skipped. Add the account to import them.")
	}
	q.Text = exact.Plural(fresh, "new line would be kept.", "new lines would be kept.") + " Nothing is written yet."
	if fresh == 0 {
		q.Text = "The file has no new line: every line of it is kept already or skipped. Nothing is written yet."
	}
	return q
}

// mostShown is how many lines a preview lists.
const mostShown = 200

// previewLines says of each new line what it is found to be: "2026-11-04, 950.00 EUR, Ada Brandt: certain, House / 2A,
// Ada Brandt (the payer has the tenant's name and the amount is due)."
func previewLines(lines []BankLine) (points []string) {
	if len(lines) == 0 {
		return nil
	}
	counts := map[string]int{}
	for i, l := range lines {
		if counts[set(l.Match)]++; i >= mostShown {
			continue
		}
		text := fmt.Sprintf("%s, %s, %s: %s", l.Day, exact.CurrencyOf(l.currency).Format(l.AmountCents),
			cmp.Or(l.PayerName, l.Text, l.Account), set(l.Match))
		for k, c := range l.Candidates {
			text += []string{", ", "; or "}[min(k, 1)]
			if c.Lease != "" {
				text += c.Lease + " "
			}
			text += "(" + strings.Join(c.Evidence, "; ") + ")"
		}
		points = append(points, text+".")
	}
	if more := len(lines) - mostShown; more > 0 {
		points = append(points, exact.Plural(more, "more line", "more lines")+".")
	}
	return append([]string{fmt.Sprintf("Of the new lines %s certain, %s proposed and %s unknown. None is booked yet.",
		exact.Plural(counts[certain], "is", "are"), exact.Plural(counts[proposed], "is", "are"),
		exact.Plural(counts[unknown], "is", "are"))}, points...)
}

// told is "Rent account, 2026-11-01 to 2026-11-30: 5 lines, 2 new, 3 kept already. The sums are right."
func (st ImportedStatement) told() string {
	money := exact.CurrencyOf(st.currency).Format
	text := st.Account
	switch {
	case st.From != nil && st.To != nil:
		text += fmt.Sprintf(", %s to %s", st.From, st.To)
	case st.To != nil:
		text += fmt.Sprintf(", up to %s", st.To)
	}
	text += fmt.Sprintf(": %s, %d new, %d kept already.", exact.Plural(st.Lines, "line", "lines"), st.New, st.Same)
	if n := len(st.Similar); n > 0 {
		text += fmt.Sprintf(" %s skipped, with the day and the amount of a kept line: %s.",
			exact.Plural(n, "line is", "lines are"), strings.ReplaceAll(joinIDs(st.Similar), ",", ", "))
	}
	switch st.State {
	case "unchecked":
		text += " The file does not have both balances, so its sums are not checked."
	case "unbalanced":
		text += fmt.Sprintf(" Opening and lines do not add up to the closing: %s are missing.", money(*st.MissingCents))
	default:
		text += fmt.Sprintf(" Opening %s and the lines add up to the closing, %s.", money(*st.OpeningCents),
			money(*st.ClosingCents))
	}
	if st.KeptCents != nil && *st.KeptCents != *st.ClosingCents {
		text += fmt.Sprintf(" The kept lines give the balance %s, and the bank's is %s: %s are missing here.",
			money(*st.KeptCents), money(*st.ClosingCents), money(*st.ClosingCents-*st.KeptCents))
	}
	if st.GapCents != nil {
		text += fmt.Sprintf(" The statement before it ends %s lower: a statement between them is missing.",
			money(*st.GapCents))
	}
	return text
}
