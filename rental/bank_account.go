package rental

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// BankAccount is an account of the landlord. Number is its name in the bank's files if that is no IBAN; tenants of its
// property, or of all, pay to the one that collects.
type BankAccount struct {
	ID         int64   `json:"id"`
	Name       string  `json:"name"`
	IBAN       *string `json:"iban"`
	Number     *string `json:"number"`
	BIC        *string `json:"bic"`
	Holder     *string `json:"holder"`
	Currency   string  `json:"currency"`
	PropertyID *int64  `json:"property_id"`
	Property   *string `json:"property"`
	Collects   bool    `json:"collects"`
}

// BankAccounts is the list of them.
type BankAccounts struct {
	Accounts []BankAccount `json:"accounts"`
}

var accounts = record.New("bank_account", "bank_accounts",
	record.ID(func(a *BankAccount) *int64 { return &a.ID }),
	record.Text("name", func(a *BankAccount) *string { return &a.Name }, "what you call it, which identifies it",
		schema.Required, schema.Most(maxName)).Key(),
	record.OptText("iban", func(a *BankAccount) **string { return &a.IBAN }, "as on the form", schema.Most(70)),
	record.OptText("number", func(a *BankAccount) **string { return &a.Number }, "as on the form", schema.Most(70)),
	record.OptText("bic", func(a *BankAccount) **string { return &a.BIC }, "as on the form", schema.Most(70)),
	record.OptText("holder", func(a *BankAccount) **string { return &a.Holder }, "as on the form", schema.Most(70)),
	record.Text("currency", func(a *BankAccount) *string { return &a.Currency }, "its currency; empty: the shop's",
		schema.Most(3)),
	record.OptInt("property_id", func(a *BankAccount) **int64 { return &a.PropertyID }, ""),
	record.OptText("property", func(a *BankAccount) **string { return &a.Property },
		"the house that it belongs to; empty: all houses", schema.Most(maxName)).
		From("(SELECT name FROM properties WHERE id = a.property_id)"),
	record.Of("collects", func(a *BankAccount) *bool { return &a.Collects }, record.Truth("true", "false"),
		"whether tenants pay here"),
).Joined("a", "").Sorted("a.name")

func bankAccounts(c *db.Conn) ([]BankAccount, error) { return accounts.All(c, "ORDER BY a.name") }

// BankAccounts lists the accounts by name.
func (s *Service) BankAccounts(ctx context.Context) (BankAccounts, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (list BankAccounts, err error) {
		list.Accounts, err = bankAccounts(c)
		return list, err
	})
}

// lookupAccount finds an account by its name, IBAN or number.
func lookupAccount(c *db.Conn, name string) (int64, error) {
	all, err := bankAccounts(c)
	if err != nil {
		return 0, err
	}
	for _, a := range all {
		if strings.EqualFold(a.Name, name) || a.numbered(name) {
			return a.ID, nil
		}
	}
	return 0, fault.NotFoundf("there is no bank account named %s%s", schema.Quote(name), knownAccounts(all))
}

func knownAccounts(all []BankAccount) string {
	if len(all) == 0 {
		return "; there is none yet"
	}
	return "; there is " + strings.Join(schema.Map(all, func(a BankAccount) string { return a.Name }), ", ")
}

// signs are the letters and digits of a number, in capitals.
func signs(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, strings.ToUpper(s))
}

// numbered reports whether a file's name means the account, without a currency code at the end.
func (a BankAccount) numbered(said string) bool {
	n := signs(said)
	for _, own := range []*string{a.IBAN, a.Number} {
		if own == nil || n == "" {
			continue
		}
		mine := signs(*own)
		if mine == n || mine == strings.TrimSuffix(n, a.Currency) || strings.TrimSuffix(mine, a.Currency) == n {
			return true
		}
	}
	return false
}

// mod97 is a number of digits and letters (A is 10) by ISO 7064.
func mod97(s string) int {
	rest := 0
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			rest = (rest*10 + int(r-'0')) % 97
		case r >= 'A' && r <= 'Z':
			rest = (rest*100 + int(r-'A') + 10) % 97
		}
	}
	return rest
}

