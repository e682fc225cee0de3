package rental

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// journal writes the entries of a year as hledger reads them.
type journal struct {
	w        *bufio.Writer
	currency exact.Currency
	code     string
	units    map[int64][2]string // by unit: the names of its house and its own
	houses   map[int64]string
	banks    map[int64]string                  // by account
	byLine   [entryReturn + 1]map[int64]string // by kind and id: the account of its line
}

// Journal writes a year's entries for hledger: one for each payment, use of a deposit, payout and expense, by day and
// id.
func (s *Service) Journal(ctx context.Context, w io.Writer, year int64) error {
	if year < 1900 || year > 9999 {
		return fault.Fieldf("year", "year: %d is out of range; it takes 1900 to 9999", year)
	}
	return s.db.View(ctx, func(c *db.Conn) error {
		currency, err := c.Currency()
		if err != nil {
			return err
		}
		j := journal{w: bufio.NewWriter(w), code: currency.Code, currency: currency}
		if err := j.names(c); err != nil {
			return err
		}
		var all []entry
		first, last := yearDays(year)
		if err := moneyEntries(c, daySpan{first, last}, func(e entry) { all = append(all, e) }); err != nil {
			return err
		}
		slices.SortStableFunc(all, func(a, b entry) int {
			return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id))
		})
		j.declare(all)
		for _, e := range all {
			j.write(e)
		}
		return j.w.Flush()
	})
}

// names reads the names of houses, units and accounts as the journal has them.
func (j *journal) names(c *db.Conn) error {
	read := func(query string) (map[int64]string, error) {
		given := map[int64]string{}
		err := db.Each(c, func(r *db.Row) error {
			id := r.Int()
			given[id] = accountName(r.Text())
			return nil
		}, query)
		return distinct(given, func(int64) int64 { return 0 }), err
	}
	var err error
	if j.houses, err = read("SELECT id, name FROM properties"); err != nil {
		return err
	}
	if j.banks, err = read("SELECT id, name FROM bank_accounts"); err != nil {
		return err
	}
	house, own := map[int64]int64{}, map[int64]string{}
	err = db.Each(c, func(r *db.Row) error {
		id := r.Int()
		house[id], own[id] = r.Int(), accountName(r.Text())
		return nil
	}, "SELECT id, property_id, name FROM units")
	if err != nil {
		return err
	}
	j.units = map[int64][2]string{}
	for id, name := range distinct(own, func(id int64) int64 { return house[id] }) {
		j.units[id] = [2]string{j.houses[house[id]], name}
	}
	for i := range j.byLine {
		j.byLine[i] = map[int64]string{}
	}
	return db.Each(c, func(r *db.Row) error {
		account, cents := r.Int(), r.Int()
		payment, payout, expense := r.IntPtr(), r.IntPtr(), r.IntPtr()
		name := "assets:bank:" + j.banks[account]
		switch {
		case payment != nil && cents < 0:
			j.byLine[entryReturn][*payment] = name
		case payment != nil:
			j.byLine[entryPayment][*payment] = name
		case payout != nil:
			j.byLine[entryPayout][*payout] = name
		default:
			j.byLine[entryExpense][*expense] = name
		}
		return nil
	}, "SELECT b.account_id, b.amount_cents, k.payment_id, k.payout_id, k.expense_id FROM bank_links k CROSS JOIN "+
		"bank_lines b ON b.id = k.line_id ORDER BY k.id DESC")
}

// accountName is a name as a part of an account: separators of accounts and comments become blanks.
func accountName(name string) string {
	name = strings.NewReplacer(":", " ", ";", " ", "\t", " ", "\n", " ", "\r", " ", "(", " ", ")", " ", "[", " ", "]",
		" ").Replace(name)
	return cmp.Or(strings.Join(strings.Fields(name), " "), "-")
}

// distinct adds its id to each of the names that are equal within what they belong to.
func distinct(names map[int64]string, within func(int64) int64) map[int64]string {
	type place struct {
		of   int64
		name string
	}
	n := map[place]int{}
	for id, name := range names {
		n[place{within(id), strings.ToLower(name)}]++
	}
	for id, name := range names {
		if n[place{within(id), strings.ToLower(name)}] > 1 {
			names[id] = fmt.Sprintf("%s #%d", name, id)
		}
	}
	return names
}

// printf writes; an error stays in the writer until Flush returns it.
func (j *journal) printf(format string, args ...any) { _, _ = fmt.Fprintf(j.w, format, args...) }

// asset is the account that moved with an entry.
func (j *journal) asset(e entry) string {
	if name := j.byLine[e.kind][e.id]; name != "" {
		return name
	}
	return "assets:other:" + accountName(e.method)
}

// account is the account of a part of an entry.
func (j *journal) account(e entry, p yearPart) string {
	var name string
	switch p.what {
	case partIncome:
		name = "income:" + p.name
	case partAdvance, partCreditReturned, partReturned:
		name = "income:" + p.what
	case partDeposit:
		name = "liabilities:deposits"
	case partSpent:
		name = "expenses:" + accountName(p.name)
	case partBefore:
		return "equity:before"
	}
	if e.unit != 0 {
		return name + ":" + j.units[e.unit][0] + ":" + j.units[e.unit][1]
	}
	if e.property != 0 {
		return name + ":" + j.houses[e.property]
	}
	return name
}

// declare names the commodity and the accounts, as strict checks want.
func (j *journal) declare(all []entry) {
	places := cmp.Or(strings.TrimPrefix(j.currency.Plain(0), "0"), ".")
	j.printf("commodity 1000%s %s\n\n", places, j.code)
	used := map[string]bool{}
	for _, e := range all {
		if e.moved() != 0 {
			used[j.asset(e)] = true
		}
		for _, p := range e.parts {
			used[j.account(e, p)] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		j.printf("account %s\n", name)
	}
}

var entryWords = [...]string{"deposit taken over", "payment", "deposit used, payment",
	"advance becomes deposit, payment", "payout", "expense", "return of payment"}

func (j *journal) write(e entry) {
	j.printf("\n%s %s %d\n", e.day, entryWords[e.kind], e.id)
	line := func(account string, cents int64) {
		j.printf("    %s  %s %s\n", account, j.currency.Plain(cents), j.code)
	}
	if cents := e.moved(); cents != 0 {
		line(j.asset(e), cents)
	}
	for _, p := range e.parts {
		line(j.account(e, p), -p.cents)
	}
}
