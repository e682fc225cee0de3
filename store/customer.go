package store

import (
	"context"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
	"quartermaster/schema/words"
)

// Customer is a buyer, identified by the email address in lower case. PaidOrders counts paid orders, including redeemed
// codes; the first and the last order are by payment time, including refunded ones.
type Customer struct {
	ID           int64          `json:"id"`
	Email        string         `json:"email"`
	Name         string         `json:"name"`
	PaidOrders   int64          `json:"paid_orders" about:"orders that are paid; refunded ones do not count"`
	FirstOrderAt *exact.Instant `json:"first_order_at"`
	LastOrderAt  *exact.Instant `json:"last_order_at"`
}

var customers = record.New("customer", "store_customers",
	record.ID(func(k *Customer) *int64 { return &k.ID }),
	record.Text("email", func(k *Customer) *string { return &k.Email }, "the e-mail address; case does not matter",
		schema.Required, schema.Most(254), schema.Example("ann@example.com")).Key(),
	record.Text("name", func(k *Customer) *string { return &k.Name }, "the person's name",
		schema.Most(200), schema.Example("Ann Lee")),
	record.Int("paid_orders", func(k *Customer) *int64 { return &k.PaidOrders }, ""),
	record.OptMoment("first_order_at", func(k *Customer) **exact.Instant { return &k.FirstOrderAt }),
	record.OptMoment("last_order_at", func(k *Customer) **exact.Instant { return &k.LastOrderAt }),
)

// foldEmail returns a customer's identifying address: trimmed, in lower case. It refuses an address that cannot receive
// mail.
func foldEmail(written string) (string, error) {
	email := fold(written)
	local, domain, ok := strings.Cut(email, "@")
	bad := func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("<>,;:\"()[]\\", r)
	}
	switch {
	case !utf8.ValidString(written):
		return "", fault.Fieldf("email", "email is not valid UTF-8")
	case email == "":
		return "", fault.Fieldf("email", "email is missing: give an address such as ann@example.com")
	case !ok || local == "" || domain == "" || strings.Contains(domain, "@") || len(email) > 254 ||
		strings.ContainsFunc(email, bad):
		return "", fault.Fieldf("email",
			"email: %s is not an e-mail address; write it like ann@example.com", schema.Quote(written))
	}
	return email, nil
}

// fold is the identifying form of an address, valid or not.
func fold(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// checkName trims a person's name and refuses one that is too long.
func checkName(name string) (string, error) {
	name = strings.TrimSpace(name)
	return name, schema.CheckText("name", name, 200)
}

// CustomerPage is one page of customers.
type CustomerPage struct {
	Customers []Customer `json:"customers"`
	Next      *int64     `json:"next" about:"send this as after for the next page; null at the end"`
}

// CustomerFilter restricts the list of customers; an empty field does not.
type CustomerFilter struct {
	Q string // a part of the address or the name
	schema.Cursor[int64]
}

// Customers lists customers, newest first.
func (s *Service) Customers(ctx context.Context, f CustomerFilter) (CustomerPage, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (page CustomerPage, err error) {
		page.Customers, err = f.list(c, f.Fetch())
		page.Customers, page.Next = schema.Cut(page.Customers, f.Limit, func(c Customer) int64 { return c.ID })
		return page, err
	})
}

// list returns at most n of the customers below the page's start.
func (f CustomerFilter) list(c *db.Conn, n int64) ([]Customer, error) {
	if f.Q == "" {
		return customers.All(c, "WHERE id < ? ORDER BY id DESC LIMIT ?", below(f.Cursor), n)
	}
	list, w := []Customer{}, want(f.Q)
	err := w.walkCustomers(c, below(f.Cursor), func(id int64) (bool, error) {
		k, found, err := customers.One(c, "WHERE id = ?", id)
		if found && w.in(k.Email, k.Name) {
			list = append(list, k)
		}
		return int64(len(list)) < n, err
	})
	return list, err
}

// CountCustomers reports how many customers the filter keeps in all.
func (s *Service) CountCustomers(ctx context.Context, f CustomerFilter) (int64, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (int64, error) {
		if f.Q == "" {
			totals, err := readTotals(c)
			return totals[total{customersKnown, totalsWithoutOne}], err
		}
		f.Cursor = schema.Cursor[int64]{}
		list, err := f.list(c, math.MaxInt64)
		return int64(len(list)), err
	})
}

