package store

import (
	"context"
	"fmt"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// inCurrency writes an amount as the commands print it: 49.00 USD.
func inCurrency(units int64, code string) string {
	return exact.CurrencyOf(code).Plain(units) + " " + code
}

func printOrders(w io.Writer, p OrderPage) {
	schema.Tabulate(w, "ORDER|PAID|STATUS|TOTAL|REFUNDED|PROVIDER|BUYER|ITEMS", p.Orders, func(o Order) []any {
		return []any{o.OrderRef, o.PaidAt, o.Status, inCurrency(o.TotalCents, o.Currency),
			exact.CurrencyOf(o.Currency).Plain(o.RefundedCents), o.Provider + " " + o.ProviderRef, o.Customer.Email,
			linesOf(o.Items)}
	})
}

func printOrder(w io.Writer, d OrderDetail) {
	fmt.Fprintf(w, "%s: %s, paid %s by %s %s\n%s %s\n", d.OrderRef, d.Status, d.PaidAt, d.Provider, d.ProviderRef,
		d.Customer.Email, d.Customer.Name)
	money := exact.CurrencyOf(d.Currency)
	for _, i := range d.Items {
		fmt.Fprintf(w, "  %s: %s\n", goods(i.SKU, schema.Cell(i.Tier), i.Qty), money.Plain(i.TotalCents))
	}
	fmt.Fprintf(w, "discount %s, tax %s, total %s, refunded %s\n", money.Plain(d.DiscountCents), money.Plain(d.TaxCents),
		inCurrency(d.TotalCents, d.Currency), money.Plain(d.RefundedCents))
	for _, l := range d.Licenses {
		fmt.Fprintln(w, l.Key, l.SKU, l.Status)
	}
}

func orderLeads(ref string) string { return "/orders/" + ref }

func (s *Service) listOrders() schema.Op {
	return schema.Op{
		Name: "list_orders", Says: "Which orders there are",
		About:    "Orders, the newest first.",
		Response: OrderPage{Orders: []Order{exampleDetail().Order}},
		AgentAbout: "Orders that match every filter, newest first; sort most: the largest total first. total and sums (an " +
			"entry a currency) are over all that match. " +
			"detail short: reference, status, buyer's e-mail, items, currency, total, day.",
		AgentResponse: FoundOrders{Orders: schema.Rows([]Order{exampleDetail().Order}, false, Order.short), Shown: 1,
			Total: 1,
			Sums:  sumOrders([]Order{exampleDetail().Order})},
		Example: "store orders list --status paid --from 2026-11-01\nstore orders list --q ann@ --csv",
		Print:   schema.Printed(printOrders),
		Bind: func(f *schema.Form) schema.Handler {
			if f.Surface() == schema.Tool {
				return s.bindFound(f)
			}
			var o OrderFilter
			o.bind(f)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.Orders(ctx, o) }
		},
	}
}

func (s *Service) getOrder() schema.Op {
	return schema.Op{
		Name: "order_detail",
		About: "One order with its licenses. Keys are in full for a full-access API key of a member or admin, otherwise " +
			"masked.",
		Response: exampleDetail(),
		Example:  "store orders show " + exampleRef,
		Print:    schema.Printed(printOrder),
		Leads:    schema.Of(func(d OrderDetail) string { ; return orderLeads(d.OrderRef) }),
		Bind: schema.Does(func(f *schema.Form, ref *string) {
			bindRef(f, ref, schema.InPath("ref"))
		}, s.Order),
	}
}

// bindRef binds what names an order; on REST it stands in the path as ref, agents call it order.
func bindRef(f *schema.Form, ref *string, opts ...schema.Opt) {
	name := "order_ref"
	switch f.Surface() {
	case schema.REST:
		name = "ref"
	case schema.Tool:
		name = "order"
	}
	f.Text(ref, name, "the order_ref",
		append([]schema.Opt{schema.Required, schema.Most(200), schema.Positional("ORDER_REF"), schema.Label("Order"),
			schema.Example(exampleRef), schema.Choices(orderChoices)}, opts...)...)
}

