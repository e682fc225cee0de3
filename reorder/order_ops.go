package reorder

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

var sampleExpected = sampleDay.today + 11

// sampleOrder is the purchase order of the documents' examples.
func sampleOrder(status string, received exact.Milli) PurchaseOrder {
	l := lineOf(sample)
	l.Ordered, l.Received, l.TotalCents = 72_000, received, 23_040
	return PurchaseOrder{
		Number: "PO-000001", Supplier: sample.Supplier, Status: status, ExpectedDate: &sampleExpected,
		Lines: []OrderLine{l}, TotalCents: 23_040, BelowMinimumCents: 16_960,
	}
}

// bindNumber binds the purchase order that an act is about.
func bindNumber(f *schema.Form, number *string) {
	f.Text(number, "number", "the purchase order", schema.Required, schema.Most(maxCode), schema.Positional("NUMBER"),
		schema.Example("PO-000001"), schema.Choices(anyOrder))
}

func printStatus(w io.Writer, o PurchaseOrder) {
	fmt.Fprintf(w, "%s: %s\n", o.Number, o.Status)
}

func orderLeads(o PurchaseOrder) string { return orderPage(o.Number) }

func (s *Service) createPurchase() schema.Op {
	return schema.Op{
		Name:   "create_purchase",
		About:  "Create a purchase order, a draft unless order is true. Without a price a line has its SKU's unit cost.",
		Writes: true, Response: sampleOrder(Draft, 0), Refuses: []fault.Kind{fault.NotFound},
		Example: "reorder po create --supplier Leaf --line TEA-1=24 --line TEA-2=12@1850\n" +
			"reorder po create --supplier Leaf --line TEA-1=24 --expected 2026-12-01 --order",
		Bind: schema.Does(func(f *schema.Form, n *NewOrder) {
			f.Text(&n.Supplier, "supplier",
				"the supplier", schema.Required, schema.Most(maxName), schema.Example(sample.Supplier),
				schema.Choices(SupplierChoices), schema.Any, schema.NewBy("save_supplier"))
			f.Objects("lines", "what is ordered: a SKU with its quantity, at most 1,000", maxLines, func(f *schema.Form) {
				var l NewLine
				f.Text(&l.SKU, "sku", "the SKU, case-sensitive", schema.Required, schema.Most(maxCode), schema.Example(sample.Code),
					schema.Choices(anySKU))
				f.Milli(&l.Qty, "qty", "how much", schema.Required, schema.Label("Quantity"), schema.Example(72))
				f.IntPtr(&l.UnitCostCents, "unit_cost_cents",
					"unit cost in cents (default: the SKU's)", schema.Range(0, maxUnitCost))
				n.Lines = append(n.Lines, l)
			}, schema.Required, schema.Flag("line"), schema.Written(writtenLine))
			f.DayPtr(&n.ExpectedDate, "expected_date", "the day on which it is expected", schema.Flag("expected"))
			f.Bool(&n.Order, "order", "order it right away", schema.Label("Order it right away"))
		}, s.CreateOrder),
		Print: func(w io.Writer, answer any) { fmt.Fprintln(w, answer.(PurchaseOrder).Number) },
		Did: schema.SaidIn(func(o PurchaseOrder, m schema.Money) string {
			return fmt.Sprintf("Purchase order %s for %s is created: %s.", o.Number, o.Supplier, m(o.TotalCents))
		}),
		Leads: schema.Of(orderLeads),
	}
}

// maxLines bounds a purchase order.
const maxLines = 1000

// writtenLine reads SKU=QTY or SKU=QTY@CENTS into the fields of a line.
func writtenLine(text string) (map[string]string, error) {
	l, err := ParseLine(text)
	if err != nil {
		return nil, fault.Invalidf("--%s", err)
	}
	cells := map[string]string{"sku": l.SKU, "qty": l.Qty.String()}
	if l.UnitCostCents != nil {
		cells["unit_cost_cents"] = strconv.FormatInt(*l.UnitCostCents, 10)
	}
	return cells, nil
}

// writtenReceipt reads SKU=QTY.
func writtenReceipt(text string) (map[string]string, error) {
	cells, err := writtenLine(text)
	if _, priced := cells["unit_cost_cents"]; err == nil && priced {
		return nil, fault.Invalidf("--line %s: leave out the price; write SKU=QTY", schema.Quote(text))
	}
	return cells, err
}

