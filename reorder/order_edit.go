package reorder

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// OrderEdit is a change of a draft: of the named lines, where a quantity of 0 removes one; the supplier unless nil; the
// day unless nil, or none with NoDate. Reprice sets every other line's price to the SKU's present cost.
type OrderEdit struct {
	Supplier     *string
	Lines        []NewLine
	Reprice      bool
	ExpectedDate *exact.Day
	NoDate       bool
}

// EditOrder changes a draft. Refused: an order that is no draft, an unknown SKU, one in two lines, numbers out of
// range, an order without a line.
func (s *Service) EditOrder(ctx context.Context, who db.Caller, number string, e OrderEdit) (PurchaseOrder, error) {
	return s.act(ctx, who, number, "purchase_order.edited", func(tx *db.Tx, o *storedOrder) (any, error) {
		if o.Status != Draft {
			return nil, fault.Fieldf("number", "status: purchase order %s is %s; only a draft can be edited", o.Number, o.Status)
		}
		was := *o
		was.Lines = slices.Clone(o.Lines)
		if e.ExpectedDate != nil || e.NoDate {
			o.ExpectedDate = e.ExpectedDate
		}
		if e.Supplier != nil {
			if o.Supplier = strings.TrimSpace(*e.Supplier); o.Supplier == "" && was.Supplier != "" {
				return nil, fault.Fieldf("supplier", "supplier is empty: name the supplier")
			}
		}
		if e.Reprice {
			for i := range o.Lines {
				o.Lines[i].UnitCostCents = o.Lines[i].costNow
			}
		}
		if err := o.edit(tx, e.Lines); err != nil {
			return nil, err
		}
		o.suggested = false
		return struct {
			Supplier     string      `json:"supplier"`
			ExpectedDate *exact.Day  `json:"expected_date"`
			Lines        []OrderLine `json:"lines"`
		}{o.Supplier, o.ExpectedDate, o.Lines}, rewrite(tx, was, o, nil, cause{})
	})
}

// edit applies the requested lines.
func (o *storedOrder) edit(tx *db.Tx, wanted []NewLine) error {
	seen := map[string]bool{}
	for _, w := range wanted {
		if seen[w.SKU] {
			return fault.Fieldf("lines", "lines: %s is in two lines; give it once", w.SKU)
		}
		seen[w.SKU] = true
		other := w.Instead != "" && w.Instead != w.SKU
		if w.Qty == 0 || other {
			if err := o.takeOut(tx, w.SKU); err != nil {
				return err
			}
		}
		if w.Qty == 0 {
			continue
		}
		if other {
			if w.SKU = w.Instead; seen[w.SKU] || o.line(w.SKU) != nil {
				return fault.Fieldf("lines", "lines: %s is in two lines; give it once", w.SKU)
			}
			seen[w.SKU] = true
		}
		l := o.line(w.SKU)
		if l == nil {
			rec, err := find(&tx.Conn, w.SKU)
			if err != nil {
				return err
			}
			o.Lines = append(o.Lines, lineOf(rec))
			l = &o.Lines[len(o.Lines)-1]
		}
		l.Ordered = w.Qty
		l.UnitCostCents = schema.Or(w.UnitCostCents, l.UnitCostCents)
		if err := l.checkNew(); err != nil {
			return err
		}
	}
	if len(o.Lines) == 0 {
		return fault.Fieldf("lines", "lines: a purchase order needs at least one; cancel it instead")
	}
	return nil
}

// takeOut removes the line of a SKU, if there is one.
func (o *storedOrder) takeOut(tx *db.Tx, sku string) error {
	l := o.line(sku)
	if l == nil {
		return nil
	}
	tx.Do("DELETE FROM purchase_order_lines WHERE order_id = ? AND sku_id = ?", o.id, l.skuID)
	o.Lines = slices.DeleteFunc(o.Lines, func(l OrderLine) bool { return l.SKU == sku })
	return nil
}

func (s *Service) editPurchase() schema.Op {
	return schema.Op{
		Name: "edit_purchase",
		About: "Change a draft: quantity, price and product of the given lines (0 removes a line), the supplier, the " +
			"expected day. " +
			"Later suggestions do not change an edited draft.",
		Writes: true, Response: sampleOrder(Draft, 0), Refuses: []fault.Kind{fault.NotFound},
		Example: "reorder po edit PO-000001 --line TEA-1=36 --expected 2026-12-01",
		Bind: schema.Does2(func(f *schema.Form, number *string, e *OrderEdit) {
			bindNumber(f, number)
			f.TextPtr(&e.Supplier, "supplier", "the supplier", schema.Most(maxName), schema.Choices(SupplierChoices))
			f.Objects("lines", "a SKU with its new quantity; 0 removes it", maxLines, func(f *schema.Form) {
				var l NewLine
				f.Text(&l.SKU, "sku", "the SKU, case-sensitive", schema.Required, schema.Most(maxCode), schema.Example(sample.Code))
				f.Milli(&l.Qty, "qty", "how much", schema.Required, schema.Label("Quantity"), schema.Range(0, int64(maxQty/1000)),
					schema.Example(36))
				f.IntPtr(&l.UnitCostCents, "unit_cost_cents", "unit cost in cents", schema.Range(0, maxUnitCost))
				f.Text(&l.Instead, "new_sku",
					"another SKU instead", schema.Most(maxCode), schema.Label("Other SKU"), schema.Choices(anySKU))
				e.Lines = append(e.Lines, l)
			}, schema.Flag("line"), schema.Written(writtenLine))
			f.DayPtr(&e.ExpectedDate, "expected_date", "the day on which it is expected", schema.Flag("expected"),
				schema.Clear(&e.NoDate))
			f.Bool(&e.Reprice, "reprice", "set every line to its SKU's present cost", schema.Label("Take today's costs"))
		}, s.EditOrder),
		Fill:  fillDraft,
		Print: schema.Printed(printStatus), Leads: schema.Of(orderLeads),
		Did: schema.SaidIn(func(o PurchaseOrder, m schema.Money) string {
			return fmt.Sprintf("Purchase order %s is changed: %s.", o.Number, m(o.TotalCents))
		}),
	}
}

// fillDraft returns the draft that is edited, for the form.
func fillDraft(c *db.Conn, given map[string]string) (map[string]string, bool, error) {
	o, found, err := lookUpOrder(c, given["number"])
	if err != nil || !found || o.Status != Draft {
		return nil, false, err
	}
	record := map[string]string{"number": o.Number, "expected_date": "", "supplier": o.Supplier}
	if o.ExpectedDate != nil {
		record["expected_date"] = o.ExpectedDate.String()
	}
	for i, l := range o.Lines {
		at := fmt.Sprintf("lines.%d.", i)
		record[at+"sku"], record[at+"qty"] = l.SKU, l.Ordered.String()
		record[at+"unit_cost_cents"] = fmt.Sprint(l.UnitCostCents)
	}
	return record, true, nil
}