func (s *Service) recordOrder() schema.Op {
	return schema.Op{
		Name: "record_order",
		About: "Record a paid order and issue one license per licensed unit. Webhook receivers get an event. The same " +
			"provider and provider_ref recorded twice is one order.",
		Writes: true, Response: Recorded{OrderDetail: exampleDetail()},
		Example: "store order record --email ann@example.org --sku PLUGIN\n" +
			"store order record --email ann@example.org --sku PLUGIN --tier pro --qty 2 --total-cents 9800 --currency EUR " +
			"--provider paypal --provider-ref 8XY12345\n" +
			"store order record --email ann@example.org --line PLUGIN:pro=2@4500 --line EBOOK",
		Bind: schema.Writes(s.db, func(f *schema.Form, n *NewOrder) {
			f.Currency("currency", func(_ *db.Conn, code string) (string, error) { return code, nil })
			f.Text(&n.SKU, "sku", "what was bought; leave out if lines are given", schema.Most(200), schema.Label("Product"),
				schema.Choices(anyProduct), schema.Example("PLUGIN"), schema.NewBy("save_product"),
				schema.Usual, schema.Help("Several products: add lines under More."))
			f.Text(&n.Email, "email", "the buyer's address", schema.Required, schema.Most(254),
				schema.Example("ann@example.com"), schema.Choices(customerEmails), schema.Any)
			f.Text(&n.Name, "name", "the buyer's name", schema.Most(200), schema.Example("Ann Lee"))
			f.Text(&n.Tier, "tier", "one of the product's tiers", schema.Most(200), schema.Rare, schema.Example("pro"))
			f.Int(&n.Qty, "qty", "how many (default: 1)", schema.Range(1, math32), schema.Label("Quantity"))
			lines := n.bindLines(f)
			f.IntPtr(&n.Total, "total_cents", "amount paid, in cents (default: sum of the product prices)",
				schema.Range(0, maxPrice), schema.Flag("total"), schema.Label("Paid in all"),
				schema.Help("Empty: the sum of the prices."))
			f.DayPtr(&n.PaidAt, "paid_at", "the day of payment, up to today (default: now)", schema.Label("Paid on"),
				schema.Example("2026-11-20"), schema.Today, schema.Help("Not after today."))
			f.Int(&n.Discount, "discount_cents", "taken off the products' prices, in cents", schema.Range(0, maxPrice),
				schema.Flag("discount"), schema.Label("Discount"), schema.Rare)
			f.Int(&n.Tax, "tax_cents", "the tax in the amount paid, in cents; without an amount it is added",
				schema.Range(0, maxPrice), schema.Flag("tax"), schema.Label("Tax"), schema.Rare)
			f.Text(&n.Currency, "currency", "ISO 4217 code (default: the shop's)", schema.Most(3), schema.Rare,
				schema.Help("Without it, the shop's."), schema.Choices(schema.Currencies), schema.Any, schema.Example("USD"))
			f.Text(&n.Provider, "provider", "the payment provider (default: manual)", schema.Most(32), schema.Rare,
				schema.Example("paypal"))
			f.Text(&n.ProviderRef, "provider_ref", "the payment's reference there (default: the order's)", schema.Most(200),
				schema.Rare, schema.Label("Reference there"), schema.Example("8XY12345"))
			mailed := true
			if f.Surface() != schema.Page || mail.Offered(s.db) {
				f.Bool(&mailed, "mail", "mail the buyer the keys and the receipt, if mail is set up",
					schema.Label("Mail the buyer"), schema.Help("The keys and the receipt, if mail is set up."))
			}
			n.Unmailed = !mailed
			if n.SKU == "" && !lines && !f.Describing() {
				missing := "sku is missing: name a product, or lines of several"
				if f.Surface() == schema.Page {
					missing = "choose a product, or several under More"
				}
				f.Refuse("sku", "%s", missing)
			}
			if f.Surface() == schema.Page && lines && n.SKU != "" { // last: refusals name lines by their place
				n.Lines = append(n.Lines, NewLine{SKU: n.SKU, Tier: n.Tier, Qty: n.Qty})
				n.SKU, n.Tier, n.Qty = "", "", 0
			}
		}, recordOrder),
		Print: schema.Printed(func(w io.Writer, made Recorded) {
			was := ""
			if made.AlreadyRecorded {
				was = ", recorded already: nothing was done"
			}
			fmt.Fprintf(w, "%s: %s%s\n", made.OrderRef, inCurrency(made.TotalCents, made.Currency), was)
			for _, l := range made.Licenses {
				fmt.Fprintln(w, l.Key)
			}
		}),
		Did: schema.Said(func(made Recorded) string {
			if made.AlreadyRecorded {
				return fmt.Sprintf("The payment is recorded as order %s already; nothing was done.", made.OrderRef)
			}
			return fmt.Sprintf("Order %s is recorded: %s from %s, %s.", made.OrderRef,
				inCurrency(made.TotalCents, made.Currency), made.Customer.Email, exact.Plural(len(made.Licenses), "license",
					"licenses"))
		}),
		Doubt: doubtOrder,
		Leads: schema.Of(func(made Recorded) string { ; return orderLeads(made.OrderRef) }),
	}
}

