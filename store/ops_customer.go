package store

import (
	"fmt"
	"io"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func printCustomers(w io.Writer, p CustomerPage) {
	schema.Tabulate(w, "ID|ADDRESS|NAME|PAID ORDERS|FIRST|LAST", p.Customers, func(k Customer) []any {
		first, last := "", ""
		if k.FirstOrderAt != nil && k.LastOrderAt != nil {
			first, last = k.FirstOrderAt.String(), k.LastOrderAt.String()
		}
		return []any{k.ID, k.Email, k.Name, k.PaidOrders, first, last}
	})
}

func (s *Service) listCustomers() schema.Op {
	return schema.Op{
		Name:     "list_customers",
		About:    "Customers, newest first, each with the number of paid orders.",
		Response: CustomerPage{Customers: []Customer{exampleCustomer()}},
		Example:  "store customers list --q ann",
		Print:    schema.Printed(printCustomers),
		Bind:     schema.Reads(func(f *schema.Form, k *CustomerFilter) { k.bind(f) }, s.Customers),
	}
}

func customerLeads(id int64) string { return "/customers/" + strconv.FormatInt(id, 10) }

// bindCustomer binds a customer by the id or the address; agents name one by the name too.
func bindCustomer(f *schema.Form, id *int64, opts ...schema.Opt) {
	about, named := "the customer's id; at the command line the address does too", customerByEmail
	if f.Surface() == schema.Tool {
		about, named = "", customerNamed
	}
	f.ID(id, "customer_id", about, append(opts, schema.Positional("CUSTOMER"), schema.Label("Customer"),
		schema.Choices(customerChoices),
		schema.Lookup(named), schema.Example(7))...)
}

func customerByEmail(c *db.Conn, email string) (int64, error) {
	k, found, err := findCustomer(c, fold(email))
	if err == nil && !found {
		err = fault.NotFoundf("no customer has the address %s", schema.Quote(email))
	}
	return k.ID, err
}

func printCustomer(w io.Writer, k Customer) {
	fmt.Fprintf(w, "customer %d: %s %s\n", k.ID, k.Email, k.Name)
}

func (s *Service) saveCustomerOp() schema.Op {
	return schema.Op{
		Keys: []string{"email"},
		Name: "save_customer", About: "Create a customer, or change the name. The e-mail address identifies the customer; " +
			"change_email changes it.",
		Writes: true, Response: exampleCustomer(),
		Example: `store customer save ann@example.org --name "Ann Lee"`,
		Print:   schema.Printed(printCustomer),
		Leads:   schema.Of(func(k Customer) string { return customerLeads(k.ID) }),
		Did:     schema.Said(func(k Customer) string { return fmt.Sprintf("Customer %s is saved.", k.Email) }),
		Fill: func(c *db.Conn, given map[string]string) (map[string]string, bool, error) {
			k, found, err := findCustomer(c, fold(given["email"]))
			return map[string]string{"email": k.Email, "name": k.Name}, found, err
		},
		Bind: schema.Writes2(s.db, func(f *schema.Form, email *string, name *string) {
			f.Text(email, "email",
				"the e-mail address; case does not matter", schema.Required, schema.Most(254), schema.Positional("EMAIL"),
				schema.Example("ann@example.com"))
			f.Text(name, "name", "the person's name", schema.Most(200), schema.Example("Ann Lee"))
		}, nameCustomer),
	}
}

func (s *Service) changeEmail() schema.Op {
	return schema.Op{
		Name: "change_email", About: "Change a customer's e-mail address. The address of another customer is refused.",
		Writes: true, Response: exampleCustomer(), Refuses: []fault.Kind{fault.NotFound},
		Example: "store customer email ann@example.org ann.lee@example.org",
		Print:   schema.Printed(printCustomer),
		Leads:   schema.Of(func(k Customer) string { return customerLeads(k.ID) }),
		Did: schema.Said(func(k Customer) string {
			return fmt.Sprintf("Customer %d now has the address %s.", k.ID, k.Email)
		}),
		Fill: func(c *db.Conn, given map[string]string) (map[string]string, bool, error) {
			id, err := strconv.ParseInt(given["customer_id"], 10, 64)
			if err != nil {
				return nil, false, nil //nolint:nilerr // it names no customer
			}
			k, found, err := customers.One(c, "WHERE id = ?", id)
			return map[string]string{"customer_id": given["customer_id"], "email": k.Email}, found, err
		},
		Bind: schema.Writes2(s.db, func(f *schema.Form, id *int64, email *string) {
			bindCustomer(f, id, schema.Required)
			f.Text(email, "email", "the new address", schema.Required, schema.Most(254), schema.Positional("EMAIL"),
				schema.Example("ann.lee@example.com"))
		}, changeEmail),
	}
}

func (s *Service) forgetCustomer() schema.Op {
	forgotten := exampleCustomer()
	forgotten.Name, forgotten.Email = "forgotten-7", "forgotten-7@invalid"
	return schema.Op{
		Name: "forget_customer", About: "Remove a person's name and address from all records, events, deliveries and the " +
			"history. " +
			"Orders, licenses and sums stay. Refused while they have a running subscription.",
		Writes: true, Admin: true, Destructive: true, Response: forgotten, Refuses: []fault.Kind{fault.NotFound},
		Example: "store customer forget ann@example.org",
		Print:   schema.Printed(printCustomer),
		Leads:   schema.Of(func(k Customer) string { return customerLeads(k.ID) }),
		Did:     schema.Said(func(k Customer) string { return "The customer is forgotten: " + k.Name + "." }),
		Will: schema.Said(func(k Customer) string {
			return "Their name and address will be removed for good, from " +
				exact.Plural(k.PaidOrders, "paid order", "paid orders") + ", events, deliveries and the history. Sums stay."
		}),
		Bind: schema.Writes(s.db, func(f *schema.Form, id *int64) {
			bindCustomer(f, id, schema.Required)
		}, forgetCustomer),
	}
}