// moveOp is order or cancel.
func (s *Service) moveOp(name, word, about string, move func(context.Context, db.Caller, string) (PurchaseOrder,
	error)) schema.Op {
	return schema.Op{
		Name: name, About: about, Writes: true, Refuses: []fault.Kind{fault.NotFound},
		Example: "reorder po " + word + " PO-000001",
		Bind:    schema.Does(bindNumber, move),
		Print:   schema.Printed(printStatus), Leads: schema.Of(orderLeads),
	}
}

// orderThing names an order in a question.
func orderThing(o PurchaseOrder) string {
	return fmt.Sprintf("%s, %s, %s", o.Number, o.Supplier, exact.Plural(len(o.Lines), "line", "lines"))
}

func (s *Service) orderPurchase() schema.Op {
	op := s.moveOp("order_purchase", "order", "Order a draft: its quantities are on order from then on.", nil)
	op.Response, op.Asks, op.Thing = sampleOrder(Ordered, 0), true, schema.Of(orderThing)
	op.Refuses = append(op.Refuses, fault.Conflict)
	op.Bind = schema.Does2(func(f *schema.Form, number *string, mails *bool) {
		bindNumber(f, number)
		if f.Surface() != schema.Page || mail.Offered(s.db) {
			f.Bool(mails, "mail", "mail it to the supplier", schema.Label("Mail it to the supplier"))
		}
	}, s.PlaceOrder)
	op.Will = schema.SaidIn(func(o PurchaseOrder, m schema.Money) string {
		text := fmt.Sprintf("%s, %s, will be ordered: %s, %s.", o.Number, o.Supplier,
			exact.Plural(len(o.Lines), "line", "lines"),
			m(o.TotalCents))
		if o.ExpectedDate != nil {
			text += fmt.Sprintf(" It is expected on %s.", o.ExpectedDate)
		}
		if o.mailedTo != "" {
			text += " It is mailed to " + o.mailedTo + "."
		}
		if o.BelowMinimumCents > 0 {
			text += fmt.Sprintf(" That is %s below the supplier's minimum order.", m(o.BelowMinimumCents))
		}
		return text
	})
	op.Did = schema.SaidIn(func(o PurchaseOrder, m schema.Money) string {
		text := fmt.Sprintf("Purchase order %s is ordered: %s from %s.", o.Number, m(o.TotalCents), o.Supplier)
		if o.mailedTo != "" {
			text += " It is mailed to " + o.mailedTo + "."
		}
		return text
	})
	return op
}

func (s *Service) cancelPurchase() schema.Op {
	op := s.moveOp("cancel_purchase", "cancel", "Cancel a purchase order that is not fully received. What was received "+
		"stays.", s.CancelOrder)
	op.Destructive, op.Thing = true, schema.Of(orderThing)
	op.Response = sampleOrder(Cancelled, 0)
	op.Did = schema.Said(func(o PurchaseOrder) string { return fmt.Sprintf("Purchase order %s is %s.", o.Number, o.Status) })
	op.Will = schema.SaidIn(func(o PurchaseOrder, m schema.Money) string {
		left := int64(0)
		for _, l := range o.Lines {
			left = addCents(left, costOf(l.Ordered-l.Received, l.UnitCostCents))
		}
		return fmt.Sprintf("Purchase order %s from %s will be %s for good: goods for %s will not be delivered.",
			o.Number, o.Supplier, o.Status, m(left))
	})
	return op
}

func (s *Service) receivePurchase() schema.Op {
	return schema.Op{
		Name: "receive_purchase",
		About: "Receive a purchase order and add it to stock: the given lines, or without any all that is outstanding. " +
			"Never more than was ordered.",
		Writes: true, Response: sampleOrder(Partial, 24_000), Refuses: []fault.Kind{fault.NotFound},
		Example: "reorder po receive PO-000001\nreorder po receive PO-000001 --line TEA-1=12",
		Bind: schema.Does2(func(f *schema.Form, number *string, came *[]Receipt) {
			typed := false
			bindNumber(f, number)
			given := f.Objects("lines", "a SKU with the received quantity", maxLines, func(f *schema.Form) {
				var l Receipt
				f.Text(&l.SKU, "sku", "the SKU, case-sensitive", schema.Required, schema.Most(maxCode), schema.Example(sample.Code))
				typed = typed || f.Given("qty")
				if f.Surface() == schema.Page {
					l.field = fmt.Sprintf("lines.%d.qty", f.Place())
				}
				if f.Milli(&l.Qty, "qty",
					"the received quantity", schema.Label("Came in"), schema.Example(24)) || f.Surface() != schema.Page {
					*came = append(*came, l)
				}
			}, schema.Flag("line"), schema.Written(writtenReceipt))
			if given && !typed && f.Surface() == schema.Page {
				f.Refuse("lines", "enter at least one received quantity")
			}
		}, s.Receive),
		Print: schema.Printed(printStatus), Leads: schema.Of(orderLeads),
		Did: schema.Said(func(o PurchaseOrder) string {
			if o.Status == Received {
				return fmt.Sprintf("All of purchase order %s is in stock.", o.Number)
			}
			return fmt.Sprintf("The received part of purchase order %s is in stock; the rest is outstanding.", o.Number)
		}),
	}
}

