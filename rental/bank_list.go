package rental

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// BankLines is a page of lines, newest day first.
type BankLines struct {
	Lines []BankLine `json:"lines"`
	Next  *int64     `json:"next"`
	Total int64      `json:"total"`
}

// LineFilter narrows the list of lines.
type LineFilter struct {
	AccountID    *int64
	State, Match string
	From, To     *exact.Day
	schema.Cursor[int64]
}

// BankLines lists lines, newest day first; free ones with what they are. What is due is posted before.
func (s *Service) BankLines(ctx context.Context, who db.Caller, f LineFilter) (list BankLines, err error) {
	_, err = s.allPosted(ctx, who, func(c *db.Conn) (err error) {
		list, err = bankLines(c, f, matching(c))
		return err
	})
	return list, err
}

// dated reports whether the line is of the filter's days.
func (f LineFilter) dated(l BankLine) bool {
	return (f.From == nil || l.Day >= *f.From) && (f.To == nil || l.Day <= *f.To)
}

// matched are the free lines with what each is, found out once.
type matched func() ([]BankLine, error)

func matching(c *db.Conn) matched {
	return sync.OnceValues(func() ([]BankLine, error) { return freeLines(c) })
}

func bankLines(c *db.Conn, f LineFilter, free matched) (list BankLines, err error) {
	list.Lines = []BankLine{}
	var w db.Where
	w.And(f.AccountID != nil, "b.account_id = ?", f.AccountID)
	w.And(f.State != "", "b.state = ?", f.State)
	w.And(f.From != nil, "b.day >= ?", f.From)
	w.And(f.To != nil, "b.day <= ?", f.To)
	if f.Match != "" {
		return matchedLines(f, free)
	}
	if list.Total, err = db.Number(c, "SELECT count(*) FROM bank_lines b WHERE 1"+w.Text, w.Args...); err != nil {
		return list, err
	}
	w.And(f.After > 0, "(b.day, b.id) < (SELECT day, id FROM bank_lines WHERE id = ?)", f.After)
	all, err := lineRows.All(c, "WHERE 1"+w.Text+" ORDER BY b.day DESC, b.id DESC LIMIT ?", append(w.Args, f.Fetch())...)
	if err != nil {
		return list, err
	}
	list.Lines, list.Next = schema.Cut(all, f.Limit, func(l BankLine) int64 { return l.ID })
	return list, proposeFor(free, list.Lines)
}

func matchedLines(f LineFilter, matched matched) (list BankLines, err error) {
	list.Lines = []BankLine{}
	all, err := matched()
	free := slices.Clone(all)
	slices.Reverse(free)
	past := f.After == 0
	for _, l := range free {
		if *l.Match != f.Match || f.AccountID != nil && l.accountID != *f.AccountID || f.State != "" && f.State != lineFree ||
			!f.dated(l) {
			continue
		}
		list.Total++
		switch {
		case !past:
			past = l.ID == f.After
		case f.Limit > 0 && int64(len(list.Lines)) == f.Limit:
			list.Next = &list.Lines[f.Limit-1].ID
		default:
			list.Lines = append(list.Lines, l)
		}
	}
	return list, err
}

// proposeFor sets what the free ones of some lines are.
func proposeFor(matched matched, lines []BankLine) error {
	if !slices.ContainsFunc(lines, func(l BankLine) bool { return l.State == lineFree }) {
		return nil
	}
	free, err := matched()
	if err != nil {
		return err
	}
	byID := map[int64]BankLine{}
	for _, l := range free {
		byID[l.ID] = l
	}
	for i, l := range lines {
		if found, ok := byID[l.ID]; ok {
			lines[i] = found
		}
	}
	return nil
}

func (s *Service) listBankLines() schema.Op {
	return schema.Op{
		Name: "bank_lines", Example: "rental bank lines --state free", Print: schema.Printed(printBankLines),
		About:    "Bank lines, newest day first. A free line shows its match (certain, proposed or unknown) and the reasons.",
		Response: exampleBankLines(), Refuses: []fault.Kind{fault.NotFound},
		Bind: schema.Does(func(f *schema.Form, x *LineFilter) {
			var account int64
			f.ID(&account, "account", "only lines of this account", schema.Lookup(lookupAccount), schema.Choices(accountChoices))
			f.Enum(&x.State, "state", "only lines in this state", lineStates)
			f.Enum(&x.Match, "match", "only free lines with this match", []string{certain, proposed, unknown})
			f.DayPtr(&x.From, "from", "only lines of this day or later")
			f.DayPtr(&x.To, "to", "only lines of this day or earlier")
			bindCursor(f, &x.Cursor)
			x.AccountID = db.NullID(account)
		}, s.BankLines),
	}
}

func printBankLines(w io.Writer, list BankLines) {
	schema.Tabulate(w, "LINE|DAY|AMOUNT|PAYER|TEXT|STATE|MATCH|LEASE", list.Lines, func(l BankLine) []any {
		match, leases := set(l.Match), []string{}
		for _, c := range l.Candidates {
			if c.LeaseID != nil {
				leases = append(leases, strconv.FormatInt(*c.LeaseID, 10))
			}
		}
		return []any{l.ID, l.Day, plain(l.AmountCents), l.PayerName, cutText(strings.TrimSpace(l.Text+" "+l.Reference), 40),
			l.State, match, strings.Join(leases, " ")}
	})
	fmt.Fprintf(w, "%d in all\n", list.Total)
}

