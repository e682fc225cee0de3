package store

import (
	"cmp"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// session is what the store reads of a checkout: a Checkout session of Stripe's, or another till's order.
type session struct {
	id, ref         string // ref: the payment intent, or the session if there is none
	status, mode    string
	invoice         string
	subscription    string
	email, name     string
	currency        string
	sku, tier, qty  string // of the metadata
	lines           string // of the metadata: SKU[:TIER][=QTY][@CENTS] ...
	link            string // the payment link, or the till's own name for the product
	theirName       string // what the till calls it
	paidAt          micros // by the provider's clock; 0: it counts from now
	opening         *invoice
	total           int64
	discount, tax   int64
	amounts         error
	totalWasMissing bool
}

func readSession(v strict.Value) session {
	x := session{
		id: textAt(v, "id"), ref: idAt(v, "payment_intent"), status: textAt(v, "payment_status"), mode: textAt(v, "mode"),
		invoice: idAt(v, "invoice"), subscription: idAt(v, "subscription"),
		email: textAt(v, "customer_details", "email"), name: textAt(v, "customer_details", "name"),
		currency: textAt(v, "currency"),
		sku:      textAt(v, "metadata", "sku"), tier: textAt(v, "metadata", "tier"), qty: wordAt(v, "metadata", "qty"),
		lines: textAt(v, "metadata", "lines"), link: idAt(v, "payment_link"),
	}
	x.ref = cmp.Or(x.ref, x.id)
	if x.email == "" {
		x.email = textAt(v, "customer_email")
	}
	x.readAmounts(v, []string{"amount_total"}, []string{"total_details", "amount_discount"},
		[]string{"total_details", "amount_tax"})
	return x
}

func (x *session) readAmounts(v strict.Value, total, discount, tax []string) {
	x.totalWasMissing = at(v, total...).Kind() == strict.Null
	for _, amount := range []struct {
		into *int64
		path []string
	}{{&x.total, total}, {&x.discount, discount}, {&x.tax, tax}} {
		cents, err := centsAt(v, amount.path...)
		if err != nil {
			x.amounts = err
		}
		*amount.into = cents
	}
}

// calls reports whether the session needs an order or a person: it is paid, or its total is 0, which begins a trial or
// must be judged.
func (x session) calls() bool {
	return x.status == "paid" || x.status == "no_payment_required" && (x.mode == "payment" || x.subscribes())
}

func (x session) subscribes() bool { return x.mode == "subscription" }

// sale makes an order of the session. Its refusals say why that is impossible, and what the owner can do.
func (x session) sale(c *db.Conn, provider string) (sale, error) {
	v := sale{rename: true, name: x.name, provider: provider, ref: x.ref, names: []string{x.id, x.invoice}, tax: x.tax,
		paidAt: c.Now(), told: x.paidAt}
	if schema.CheckText("name", x.name, 200) != nil {
		v.name = "" // a payment is not lost over a name
	}
	var err error
	switch {
	case x.status != "paid" && !x.subscribes():
		return v, because(causeNothingPaid, fault.Invalidf("nothing had to be paid; to fulfil it, record it by hand with "+
			"--total-cents 0"))
	case x.ref == "":
		return v, because(causeUnreadable, fault.Invalidf("it has neither a payment_intent nor an id"))
	case x.amounts != nil:
		return v, because(causePrice, x.amounts)
	case x.totalWasMissing:
		return v, because(causePrice, fault.Invalidf("amount_total is missing"))
	case x.subscribes() && x.subscription == "":
		return v, because(causeUnreadable, fault.Invalidf("its mode is subscription, but it names none"))
	}
	if v.email, err = foldEmail(x.email); err != nil {
		return v, because(causeNoBuyer, err)
	}
	if v.currency, err = checkCurrency(x.currency); err != nil {
		return v, because(causeUnreadable, err)
	}
	if v.lines, v.discount, err = x.goods(c, provider); err != nil {
		return v, err
	}
	return v, because(causePrice, v.checkAmounts())
}

// goods returns what was bought and the discount that makes it the session's total.
func (x session) goods(c *db.Conn, provider string) ([]line, int64, error) {
	if x.lines == "" {
		return x.oneProduct(c, provider)
	}
	var list []NewLine
	for _, written := range splitLines(x.lines) {
		l, err := readLine(written)
		if err != nil {
			return nil, 0, because(causeNoProduct, err)
		}
		list = append(list, l)
	}
	if len(list) == 0 {
		return nil, 0, because(causeNoProduct, fault.Fieldf("lines", "lines: its metadata lines name no product"))
	}
	lines, err := resolveAll(c, list)
	if err != nil {
		return nil, 0, because(causeUnknownProduct, err)
	}
	discount := subtotal(lines) + x.tax - x.total
	if discount < 0 {
		return nil, 0, because(causePrice, fault.Invalidf("its lines and tax come to %d, less than amount_total, %d: "+
			"give the lines' prices (@CENTS) in the session's metadata lines", subtotal(lines)+x.tax, x.total))
	}
	return lines, discount, nil
}

// oneProduct is what was bought when the metadata have no lines.
func (x session) oneProduct(c *db.Conn, provider string) ([]line, int64, error) {
	qty, err := readQty(x.qty)
	if err != nil {
		return nil, 0, because(causePrice, err)
	}
	l := line{qty: qty, tier: x.tier}
	if err := x.product(c, provider, &l); err != nil {
		return nil, 0, err
	}
	l.licensed = l.product.Kind == kindLicense
	unit, discount, ok := x.split(qty)
	if !ok {
		return nil, 0, because(causePrice, fault.Invalidf("amount_total is less than its tax"))
	}
	l.unit = unit
	return []line{l}, discount, nil
}

// split returns the price of each of qty units and the discount that make the session's total. The provider's total
// counts: if a tax is part of the price, or the units do not divide it, the unit price is rounded up and the rest is a
// discount, so that the order adds up to the cent. ok is false for a total under its tax.
func (x session) split(qty int64) (unit, discount int64, ok bool) {
	before := x.total - x.tax + x.discount
	if before < 0 {
		return 0, 0, false
	}
	unit = (before + qty - 1) / qty
	return unit, x.discount + unit*qty - before, true
}

// product finds what was bought: by the metadata, or by what the till's name for it is mapped to.
func (x session) product(c *db.Conn, provider string, l *line) (err error) {
	sku := x.sku
	if link, mapped, err := findLink(c, provider, firstOf(sku, x.link)); err != nil {
		return err
	} else if mapped {
		if sku = link.SKU; link.Tier != nil {
			l.tier = *link.Tier
		}
	}
	switch {
	case sku != "":
	case x.link == "" && provider == stripe:
		return because(causeNoProduct, fault.Invalidf("it has no sku and no payment link; give the session metadata sku "+
			"(and tier, qty)"))
	case x.link == "":
		return because(causeNoProduct, fault.Invalidf("it names no product"))
	case provider == stripe:
		return because(causeUnknownProduct,
			fault.Invalidf("it has no sku, and its payment link is not mapped: `store provider map stripe %s SKU`", x.link))
	default:
		return because(causeUnknownProduct,
			fault.Invalidf("what was bought, %s, is not mapped: `store provider map %s %s SKU`",
				schema.Quote(firstOf(x.theirName, x.link)), provider, x.link))
	}
	if l.product, err = findProduct(c, sku); err != nil {
		return because(causeUnknownProduct, err)
	}
	return because(causeUnknownProduct, l.product.takesTier(l.tier))
}

func readQty(written string) (int64, error) {
	if written == "" {
		return 1, nil
	}
	n, err := strconv.ParseInt(written, 10, 64)
	if err != nil || n < 1 || n > maxQty {
		return 0, fault.Fieldf("qty", "qty: %s is not allowed; it takes 1 to %d", schema.Quote(written), maxQty)
	}
	return n, nil
}

// bookSession makes a paid session an order, once. An unmatched one is reported to the owner, and its event stays
// undone, so that it can be sent again.
func bookSession(tx *db.Tx, e incoming, x session) (Received, error) {
	var s subscription
	names := []string{x.ref, x.id, x.invoice}
	if x.subscribes() && x.subscription != "" {
		var err error
		if s, err = ensureSubscription(tx, e.provider, x.subscription); err != nil {
			return Received{}, err
		}
		notePayment(tx, s.id, e.at)
		if x.opening != nil && x.opening.reason == "" {
			if _, err := noteInvoice(tx, e, *x.opening); err != nil {
				return Received{}, err
			}
		}
		opening, err := openingNames(tx, e.provider, s, x.invoice)
		if err != nil {
			return Received{}, err
		}
		names = append(names, opening...)
	}
	d, isBooked, err := findPayment(&tx.Conn, e.provider, names...)
	if err != nil {
		return Received{}, err
	}
	if isBooked {
		return x.again(tx, e, d, s, names)
	}
	v, err := x.sale(&tx.Conn, e.provider)
	if reason, refused := fault.As(err); refused && reason.Kind == fault.Invalid {
		return recordUnbooked(tx, e, x.unbooked(reason))
	}
	if err != nil {
		return Received{}, err
	}
	v.subscription, v.names = s.id, names
	if d, err = book(tx, v, true); err != nil {
		return Received{}, err
	}
	if s.id != 0 {
		s.order = d.id
		if err := bookInvoices(tx, s, true); err != nil {
			return Received{}, err
		}
	}
	got, err := e.done(tx, outcomeRecorded, "recorded as order "+d.OrderRef)
	if err != nil {
		return got, err
	}
	t, waits, err := db.One(&tx.Conn, scanUnbooked, selectUnbooked+" WHERE provider = ? AND provider_ref = ?", e.provider,
		x.ref)
	if waits { // a refund that came before it
		got.notice = t.whatToDo()
		got.Detail += "; " + got.notice
	}
	return got, err
}

// unbooked is the session as a payment that cannot be booked.
func (x session) unbooked(why *fault.Error) Unbooked {
	u := Unbooked{
		Ref: x.ref, Reason: why.Detail, Cause: causeOf(why), BuyerEmail: db.NullText(x.email), BuyerName: db.NullText(x.name),
		Currency: db.NullText(strings.ToUpper(x.currency)), TheirProduct: db.NullText(firstOf(x.sku, x.link)),
		TheirName:    db.NullText(x.theirName),
		Subscription: db.NullText(x.subscription),
	}
	if x.amounts == nil && !x.totalWasMissing {
		u.AmountCents = &x.total
	}
	if n, err := readQty(x.qty); err == nil {
		u.Qty = &n
	}
	return u
}

// openingNames are the names of the payment that a subscription began with, as far as
// invoices told them: of the invoice that the session names, and of those that say so.
func openingNames(tx *db.Tx, provider string, s subscription, invoice string) ([]string, error) {
	tx.Do("UPDATE store_invoices SET opens = 1 WHERE provider = ? AND ref = ? AND opens = 0", provider,
		invoice)
	return db.All(&tx.Conn, db.Text, `SELECT n.name FROM store_invoices i CROSS JOIN store_payment_names n
		ON n.payment_id = i.payment_id
		WHERE i.subscription_id = ? AND i.opens = 1`, s.id)
}

// again answers for a session whose payment is recorded: as an order that a person recorded, which becomes the
// subscription's, or one booked before.
func (x session) again(tx *db.Tx, e incoming, d OrderDetail, s subscription, names []string) (Received, error) {
	payment, _, err := gatherPayment(tx, e.provider, names, d.id, true)
	if err != nil {
		return Received{}, err
	}
	if s.id != 0 && s.order == 0 && d.subscription == 0 {
		if s, err = begin(tx, s, d); err == nil {
			err = bookInvoices(tx, s, true)
		}
		if err != nil {
			return Received{}, err
		}
	}
	if d, err = orderByID(&tx.Conn, d.id); err != nil {
		return Received{}, err
	}
	if d, err = reconcile(tx, d, payment, true); err != nil {
		return Received{}, err
	}
	return e.done(tx, outcomeRepeated, "the payment is recorded as order "+d.OrderRef)
}