func (s *Service) unreceivePurchase() schema.Op {
	return schema.Op{
		Name: "unreceive_purchase",
		About: "Undo a receipt, for example one booked on the wrong order: the stock goes down, never below 0, " +
			"and the goods are outstanding again.",
		Writes: true, Response: sampleOrder(Ordered, 0), Refuses: []fault.Kind{fault.NotFound},
		Example: `reorder po unreceive PO-000001 --sku TEA-1 --qty 12 --reason "booked on the wrong order"`,
		Bind: schema.Does2(func(f *schema.Form, number *string, u *Unreceipt) {
			bindNumber(f, number)
			f.Text(&u.SKU, "sku", "the SKU, case-sensitive", schema.Required, schema.Most(maxCode), schema.Example(sample.Code),
				schema.Choices(anySKU))
			f.Milli(&u.Qty, "qty", "the quantity to undo", schema.Required, schema.Label("Quantity"), schema.Example(24))
			f.Text(&u.Reason, "reason", "why, for the history", schema.Most(maxName), schema.Example("booked on the wrong "+
				"order"))
		}, s.Unreceive),
		Print: schema.Printed(printStatus), Leads: schema.Of(orderLeads),
		Did: schema.Said(func(o PurchaseOrder) string {
			return fmt.Sprintf("Taken back: %s. That much of purchase order %s is outstanding again.", o.taken, o.Number)
		}),
	}
}

// OrderList is purchase orders as a command and a suggestion give them.
type OrderList struct {
	PurchaseOrders []PurchaseOrder `json:"purchase_orders"`
}

func printOrders(w io.Writer, list OrderList) {
	const head = "NUMBER|SUPPLIER|STATUS|EXPECTED|LINES|TOTAL|BELOW MINIMUM"
	schema.Tabulate(w, head, list.PurchaseOrders, func(o PurchaseOrder) []any {
		below := ""
		if o.BelowMinimumCents > 0 {
			below = amount(o.BelowMinimumCents)
		}
		return []any{o.Number, o.Supplier, o.Status, schema.Cell(o.ExpectedDate), strconv.Itoa(len(o.Lines)),
			amount(o.TotalCents), below}
	})
}

func (s *Service) suggestPurchases() schema.Op {
	return schema.Op{
		Name: "suggest_purchases",
		About: "Draft a purchase order for each supplier from the report's suggestions. Quantities in other drafts count " +
			"as on order. " +
			"It adds to the supplier's earlier suggested draft unless that was edited. With skus only these are drafted.",
		Writes: true, Response: Suggested{PurchaseOrders: []PurchaseOrder{sampleOrder(Draft, 0)}},
		Refuses: []fault.Kind{fault.NotFound},
		Example: "reorder po suggest --json\nreorder po suggest --sku TEA-1 --sku TEA-2",
		Bind: func(f *schema.Form) schema.Handler {
			var q SuggestQuery
			f.Texts(&q.SKUs, "skus",
				"only these SKUs (default: all that are flagged)", maxLines, maxCode, schema.Flag("sku"),
				schema.Label("Only these SKUs"))
			f.Text(&q.Supplier, "supplier", "only this supplier's", schema.Most(maxName), schema.Choices(SupplierChoices))
			var match string
			var marked bool // the form has marked rows, and no mark does not mean all
			if f.Surface() == schema.Page {
				f.Bool(&marked, "marked", "only what is marked or named", schema.Label("Only these"))
				f.Text(&match, "match", "instead of SKUs: all that match these filters", schema.Label("All that match"))
			}
			if marked && len(q.SKUs) == 0 && match == "" {
				f.Refuse("skus", "Mark at least one row.")
			}
			return func(ctx context.Context, who db.Caller) (any, error) {
				if match != "" {
					return s.suggestMatching(ctx, who, match)
				}
				return s.SuggestOrders(ctx, who, q)
			}
		},
		Print: func(w io.Writer, answer any) { printOrders(w, OrderList{answer.(Suggested).PurchaseOrders}) },
		Did:   schema.SaidIn(didSuggest),
		Leads: func(answer any) string {
			if all := answer.(Suggested).PurchaseOrders; len(all) == 1 {
				return orderPage(all[0].Number)
			}
			return "/purchase-orders?status=draft"
		},
	}
}

