package rental

import (
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// bankAccountTable is the bank accounts as CSV.
func bankAccountTable() schema.Table {
	t := accounts.Table("bank-accounts", "The bank accounts: those of bank files, and the one that tenants pay to.")
	t.Find, t.Row = nil, accounts.Rows(putAccount)
	return t
}

func putAccount(tx *db.Tx, a BankAccount, given func(string) bool) (o schema.Outcome, err error) {
	if tx.Who().Role != "admin" {
		return o, fault.New(fault.Forbidden, "bank accounts are set by an admin")
	}
	if set(a.Property) != "" {
		id, err := findProperty(&tx.Conn, *a.Property)
		if err != nil {
			return o, err
		}
		a.PropertyID = &id
	}
	_, o, err = saveAccount(tx, a, given)
	return o, err
}

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
	return db.Each(c, func(r *db.Row) error {
		l := scanLine(r)
		return emit(strconv.FormatInt(l.ID, 10), l.Account, l.Day.String(), strconv.FormatInt(l.AmountCents, 10), l.PayerName,
			l.PayerAccount, l.Text, l.Reference,
			l.BankReference, strconv.FormatBool(l.Returned), idCell(l.ParentID), l.State, joinIDs(l.PaymentIDs),
			joinIDs(l.PayoutIDs), joinIDs(l.ExpenseIDs), set(l.Reason))
	}, "SELECT "+lineColumns+fromLines+"ORDER BY b.id")
}
