package store

import (
	"context"
	"slices"
	"strings"

	"quartermaster/schema/db"
)

// Orders and customers are found by a part of a word through the trigrams of what they
// are known by. The index holds no text: it gives candidates, newest first, and each is
// compared with its row.

// indexOrders stores anew what orders are found by; which is a condition on o.
func indexOrders(tx *db.Tx, which string, args ...any) error {
	ids, err := db.All(&tx.Conn, db.Int, "SELECT o.id FROM store_orders o WHERE "+which, args...)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := tx.Exec("DELETE FROM store_find_orders WHERE rowid = ?", id); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO store_find_orders (rowid, words) "+selectWords+" WHERE o.id = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// selectWords gives what an order is found by: its references, its buyer, its SKUs.
const selectWords = `SELECT o.id, o.order_ref || char(10) || o.provider_ref || char(10) || c.email || char(10) || c.name || char(10) ||
	(SELECT group_concat(p.sku, char(10)) FROM store_order_lines l JOIN store_products p ON p.id = l.product_id WHERE l.order_id = o.id)
	FROM store_orders o JOIN store_customers c ON c.id = o.customer_id`

func indexCustomer(tx *db.Tx, c Customer) error {
	if _, err := tx.Exec("DELETE FROM store_find_customers WHERE rowid = ?", c.ID); err != nil {
		return err
	}
	_, err := tx.Exec("INSERT INTO store_find_customers (rowid, words) VALUES (?, ?)", c.ID, c.Email+"\n"+c.Name)
	return err
}

// wanted is what is looked for, in lower case. Under three characters there are no
// trigrams: the newest records are gone through.
type wanted string

func want(q string) wanted { return wanted(strings.ToLower(strings.TrimSpace(q))) }

// mostTrigrams bounds the query: so many narrow it enough.
const mostTrigrams = 24

// trigrams is the index's query for records that hold every trigram; ok is false when
// there are none.
func (w wanted) trigrams() (match string, ok bool) {
	runes := []rune(string(w))
	var terms []string
	for i := 0; i+3 <= len(runes) && len(terms) < mostTrigrams; i++ {
		term := `"` + strings.ReplaceAll(string(runes[i:i+3]), `"`, `""`) + `"`
		if !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	return strings.Join(terms, " AND "), len(terms) > 0
}

// in tells whether one of the texts holds what is wanted, in any case.
func (w wanted) in(texts ...string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), string(w)) })
}

func (w wanted) inOrder(o Order) bool {
	return w.in(o.OrderRef, o.ProviderRef, o.Customer.Email, o.Customer.Name) ||
		slices.ContainsFunc(o.Items, func(i Item) bool { return w.in(i.SKU) })
}

// walk calls fn with the ids of the orders that may be what is wanted, the newest first,
// until fn has enough.
func (w wanted) walkOrders(c *db.Conn, below int64, fn func(id int64) (more bool, err error)) error {
	if match, ok := w.trigrams(); ok {
		return walk(c, fn, findOrdersQuery, match, below)
	}
	return walk(c, fn, "SELECT id FROM store_orders WHERE id < ? ORDER BY id DESC", below)
}

func (w wanted) walkCustomers(c *db.Conn, below int64, fn func(id int64) (more bool, err error)) error {
	if match, ok := w.trigrams(); ok {
		return walk(c, fn, findCustomersQuery, match, below)
	}
	return walk(c, fn, "SELECT id FROM store_customers WHERE id < ? ORDER BY id DESC", below)
}

const (
	findOrdersQuery    = "SELECT rowid FROM store_find_orders WHERE store_find_orders MATCH ? AND rowid < ? ORDER BY rowid DESC"
	findCustomersQuery = "SELECT rowid FROM store_find_customers WHERE store_find_customers MATCH ? AND rowid < ? ORDER BY rowid DESC"
)

func walk(c *db.Conn, fn func(id int64) (bool, error), query string, args ...any) error {
	err := db.Each(c, func(r *db.Row) error {
		more, err := fn(r.Int())
		if err == nil && !more {
			err = errEnough
		}
		return err
	}, query, args...)
	return enough(err)
}

// Exactly finds the one record that a text names: an order by its reference, or a license
// by its whole key, both in any case and with any separators. Neither is "" and 0.
func (s *Service) Exactly(ctx context.Context, text string) (orderRef string, license int64, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		if _, isKey := read(text, keyLength); isKey {
			license, _, err = db.One(c, db.Int, "SELECT id FROM store_licenses WHERE key_hash = ?", digest(text, keyLength))
			return err
		}
		orderRef, _, err = db.One(c, db.Text, "SELECT order_ref FROM store_orders WHERE order_ref = ? OR order_ref = ?", text, readRef(text))
		return err
	})
	return orderRef, license, err
}
