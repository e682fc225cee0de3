package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// forgottenDomain ends the addresses of forgotten customers: no address can have it.
const forgottenDomain = "@invalid"

// forgetCustomer removes a person's name and address everywhere: the record, events and their deliveries, stored
// answers, the audit trail, the labels of seats. Orders, licenses and sums stay. Refused: an unknown customer, one with
// a running subscription.
func forgetCustomer(tx *db.Tx, id int64) (Customer, error) {
	k, err := customerByID(&tx.Conn, id)
	if err != nil {
		return k, err
	}
	if err := noneRuns(&tx.Conn, id); err != nil {
		return k, err
	}
	name := "forgotten-" + strconv.FormatInt(id, 10)
	now := k
	now.Name, now.Email = name, name+forgottenDomain
	keys, err := db.All(&tx.Conn, db.Text, "SELECT order_ref FROM store_orders WHERE customer_id = ?", id)
	if err != nil {
		return k, err
	}
	replace, err := replacements(&tx.Conn, k, now)
	if err != nil {
		return k, err
	}
	for old := range replace {
		if strings.Contains(old, "@") {
			keys = append(keys, old)
		}
	}
	licenses, err := db.All(&tx.Conn, db.Text, `SELECT 'license:' || l.id FROM store_orders o CROSS JOIN store_licenses l
		ON l.order_id = o.id
		WHERE o.customer_id = ?`, id)
	if err != nil {
		return k, err
	}
	if err := addLabels(&tx.Conn, licenses, replace); err != nil {
		return k, err
	}
	if err := tx.Forget(append(keys, licenses...), replace); err != nil {
		return k, err
	}
	tx.Do(`UPDATE store_activations SET label = '' WHERE label <> ''
		AND license_id IN (SELECT l.id FROM store_orders o CROSS JOIN store_licenses l ON l.order_id = o.id
		WHERE o.customer_id = ?)`, id)
	if err := forgetUnbooked(tx, keys, replace); err != nil {
		return k, err
	}
	if err := keepCustomer(tx, now); err != nil {
		return k, err
	}
	if err := indexOrders(tx, "o.customer_id = ?", id); err != nil {
		return k, err
	}
	if err := forgetMails(tx, id, now.Email, keys, licenses); err != nil {
		return k, err
	}
	return now, tx.Audit("customer.forgotten", "customer:"+now.Email, map[string]int64{"id": id})
}

// noneRuns refuses a customer with a running subscription.
func noneRuns(c *db.Conn, id int64) error {
	lives, found, err := db.One(c, db.Text, `SELECT s.ref FROM store_orders o CROSS JOIN store_subscriptions s
		ON s.id = o.subscription_id OR s.order_id = o.id
		WHERE o.customer_id = ? AND `+subscriptionState+` <> 'ended' LIMIT 1`, id)
	if err != nil || !found {
		return err
	}
	return fault.Conflictf("customer %d has the running subscription %s: cancel it at the provider first", id, lives)
}

// addLabels adds the labels of all seats that the licenses ever had, JSON-encoded, since people name machines after
// themselves. licenses are subjects of the audit trail.
func addLabels(c *db.Conn, licenses []string, replace map[string]string) error {
	for _, license := range licenses {
		labels, err := db.All(c, db.Text, `SELECT DISTINCT json_extract(changes, '$.label')
			FROM audit INDEXED BY audit_subject
			WHERE service = 'store' AND action = 'license.activated' AND subject = ? AND json_extract(changes, '$.label') <> ''`,
			license)
		if err != nil {
			return err
		}
		for _, label := range labels {
			var plain bytes.Buffer
			e := json.NewEncoder(&plain)
			e.SetEscapeHTML(false)
			escaped, err := json.Marshal(label)
			if err = errors.Join(err, e.Encode(label)); err != nil {
				return err
			}
			for _, text := range []string{string(escaped), strings.TrimSpace(plain.String())} {
				replace[`"label":`+text] = `"label":""`
			}
		}
	}
	return nil
}

