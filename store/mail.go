package store

import (
	"errors"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
	visit "quartermaster/schema/session"
)

// Mails are the messages that the store sends to buyers.
func (s *Service) Mails() []mail.Kind {
	return []mail.Kind{orderKind, keyKind, refundKind, expiryKind, linkKind}
}

// MailWords are the words that stand in the blocks of the store's messages.
var MailWords = []string{"seat", "seats", "Discount", "Tax", "Total", unbookedTitle}

// The kinds' readers use only the database, so that the kinds can be values.
var (
	orderKind = mail.Kind{
		Name: "order", Service: "store",
		About: "To the buyer, when an order is paid or a code is redeemed: the keys and the receipt.",
		Fields: []mail.Field{{Name: "order"}, {Name: "total"}, {Name: "keys", Must: true, Block: true},
			{Name: "items", Block: true}, {Name: "link"}},
		Subject: "Your order {order} from {shop}",
		Body: "Hello {name},\n\nThank you for your order {order}.\n\nYour license keys:\n{keys}\n\nYour receipt:\n{items}\n\n" +
			"Your orders and keys are also here: {link}\n\n{shop}\n{shop_address}",
		Fill: fillOrder, Newest: newestOrder("o.renews = 0"), Find: mailOf,
	}
	keyKind = mail.Kind{
		Name: "key", Service: "store", About: "To the buyer, when a license gets a new key.",
		Fields:  []mail.Field{{Name: "product"}, {Name: "keys", Must: true, Block: true}, {Name: "link"}},
		Subject: "Your new license key for {product}",
		Body: "Hello {name},\n\nYour license of {product} has a new key. The old one does not work any more.\n\n{keys}\n\n" +
			"Your keys are also here: {link}\n\n{shop}\n{shop_address}",
		Fill: fillKey, Newest: newestLicense,
	}
	refundKind = mail.Kind{
		Name: "refund", Service: "store", About: "To the buyer, when an order is refunded.",
		Fields:  []mail.Field{{Name: "order"}, {Name: "amount"}, {Name: "items", Block: true}, {Name: "link"}},
		Subject: "Refund of your order {order}",
		Body: "Hello {name},\n\nWe have refunded {amount} of your order {order}.\n\n{items}\n\n" +
			"Your orders are here: {link}\n\n{shop}\n{shop_address}",
		Fill: fillRefund, Newest: newestOrder("o.refunded_cents > 0"), Find: mailOf,
	}
	expiryKind = mail.Kind{
		Name: "expiry", Service: "store", Asked: true, About: "To the buyer, when you send notices: licenses that end soon.",
		Fields:  []mail.Field{{Name: "licenses", Block: true}, {Name: "link"}},
		Subject: "Your license ends soon",
		Body: "Hello {name},\n\nThese licenses end soon:\n{licenses}\n\nYour licenses are here: " +
			"{link}\n\n{shop}\n{shop_address}",
		Fill: fillExpiry, Newest: newestLicense,
	}
	linkKind = mail.Kind{
		Name: "buyer-link", Service: "store", Asked: true, About: "To a buyer who forgot the key and asks for a link at /my.",
		Fields:  []mail.Field{{Name: "link", Must: true}, {Name: "until"}},
		Subject: "Your licenses from {shop}",
		Body: "Hello {name},\n\nHere are your orders and license keys: {link}\n\nThis link works once, until {until}.\n\n" +
			"If you did not ask for it, ignore this message.\n\n{shop}\n{shop_address}",
		Fill: fillLink, Newest: newestCustomer, Persons: customerOf,
	}
)

func newestCustomer(c *db.Conn) (mail.Row, bool, error) {
	k, found, err := customers.One(c, "WHERE instr(email, '@') > 0 ORDER BY id DESC LIMIT 1")
	return k.mailed(), found, err
}

// mailed is the row of a message to the customer.
func (k Customer) mailed() mail.Row {
	return mail.Row{Subject: db.Subject("customer", k.ID), Record: k.Email, To: k.Email}
}

// customerOf is the customer of an address, if there is one who bought something.
func customerOf(c *db.Conn, typed string) ([]mail.Row, error) {
	k, found, err := findCustomer(c, fold(typed))
	if err != nil || !found || k.LastOrderAt == nil {
		return nil, err
	}
	return []mail.Row{k.mailed()}, nil
}

// fillLink fills in the link to all of a customer's licenses.
func fillLink(c *db.Conn, w *mail.Writer, r mail.Row) (v mail.Content, err error) {
	k, found, err := customers.One(c, "WHERE id = ?", r.Number())
	if err != nil {
		return v, err
	}
	if !found || !strings.Contains(k.Email, "@") {
		v.Untrue = "the customer no longer exists"
		return v, nil
	}
	link, until, err := w.Link(visit.Customer, k.ID, "/my/welcome/", true)
	return mail.Content{To: k.Email, Name: k.Name, Values: map[string]mail.Value{"link": link,
		"until": mail.Text(w.Until(until))}}, err
}