func didSuggest(done Suggested, m schema.Money) string {
	all, total, more := slices.DeleteFunc(slices.Clone(done.PurchaseOrders), func(o PurchaseOrder) bool {
		return slices.Contains(done.same, o.Number)
	}), int64(0), ""
	if done.StillToOrder > 0 {
		more = " " + exact.Plural(done.StillToOrder, "more SKU needs", "more SKUs need") + " ordering."
	}
	for _, o := range all {
		total = addCents(total, o.TotalCents)
	}
	switch {
	case len(all) == 0 && len(done.same) > 0:
		return "Nothing more is to be drafted: the drafts have all that is needed." + more
	case len(all) == 0 && more == "":
		return "There is nothing to draft: everything needed is on order or in drafts."
	case len(all) == 0:
		return "None of these needs more than is on order or in drafts." + more
	case len(all) == 1 && all[0].Supplier == "":
		return fmt.Sprintf("Purchase order %s is drafted: %s. Choose its supplier before ordering.", all[0].Number,
			m(total)) + more
	case len(all) == 1:
		return fmt.Sprintf("Purchase order %s for %s is drafted: %s.", all[0].Number, all[0].Supplier, m(total)) + more
	}
	return fmt.Sprintf("%d purchase orders are drafted, one a supplier: %s in all.", len(all), m(total)) + more
}

// ShortOrder is what of a purchase order identifies it and decides what to do.
type ShortOrder struct {
	Number       string     `json:"number"`
	Supplier     string     `json:"supplier"`
	Status       string     `json:"status" enum:"draft,ordered,partial,received,cancelled,closed"`
	ExpectedDate *exact.Day `json:"expected_date"`
	TotalCents   int64      `json:"total_cents"`
}

func (o PurchaseOrder) short() ShortOrder {
	return ShortOrder{o.Number, o.Supplier, o.Status, o.ExpectedDate, o.TotalCents}
}

func (s *Service) purchaseDetail() schema.Op {
	return schema.Op{
		Name: "purchase_detail", Says: "Show a purchase order", About: "One purchase order with its lines.",
		AgentAbout: "One purchase order with its lines. Order and receive it on the pages.",
		Response:   sampleOrder(Partial, 24_000), Refuses: []fault.Kind{fault.NotFound},
		Example: "reorder po show PO-000001 --json",
		Bind: func(f *schema.Form) schema.Handler {
			var number string
			bindNumber(f, &number)
			return func(ctx context.Context, _ db.Caller) (any, error) {
				if f.Surface() == schema.Tool {
					return s.purchaseCalled(ctx, number)
				}
				return s.PurchaseOrder(ctx, number)
			}
		},
		Print: schema.Printed(printOrder),
	}
}

func printOrder(w io.Writer, o PurchaseOrder) {
	fmt.Fprintf(w, "%s: %s", o.Number, o.Status)
	if o.Supplier != "" {
		fmt.Fprintf(w, ", from %s", o.Supplier)
	}
	if o.ExpectedDate != nil {
		fmt.Fprintf(w, ", expected %s", o.ExpectedDate)
	}
	fmt.Fprintln(w)
	schema.Tabulate(w, "SKU|NAME|ORDERED|RECEIVED|UNIT COST|TOTAL", o.Lines, func(l OrderLine) []any {
		return []any{l.SKU, l.Name, l.Ordered.String(), l.Received.String(), amount(l.UnitCostCents), amount(l.TotalCents)}
	})
	fmt.Fprintf(w, "total: %s\n", amount(o.TotalCents))
	if o.BelowMinimumCents > 0 {
		fmt.Fprintf(w, "below the supplier's minimum order by %s\n", amount(o.BelowMinimumCents))
	}
}