// Customer returns one customer. An unknown id is refused as not found.
func (s *Service) Customer(ctx context.Context, id int64) (Customer, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Customer, error) { return customerByID(c, id) })
}

func customerByID(c *db.Conn, id int64) (Customer, error) {
	return customers.ByID(c, id)
}

func (f *CustomerFilter) bind(form *schema.Form) {
	form.Text(&f.Q, "q", "only customers with this in address or name", schema.Most(200), schema.Example("ann@"))
	bindCursor(form, &f.Cursor)
}

func exampleCustomer() Customer {
	return Customer{ID: 7, Email: "ann@example.com", Name: "Ann Lee", PaidOrders: 2, FirstOrderAt: &exampleInstant,
		LastOrderAt: &exampleInstant}
}

// ensureCustomer returns the customer of the address, new if needed. A given name replaces the stored one if rename is
// set, else it only fills a gap: a buyer must not be able to rename another.
func ensureCustomer(tx *db.Tx, email, name string, rename bool) (Customer, error) {
	c, found, err := findCustomer(&tx.Conn, email)
	switch {
	case err != nil:
		return c, err
	case !found:
		id, err := tx.Insert("INSERT INTO store_customers (email, name) VALUES (?, ?)", email, name)
		if err != nil {
			return c, err
		}
		c = Customer{ID: id, Email: email, Name: name}
		tx.Do("INSERT INTO store_find_customers (rowid, words) VALUES (?, ?)", id,
			words.Fold(email+"\n"+name))
		add(tx, customersKnown, 1)
		return c, nil
	case name != "" && name != c.Name && (rename || c.Name == ""):
		c.Name = name
		err = keepCustomer(tx, c)
	}
	return c, err
}

// mostIndexed is how many of a customer's newest orders are found by a new name or address: a reseller's address with
// thousands of names must not slow down every sale.
const mostIndexed = 500

// keepCustomer stores another name or address of a customer, and updates the search terms of them and their orders.
func keepCustomer(tx *db.Tx, c Customer) error {
	tx.Do("UPDATE store_customers SET email = ?, name = ? WHERE id = ?", c.Email, c.Name,
		c.ID)
	indexCustomer(tx, c)
	return indexOrders(tx, "o.customer_id = ? ORDER BY o.id DESC LIMIT ?", c.ID, mostIndexed)
}

func findCustomer(c *db.Conn, email string) (Customer, bool, error) {
	return customers.One(c, "WHERE email = ?", email)
}

// recountCustomer sets a customer's sums from the orders.
func recountCustomer(tx *db.Tx, id int64) {
	tx.Do(`UPDATE store_customers SET (paid_orders, first_order_at, last_order_at) =
		(SELECT count(*) FILTER (WHERE status = 'paid'), min(paid_at), max(paid_at) FROM store_orders WHERE customer_id = ?1
		AND status <> 'void')
		WHERE id = ?1`, id)
}

// customerTable is `import store customers`: rows are known by their address.
func customerTable() schema.Table {
	t := customers.Table("customers", "Customers, identified by their e-mail address.")
	t.Row = func(f *schema.Form) schema.Put {
		k, given := customers.Edits(f)
		return func(tx *db.Tx) (schema.Outcome, error) { return saveCustomer(tx, k.Email, k.Name, given("name")) }
	}
	t.Find = func(c *db.Conn, cell func(string) string) ([]string, bool, error) {
		k, found, err := findCustomer(c, fold(cell("email")))
		return customers.Cells(k), found, err
	}
	return t
}

// saveCustomer stores a customer under the address. The name of an existing one stays unless it is given.
func saveCustomer(tx *db.Tx, email, name string, named bool) (o schema.Outcome, err error) {
	email, err = foldEmail(email)
	if err != nil {
		return o, err
	}
	was, found, err := findCustomer(&tx.Conn, email)
	if err != nil || found && (!named || was.Name == name) {
		return o, err
	}
	if found {
		was.Name, o.Fields = name, []string{"name"}
		err = keepCustomer(tx, was)
	} else {
		o.New = true
		_, err = ensureCustomer(tx, email, name, true)
	}
	if err != nil {
		return o, err
	}
	return o, tx.Audit("customer.saved", "customer:"+email, map[string]string{"name": name})
}
