package store

import (
	"fmt"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Linked is a subscription with the licenses linked to it.
type Linked struct {
	Subscription
	Booked int `json:"booked" about:"payments that waited for this and are booked now"`
}

// linkSubscription links licenses to a subscription whose checkout is unknown, and books its waiting payments as
// renewals. It moves no license's end; later payments do, never back. Refused: an unknown license; one that is revoked,
// has a subscription, or is another buyer's than the subscription or the other licenses.
func linkSubscription(tx *db.Tx, provider, ref string, licenses []int64) (Linked, error) {
	was, err := ensureSubscription(tx, provider, ref)
	if err != nil {
		return Linked{}, err
	}
	tied, order, err := linkable(&tx.Conn, was, licenses)
	if err != nil {
		return Linked{}, err
	}
	before, err := countWaiting(&tx.Conn, provider, ref)
	if err != nil {
		return Linked{}, err
	}
	if was, err = link(tx, was, order, tied); err != nil {
		return Linked{}, err
	}
	if err := bookInvoices(tx, was, true); err != nil {
		return Linked{}, err
	}
	after, err := countWaiting(&tx.Conn, provider, ref)
	if err != nil {
		return Linked{}, err
	}
	x, _, err := db.One(&tx.Conn, scanSubscription, selectSubscription+" WHERE s.id = ?", was.id)
	if err == nil {
		err = x.load(&tx.Conn)
	}
	if err != nil {
		return Linked{}, err
	}
	return Linked{Subscription: x, Booked: before - after}, tx.Audit("subscription.linked", "subscription:"+provider+":"+
		ref, map[string]any{"licenses": licenses})
}

func countWaiting(c *db.Conn, provider, ref string) (int, error) {
	n, _, err := db.One(c, db.Int,
		"SELECT count(*) FROM store_unbooked WHERE provider = ? AND subscription_ref = ? AND refund = 0", provider, ref)
	return int(n), err
}

// linkable reads the licenses and the order that the subscription is to have, and refuses those
// that cannot be tied to it.
func linkable(c *db.Conn, s subscription, ids []int64) (list []License, order int64, err error) {
	buyers, err := buyersOf(c, s)
	if err != nil {
		return nil, 0, err
	}
	var refused []string
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		l, err := findLicense(c, id)
		if err != nil {
			return nil, 0, err
		}
		switch {
		case l.Subscription != nil:
			refused = append(refused, fmt.Sprintf("license %d has the subscription %s already", id, *l.Subscription))
		case l.state == stateRevoked:
			refused = append(refused, fmt.Sprintf("license %d is revoked", id))
		case len(buyers) > 0 && !slices.Contains(buyers, l.CustomerEmail):
			refused = append(refused, fmt.Sprintf("license %d is of %s, the subscription of %s", id, l.CustomerEmail, buyers[0]))
		}
		if len(buyers) == 0 {
			buyers = []string{l.CustomerEmail}
		}
		list = append(list, l)
	}
	if len(refused) > 0 {
		return nil, 0, fault.Conflictf("license_id: %s; choose licenses of its buyer without a subscription",
			strings.Join(refused, "; ")).At("license_id")
	}
	if len(list) == 0 {
		return nil, 0, fault.Fieldf("license_id", "license_id is missing: name the licenses that the subscription renews")
	}
	order, _, err = db.One(c, db.Int, "SELECT order_id FROM store_licenses WHERE id = ?", list[0].ID)
	return list, order, err
}

// buyersOf are the known addresses of a subscription's buyer: its order's, else those in waiting payments; none if
// unknown.
func buyersOf(c *db.Conn, s subscription) ([]string, error) {
	if s.order != 0 {
		return db.All(c, db.Text,
			"SELECT c.email FROM store_orders o CROSS JOIN store_customers c ON c.id = o.customer_id WHERE o.id = ?", s.order)
	}
	told, err := db.All(c, db.Text,
		"SELECT DISTINCT buyer_email FROM store_unbooked WHERE provider = ? AND subscription_ref = ? AND buyer_email IS "+
			"NOT NULL", s.provider, s.ref)
	for i := range told {
		told[i] = fold(told[i])
	}
	return told, err
}

func (s *Service) linkSubscription() schema.Op {
	return schema.Op{
		Name: "link_subscription",
		About: "Link licenses with a subscription whose checkout is not recorded, and book its waiting payments as " +
			"renewals. The licenses keep their end until a later payment extends it.",
		Writes: true, Response: Linked{Subscription: exampleSubscription(), Booked: 1},
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Example: "store subscription link stripe sub_1Abc 12",
		Did: schema.Said(func(l Linked) string {
			text := fmt.Sprintf("The subscription %s renews %s.", l.Ref, exact.Plural(len(l.Licenses), "license", "licenses"))
			if l.Booked > 0 {
				text += fmt.Sprintf(" %s that waited %s booked.", exact.Plural(l.Booked, "payment", "payments"),
					map[bool]string{true: "is", false: "are"}[l.Booked == 1])
			}
			return text
		}),
		Leads: func(any) string { return "/subscriptions" },
		Bind: schema.Writes3(s.db, func(f *schema.Form, provider *string, ref *string, licenses *[]int64) {
			bindTill(f, provider)
			f.Text(ref, "subscription_ref",
				"the provider's id of the subscription", schema.Required, schema.Most(200), schema.Positional("REF"),
				schema.Label("Subscription"), schema.Example("sub_1Abc"))
			f.IDs(licenses, "license_id", "the licenses that it renews", 100, schema.Required, schema.Positional("LICENSE"),
				schema.Label("License"), schema.Example([]int64{12}))
		}, linkSubscription),
	}
}
