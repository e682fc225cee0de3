package rental

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// paymentTable is the payments that stand as CSV. Each row pays one charge in full, as
// a request would; what is due of the lease is posted first. The label is needed only
// where several charges of one type are due on one day.
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
			var label string
			f.Text(&label, "label", "what the charge says; needed only where several of that type are due on that day", schema.Most(maxName))
			return func(tx *db.Tx) error {
				l, c, err := chargeToPay(tx, key, typ, due, label)
				if err != nil {
					return err
				}
				_, err = pay(tx, l, c, method, paidDate)
				return err
			}
		},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				return emit(r.Text(), r.Text(), r.Day().String(), r.Text(), r.Day().String(), r.Text(), r.Day().String(), r.Text())
			}, `SELECT p.name, u.name, l.start_date, c.type, c.due_date, m.method, m.paid_date, c.label`+fromLeases+
				` CROSS JOIN charges c ON c.lease_id = l.id CROSS JOIN payments m ON m.charge_id = c.id AND m.voided_at IS NULL
				ORDER BY p.name, u.name, l.start_date, c.due_date, c.type, c.label`)
		},
	}
}

// chargeToPay gives the charge that a row names, and its lease, posting what is due of
// it first. Where the row leaves it open which charge is meant, none is.
func chargeToPay(tx *db.Tx, k leaseKey, typ string, due exact.Day, label string) (l Lease, c Charge, err error) {
	if l, err = k.lease(&tx.Conn); err != nil {
		return l, c, err
	}
	if err := post(tx, l.ID); err != nil {
		return l, c, err
	}
	all, err := db.All(&tx.Conn, scanCharge, "SELECT "+chargeColumns+` FROM charges c
		WHERE c.lease_id = ?1 AND c.type = ?2 AND c.due_date = ?3 AND (?4 = '' OR c.label = ?4)`, l.ID, typ, due, label)
	switch {
	case err != nil:
		return l, c, err
	case len(all) == 0 && label != "":
		return l, c, fault.Invalidf("due_date: no %s charge of the lease is due on %s with the label %s", typ, due, schema.Quote(label))
	case len(all) == 0:
		return l, c, fault.Invalidf("due_date: no %s charge of the lease is due on %s", typ, due)
	case len(all) > 1:
		return l, c, fault.Invalidf("label: %d %s charges of the lease are due on %s; the column label tells which is paid", len(all), typ, due)
	}
	return l, all[0], nil
}