// mailOrder queues the message about a paid order, except for renewals of a subscription.
func mailOrder(tx *db.Tx, d OrderDetail, unmailed bool) error {
	if unmailed || d.renewal {
		return nil
	}
	_, err := orderKind.Queue(tx, rowOf(d.Order))
	return err
}

func mailRefund(tx *db.Tx, d OrderDetail, cents int64) error {
	r := rowOf(d.Order)
	r.Note = strconv.FormatInt(cents, 10)
	_, err := refundKind.Queue(tx, r)
	return err
}

func rowOf(o Order) mail.Row {
	return mail.Row{Subject: "order:" + o.OrderRef, Record: o.OrderRef, To: o.Customer.Email}
}

// newestOrder finds the newest order of which the condition holds.
func newestOrder(where string) func(c *db.Conn) (mail.Row, bool, error) {
	return func(c *db.Conn) (mail.Row, bool, error) {
		ref, found, err := db.One(c, db.Text, "SELECT o.order_ref FROM store_orders o WHERE "+where+
			" ORDER BY o.id DESC LIMIT 1")
		if err != nil || !found {
			return mail.Row{}, false, err
		}
		r, err := mailOf(c, ref)
		return r, true, err
	}
}

// mailOf is the row of a message about the order of a reference.
func mailOf(c *db.Conn, ref string) (mail.Row, error) {
	d, err := findOrder(c, ref)
	return rowOf(d.Order), err
}

func newestLicense(c *db.Conn) (mail.Row, bool, error) {
	id, found, err := db.One(c, db.Int, "SELECT id FROM store_licenses WHERE state = 'active' ORDER BY id DESC LIMIT 1")
	if err != nil || !found {
		return mail.Row{}, false, err
	}
	l, err := findLicense(c, id)
	return mail.Row{Subject: subject(l), Record: l.OrderRef, To: l.CustomerEmail}, true, err
}

// myPage is the address of the buyer's page.
func myPage(w *mail.Writer) mail.Value {
	if w.Base == "" {
		return mail.Value{}
	}
	return mail.Text(w.Base + "/my")
}

// fillOrder fills in the message about a paid order.
func fillOrder(c *db.Conn, w *mail.Writer, r mail.Row) (v mail.Content, err error) {
	d, err := findOrder(c, strings.TrimPrefix(r.Subject, "order:"))
	if err != nil {
		return v, err
	}
	w.Currency = exact.CurrencyOf(d.Currency)
	v = mail.Content{To: d.Customer.Email, Name: d.Customer.Name}
	active := 0
	for _, l := range d.Licenses {
		if l.Status == stateActive {
			active++
		}
	}
	switch {
	case d.Status != statusPaid:
		v.Untrue = "the order is " + d.Status
	case len(d.Licenses) > 0 && active == 0:
		v.Untrue = "no license of the order is active"
	}
	keys, err := keyRows(c, w, d.Licenses)
	for _, i := range d.Items {
		p, failure := findProduct(c, i.SKU)
		if note := strings.TrimSpace(p.Note); p.Kind == kindDownload && note != "" {
			keys = append(keys, []string{i.Name, note}) // where to fetch it
		}
		err = errors.Join(err, failure)
	}
	v.Values = map[string]mail.Value{
		"order": mail.Text(d.OrderRef), "total": mail.Text(w.Money(d.TotalCents)), "keys": mail.Rows(keys),
		"items": mail.Rows(itemRows(w, d.Order)), "link": myPage(w),
	}
	return v, err
}

// keyRows are licenses with their keys: the product, the key, the seats, the last day.
func keyRows(c *db.Conn, w *mail.Writer, all []License) (rows [][]string, err error) {
	for _, l := range all {
		p, err := findProduct(c, l.SKU)
		if err != nil {
			return nil, err
		}
		name := p.Name
		if l.Tier != nil {
			name += " " + *l.Tier
		}
		key, seats, ends := l.Key, "", ""
		if w.Masked {
			key = mask(l.Key)
		}
		if l.ActivationLimit != nil {
			word := "seats"
			if *l.ActivationLimit == 1 {
				word = "seat"
			}
			seats = w.Count(*l.ActivationLimit) + " " + w.Word(word)
		}
		if l.ExpiresAt != nil {
			ends = w.Day(w.Zone(*l.ExpiresAt))
		}
		rows = append(rows, []string{name, key, seats, ends, strings.TrimSpace(p.Note)})
	}
	return rows, nil
}

