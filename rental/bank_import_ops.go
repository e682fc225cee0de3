package rental

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"quartermaster/rental/bank"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func (s *Service) importBank() schema.Op {
	example := ImportedStatement{Account: "Rent account", Kind: "camt.053", From: new(exampleDay("2026-11-01")),
		To: new(exampleDay("2026-11-30")), OpeningCents: new(int64(100_000)),
		ClosingCents: new(int64(263_000)), Lines: 5, New: 2, Same: 3, Similar: []int64{4}, State: "balanced",
		MissingCents: new(int64(0)), KeptCents: new(int64(263_000)), GapCents: new(int64(500))}
	return schema.Op{
		Name: "import_bank", Writes: true, Idempotent: true, MaxBody: bank.MaxBytes + 1<<20,
		About: "Read a bank's file (" + bank.Kinds + ") and keep its new lines. A file read twice, or one that overlaps " +
			"another, adds each line once. " +
			"A statement whose sums are wrong is refused.",
		Response: BankImport{Statements: []ImportedStatement{example}, Skipped: []string{"DE02120300000000202051"}},
		Refuses:  []fault.Kind{fault.NotFound, fault.TooLarge},
		Bind: func(f *schema.Form) schema.Handler {
			var b BankFile
			var files []schema.File
			var account int64
			f.Files(&files, "file", "the bank's file, up to 16 MiB", bank.MaxBytes, schema.Required, schema.Positional("FILE"),
				schema.Label("File"))
			f.ID(&account, "account",
				"the account, if the file does not name a known one (CSV for example)", schema.Lookup(lookupAccount),
				schema.Choices(accountChoices), schema.NewBy("save_bank_account"))
			b.Mapping.bind(f)
			f.IDs(&b.Take, "take", "numbers of lines to keep although they look like kept ones", bank.MaxLines, schema.Rare)
			f.Bool(&b.AcceptUnbalanced, "accept_unbalanced", "keep a statement whose sums are wrong, marked as such",
				schema.Label("Accept wrong sums"))
			return func(ctx context.Context, who db.Caller) (any, error) {
				b.Account = db.NullID(account)
				return s.importFiles(ctx, who, b, files)
			}
		},
		Example: "rental bank import october.xml november.xml\nrental bank import lines.csv --account \"Rent account\" " +
			"--map Date=day --map Amount=amount",
		Print: schema.Printed(printBankImport),
		Did: func(a any, _ schema.Money) string {
			var fresh, same, similar int
			for _, st := range a.(BankImport).Statements {
				fresh, same, similar = fresh+st.New, same+st.Same, similar+len(st.Similar)
			}
			text := exact.Plural(fresh, "new line", "new lines") + ", " + exact.Plural(same, "was", "were") + " kept already."
			if similar > 0 {
				text += " " + exact.Plural(similar, "line looks like a kept one and was left out.",
					"lines look like kept ones and were skipped.")
			}
			if skipped := a.(BankImport).Skipped; len(skipped) > 0 {
				text += " Skipped, because no account here has the number: " + strings.Join(skipped, ", ") + "."
			}
			return text
		},
		Preview: previewBankImport,
		Leads:   func(any) string { return "/bank" },
	}
}

func printBankImport(w io.Writer, all BankImport) {
	money := func(n *int64) string {
		if n == nil {
			return ""
		}
		return plain(*n)
	}
	schema.Tabulate(w, "ACCOUNT|FROM|TO|OPENING|CLOSING|LINES|NEW|SAME|SIMILAR|STATE|MISSING|KEPT", all.Statements,
		func(s ImportedStatement) []any {
			return []any{s.Account, schema.Cell(s.From), schema.Cell(s.To), money(s.OpeningCents), money(s.ClosingCents),
				s.Lines, s.New, s.Same, joinIDs(s.Similar), s.State, money(s.MissingCents), money(s.KeptCents)}
		})
	for _, name := range all.Skipped {
		fmt.Fprintf(w, "skipped, because no account here has the number: %s\n", name)
	}
}

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

