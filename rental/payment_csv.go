package rental

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// paymentTable is the payments that stand as CSV. Each row pays one charge in full, as
// a request would; what is due of the lease is posted first.
func (s *Service) paymentTable() schema.Table {
	return schema.Table{
		Name: "payments", About: "What was paid. A row pays the charge that it names; one that is paid already is refused.",
		Row: func(f *schema.Form) schema.Put {
			key := bindLeaseKey(f, "lease_start")
			var typ, method, paidDate string
			var due exact.Day
			f.Enum(&typ, "type", "what the charge is for", chargeTypes, schema.Required, schema.Folded)
			f.Day(&due, "due_date", "when the charge is due", schema.Required)
			f.Loose(&method, "method", "how it was paid; anything unknown is other")
			f.Loose(&paidDate, "paid_date", "when it was paid; anything that is no calendar day is today")
			return func(tx *db.Tx) error { return putPayment(tx, key, typ, due, method, paidDate) }
		},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				return emit(r.Text(), r.Text(), r.Day().String(), r.Text(), r.Day().String(), r.Text(), r.Day().String())
			}, `SELECT p.name, u.name, l.start_date, c.type, c.due_date, m.method, m.paid_date`+fromLeases+
				` CROSS JOIN charges c ON c.lease_id = l.id CROSS JOIN payments m ON m.charge_id = c.id AND m.voided_at IS NULL
				ORDER BY p.name, u.name, l.start_date, c.due_date, c.type, c.label`)
		},
	}
}

func putPayment(tx *db.Tx, k leaseKey, typ string, due exact.Day, method, paidDate string) error {
	l, err := k.lease(&tx.Conn)
	if err != nil {
		return err
	}
	if err := post(tx, l.ID); err != nil {
		return err
	}
	// Of several charges of one type and day the first that is unpaid is meant.
	c, found, err := db.One(&tx.Conn, scanCharge, "SELECT "+chargeColumns+` FROM charges c
		WHERE c.lease_id = ? AND c.type = ? AND c.due_date = ? ORDER BY c.paid_date IS NOT NULL, c.label, c.id LIMIT 1`, l.ID, typ, due)
	if err == nil && !found {
		err = fault.Invalidf("due_date: no %s charge of the lease is due on %s", typ, due)
	}
	if err != nil {
		return err
	}
	_, err = pay(tx, l, c, method, paidDate)
	return err
}
