package store

import (
	"fmt"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Merged is the customer that another was merged into, and what moved there.
type Merged struct {
	Customer
	From   string `json:"from" about:"the address of the customer that was removed"`
	Orders int    `json:"orders" about:"how many orders moved, with their licenses and redeemed codes"`
}

// mergeCustomers moves all orders of the customer from, with their licenses and redeemed codes, to the
// customer into, and removes from. Refused: unknown customers (not found), the same one twice, and
// forgotten ones (conflict).
func mergeCustomers(tx *db.Tx, from, into int64) (Merged, error) {
	k, err := customerByID(&tx.Conn, from)
	if err != nil {
		return Merged{}, err
	}
	to, err := customerByID(&tx.Conn, into)
	switch {
	case err != nil:
		return Merged{}, err
	case k.ID == to.ID:
		return Merged{}, fault.Fieldf("into", "into: choose a customer other than %s", k.Email)
	case k.Forgotten() || to.Forgotten():
		return Merged{}, fault.Conflictf("a forgotten customer cannot be merged")
	}
	m := Merged{From: k.Email}
	if m.Orders, err = moveOrders(tx, k, to); err != nil {
		return m, err
	}
	if m.Customer, err = customerByID(&tx.Conn, to.ID); err != nil {
		return m, err
	}
	entry := map[string]any{"from": k.Email, "name": k.Name, "into": to.Email, "orders": m.Orders}
	return m, tx.Audit("customer.merged", "customer:"+to.Email, entry)
}

func moveOrders(tx *db.Tx, from, into Customer) (moved int, err error) {
	if moved, err = tx.Exec("UPDATE store_orders SET customer_id = ? WHERE customer_id = ?", into.ID,
		from.ID); err != nil {
		return 0, err
	}
	for _, query := range []string{"DELETE FROM store_find_customers WHERE rowid = ?",
		"DELETE FROM store_customers WHERE id = ?"} {
		tx.Do(query, from.ID)
	}
	add(tx, customersKnown, -1)
	recountCustomer(tx, into.ID)
	if into.Name == "" && from.Name != "" {
		into.Name = from.Name
		return moved, keepCustomer(tx, into)
	}
	return moved, indexOrders(tx, "o.customer_id = ?", into.ID)
}

func (s *Service) mergeCustomersOp() schema.Op {
	return schema.Op{
		Name: "merge_customers", About: "Merge two records of one person. Orders, licenses and redeemed codes of the " +
			"first move to the second; the first is removed.",
		Writes: true, Destructive: true, Response: Merged{Customer: exampleCustomer(), From: "ann@old.example.com",
			Orders: 2},
		Refuses: []fault.Kind{fault.NotFound},
		Thing:   schema.Of(func(m Merged) string { return m.From + " into " + m.Email }),
		Example: "store customer merge ann@old.example.org ann@example.org",
		Bind: schema.Writes2(s.db, func(f *schema.Form, from *int64, into *int64) {
			f.ID(from, "from", "the customer who is removed", schema.Required, schema.Positional("FROM"),
				schema.Lookup(customerByEmail), schema.Example(7), schema.Choices(customerChoices), schema.Label("Removed"))
			f.ID(into, "into", "the customer who stays", schema.Required, schema.Positional("INTO"),
				schema.Lookup(customerByEmail), schema.Example(8), schema.Choices(customerChoices), schema.Label("Stays"))
		}, mergeCustomers),
		Print: schema.Printed(func(w io.Writer, m Merged) {
			fmt.Fprintf(w, "%s is customer %d, %s, now; %s moved\n", m.From, m.ID, m.Email,
				exact.Plural(m.Orders, "order", "orders"))
		}),
		Did: schema.Said(func(m Merged) string {
			return fmt.Sprintf("The customers %s and %s are now one; %s moved.", m.From, m.Email,
				exact.Plural(m.Orders, "order", "orders"))
		}),
		Will: schema.Said(func(m Merged) string {
			return fmt.Sprintf("%s of %s, with licenses and redeemed codes, will move to %s, and %s will be removed.",
				exact.Plural(m.Orders, "order", "orders"), m.From, m.Email, m.From)
		}),
		Leads: schema.Of(func(m Merged) string { ; return customerLeads(m.ID) }),
	}
}