func forgetUnbooked(tx *db.Tx, keys []string, replace map[string]string) error {
	list, err := unbookedPayments(&tx.Conn)
	if err != nil {
		return err
	}
	for _, u := range list.Payments {
		reason, changed := db.Replaced(u.Reason, keys, replace)
		address, isTheirs := replace[fold(schema.Cell(u.BuyerEmail))]
		body := strings.ToLower(string(u.body))
		for old := range replace {
			isTheirs = isTheirs || strings.Contains(old, "@") && strings.Contains(body, strings.ToLower(old))
		}
		if !changed && !isTheirs {
			continue
		}
		if isTheirs { // the event names them differently
			name := strings.TrimSuffix(address, forgottenDomain)
			u.body, u.BuyerEmail, u.BuyerName = nil, db.NullText(address), db.NullText(name)
		}
		tx.Do(`UPDATE store_unbooked SET reason = ?, buyer_email = ?, buyer_name = ?, body = ?
			WHERE provider = ? AND provider_ref = ? AND refund = ?`, reason, u.BuyerEmail, u.BuyerName, u.body, u.Provider,
			u.Ref, u.Refund)
	}
	return nil
}

// replacements returns the replacement of each name and address that a customer has or had: addresses are known from
// the audit trail, names from the events of their orders and the audit trail. An address that another customer has now
// is that customer's.
func replacements(c *db.Conn, k, now Customer) (replace map[string]string, err error) {
	replace = map[string]string{k.Email: now.Email}
	for addresses := []string{k.Email}; len(addresses) > 0; addresses = addresses[1:] {
		before, err := db.All(c, db.Text, `SELECT json_extract(changes, '$.from') FROM audit INDEXED BY audit_subject
			WHERE service = 'store' AND action IN ('customer.email', 'customer.merged') AND subject = 'customer:' || ?`,
			addresses[0])
		if err != nil {
			return nil, err
		}
		for _, address := range before {
			_, taken, err := findCustomer(c, address)
			if err != nil {
				return nil, err
			}
			if replace[address] == "" && !taken {
				replace[address] = now.Email
				addresses = append(addresses, address)
			}
		}
	}
	names, err := db.All(c, db.Text, `SELECT DISTINCT json_extract(CAST(body AS TEXT), '$.data.customer.name') FROM events
		WHERE service = 'store' AND json_extract(CAST(body AS TEXT), '$.data.customer.id') = ?`, k.ID)
	if err != nil {
		return nil, err
	}
	for address := range replace {
		saved, err := db.All(c, db.Text, `SELECT json_extract(changes, '$.name') FROM audit INDEXED BY audit_subject
			WHERE service = 'store' AND action IN ('customer.saved', 'customer.merged') AND subject = 'customer:' || ?`, address)
		if err != nil {
			return nil, err
		}
		told, err := db.All(c, db.Text, `SELECT DISTINCT json_extract(CAST(body AS TEXT), '$.data.customer.name') FROM events
			WHERE service = 'store' AND json_extract(CAST(body AS TEXT), '$.data.customer.email') = ?`, address)
		if err != nil {
			return nil, err
		}
		names = append(append(names, saved...), told...)
	}
	for _, old := range append(names, k.Name) {
		if old != "" {
			replace[old] = now.Name
		}
	}
	return replace, nil
}

// nameCustomer stores another name of a customer, or a new customer.
func nameCustomer(tx *db.Tx, email, name string) (Customer, error) {
	email, err := foldEmail(email)
	if err != nil {
		return Customer{}, err
	}
	if name, err = checkName(name); err != nil {
		return Customer{}, err
	}
	if _, err := saveCustomer(tx, email, name, true); err != nil {
		return Customer{}, err
	}
	k, _, err := findCustomer(&tx.Conn, email)
	return k, err
}

// changeEmail gives a customer another address. One of another customer is refused, with both named.
func changeEmail(tx *db.Tx, id int64, email string) (Customer, error) {
	email, err := foldEmail(email)
	if err != nil {
		return Customer{}, err
	}
	k, err := customerByID(&tx.Conn, id)
	if err != nil || k.Email == email {
		return k, err
	}
	other, taken, err := findCustomer(&tx.Conn, email)
	if err != nil {
		return k, err
	}
	if taken {
		return k, fault.Conflictf("email: customer %d (%s) has the address %s already; choose another for customer %d (%s)",
			other.ID, firstOf(other.Name, other.Email), email, k.ID, firstOf(k.Name, k.Email)).At("email")
	}
	was := k.Email
	k.Email = email
	if err := keepCustomer(tx, k); err != nil {
		return k, err
	}
	return k, tx.Audit("customer.email", "customer:"+email, map[string]string{"from": was, "to": email})
}
