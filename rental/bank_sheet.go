package rental

import (
	"strings"

	"quartermaster/rental/bank"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Mapping says how a table (CSV, XLSX) is written and which of its columns are ours.
type Mapping struct {
	Map        []string // "Their column=ours"
	DateFormat string
	Decimal    string
	Delimiter  string
	Encoding   string
	Sheet      string
	HeaderLine int64

	usual bool // banks' usual names of columns are known: a page shows the lines before they are kept
}

func (m *Mapping) bind(f *schema.Form) {
	m.usual = f.Surface() == schema.Page
	f.Texts(&m.Map, "map", "of a CSV or XLSX: a column of the file and what it means, as \"Amount=amount\": "+sheetColumns,
		20, maxName, schema.Example([]string{"Date=day", "Amount=amount"}), schema.Rare, meanings)
	f.Text(&m.DateFormat, "date_format", "how its days are written, as DD.MM.YYYY (default: detected)", schema.Most(30),
		schema.Rare)
	f.Text(&m.Decimal, "decimal", "its decimal sign, comma or point (default: detected)", schema.Most(10), schema.Rare)
	f.Text(&m.Delimiter, "delimiter", "what separates its cells (default: detected)", schema.Most(10), schema.Rare)
	f.Text(&m.Encoding, "encoding", "its encoding (default: detected)", schema.Most(30), schema.Rare)
	f.Text(&m.Sheet, "sheet", "the sheet of a workbook (default: the first)", schema.Most(maxName), schema.Rare)
	f.Int(&m.HeaderLine, "header_line",
		"the line of its header (default: detected); lines above are ignored", schema.Range(0, 1000), schema.Rare)
}

// meanings are what a column of a bank's table may mean, for pages.
func meanings(a *schema.Arg) {
	a.Title = "Columns"
	for _, pair := range [][2]string{{"day", "Day"}, {"amount", "Amount"}, {"in", "Money in"}, {"out", "Money out"},
		{"payer_name", "Payer"}, {"payer_account", "Payer's account"}, {"text", "Text"}, {"reference", "Reference"},
		{"bank_reference", "Bank's reference"}, {"balance", "Balance"}} {
		a.Means = append(a.Means, schema.Choice{Value: pair[0], Text: pair[1]})
	}
}

const sheetColumns = "day, amount (or in and out), payer_name, payer_account, text, reference, bank_reference, balance"

// sheetTable declares the columns of a bank's table.
func sheetTable(usual bool) schema.Table {
	return schema.Table{Name: "a bank's file", About: "A bank's table of its lines", Sheet: usual,
		Row: func(f *schema.Form) schema.Put {
			var day exact.Day
			var n int64
			var t string
			f.Day(&day, "day", "the day of the booking", schema.Required)
			for _, name := range []string{"amount_cents", "in_cents", "out_cents"} {
				f.Int(&n, name, "an amount", schema.Range(-maxCents, maxCents))
			}
			for _, name := range []string{"payer_name", "payer_account", "text", "reference", "bank_reference"} {
				f.Text(&t, name, "a text")
			}
			f.Int(&n, "balance_cents", "the balance after the line", schema.Range(-1000*maxCents, 1000*maxCents))
			return func(*db.Tx) (schema.Outcome, error) { return schema.Outcome{}, nil }
		}}
}

// ReadSheet reads a table by a mapping: each row by our columns, days as YYYY-MM-DD and amounts in the smallest unit
// of the currency, with its line of the file. A mapping is remembered by the file's header. The appliance brings it,
// which reads tables for all services.
type ReadSheet func(tx *db.Tx, data []byte, t schema.Table, m Mapping, currency exact.Currency) (
	rows []map[string]string, lines []int, err error)

// readSheet reads the lines of a CSV or a workbook for the account that was said.
func (s *Service) readSheet(tx *db.Tx, f BankFile) ([]bank.Statement, error) {
	if f.Account == nil {
		return nil, fault.Fieldf("account", "account: the file does not name its account; choose the account. Files can "+
			"be %s", bank.Kinds)
	}
	if s.Sheets == nil || bank.IsZIP(f.File.Data) && !strings.HasSuffix(strings.ToLower(f.File.Name), ".xlsx") &&
		len(f.Mapping.Map) == 0 {
		return nil, fault.Fieldf("file", "file: it cannot be read; it takes %s", bank.Kinds)
	}
	a, err := accounts.ByID(&tx.Conn, *f.Account)
	if err != nil {
		return nil, err
	}
	rows, lines, err := s.Sheets(tx, f.File.Data, sheetTable(f.Mapping.usual), f.Mapping, a.currencyOf())
	if err != nil {
		return nil, err
	}
	st := bank.Statement{Kind: "sheet", Currency: a.Currency}
	var balances []*int64
	for i, row := range rows {
		l, balance, err := sheetLine(row, lines[i])
		if err != nil {
			return nil, err
		}
		l.Number = i + 1
		st.Lines = append(st.Lines, l)
		balances = append(balances, balance)
	}
	if len(st.Lines) == 0 {
		return nil, fault.Fieldf("file", "file: it has no line of an account; it takes %s", bank.Kinds)
	}
	if len(st.Lines) > bank.MaxLines {
		return nil, fault.New(fault.TooLarge, "the file has %d bookings; at most %d are read at once", len(st.Lines),
			bank.MaxLines)
	}
	sheetBalances(&st, balances)
	return []bank.Statement{st}, nil
}

func sheetLine(row map[string]string, at int) (l bank.Line, balance *int64, err error) {
	on, ok := exact.ParseDay(row["day"])
	if !ok {
		return l, nil, fault.Fieldf("file", "file: line %d: cannot read the date %q; give date_format", at, row["day"])
	}
	amount := func(column string) *int64 {
		text := strings.TrimSpace(row[column])
		if text == "" || err != nil {
			return nil
		}
		n, bad := exact.CurrencyOf("JPY").Parse(text)
		if bad != nil {
			err = fault.Fieldf("file", "file: line %d: cannot read the amount %q", at, text)
			return nil
		}
		return &n
	}
	n, in, out := amount("amount_cents"), amount("in_cents"), amount("out_cents")
	balance = amount("balance_cents")
	switch {
	case err != nil:
		return l, nil, err
	case n != nil:
		l.AmountCents = *n
	case in == nil && out == nil:
		return l, nil, fault.Fieldf("file", "file: line %d has no amount; map a column to amount, or to in and out", at)
	}
	if in != nil {
		l.AmountCents += max(*in, -*in)
	}
	if out != nil {
		l.AmountCents -= max(*out, -*out)
	}
	l.Day, l.PayerName, l.PayerAccount, l.Text = on, flat(row["payer_name"]), flat(row["payer_account"]), flat(row["text"])
	l.Reference, l.BankReference = flat(row["reference"]), flat(row["bank_reference"])
	return l, balance, nil
}

// flat is a text in one line.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// sheetBalances sets the opening and the closing by the balances beside the first line and the last. A file may have
// the newest line first: the days tell, and of a single day the sums.
func sheetBalances(st *bank.Statement, balances []*int64) {
	first, last := 0, len(st.Lines)-1
	newest := st.Lines[first].Day > st.Lines[last].Day
	if balances[first] != nil && balances[last] != nil {
		var sum int64
		for _, l := range st.Lines {
			sum += l.AmountCents
		}
		if st.Lines[first].Day == st.Lines[last].Day {
			newest = *balances[first]-*balances[last] == sum-st.Lines[last].AmountCents
		}
		if newest {
			first, last = last, first
		}
		st.OpeningCents = new(*balances[first] - st.Lines[first].AmountCents)
		st.ClosingCents = balances[last]
	}
	from, to := lineDays(*st)
	st.From, st.To = &from, &to
}
