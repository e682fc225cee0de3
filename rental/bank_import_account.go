package rental

import (
	"slices"

	"quartermaster/rental/bank"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

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
			if _, err := im.tx.Exec("UPDATE bank_accounts SET number = ? WHERE id = ?", a.Number, a.ID); err != nil {
				return *a, false, err
			}
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