// doubtOrder asks before recording an amount of more than three times the prices.
func doubtOrder(answer any, _ schema.Money) schema.Question {
	made := answer.(Recorded)
	if made.priced == 0 || made.TotalCents/3 < made.priced || made.TotalCents <= 3*made.priced {
		return schema.Question{}
	}
	c := exact.CurrencyOf(made.Currency)
	return schema.Question{
		Title: "Record " + c.Format(made.TotalCents) + "?", Button: "Record order",
		Text: fmt.Sprintf("By the prices it is %s.", c.Format(made.priced)),
	}
}

// bindLines binds an order's lines, and tells whether there are any.
func (n *NewOrder) bindLines(f *schema.Form) bool {
	return f.Objects("lines",
		"what was bought, several products; on the command line SKU[:TIER][=QTY][@CENTS], CENTS is the unit price",
		mostLines, func(f *schema.Form) {
			var l NewLine
			f.Text(&l.SKU, "sku", "the product", schema.Required, schema.Most(400), schema.Choices(anyProduct),
				schema.Label("Product"), schema.Example("PLUGIN"))
			f.Text(&l.Tier, "tier", "one of the product's tiers", schema.Most(200), schema.Example("pro"))
			f.Int(&l.Qty, "qty", "how many (default: 1)", schema.Range(1, maxQty), schema.Label("Quantity"))
			f.IntPtr(&l.Unit, "unit_cents", "the unit price (default: the product's)", schema.Range(0, maxPrice),
				schema.Label("Unit price"))
			if f.Surface() == schema.Command {
				l, _ = readLine(l.SKU) // writtenLine refused what cannot be read
			}
			n.Lines = append(n.Lines, l)
		}, schema.Flag("line"), schema.Written(writtenLine), schema.Rare)
}

// math32 lets any typed quantity reach the domain's own refusal.
const math32 = 1 << 31

// writtenLine checks a line in the form SKU[:TIER][=QTY][@CENTS] and keeps it unchanged: only the products decide where
// the SKU ends.
func writtenLine(text string) (map[string]string, error) {
	_, err := readLine(text)
	return map[string]string{"sku": text}, err
}

