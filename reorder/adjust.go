package reorder

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

// Adjustment is a stock count (SetTo) or a movement (Delta): one of the two.
type Adjustment struct {
	SKU    string
	SetTo  *exact.Milli
	Delta  *exact.Milli
	Reason string
}

// Adjusted is the SKU's row after an adjustment.
type Adjusted struct {
	Row
	PreviousStock exact.Milli `json:"previous_stock"`
	Crossed       bool        `json:"crossed" about:"the change took the SKU to or below its reorder point"`
}

const oneOfTwo = "set_to and delta: give one of them, set_to for a counted figure, delta to add or remove"

// Adjust sets a SKU's stock to a counted figure or moves it. Refused: both or neither of the two, an unknown SKU, a
// stock below 0 or above 10^9, a reason that is no text of at most 200 characters. Sales do not change.
func (s *Service) Adjust(ctx context.Context, who db.Caller, a Adjustment) (Adjusted, error) {
	a.SKU, a.Reason = strings.TrimSpace(a.SKU), strings.TrimSpace(a.Reason)
	if err := schema.CheckText("reason", a.Reason, maxName); err != nil {
		return Adjusted{}, err
	}
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Adjusted, error) {
		if (a.SetTo == nil) == (a.Delta == nil) {
			return Adjusted{}, fault.Fieldf("set_to", oneOfTwo)
		}
		h, err := rollToToday(tx)
		if err != nil {
			return Adjusted{}, err
		}
		return adjust(tx, h, a)
	})
}

// adjust is Adjust in a transaction, as of the horizon.
func adjust(tx *db.Tx, h horizon, a Adjustment) (Adjusted, error) {
	rec, err := find(&tx.Conn, a.SKU)
	if err != nil {
		return Adjusted{}, err
	}
	from, to := rec.CurrentStock, rec.CurrentStock
	why := cause{kind: movedByCount, reason: a.Reason}
	if a.SetTo != nil {
		to = *a.SetTo
	} else if why.kind, to = movedByAdjustment, to+*a.Delta; (to < from) != (*a.Delta < 0) {
		return Adjusted{}, fault.Fieldf("delta", "delta: %s is out of range", *a.Delta)
	}
	fired, err := move(tx, h, &rec, to, rec.OnOrder, why)
	if err != nil {
		return Adjusted{}, a.named(err)
	}
	err = tx.Audit("stock.adjusted", subject(rec.Code), struct {
		From   exact.Milli `json:"from"`
		To     exact.Milli `json:"to"`
		Reason string      `json:"reason,omitempty"`
	}{from, to, a.Reason})
	return Adjusted{Row: rowOf(rec, h), PreviousStock: from, Crossed: fired}, err
}

// named prefixes a refusal of the stock with its argument.
func (a Adjustment) named(err error) error {
	e, refused := fault.As(err)
	if !refused || e.Kind != fault.Invalid {
		return err
	}
	name := "set_to"
	if a.Delta != nil {
		name = "delta"
	}
	return fault.Fieldf(name, "%s: %s", name, e.Detail)
}

// subject is a SKU's subject in the audit trail.
func subject(sku string) string { return "sku:" + sku }

func (s *Service) adjustStock() schema.Op {
	after := rowOf(sample, sampleDay)
	return schema.Op{
		Name: "adjust_stock", Says: "Set or change a stock",
		Example: `reorder adjust TEA-1 --set 18 --reason "stock count"` + "\n" +
			"reorder adjust TEA-1 --delta -2.5 --reason broken --as alice",
		About: "Adjust the stock of one SKU: set it to a counted figure (set_to), or add or remove some (delta). " +
			"Stock never goes below 0. Falling to the reorder point sends one alarm.",
		Writes: true, Overwrites: true,
		Response: Adjusted{Row: after, PreviousStock: 26_000, Crossed: true},
		Bind: func(f *schema.Form) schema.Handler {
			var a Adjustment
			f.Text(&a.SKU, "sku", "the SKU, in its exact case", schema.InPath("sku"), schema.Required, schema.Most(maxCode),
				schema.Example(sample.Code), schema.Choices(anySKU))
			f.MilliPtr(&a.SetTo, "set_to", "the counted figure; not together with delta", schema.Range(0, int64(maxQty/1000)),
				schema.Help("What is there. Leave it empty to add or remove some."),
				schema.Flag("set"), schema.Label("Counted"), schema.Example(18))
			f.MilliPtr(&a.Delta, "delta", "what to add, or remove with a minus; not together with set_to",
				schema.Range(-int64(maxQty/1000), int64(maxQty/1000)), schema.Label("Add or remove"), schema.Example(-8))
			f.Text(&a.Reason, "reason", "why, for the history", schema.Most(maxName), schema.Example("stock count"))
			switch onPage := f.Surface() == schema.Page; {
			case onPage && (a.SetTo == nil) == (a.Delta == nil):
				f.Refuse("set_to", "Enter what was counted, or else how many to add or remove.")
			case !onPage && f.Given("set_to") == f.Given("delta"):
				f.Refuse("set_to", oneOfTwo)
			}
			return func(ctx context.Context, who db.Caller) (any, error) {
				done, err := s.Adjust(ctx, who, a)
				return done, s.nearest(ctx, err, a.SKU)
			}
		},
		Refuses: []fault.Kind{fault.NotFound},
		Print: schema.Printed(func(w io.Writer, a Adjusted) {
			fmt.Fprintf(w, "%s: %s, it was %s; %s\n", a.SKU, a.CurrentStock, a.PreviousStock, a.Status)
		}),
		Did: schema.Said(func(a Adjusted) string {
			return fmt.Sprintf("%s: %s in stock, it was %s; %s.", a.SKU, a.CurrentStock, a.PreviousStock, a.Status)
		}),
		Leads: func(answer any) string { return skuPage(answer.(Adjusted).SKU) },
		Undo: func(answer any) *schema.Undo {
			a, _ := answer.(Adjusted)
			if a.CurrentStock == a.PreviousStock {
				return nil
			}
			return undoBy(a.SKU, a.PreviousStock-a.CurrentStock)
		},
	}
}

// undoBy reverses a change of a SKU's stock and keeps later changes.
func undoBy(sku string, delta exact.Milli) *schema.Undo {
	return &schema.Undo{Op: "adjust_stock", Label: "Undo", Fields: map[string]string{
		"sku": sku, "delta": delta.String(), "reason": "undone",
	}}
}
