package store

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// FoundCustomer is a customer, with the order or the license that matched.
type FoundCustomer struct {
	Customer
	Matched string `json:"matched,omitempty" about:"the order or license that was found"`
}

// ShortCustomer is what identifies a customer.
type ShortCustomer struct {
	ID         int64  `json:"id"`
	Email      string `json:"email"`
	Name       string `json:"name"`
	PaidOrders int64  `json:"paid_orders"`
	Matched    string `json:"matched,omitempty"`
}

func shortCustomer(k FoundCustomer) ShortCustomer {
	return ShortCustomer{k.ID, k.Email, k.Name, k.PaidOrders, k.Matched}
}

// FoundCustomers is a page of customers for agents.
type FoundCustomers struct {
	Customers []schema.Row[FoundCustomer, ShortCustomer] `json:"customers"`
	Shown     int                                        `json:"shown"`
	Total     int                                        `json:"total"`
	Next      *string                                    `json:"next" about:"pass it as after; null at the end"`
	Near      []string                                   `json:"near,omitempty" about:"names similar to q, if nobody matches"`
}

// FindCustomers finds customers by an order's reference, a license's key or its last four
// characters, and by words of the name or the address.
func (s *Service) FindCustomers(ctx context.Context, q string, l schema.Listing, sort string) (FoundCustomers, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (found FoundCustomers, err error) {
		all, err := byReference(c, q)
		if err != nil {
			return found, err
		}
		known, err := CustomerFilter{Q: q}.list(c, math.MaxInt64)
		if err != nil {
			return found, err
		}
		for _, k := range known {
			if !slices.ContainsFunc(all, func(f FoundCustomer) bool { return f.ID == k.ID }) {
				all = append(all, FoundCustomer{Customer: k})
			}
		}
		sortFound(all, sort)
		found.Total = len(all)
		found.Customers, found.Next = schema.PageOf(all, l, shortCustomer, schema.AnswerBytes)
		found.Shown = len(found.Customers)
		if found.Total == 0 {
			found.Near, err = likeCustomers(c, q)
		}
		return found, err
	})
}

// customerSorts are the orders of find_customer: as they were found, by name, the most paid orders first.
var customerSorts = []string{"found", "name", "orders"}