func (s *Service) refundOrder() schema.Op {
	paid := exampleDetail()
	paid.Status, paid.RefundedCents, paid.RefundedAt = statusRefunded, paid.TotalCents, &exampleInstant
	return schema.Op{
		Name: "refund_order", Says: "Record a refund",
		About: "Refund an order in full, which revokes its licenses, or in part, which keeps them. Never more than was paid.",
		Thing: schema.Of(func(o OrderRefunded) string {
			return "order " + o.OrderRef
		}),
		Writes:      true,
		Destructive: true, Response: OrderRefunded{OrderDetail: paid, Full: true}, Refuses: []fault.Kind{fault.NotFound},
		AgentAbout: "Record a refund of an order: amount_cents, never more than is left. A full refund revokes the order's " +
			"licenses for good. " +
			"No money moves: return it at the provider.",
		AgentResponse: RefundForAgents{Note: noteOf(paid.Order, 4900),
			OrderRefunded: OrderRefunded{OrderDetail: paid.masked(), Full: true}},
		Example: "store order refund ORD-0123456789\nstore order refund ORD-0123456789 --amount-cents 500",
		Bind: schema.Agents(
			schema.Writes3(s.db, func(f *schema.Form, ref *string, amount **int64, reason *string) {
				bindRefund(f, ref, amount, "the refund, in cents of the order's currency", schema.Required)
				f.Text(reason, "reason", "why, for the history", schema.Required, schema.Most(500))
			}, refundForAgents),
			schema.Writes3(s.db, func(f *schema.Form, ref *string, amount **int64, _ *string) {
				bindRefund(f, ref, amount, "the refund, in cents (default: all that is left)",
					schema.Help("Empty: all that is left. Give the money back yourself, at the provider or by your bank."))
			}, refundOrder)),
		Print: schema.Printed(func(w io.Writer, o OrderRefunded) {
			fmt.Fprintf(w, "%s: %s, %s of %s refunded\n", o.OrderRef, o.Status,
				exact.CurrencyOf(o.Currency).Plain(o.RefundedCents), inCurrency(o.TotalCents, o.Currency))
		}),
		Did: schema.Said(func(o OrderRefunded) string {
			return fmt.Sprintf("Order %s: %s of %s are refunded.", o.OrderRef, inCurrency(o.RefundedCents, o.Currency),
				inCurrency(o.TotalCents, o.Currency))
		}),
		Will:  schema.Said(OrderRefunded.will),
		Leads: schema.Of(func(o OrderRefunded) string { ; return orderLeads(o.OrderRef) }),
	}
}

// bindRefund binds the order and the amount of a refund.
func bindRefund(f *schema.Form, ref *string, amount **int64, about string, opts ...schema.Opt) {
	f.Currency("order_ref", currencyOf)
	bindRef(f, ref)
	f.IntPtr(amount, "amount_cents", about, append(opts, schema.Range(1, maxPrice), schema.Flag("amount"),
		schema.Label("Amount"), schema.Example(500))...)
}

// currencyOf returns the currency of an order, "" when there is no such order.
func currencyOf(c *db.Conn, ref string) (string, error) {
	code, _, err := db.One(c, db.Text, "SELECT currency FROM store_orders WHERE order_ref = ?", ref)
	return code, err
}

func (s *Service) resendOrder() schema.Op {
	return schema.Op{
		Name: "resend_order",
		About: "Send an order to the receivers again as it is today: a new order.paid (code.redeemed for a redeemed code) " +
			"with resent beside event. " +
			"It has the license keys, so that a receiver mails them again.",
		Writes: true, Response: exampleDetail(), Refuses: []fault.Kind{fault.NotFound},
		Example: "store resend " + exampleRef,
		Bind:    schema.Writes(s.db, func(f *schema.Form, ref *string) { bindRef(f, ref) }, resendOrder),
		Print:   schema.Printed(func(w io.Writer, d OrderDetail) { fmt.Fprintf(w, "%s: sent again\n", d.OrderRef) }),
		Did: schema.Said(func(d OrderDetail) string {
			return fmt.Sprintf("Order %s is sent to the receivers again.", d.OrderRef)
		}),
		Leads: schema.Of(func(d OrderDetail) string { ; return orderLeads(d.OrderRef) }),
	}
}