// itemRows are an order's items with what they come to.
func itemRows(w *mail.Writer, o Order) (rows [][]string) {
	for _, i := range o.Items {
		name := i.Name
		if i.Tier != nil {
			name += " " + *i.Tier
		}
		rows = append(rows, []string{name, w.Count(i.Qty), w.Money(i.TotalCents)})
	}
	if o.DiscountCents != 0 {
		rows = append(rows, []string{w.Word("Discount"), w.Money(-o.DiscountCents)})
	}
	if o.TaxCents != 0 {
		rows = append(rows, []string{w.Word("Tax"), w.Money(o.TaxCents)})
	}
	return append(rows, []string{w.Word("Total"), w.Money(o.TotalCents)})
}

// fillKey fills in the message about a license's new key.
func fillKey(c *db.Conn, w *mail.Writer, r mail.Row) (v mail.Content, err error) {
	l, k, err := licenseOf(c, r)
	if err != nil {
		return v, err
	}
	v = mail.Content{To: k.Email, Name: k.Name}
	if l.Status != stateActive {
		v.Untrue = "the license is " + l.Status
	}
	p, err := findProduct(c, l.SKU)
	if err != nil {
		return v, err
	}
	keys, err := keyRows(c, w, []License{l})
	v.Values = map[string]mail.Value{"product": mail.Text(p.Name), "keys": mail.Rows(keys), "link": myPage(w)}
	return v, err
}

// licenseOf reads the license that a message is about, with its customer.
func licenseOf(c *db.Conn, r mail.Row) (l License, k Customer, err error) {
	if l, err = findLicense(c, r.Number()); err != nil {
		return l, k, err
	}
	k, _, err = findCustomer(c, l.CustomerEmail)
	return l, k, err
}

// fillRefund fills in the message about a refund. Its note is how much was given back.
func fillRefund(c *db.Conn, w *mail.Writer, r mail.Row) (v mail.Content, err error) {
	d, err := findOrder(c, strings.TrimPrefix(r.Subject, "order:"))
	if err != nil {
		return v, err
	}
	w.Currency = exact.CurrencyOf(d.Currency)
	amount, err := strconv.ParseInt(r.Note, 10, 64)
	if err != nil { // a preview
		amount = d.RefundedCents
	}
	return mail.Content{To: d.Customer.Email, Name: d.Customer.Name, Values: map[string]mail.Value{
		"order": mail.Text(d.OrderRef), "amount": mail.Text(w.Money(amount)), "items": mail.Rows(itemRows(w, d.Order)),
		"link": myPage(w),
	}}, nil
}

// forgetMails takes a forgotten customer's address from the messages about them.
func forgetMails(tx *db.Tx, id int64, record string, refs, licenses []string) error {
	var addresses []string // of today and of before
	for _, ref := range refs {
		if strings.Contains(ref, "@") {
			addresses = append(addresses, ref)
			continue
		}
		if err := mail.Forget(tx, "order:"+ref, ref); err != nil {
			return err
		}
	}
	for _, license := range licenses {
		if err := mail.Forget(tx, license, record); err != nil {
			return err
		}
	}
	return mail.Forget(tx, db.Subject("customer", id), record, addresses...)
}

func (s *Service) mailOrderOp() schema.Op {
	return schema.Op{
		Name: "mail_order", Says: "Mail an order to its buyer again", Writes: true, Destructive: true, Listed: mail.SetUp,
		About:   "Mail the keys and the receipt of an order to its buyer again.",
		Example: "store mail-order " + exampleRef, Response: mail.ExampleListed("store", "order", exampleRef),
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes(s.db, func(f *schema.Form, ref *string) {
			bindRef(f, ref, schema.Positional("REF"))
		}, remailOrder),
		Will:  mail.Says("Mail order %s to %s."),
		Did:   mail.Says("Order %s is mailed to %s."),
		Leads: func(answer any) string { return orderLeads(answer.(mail.Listed).Record) },
	}
}

// remailOrder queues the message about an order again. Refused: an unknown order, one that is not paid or has no active
// license, a buyer who cannot be mailed.
func remailOrder(tx *db.Tx, ref string) (m mail.Listed, err error) {
	if err := mail.CheckSetUp(&tx.Conn); err != nil {
		return m, err
	}
	if tx.Who().Via == "mcp" {
		if ref, err = orderCalled(&tx.Conn, ref); err != nil {
			return m, err
		}
	}
	d, err := findOrder(&tx.Conn, ref)
	if err != nil {
		return m, err
	}
	v, err := fillOrder(&tx.Conn, &mail.Writer{
		Masked: true, Zone: func(i exact.Instant) exact.Day { return i.Day(tx.Zone()) },
	}, rowOf(d.Order))
	if err == nil && v.Untrue != "" {
		err = fault.Conflictf("order %s is not mailed: %s", d.OrderRef, v.Untrue)
	}
	if err != nil {
		return m, err
	}
	return orderKind.Mail(tx, rowOf(d.Order), firstOf(d.Customer.Name, d.Customer.Email), "order.mailed", nil)
}