func sortFound(all []FoundCustomer, by string) {
	switch by {
	case customerSorts[1]:
		slices.SortStableFunc(all,
			func(a, b FoundCustomer) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	case customerSorts[2]:
		slices.SortStableFunc(all, func(a, b FoundCustomer) int { return cmp.Compare(b.PaidOrders, a.PaidOrders) })
	}
}

// byReference finds the customers of the orders and licenses that a text names.
func byReference(c *db.Conn, q string) (list []FoundCustomer, err error) {
	add := func(email, matched string) error {
		k, found, err := findCustomer(c, email)
		if err == nil && found && !slices.ContainsFunc(list, func(f FoundCustomer) bool { return f.ID == k.ID }) {
			list = append(list, FoundCustomer{k, matched})
		}
		return err
	}
	orders, err := ordersCalled(c, q)
	if err != nil {
		return nil, err
	}
	for _, o := range orders {
		if err := add(o.Customer.Email, "order "+o.OrderRef); err != nil {
			return nil, err
		}
	}
	licenses, err := licensesCalled(c, q)
	if err != nil {
		return nil, err
	}
	for _, l := range licenses {
		if err := add(l.CustomerEmail, l.called()); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// called names a license for agents, who never see a whole key.
func (l License) called() string { return fmt.Sprintf("license #%d, %s, %s", l.ID, tail(l.Key), l.SKU) }

// tail is the end of a key, by which people identify it.
func tail(key string) string { return "..." + KeyEnd(key) }

// ordersCalled are the orders whose whole reference, here or at the provider, was given.
func ordersCalled(c *db.Conn, written string) (list []Order, err error) {
	written = strings.TrimSpace(written)
	ref := readRef(written)
	if strings.ContainsAny(written, " @") || !strings.ContainsAny(written, "0123456789") && ref == noRef {
		return nil, nil // a name or an address
	}
	o, found, err := oneOrder(c, selectOrder+" WHERE o.order_ref = ? ORDER BY i.line", ref)
	if err != nil || found {
		return []Order{o}, err
	}
	err = want(written).walkOrders(c, math.MaxInt64, func(id int64) (bool, error) {
		o, _, err := oneOrder(c, selectOrder+" WHERE o.id = ? ORDER BY i.line", id)
		if strings.EqualFold(o.ProviderRef, written) {
			list = append(list, o)
		}
		return len(list) < usualPage, err
	})
	return list, err
}

// licensesCalled are the licenses of a whole key, or whose key ends with the four given characters, newest first.
func licensesCalled(c *db.Conn, written string) ([]License, error) {
	if id, err := licenseByKey(c, written); err == nil {
		l, err := findLicense(c, id)
		return []License{l}, err
	} else if !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	end := strings.Map(func(r rune) rune { // as the database's upper does
		if r >= 'a' && r <= 'z' {
			r += 'A' - 'a'
		}
		return r
	}, strings.Trim(written, " .*-\u2026"))
	if utf8.RuneCountInString(end) != shownOfKey {
		return nil, nil
	}
	canonical, _ := read(end, shownOfKey)
	return db.All(c, scanLicense(c.Now()), "SELECT "+licenseColumns+" FROM "+
		indexed(licenseTables, " INDEXED BY store_licenses_tail")+
		" WHERE upper(substr(l.license_key, -4)) IN (?, ?) ORDER BY l.id DESC LIMIT ?", end, canonical, usualPage)
}

// likeCustomers are at most five similar names.
func likeCustomers(c *db.Conn, q string) ([]string, error) {
	names, err := db.All(c, db.Text, "SELECT name FROM store_customers WHERE name <> '' ORDER BY id DESC LIMIT 5000")
	return schema.Near(q, names, 5), err
}

// customerNamed finds the one customer of a text: by the address, else by the whole name, else by words of the name or
// address. An ambiguous text is refused with at most five of them.
func customerNamed(c *db.Conn, text string) (int64, error) {
	if id, err := customerByEmail(c, text); err == nil || !fault.Is(err, fault.NotFound) {
		return id, err
	}
	exact, err := db.All(c, db.Int, "SELECT id FROM store_customers WHERE folded(name) = folded(?) LIMIT 2", text)
	if err != nil {
		return 0, err
	}
	if len(exact) == 1 {
		return exact[0], nil
	}
	list, err := CustomerFilter{Q: text}.list(c, usualPage)
	if err != nil {
		return 0, err
	}
	switch {
	case len(list) == 1:
		return list[0].ID, nil
	case len(list) > 1:
		names := schema.Map(list[:min(5, len(list))], func(k Customer) string {
			return k.Name + " <" + k.Email + "> (#" + strconv.FormatInt(k.ID, 10) + ")"
		})
		return 0, fault.Fieldf("customer",
			"%s matches several customers: %s; give the address or the id", schema.Quote(text), strings.Join(names, ", "))
	}
	like, err := likeCustomers(c, text)
	if err != nil {
		return 0, err
	}
	if len(like) > 0 {
		return 0, fault.NotFoundf("no customer is called %s; similar: %s", schema.Quote(text), strings.Join(like, ", "))
	}
	return 0, fault.NotFoundf("no customer is called %s", schema.Quote(text))
}

// findCustomerTool is find_customer.
func (s *Service) findCustomerTool() schema.Op {
	row := FoundCustomer{exampleCustomer(), "order " + exampleRef}
	return schema.Op{
		Name: "find_customer", Says: "Find a customer",
		About: "Find customers by words of the name or e-mail, by a whole order reference (ours or the provider's), or by " +
			"a license key's last four characters. " +
			"matched says which order or license was found. Keys show only their last four characters.",
		Response: FoundCustomers{Customers: schema.Rows([]FoundCustomer{row}, false, shortCustomer), Shown: 1, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var q string
			var l schema.Listing
			f.Text(&q, "q", "a name, e-mail, order reference, or the last four of a key", schema.Required, schema.Most(254),
				schema.Example("ann@"))
			sort := customerSorts[0]
			f.Enum(&sort, "sort", "orders: the most paid ones first", customerSorts)
			f.Listing(&l)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.FindCustomers(ctx, q, l, sort) }
		},
	}
}
