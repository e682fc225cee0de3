package rental

import (
	"quartermaster/rental/bank"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

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
	overlaps, _, err := db.One(c, db.Int, `SELECT count(*) FROM bank_statements
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
	sum, _, err := db.One(c, db.Int,
		"SELECT coalesce(sum(amount_cents), 0) FROM bank_lines WHERE account_id = ? AND parent_id IS NULL AND day BETWEEN "+
			"? AND ?", account, o.from, day)
	sum += o.cents
	return &sum, err
}
