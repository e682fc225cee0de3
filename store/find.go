package store

import (
	"context"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/words"
)

// Orders and customers are found by a part of a word through the trigrams of their search terms. The index holds no
// text: it yields candidates, newest first, and each is compared with its row.

// indexOrders updates the search terms of orders; which is a condition on o.
func indexOrders(tx *db.Tx, which string, args ...any) error {
	ids, err := db.All(&tx.Conn, db.Int, "SELECT o.id FROM store_orders o WHERE "+which, args...)
	if err != nil {
		return err
	}
	for _, id := range ids {
		tx.Do("DELETE FROM store_find_orders WHERE rowid = ?", id)
		tx.Do("INSERT INTO store_find_orders (rowid, words) "+selectWords+" WHERE o.id = ?", id)
	}
	return nil
}

// selectWords selects an order's search terms: its references, its buyer, its SKUs.
const selectWords = `SELECT o.id, folded(o.order_ref || char(10) || o.provider_ref || char(10) || c.email || char(10)
	|| c.name || char(10) ||
	(SELECT group_concat(p.sku, char(10)) FROM store_order_lines l JOIN store_products p ON p.id = l.product_id
	WHERE l.order_id = o.id))
	FROM store_orders o JOIN store_customers c ON c.id = o.customer_id`

func indexCustomer(tx *db.Tx, c Customer) {
	tx.Do("DELETE FROM store_find_customers WHERE rowid = ?", c.ID)
	tx.Do("INSERT INTO store_find_customers (rowid, words) VALUES (?, ?)", c.ID,
		words.Fold(c.Email+"\n"+c.Name))
}

// wanted is a search. Words under three characters have no trigrams: if all are so short, the newest records are
// scanned.
type wanted words.Words

func want(q string) wanted { return wanted(words.Of(q)) }

// mostTrigrams bounds the query: more do not narrow it further. fewTrigrams is how many are tried first: the lists of
// frequent trigrams, such as of a common mail domain, cost more than they narrow.
const (
	mostTrigrams = 24
	fewTrigrams  = 3
)

// trigrams is the index query for records with every trigram; few uses only those that are likely to be rare. ok is
// false if there are none.
func (w wanted) trigrams() (few, all string, ok bool) {
	var terms []string
	for _, word := range w {
		runes := []rune(word)
		for i := 0; i+3 <= len(runes) && len(terms) < mostTrigrams; i++ {
			if term := string(runes[i : i+3]); !slices.Contains(terms, term) {
				terms = append(terms, term)
			}
		}
	}
	return quoted(w.rare(terms)), quoted(terms), len(terms) > 0
}

// rare returns the terms that are probably the rarest: those with digits, and those of an address before its domain.
// Two of digits alone without overlap narrow as much as all, and each further one costs its list: a third of the time
// among a million orders.
func (w wanted) rare(terms []string) []string {
	if first := slices.IndexFunc(terms, onlyDigits); first >= 0 && first+3 < len(terms) && onlyDigits(terms[first+3]) {
		return []string{terms[first], terms[first+3]}
	}
	local, isAddress := "", false
	for _, word := range w {
		if name, _, is := strings.Cut(word, "@"); is {
			local, isAddress = local+name+"@ ", true
		}
	}
	terms = slices.Clone(terms)
	slices.SortStableFunc(terms, func(a, b string) int {
		if isAddress && strings.Contains(local, a) != strings.Contains(local, b) {
			if strings.Contains(local, a) {
				return -1
			}
			return 1
		}
		return digitsIn(b) - digitsIn(a)
	})
	return terms[:min(fewTrigrams, len(terms))]
}

func onlyDigits(term string) bool { return digitsIn(term) == len(term) }

func quoted(terms []string) string {
	list := schema.Map(terms, func(t string) string { return `"` + strings.ReplaceAll(t, `"`, `""`) + `"` })
	return strings.Join(list, " AND ")
}

func digitsIn(s string) (n int) {
	for _, r := range s {
		if r >= '0' && r <= '9' {
			n++
		}
	}
	return n
}

// in reports whether each word is in one of the texts.
func (w wanted) in(texts ...string) bool { return words.Words(w).In(texts...) }

func (w wanted) inOrder(o Order) bool {
	texts := []string{o.OrderRef, o.ProviderRef, o.Customer.Email, o.Customer.Name}
	for _, i := range o.Items {
		texts = append(texts, i.SKU)
	}
	return w.in(texts...)
}

// walkOrders calls fn with the ids of candidate orders, newest first, until fn has enough.
func (w wanted) walkOrders(c *db.Conn, below int64, fn func(id int64) (more bool, err error)) error {
	return w.walk(c, below, fn, findOrdersQuery, `SELECT o.id FROM store_orders o
		CROSS JOIN store_customers c ON c.id = o.customer_id WHERE o.id < ?1 AND has_words(?2, o.order_ref, o.provider_ref,
		c.email, c.name, CASE WHEN EXISTS (SELECT 1 FROM store_products WHERE ?2 GLOB '* *' OR has_words(?2, sku))
			THEN (SELECT group_concat(p.sku, char(10)) FROM store_order_lines l
				CROSS JOIN store_products p ON p.id = l.product_id WHERE l.order_id = o.id) END)
		ORDER BY o.id DESC`)
}

func (w wanted) walkCustomers(c *db.Conn, below int64, fn func(id int64) (more bool, err error)) error {
	return w.walk(c, below, fn, findCustomersQuery,
		"SELECT id FROM store_customers WHERE id < ? AND has_words(?, email, name) ORDER BY id DESC")
}

// fewCandidates is the largest number of candidates of the few trigrams that are compared: with more, all trigrams are
// worth their cost.
const fewCandidates = 1000

func (w wanted) walk(c *db.Conn, below int64, fn func(id int64) (more bool, err error), find, all string) error {
	few, every, ok := w.trigrams()
	if !ok {
		return walk(c, fn, all, below, strings.Join(w, " "))
	}
	seen, last := 0, below
	err := walk(c, func(id int64) (bool, error) {
		if seen++; seen > fewCandidates && few != every {
			return false, nil
		}
		last = id
		return fn(id)
	}, find, few, below)
	if err != nil || seen <= fewCandidates || few == every {
		return err
	}
	return walk(c, fn, find, every, last)
}

const (
	findOrdersQuery = "SELECT rowid FROM store_find_orders WHERE store_find_orders MATCH ? AND rowid < ? ORDER BY " +
		"rowid DESC"
	findCustomersQuery = "SELECT rowid FROM store_find_customers WHERE store_find_customers MATCH ? AND rowid < ? ORDER " +
		"BY rowid DESC"
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

// Exactly finds the one record that a text names: a license by its whole key, or an order by its reference, both in any
// case and with any separators; otherwise "" and 0.
func (s *Service) Exactly(ctx context.Context, text string) (orderRef string, license int64, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		if license, err = licenseByText(c, text); err != nil || license != 0 {
			return err
		}
		orderRef, _, err = db.One(c, db.Text, "SELECT order_ref FROM store_orders WHERE order_ref = ? OR order_ref = ?", text,
			readRef(text))
		return err
	})
	return orderRef, license, err
}