// KeptStatement is a statement that was read.
type KeptStatement struct {
	ID           int64
	Account      string
	Currency     string
	From, To     *exact.Day
	ClosingCents *int64
	State        string
	MissingCents int64  // closing minus opening and lines
	KeptCents    *int64 // the first opening and all kept lines up to the closing's day
	GapCents     *int64 // opening minus the closing of the previous statement
	Lines        int64
	File         string
}

// BankBook is what the page of the bank shows.
type BankBook struct {
	Accounts   []BankAccount
	Statements []KeptStatement // the last ones
	Lines      BankLines
	Free       map[string]int64 // how many free lines are what
	Certain    int64            // certain lines of the filter's days
}

// BankBook returns accounts, the last statements, and a page of lines.
func (s *Service) BankBook(ctx context.Context, who db.Caller, f LineFilter) (b BankBook, err error) {
	_, err = s.allPosted(ctx, who, func(c *db.Conn) (err error) {
		b = BankBook{Free: map[string]int64{}}
		if b.Accounts, err = bankAccounts(c); err != nil {
			return err
		}
		var accounts []int64
		var openings []*int64
		b.Statements, err = db.All(c, func(r *db.Row) KeptStatement {
			s := KeptStatement{ID: r.Int(), Account: r.Text(), Currency: r.Text(), From: r.DayPtr(), To: r.DayPtr(),
				ClosingCents: r.IntPtr(), State: r.Text(),
				MissingCents: r.Int(), Lines: r.Int(), File: r.Text()}
			accounts, openings = append(accounts, r.Int()), append(openings, r.IntPtr())
			return s
		}, `SELECT s.id, a.name, a.currency, s.from_day, s.to_day, s.closing_cents, s.state,
			coalesce(s.closing_cents - s.opening_cents - s.sum_cents, 0), s.lines, s.file, s.account_id, s.opening_cents
			FROM bank_statements s CROSS JOIN bank_accounts a ON a.id = s.account_id ORDER BY s.id DESC LIMIT 12`)
		if err != nil {
			return err
		}
		for i := range b.Statements {
			st := &b.Statements[i]
			if st.To == nil || st.ClosingCents == nil {
				continue
			}
			if st.KeptCents, err = keptBalance(c, accounts[i], *st.To); err != nil {
				return err
			}
			if st.GapCents, err = gapBefore(c, accounts[i], st.ID, st.From, st.To, openings[i]); err != nil {
				return err
			}
		}
		matched := matching(c)
		free, err := matched()
		if err != nil {
			return err
		}
		for _, l := range free {
			b.Free[*l.Match]++
			if *l.Match == certain && f.dated(l) {
				b.Certain++
			}
		}
		b.Lines, err = bankLines(c, f, matched)
		return err
	})
	return b, err
}

// BankLine returns one line with what it is, and the parts of a split one.
func (s *Service) BankLine(ctx context.Context, who db.Caller, id int64) (l BankLine, parts []BankLine, err error) {
	_, err = s.allPosted(ctx, who, func(c *db.Conn) (err error) {
		found, err := linesNow(c, []int64{id})
		if err != nil {
			return err
		}
		l = found.Lines[0]
		parts, err = lineRows.All(c, "WHERE b.parent_id = ? ORDER BY b.id", id)
		return err
	})
	return l, parts, err
}

// Currency is the currency of the line's account.
func (l BankLine) Currency() string { return l.currency }

// reports are the tables that are written and never read.
func (s *Service) reports() []schema.Table {
	columns := func(names ...string) func(f *schema.Form) schema.Put {
		return func(f *schema.Form) schema.Put {
			for _, name := range names {
				if strings.HasSuffix(name, "_cents") { // which may be below 0, and is no text then
					f.Int(new(int64), name, "an amount")
				} else {
					f.Text(new(string), name, "a figure or a text")
				}
			}
			return nil
		}
	}
	return []schema.Table{
		{Name: "bank-lines", About: "The lines of the bank, by id.", Row: columns(lineCells...), Export: exportLines},
		{Name: "year", About: "All years by money, by house and unit.", Row: columns(YearColumns...),
			Export: func(c *db.Conn, emit func(...string) error) error {
				all, err := yearReports(c, nil)
				for _, y := range all {
					for _, r := range y.Rows() {
						if err := emit(r.Cells()...); err != nil {
							return err
						}
					}
				}
				return err
			}},
	}
}

var lineCells = []string{"id", "account", "day", "amount_cents", "payer_name", "payer_account", "text", "reference",
	"bank_reference", "returned", "parent_id", "state",
	"payment_ids", "payout_ids", "expense_ids", "reason"}

func exportLines(c *db.Conn, emit func(...string) error) error {
	return lineRows.Each(c, func(l BankLine) error {
		return emit(strconv.FormatInt(l.ID, 10), l.Account, l.Day.String(), strconv.FormatInt(l.AmountCents, 10), l.PayerName,
			l.PayerAccount, l.Text, l.Reference,
			l.BankReference, strconv.FormatBool(l.Returned), schema.Cell(l.ParentID), l.State, joinIDs(l.PaymentIDs),
			joinIDs(l.PayoutIDs), joinIDs(l.ExpenseIDs), set(l.Reason))
	}, "ORDER BY b.id")
}
