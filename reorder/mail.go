package reorder

import (
	"cmp"
	"context"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// Mails are the messages that the service sends.
func (s *Service) Mails() []mail.Kind { return []mail.Kind{purchaseKind} }

var purchaseKind = mail.Kind{
	Name: "purchase", Service: "reorder", Asked: true, Person: true, About: "To the supplier, when you mail a " +
		"purchase order.",
	Fields:  []mail.Field{{Name: "number"}, {Name: "lines", Must: true, Block: true}, {Name: "total"}, {Name: "expected"}},
	Subject: "Purchase order {number} from {shop}",
	Body: "Hello {name},\n\nPlease deliver this order, number {number}:\n\n{lines}\n\nTotal: {total}\n\nWe expect " +
		"it by {expected}.\n\n" +
		"{shop}\n{shop_address}",
	Fill: fillPurchase, Newest: newestPurchase, Find: purchaseNamed,
}

// supplierOf is the order's supplier; without a record only the name is known.
func (o *storedOrder) supplierOf(c *db.Conn) (Supplier, error) {
	k, found, err := lookUpSupplier(c, o.Supplier)
	if !found {
		k.Name = o.Supplier
	}
	return k, err
}

// mailed is the row of the order's message, and to whom it goes.
func (o *storedOrder) mailed(c *db.Conn) (r mail.Row, who string, err error) {
	k, err := o.supplierOf(c)
	return mail.Row{Subject: orderSubject(o.Number), Record: o.Number, Person: "supplier:" + k.Name, To: k.Email},
		"the supplier " + k.Name, err
}

// fillPurchase fills in a purchase order.
func fillPurchase(c *db.Conn, w *mail.Writer, r mail.Row) (v mail.Content, err error) {
	o, found, err := lookUpOrder(c, strings.TrimPrefix(r.Subject, "purchase_order:"))
	if err != nil {
		return v, err
	}
	if !found {
		v.Untrue = "the purchase order no longer exists"
		return v, nil
	}
	if o.Status == Cancelled || o.Status == Closed {
		v.Untrue = "the purchase order is " + o.Status
	}
	k, err := o.supplierOf(c)
	if err != nil {
		return v, err
	}
	shown, err := o.shown(c)
	if err != nil {
		return v, err
	}
	var rows [][]string
	for _, l := range shown.Lines {
		sku := cmp.Or(l.SupplierSKU, l.SKU)
		rows = append(rows, []string{sku, l.Name, w.Qty(l.Ordered), w.Money(l.UnitCostCents), w.Money(l.TotalCents)})
	}
	expected := ""
	if o.ExpectedDate != nil {
		expected = w.Day(*o.ExpectedDate)
	}
	v.To, v.Name = k.Email, k.Name
	v.Values = map[string]mail.Value{"number": mail.Text(o.Number), "lines": mail.Rows(rows),
		"total":    mail.Text(w.Money(shown.TotalCents)),
		"expected": mail.Text(expected)}
	return v, nil
}

func newestPurchase(c *db.Conn) (mail.Row, bool, error) {
	number, found, err := db.One(c, db.Text,
		"SELECT number FROM purchase_orders WHERE status <> 'cancelled' ORDER BY id DESC LIMIT 1")
	return mail.Row{Subject: orderSubject(number), Record: number}, found, err
}

// purchaseNamed finds a purchase order for a preview.
func purchaseNamed(c *db.Conn, number string) (mail.Row, error) {
	o, err := findOrder(c, number)
	return mail.Row{Subject: orderSubject(o.Number), Record: o.Number}, err
}

// MailPurchase mails a purchase order to its supplier. Refused: a draft, a cancelled one, a supplier who cannot be
// mailed.
func (s *Service) MailPurchase(ctx context.Context, who db.Caller, number string) (mail.Listed, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (m mail.Listed, err error) {
		if err := mail.CheckSetUp(&tx.Conn); err != nil {
			return m, err
		}
		o, err := findOrder(&tx.Conn, number)
		if err != nil {
			return m, err
		}
		switch o.Status {
		case Draft:
			return m, fault.Conflictf("purchase order %s is a draft; order it first", o.Number)
		case Cancelled, Closed:
			return m, fault.Conflictf("purchase order %s is not mailed: it is %s", o.Number, o.Status)
		}
		r, supplier, err := o.mailed(&tx.Conn)
		if err != nil {
			return m, err
		}
		return purchaseKind.Mail(tx, r, supplier, "purchase.mailed", nil)
	})
}

func (s *Service) mailPurchase() schema.Op {
	return schema.Op{
		Name: "mail_purchase", Writes: true, Destructive: true, About: "Mail an ordered purchase order to its " +
			"supplier.",
		Response: mail.ExampleListed("reorder", "purchase", "PO-000001"), Refuses: []fault.Kind{fault.NotFound,
			fault.Conflict},
		Bind:    schema.Does(bindNumber, s.MailPurchase),
		Will:    mail.Says("Mail purchase order %s to %s."),
		Did:     mail.Says("Purchase order %s is mailed to %s."),
		Leads:   func(a any) string { return orderPage(a.(mail.Listed).Record) },
		Example: "reorder po mail PO-000001",
	}
}
