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

// Count is what was counted of a SKU.
type Count struct {
	SKU string      `json:"sku"`
	Qty exact.Milli `json:"qty"`

	place int // in the list that was sent
}

// Counted is the result of a stock count.
type Counted struct {
	Counted int          `json:"counted" about:"SKUs that were counted"`
	Changed int          `json:"changed" about:"lines whose count differed from the stock"`
	SKUs    []CountedSKU `json:"skus"`
}

// CountedSKU is one SKU of a count.
type CountedSKU struct {
	SKU           string      `json:"sku"`
	PreviousStock exact.Milli `json:"previous_stock"`
	CurrentStock  exact.Milli `json:"current_stock"`
	Status        string      `json:"status" enum:"below,near,healthy"`
	Crossed       bool        `json:"crossed" about:"the change took the SKU to or below its reorder point"`
}

// CountStock sets the stock of all counted SKUs, or of none, each with an audit entry as Adjust. Refused: no SKU, a
// repeated one, and whatever Adjust refuses; every wrong one is named.
func (s *Service) CountStock(ctx context.Context, who db.Caller, counts []Count, reason string) (Counted, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Counted, error) {
		done, seen := Counted{SKUs: []CountedSKU{}}, map[string]bool{}
		if len(counts) == 0 {
			return done, fault.Fieldf("counts", "counts is empty: give at least one count")
		}
		h, err := rollToToday(tx)
		if err != nil {
			return done, err
		}
		var wrong []fault.Field
		for _, k := range counts {
			var a Adjusted
			var err error
			if seen[k.SKU] {
				err = fault.Invalidf("%s is counted twice; give it once", k.SKU)
			} else {
				seen[k.SKU] = true
				a, err = adjust(tx, h, Adjustment{SKU: k.SKU, SetTo: &k.Qty, Reason: reason})
			}
			if e, refused := fault.As(err); refused {
				wrong = append(wrong, fault.Field{Field: fmt.Sprintf("counts.%d.qty", k.place), Detail: e.Detail})
				continue
			}
			if err != nil {
				return done, err
			}
			if done.Counted++; a.CurrentStock != a.PreviousStock {
				done.Changed++
			}
			done.SKUs = append(done.SKUs, CountedSKU{a.SKU, a.PreviousStock, a.CurrentStock, a.Status, a.Crossed})
		}
		return done, wrongLines(wrong)
	})
}

// wrongLines refuses with each wrong line separately; nil without any.
func wrongLines(wrong []fault.Field) error {
	if len(wrong) == 0 {
		return nil
	}
	e := fault.Invalidf("%s", strings.Join(schema.Map(wrong, func(f fault.Field) string { return f.Detail }), "; "))
	e.Fields = wrong
	return e
}

// parseCounts parses SKU=QTY, one per line.
func parseCounts(text string) (counts []Count, err error) {
	var wrong []fault.Field
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		l, err := ParseLine(line)
		if e, refused := fault.As(err); refused || l.UnitCostCents != nil {
			detail := fmt.Sprintf("line %s: write it as SKU=QTY", schema.Quote(line))
			if refused && strings.Contains(line, "=") {
				detail = e.Detail
			}
			wrong = append(wrong, fault.Field{Field: "counts", Detail: detail})
			continue
		}
		counts = append(counts, Count{SKU: l.SKU, Qty: l.Qty, place: len(counts)})
	}
	return counts, wrongLines(wrong)
}

func (s *Service) countStock() schema.Op {
	return schema.Op{
		Name: "count_stock", Says: "Set stocks to what was counted",
		About: "Set the stock of several SKUs to what was counted, all or nothing. Wrong lines are named. " +
			"SKU=QTY, one a line.",
		Example: `reorder count --count TEA-1=18 --count TEA-2=4.5 --reason "stock count"`,
		Writes:  true, Overwrites: true, Refuses: []fault.Kind{fault.NotFound},
		Response: Counted{Counted: 1, Changed: 1, SKUs: []CountedSKU{{sample.Code, 26_000, 18_000, Below, true}}},
		Bind: schema.Does2(func(f *schema.Form, counts *[]Count, reason *string) {
			*reason = "stock count"
			if f.Surface() == schema.Tool {
				var text string
				f.Text(&text, "counts", "SKU=QTY, one a line: what was counted", schema.Required, schema.Most(100_000),
					schema.Example(sample.Code+"=18"))
				var err error
				if *counts, err = parseCounts(text); err != nil {
					f.Refuse("counts", "%s", err.Error())
				}
			} else {
				f.Objects("counts", "a SKU with what was counted", maxLines, func(f *schema.Form) {
					k := Count{place: f.Place()}
					f.Text(&k.SKU, "sku", "the SKU, case-sensitive", schema.Required, schema.Most(maxCode),
						schema.Example(sample.Code))
					if f.Milli(&k.Qty, "qty", "what was counted", schema.Label("Counted"), schema.Range(0, int64(maxQty/1000)),
						schema.Example(18)) ||
						f.Surface() != schema.Page {
						*counts = append(*counts, k)
					}
				}, schema.Required, schema.Flag("count"), schema.Written(writtenReceipt))
			}
			f.Text(reason, "reason", "why, for the history", schema.Most(maxName), schema.Example("stock count"))
		}, s.CountStock),
		Print: func(w io.Writer, answer any) {
			schema.Tabulate(w, "SKU|WAS|COUNTED|STATUS", answer.(Counted).SKUs, func(k CountedSKU) []any {
				return []any{k.SKU, k.PreviousStock.String(), k.CurrentStock.String(), k.Status}
			})
		},
		Did: schema.Said(func(done Counted) string {
			return fmt.Sprintf("%s counted; the stock of %d changed.", exact.Plural(done.Counted, "SKU is", "SKUs are"),
				done.Changed)
		}),
		Leads: func(any) string { return "/count" },
		Undo: func(answer any) *schema.Undo { // of one SKU; a whole shelf is counted again
			done, _ := answer.(Counted)
			if done.Changed != 1 {
				return nil
			}
			for _, k := range done.SKUs {
				if k.CurrentStock != k.PreviousStock {
					return undoBy(k.SKU, k.PreviousStock-k.CurrentStock)
				}
			}
			return nil
		},
	}
}
