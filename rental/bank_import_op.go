package rental

import (
	"context"
	"fmt"
	"io"
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
			return []any{s.Account, cell(s.From), cell(s.To), money(s.OpeningCents), money(s.ClosingCents), s.Lines, s.New,
				s.Same, joinIDs(s.Similar), s.State, money(s.MissingCents), money(s.KeptCents)}
		})
	for _, name := range all.Skipped {
		fmt.Fprintf(w, "skipped, because no account here has the number: %s\n", name)
	}
}