// account finds the account of a statement: the one that the file calls so, else the one that was said, which is
// then known by the file's number.
func (im *importer) account(st bank.Statement) (a BankAccount, found bool, err error) {
	for _, a := range im.accounts {
		if slices.ContainsFunc(st.Numbers, a.numbered) {
			return a, true, im.currency(a, st)
		}
	}
	if im.Account == nil {
		return a, false, nil
	}
	for i := range im.accounts {
		if a := &im.accounts[i]; a.ID == *im.Account {
			if len(st.Numbers) == 0 || signs(st.Numbers[0]) == "" {
				return *a, true, im.currency(*a, st)
			}
			if a.Number != nil {
				return *a, false, fault.Fieldf("account",
					"account: %s has the number %s, but the file is for %s", a.Name, *a.Number, st.Numbers[0])
			}
			if err := im.currency(*a, st); err != nil {
				return *a, false, err
			}
			a.Number = &st.Numbers[0]
			im.tx.Do("UPDATE bank_accounts SET number = ? WHERE id = ?", a.Number, a.ID)
			return *a, true, im.tx.Audit("bank_account.changed", db.Subject("bank_account", a.ID),
				map[string]any{"number": a.Number})
		}
	}
	return a, false, fault.NotFoundf("there is no bank account %d", *im.Account)
}

func (im *importer) currency(a BankAccount, st bank.Statement) error {
	if st.Currency != "" && st.Currency != a.Currency {
		return fault.Fieldf("file", "file: it is in %s, and the account %s is in %s", st.Currency, a.Name, a.Currency)
	}
	return nil
}

// compare sets the balance that is stored beside the bank's closing, and the gap to the statement before.
func (im *importer) compare(a BankAccount, st bank.Statement, done *ImportedStatement) (err error) {
	if st.ClosingCents == nil || st.To == nil {
		return nil
	}
	if done.KeptCents, err = keptBalance(&im.tx.Conn, a.ID, *st.To); err != nil {
		return err
	}
	done.GapCents, err = gapBefore(&im.tx.Conn, a.ID, im.last, st.From, st.To, st.OpeningCents)
	return err
}

// gapBefore is what a statement's opening is above the closing of the account's statement before it; nil where they
// join or overlap, and where one of them does not tell.
func gapBefore(c *db.Conn, account, id int64, from, to *exact.Day, opening *int64) (*int64, error) {
	if opening == nil || from == nil || to == nil {
		return nil, nil
	}
	before, found, err := db.One(c, db.Int, `SELECT closing_cents FROM bank_statements
		WHERE account_id = ? AND closing_cents IS NOT NULL AND to_day < ? AND id <> ? ORDER BY to_day DESC, id DESC LIMIT 1`,
		account, *to, id)
	gap := *opening - before
	if err != nil || !found || gap == 0 {
		return nil, err
	}
	overlaps, err := db.Number(c, `SELECT count(*) FROM bank_statements
		WHERE account_id = ? AND to_day >= ? AND coalesce(from_day, to_day) <= ? AND id <> ?`, account, *from, *to, id)
	if err != nil || overlaps > 0 {
		return nil, err
	}
	return &gap, nil
}

// keptBalance is the first opening of an account and all its lines from then up to a day; nil without an opening.
func keptBalance(c *db.Conn, account int64, day exact.Day) (*int64, error) {
	type first struct {
		cents int64
		from  exact.Day
	}
	o, found, err := db.One(c, func(r *db.Row) first { return first{r.Int(), r.Day()} },
		"SELECT opening_cents, from_day FROM bank_statements WHERE account_id = ? AND opening_cents IS NOT NULL AND "+
			"from_day IS NOT NULL ORDER BY from_day, id LIMIT 1", account)
	if err != nil || !found {
		return nil, err
	}
	sum, err := db.Number(c, `SELECT coalesce(sum(amount_cents), 0) FROM bank_lines WHERE account_id = ?
		AND parent_id IS NULL AND day BETWEEN ? AND ?`, account, o.from, day)
	sum += o.cents
	return &sum, err
}