// checkIBAN gives an IBAN without blanks; its length and check digits must be right.
func checkIBAN(said string) (string, error) {
	n := strings.ToUpper(strings.Join(strings.Fields(said), ""))
	if n != signs(n) || len(n) < 15 || len(n) > 34 || n[0] < 'A' || n[1] < 'A' || mod97(n[4:]+n[:4]) != 1 {
		return "", fault.Fieldf("iban",
			"iban: the check digits of %s are wrong; compare it with a bank statement", schema.Quote(said))
	}
	return n, nil
}

// saveAccount makes the account of the name or changes it. A second account that collects for the same
// property, or for all, is a conflict.
func saveAccount(tx *db.Tx, said BankAccount, given func(string) bool) (a BankAccount, o schema.Outcome, err error) {
	before, found, err := accounts.One(&tx.Conn, "WHERE a.name = ?", said.Name)
	if err != nil {
		return a, o, err
	}
	a = before
	a.Name, said.Currency = said.Name, strings.ToUpper(said.Currency)
	accounts.Edit(&a, said, func(column string) bool { return !found || given(strings.TrimSuffix(column, "_id")) })
	if a.Currency == "" {
		shops, err := tx.Currency()
		if err != nil {
			return a, o, err
		}
		a.Currency = shops.Code
	}
	if err := a.check(tx); err != nil {
		return a, o, err
	}
	was := before
	changes := accounts.Edit(&was, a, func(string) bool { return true })
	if of, changed := changes["property_id"]; changed {
		delete(changes, "property_id")
		changes["property"] = of
	}
	if o = schema.Changed(a.ID, changes); found && len(changes) == 0 {
		return a, o, nil
	}
	if found {
		err = accounts.Update(tx, &before, &a)
	} else {
		o = schema.Outcome{New: true}
		a.ID, err = accounts.Insert(tx, &a)
	}
	if err != nil {
		return a, o, err
	}
	o.ID = a.ID
	if a, err = accounts.ByID(&tx.Conn, a.ID); err != nil {
		return a, o, err
	}
	if !found {
		return a, o, tx.Audit("bank_account.created", db.Subject("bank_account", a.ID), a)
	}
	return a, o, tx.Audit("bank_account.changed", db.Subject("bank_account", a.ID),
		map[string]any{"before": before, "after": a})
}

func (a *BankAccount) check(tx *db.Tx) error {
	if a.IBAN != nil {
		iban, err := checkIBAN(*a.IBAN)
		if err != nil {
			return err
		}
		a.IBAN = &iban
	}
	if len(a.Currency) != 3 || signs(a.Currency) != a.Currency {
		return fault.Fieldf("currency", "currency: %s is not a currency code such as EUR", schema.Quote(a.Currency))
	}
	all, err := bankAccounts(&tx.Conn)
	if err != nil {
		return err
	}
	for _, b := range all {
		if b.ID == a.ID {
			continue
		}
		for field, n := range map[string]*string{"iban": a.IBAN, "number": a.Number} {
			if n != nil && b.numbered(*n) {
				return fault.Conflictf("the account %s has the number %s already", b.Name, *n).At(field)
			}
		}
		if a.Collects && b.Collects && ptrEqual(a.PropertyID, b.PropertyID) {
			return fault.Conflictf("tenants pay to the account %s already; turn that off there first", b.Name).At("collects")
		}
	}
	return nil
}

