package store

import (
	"context"
	"fmt"
	"io"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// voidOrder voids an order that was recorded by hand by mistake: it stays readable, leaves the figures and its
// customer's count, and its licenses are revoked. Refused: an unknown order (not found), a void one, one from a
// provider, and one that began a subscription (conflict).
func voidOrder(tx *db.Tx, ref, reason string) (OrderDetail, error) {
	d, err := findOrder(&tx.Conn, ref)
	if err != nil {
		return d, err
	}
	switch {
	case d.Status == statusVoid:
		return d, fault.Conflictf("order %s is void already", d.OrderRef)
	case d.Provider != manual:
		return d, fault.Conflictf("order %s was paid through %s; refund it instead", d.OrderRef, d.Provider)
	case d.subscription != 0:
		return d, fault.Conflictf("order %s began a subscription; refund it instead", d.OrderRef)
	}
	if err := uncount(tx, d); err != nil {
		return d, err
	}
	if err := tx.Audit("order.voided", "order:"+d.OrderRef, map[string]any{
		"reason": reason, "total_cents": d.TotalCents, "currency": d.Currency,
	}); err != nil {
		return d, err
	}
	d, err = orderByID(&tx.Conn, d.id)
	return d.shownTo(tx.Who()), err
}

// VoidReason is why an order was voided; "" of another order.
func (s *Service) VoidReason(ctx context.Context, ref string) (string, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (string, error) {
		reason, _, err := db.One(c, db.Text, `SELECT ifnull(json_extract(changes, '$.reason'), '') FROM audit
			WHERE subject = ? AND action = 'order.voided' LIMIT 1`, "order:"+ref)
		return reason, err
	})
}

// uncount takes the order out of all that is counted, and revokes its licenses.
func uncount(tx *db.Tx, d OrderDetail) error {
	tx.Do("UPDATE store_orders SET status = 'void', refunded_at = NULL WHERE id = ?", d.id)
	for _, m := range []struct {
		kind, currency string
		n              int64
	}{
		{"orders_" + d.Status, totalsWithoutOne, -1}, {ordersVoid, totalsWithoutOne, 1},
		{grossCents, d.Currency, -d.TotalCents}, {refundedCents, d.Currency, -d.RefundedCents},
	} {
		addMoney(tx, m.kind, m.currency, m.n)
	}
	recountCustomer(tx, d.Customer.ID)
	for _, l := range d.Licenses {
		if err := decide(tx, l.ID, stateRevoked); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) voidOrderOp() schema.Op {
	voided := exampleDetail()
	voided.Provider, voided.ProviderRef, voided.Status = manual, voided.OrderRef, statusVoid
	return schema.Op{
		Name: "void_order",
		About: "Void an order that was recorded by hand by mistake. It leaves the figures, and its licenses are revoked. " +
			"It stays readable. Refund orders that a provider reported.",
		Thing: schema.Of(func(d OrderDetail) string {
			return "order " + d.OrderRef + ", " + d.Customer.Email + ", " + inCurrency(d.TotalCents, d.Currency)
		}),
		Writes: true, Destructive: true, Response: voided, Refuses: []fault.Kind{fault.NotFound},
		Example: `store order void ` + exampleRef + ` --reason "recorded twice"`,
		Bind: schema.Writes2(s.db, func(f *schema.Form, ref *string, reason *string) {
			bindRef(f, ref)
			f.Text(reason, "reason", "why, for the history", schema.Required, schema.Most(200),
				schema.Example("recorded twice"))
		}, voidOrder),
		Print: schema.Printed(func(w io.Writer, d OrderDetail) { fmt.Fprintf(w, "%s: void\n", d.OrderRef) }),
		Did:   schema.Said(func(d OrderDetail) string { return fmt.Sprintf("Order %s is void.", d.OrderRef) }),
		Will: schema.Said(func(d OrderDetail) string {
			text := fmt.Sprintf("Order %s of %s over %s will leave the figures.", d.OrderRef, d.Customer.Email,
				inCurrency(d.TotalCents, d.Currency))
			if len(d.Licenses) > 0 {
				text += " " + exact.Plural(len(d.Licenses), "license", "licenses") + " will be revoked for good."
			}
			return text
		}),
		Leads: schema.Of(func(d OrderDetail) string { ; return orderLeads(d.OrderRef) }),
	}
}

// Forgotten reports whether a customer is one whose name and address were taken out.
func (k Customer) Forgotten() bool { return forgotten(k.Email) }

func forgotten(email string) bool { return strings.HasSuffix(email, forgottenDomain) }
