package page

import (
	"context"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// bankView is the bank's book: accounts, the last statements, and lines, by default the free ones.
type bankView struct {
	rental.BankBook
	state string
}

func bank(s *rental.Service) page.Page {
	return page.New(page.Spec[bankView]{
		Path: "/bank", Title: "Bank", Menu: "Bank", Key: "b",
		Load: func(f *schema.Form) page.Loader[bankView] {
			var p page.Paging
			var x rental.LineFilter
			state := "free"
			p.Bind(f)
			f.Enum(&state, "state", "Lines in this state", []string{"free", "booked", "linked", "returned", "ignored", "split",
				"any"})
			f.Enum(&x.Match, "match", "Free lines that are", []string{"certain", "proposed", "unknown"})
			f.DayPtr(&x.From, "from", "From this day")
			f.DayPtr(&x.To, "to", "Up to this day")
			return func(ctx context.Context, who db.Caller) (v bankView, err error) {
				if x.State = state; state == "any" {
					x.State = ""
				}
				x.After, x.Limit = p.Start(), p.Limit
				v.state = state
				v.BankBook, err = s.BankBook(ctx, who, x)
				return v, err
			}
		},
		View: Bank,
		CSV: func(v bankView) page.Sheet {
			columns := []string{"id"} // the columns are the export's
			return page.SheetOf("bank-lines", columns, v.Lines.Lines, func(l rental.BankLine) []string {
				return []string{page.Num(l.ID)}
			})
		},
	})
}

// bankImport is the choice of the bank's file, and its preview before anything is stored.
func bankImport() page.Page {
	return page.New(page.Spec[struct{}]{
		Path: "/bank/import", Title: "Import a bank file", Role: page.Member,
		Load: page.Always(func(context.Context, db.Caller) (struct{}, error) { return struct{}{}, nil }),
		View: func(struct{}) templ.Component { return BankImport() },
	})
}

// bankLineView is one line, and the parts of a split one.
type bankLineView struct {
	rental.BankLine
	parts []rental.BankLine
}

// PageTitle is the line's day and payer.
func (v bankLineView) PageTitle() string {
	return strings.TrimSpace(v.Day.Words() + " " + v.PayerName)
}

func bankLine(s *rental.Service) page.Page {
	return page.New(page.Spec[bankLineView]{
		Path: "/bank/:id", Title: "Bank line",
		Load: page.ByID("line_id", "the bank's line", func(ctx context.Context, who db.Caller, id int64) (
			v bankLineView, err error) {
			v.BankLine, v.parts, err = s.BankLine(ctx, who, id)
			return v, err
		}),
		View: BankLinePage,
	})
}

func (v bankLineView) acts() []page.Action {
	id := page.Num(v.ID)
	switch v.State {
	case "free":
		acts := []page.Action{page.Open("Book", "book_lines", "lines.0.line_id", id).Main(),
			page.Open("Link", "link_lines", "line_id", id), page.Open("Split", "split_line", "line_id", id),
			page.Open("Ignore", "ignore_lines", "line_id", id)}
		if v.AmountCents < 0 {
			acts[0] = page.Open("Expense", "add_expense", "line_id", id, "day", v.Day.String(), "payee", v.PayerName,
				"amount", exact.CurrencyOf(v.Currency()).Plain(-v.AmountCents)).Then("/bank").Main()
			acts = append(acts, page.Open("Return", "book_return", "line_id", id))
		}
		return acts
	case "returned":
		return nil
	}
	return []page.Action{page.Open("Free", "free_line", "line_id", id, "reason", "settled by mistake")}
}

func candidateAct(l rental.BankLine, c rental.BankCandidate) page.Action {
	id := page.Num(l.ID)
	switch {
	case c.Early():
		return page.Do("Ignore", "ignore_lines", "line_id", id, "reason", "in the balance that was taken over")
	case schema.Cell(l.Act) == "return":
		return page.Open("Return", "book_return", "line_id", id, "payment_id", page.Num(c.PaymentIDs[0]))
	case c.Like() != nil:
		return page.Open("Expense", "add_expense", expenseFields(l.ID, c.Like())...).Then("/bank")
	case c.ExpenseID != nil:
		return page.Do("Link", "link_lines", "line_id", id, "expense_id", page.Num(*c.ExpenseID))
	case c.PayoutID != nil:
		return page.Do("Link", "link_lines", "line_id", id, "payout_id", page.Num(*c.PayoutID))
	case len(c.PaymentIDs) > 0:
		fields := []string{"line_id", id}
		for _, p := range c.PaymentIDs {
			fields = append(fields, "payment_id", page.Num(p))
		}
		return page.Do("Link", "link_lines", fields...)
	}
	return page.Do("Book", "book_lines", "lines.0.line_id", id, "lines.0.lease_id", page.Num(*c.LeaseID))
}

// evidence is what speaks for a candidate.
func evidence(c rental.BankCandidate) string {
	all := c.Evidence
	if c.Early() {
		all = append(slices.Clone(all), "it is from before the lease was taken over")
	}
	return strings.Join(all, "; ")
}

// matchLook is how a line's match, or its state, is drawn.
func matchLook(l rental.BankLine) (string, string) {
	switch schema.Cell(l.Match) {
	case "certain":
		return page.Good, "Certain"
	case "proposed":
		return page.Todo, "Proposed"
	case "unknown":
		return page.Idle, "Unknown"
	}
	return page.Idle, page.Word(l.State)
}

func statementLook(state string) (string, string) {
	switch state {
	case "balanced":
		return page.Good, "Adds up"
	case "unbalanced":
		return page.Bad, "Does not add up"
	}
	return page.Idle, "Unchecked"
}

func purpose(l rental.BankLine) string {
	parts := slices.DeleteFunc([]string{l.Text, l.Reference}, func(s string) bool { return s == "" })
	return strings.Join(parts, ", ")
}

// bankActs are what is done with the bank's book, the certain lines beside the import.
func bankActs(certain int64) []page.Action {
	acts := []page.Action{page.Link("Import a bank file", "/bank/import").For("import_bank").Main().Key("n")}
	if certain > 0 {
		acts = append(acts, page.Do(bookCertain(certain), "book_lines", "certain", "true"))
	}
	return append(acts, page.Open("New account", "save_bank_account"), page.Link("Expenses", "/expenses"),
		page.Link("Years", "/years"))
}

// bookCertain is the label of the button that books the certain lines.
func bookCertain(n int64) string {
	if n == 1 {
		return "Book 1 certain line"
	}
	return "Book all " + page.Num(n) + " certain lines"
}