func ptrEqual[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// collecting is the account that tenants of a property pay to; found is false without one.
func collecting(c *db.Conn, property int64) (a BankAccount, found bool, err error) {
	return accounts.One(c, `WHERE a.collects = 1 AND (a.property_id = ?1 OR a.property_id IS NULL)
		ORDER BY a.property_id IS NULL LIMIT 1`, property)
}

// bankSecret is what the keys of lines are made with: of this file alone.
func bankSecret(tx *db.Tx) ([]byte, error) {
	const name = "bank_secret"
	kept, err := tx.Setting(name)
	if err != nil {
		return nil, err
	}
	if kept == "" {
		b := make([]byte, 32)
		if _, err := rand.Read(b); err != nil {
			return nil, err
		}
		kept = hex.EncodeToString(b)
		if err := tx.SetSetting(name, kept); err != nil {
			return nil, err
		}
	}
	return hex.DecodeString(kept)
}

func (s *Service) saveBankAccount() schema.Op {
	example := BankAccount{ID: 1, Name: "Rent account", IBAN: new("DE89370400440532013000"), Number: new("532013000"),
		BIC: new("COBADEFFXXX"), Holder: new("Helen Moreau"), Currency: "EUR",
		PropertyID: new(int64(1)), Property: new("Harbour House"), Collects: true}
	return schema.Op{
		Name: "save_bank_account", Writes: true, Admin: true, Idempotent: true, Keys: []string{"name"},
		Fill: func(c *db.Conn, named map[string]string) (map[string]string, bool, error) {
			a, found, err := accounts.One(c, "WHERE a.name = ?", named["name"])
			fields := accounts.Texts(a)
			fields["property"] = schema.Cell(a.PropertyID)
			return fields, found, err
		},
		About: "Create or change a bank account. What you leave out stays as it is. Letters and the portal name the " +
			"account that " +
			"collects.",
		Response: example, Refuses: []fault.Kind{fault.Conflict, fault.NotFound},
		Bind: schema.Writes2(s.db, func(f *schema.Form, a *BankAccount, given *func(string) bool) {
			var property int64
			f.Text(&a.Name, "name", "what you call it", schema.Required, schema.Most(maxName), schema.Positional("NAME"),
				schema.Example("Rent account"))
			text := func(p **string, name, about, example string, opts ...schema.Opt) {
				f.TextPtr(p, name, about, append(opts, schema.Most(70), schema.Example(example))...)
			}
			text(&a.IBAN, "iban", "its IBAN", "DE89 3704 0044 0532 0130 00", schema.Label("IBAN"))
			text(&a.Number, "number", "its number in the bank's files, if that is not an IBAN", "532013000")
			text(&a.BIC, "bic", "the bank's BIC", "COBADEFFXXX", schema.Label("BIC"))
			text(&a.Holder, "holder", "whose account it is, for letters", "Helen Moreau")
			f.Text(&a.Currency, "currency", "its currency (default: the shop's)", schema.Most(3), schema.Example("EUR"),
				schema.Choices(schema.Currencies), schema.Any)
			f.ID(&property, "property",
				"the house that it belongs to (default: all houses)", schema.Lookup(lookupProperty),
				schema.Choices(propertyChoices))
			f.Bool(&a.Collects, "collects", "tenants pay here: letters, statements and the portal name it",
				schema.Label("Tenants pay here"), schema.Help("Letters, statements and the portal name it"))
			a.PropertyID, *given = db.NullID(property), f.Given
		}, func(tx *db.Tx, a BankAccount, given func(string) bool) (BankAccount, error) {
			a, _, err := saveAccount(tx, a, given)
			return a, err
		}),
		Example: `rental bank account "Rent account" --iban "DE89 3704 0044 0532 0130 00" --holder "Helen Moreau" --collects`,
		Did: func(a any, _ schema.Money) string {
			return fmt.Sprintf("The account %s is saved.", a.(BankAccount).Name)
		},
		Leads: func(any) string { return "/bank" },
	}
}

func (s *Service) listBankAccounts() schema.Op {
	return schema.Op{
		Name: "bank_accounts", About: "The bank accounts, by name.", Example: "rental bank accounts",
		Response: BankAccounts{Accounts: []BankAccount{s.saveBankAccount().Response.(BankAccount)}},
		Bind: func(*schema.Form) schema.Handler {
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.BankAccounts(ctx) }
		},
	}
}

// currencyOf is the currency in which the account's amounts are.
func (a BankAccount) currencyOf() exact.Currency { return exact.CurrencyOf(a.Currency) }

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
