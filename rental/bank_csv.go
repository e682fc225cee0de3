package rental

import (
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// bankAccountTable is the bank accounts as CSV.
func (s *Service) bankAccountTable() schema.Table {
	columns := []string{"name", "iban", "number", "bic", "holder", "currency", "property", "collects"}
	return schema.Table{
		Name: "bank-accounts", About: "The bank accounts: those of bank files, and the one that tenants pay to.",
		Row: func(f *schema.Form) schema.Put {
			var a BankAccount
			var property string
			f.Text(&a.Name, columns[0], "what you call it, which identifies it", schema.Required, schema.Most(maxName))
			for i, p := range []**string{&a.IBAN, &a.Number, &a.BIC, &a.Holder} {
				f.TextPtr(p, columns[1+i], "as on the form", schema.Most(70))
			}
			f.Text(&a.Currency, "currency", "its currency; empty: the shop's", schema.Most(3))
			f.Text(&property, "property", "the house that it belongs to; empty: all houses", schema.Most(maxName))
			f.Bool(&a.Collects, "collects", "whether tenants pay here")
			return func(tx *db.Tx) (o schema.Outcome, err error) {
				if tx.Who().Role != "admin" {
					return o, fault.New(fault.Forbidden, "bank accounts are set by an admin")
				}
				if property != "" {
					id, err := findProperty(&tx.Conn, property)
					if err != nil {
						return o, err
					}
					a.PropertyID = &id
				}
				return putAccount(tx, a, f.Given)
			}
		},
		Export: func(c *db.Conn, emit func(...string) error) error {
			all, err := bankAccounts(c)
			for _, a := range all {
				if err := emit(a.cells()...); err != nil {
					return err
				}
			}
			return err
		},
	}
}

func (a BankAccount) cells() []string {
	return []string{a.Name, set(a.IBAN), set(a.Number), set(a.BIC), set(a.Holder), a.Currency, set(a.Property),
		strconv.FormatBool(a.Collects)}
}

// putAccount makes or changes the account of the row; what stays is not written.
func putAccount(tx *db.Tx, a BankAccount, given func(string) bool) (o schema.Outcome, err error) {
	was, found, err := db.One(&tx.Conn, scanAccount, "SELECT "+accountColumns+" FROM bank_accounts a WHERE a.name = ?",
		a.Name)
	if err != nil {
		return o, err
	}
	now, err := saveAccount(tx, a, given)
	if err != nil {
		return o, err
	}
	o.ID, o.New = now.ID, !found
	before, after := was.cells(), now.cells()
	for i, name := range []string{"name", "iban", "number", "bic", "holder", "currency", "property", "collects"} {
		if found && before[i] != after[i] {
			o.Fields = append(o.Fields, name)
		}
	}
	slices.Sort(o.Fields)
	return o, nil
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
