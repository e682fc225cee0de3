package maintenance

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// Parts is one page of the spare parts.
type Parts struct {
	Parts []Part `json:"parts"`
	Next  *int64 `json:"next" about:"pass it as after; null at the end"`
}

// PartFilter restricts a list of parts; zero values do not.
type PartFilter struct {
	LowStock *bool
	Q        string // words of number, name, supplier or location
	schema.Cursor[int64]
}

func (f PartFilter) where() (t db.Where) {
	low := f.LowStock
	t.And(low != nil && *low, "min_quantity > 0 AND quantity <= min_quantity")
	t.And(low != nil && !*low, "(min_quantity = 0 OR quantity > min_quantity)")
	t.And(f.Q != "", "has_words(?, part_number, name, supplier, location)", f.Q)
	return t
}

// Parts lists the spare parts of the filter, by id.
func (s *Service) Parts(ctx context.Context, f PartFilter) (Parts, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Parts, error) { return pageOfParts(c, f) })
}

func pageOfParts(c *db.Conn, f PartFilter) (page Parts, err error) {
	t := f.where()
	t.And(true, "id > ?", f.After)
	page.Parts, err = parts.All(c, t.SQL()+" ORDER BY id LIMIT ?", append(t.Args, f.Fetch())...)
	page.Parts, page.Next = schema.Cut(page.Parts, f.Limit, func(one Part) int64 { return one.ID })
	return page, err
}

// CountParts returns the number of parts of the filter, without its After and Limit.
func (s *Service) CountParts(ctx context.Context, f PartFilter) (int64, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (int64, error) { return countParts(c, f) })
}

func countParts(c *db.Conn, f PartFilter) (int64, error) {
	t := f.where()
	return parts.Count(c, t.SQL(), t.Args...)
}

// Part returns one part; 404 if there is none.
func (s *Service) Part(ctx context.Context, id int64) (Part, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Part, error) { return parts.ByID(c, id) })
}

// RemovedPart is a part that was removed.
type RemovedPart struct {
	ID         int64  `json:"id"`
	PartNumber string `json:"part_number"`
	Name       string `json:"name"`
}

// removePart removes a part that no work order uses.
func removePart(tx *db.Tx, id int64) (none RemovedPart, err error) {
	p, err := parts.ByID(&tx.Conn, id)
	if err != nil {
		return none, err
	}
	refers, err := referring(&tx.Conn, id,
		reference{"work order", "work orders", "SELECT count(DISTINCT work_order_id) FROM part_uses WHERE part_id = ?"})
	if err != nil {
		return none, err
	}
	if refers != "" {
		return none, fault.Conflictf("part %s (%s) is used on %s and cannot be removed", p.PartNumber, p.Name, refers)
	}
	tx.Do("DELETE FROM parts WHERE id = ?", id)
	gone := RemovedPart{ID: p.ID, PartNumber: p.PartNumber, Name: p.Name}
	return gone, tx.Audit("part.removed", db.Subject("part", id), gone)
}

func bindPartID(f *schema.Form, id *int64) {
	f.ID(id, "id", "the part, by its number or #id", schema.Required, named(partNamed, "PART"), schema.NameFirst,
		schema.Label("Part"), schema.Choices(partIDs))
}

func (s *Service) listParts() schema.Op {
	next := int64(1)
	return schema.Op{
		Name: "list_parts", Says: "Which parts there are",
		About: "Spare parts with their low-stock flags, by id.",
		AgentAbout: "Spare parts in stock. low_stock: min_quantity above 0 and quantity at or below it. detail short " +
			"gives id, name, number and quantity.",
		Response:      Parts{Parts: []Part{samplePart}, Next: &next},
		AgentResponse: FoundParts{Parts: []schema.Row[Part, ShortPart]{{Full: &samplePart}}, Shown: 1, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var p PartFilter
			if f.Surface() != schema.REST {
				BindPartFilter(f, &p)
				f.Text(&p.Q, "q", "words of number, name, supplier or location, in any case", schema.Most(maxName),
					schema.Label("Search"))
			}
			if f.Surface() == schema.Tool {
				return s.bindFoundParts(f, p)
			}
			f.Limit(&p.Limit)
			f.After(&p.After)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.Parts(ctx, p) }
		},
		Example: "maintenance parts list --low-stock\nmaintenance parts list --csv",
		Print:   printParts,
	}
}

// BindPartFilter binds the filters of the list.
func BindPartFilter(f *schema.Form, p *PartFilter) {
	var low bool
	if f.Bool(&low, "low_stock", "true: only those whose stock is low; false: only the others") {
		p.LowStock = &low
	}
}

func printParts(w io.Writer, answer any) {
	schema.Tabulate(w, "ID|NUMBER|NAME|IN STOCK|MINIMUM|UNIT COST|SUPPLIER|LOCATION", answer.(Parts).Parts,
		func(p Part) []any {
			stock := p.Quantity.String() + " " + schema.Cell(p.Unit)
			if p.LowStock {
				stock += " (low)"
			}
			return []any{p.ID, p.PartNumber, schema.Shorten(p.Name, 32), stock, p.MinQuantity, units(p.UnitCostCents),
				schema.Cell(p.Supplier),
				schema.Cell(p.Location)}
		})
}

// FoundParts is the parts for agents.
type FoundParts struct {
	Parts []schema.Row[Part, ShortPart] `json:"parts"`
	Shown int                           `json:"shown"`
	Total int64                         `json:"total" about:"how many match in all"`
	Next  *string                       `json:"next" about:"pass it as after; null at the end"`
	Near  []string                      `json:"near,omitempty" about:"those similar to q, if nothing matches"`
}

// ShortPart is what identifies a part and decides about it.
type ShortPart struct {
	ID         int64       `json:"id"`
	Name       string      `json:"name"`
	PartNumber string      `json:"part_number"`
	Quantity   exact.Milli `json:"quantity"`
}

func (p Part) short() ShortPart {
	return ShortPart{p.ID, schema.Shorten(p.Name, 24), p.PartNumber, p.Quantity}
}

// bindFoundParts binds what agents have beside the filters.
func (s *Service) bindFoundParts(f *schema.Form, p PartFilter) schema.Handler {
	var page schema.Listing
	sort := "added"
	f.Enum(&sort, "sort", "stock: the least first", []string{"added", "name", "stock"})
	f.Listing(&page)
	return func(ctx context.Context, _ db.Caller) (any, error) {
		return db.Read(ctx, s.db, func(c *db.Conn) (found FoundParts, err error) {
			all, err := pageOfParts(c, p)
			if err != nil {
				return found, err
			}
			switch sort {
			case "name":
				slices.SortStableFunc(all.Parts,
					func(a, b Part) int { return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
			case "stock":
				slices.SortStableFunc(all.Parts, func(a, b Part) int { return cmp.Compare(a.Quantity, b.Quantity) })
			}
			found.Parts, found.Next = schema.PageOf(all.Parts, page, Part.short, schema.AnswerBytes)
			found.Shown, found.Total = len(found.Parts), int64(len(all.Parts))
			if p.Q == "" || found.Total > 0 {
				return found, nil
			}
			names, err := db.All(c, db.Text, "SELECT name FROM parts ORDER BY id LIMIT 5000")
			found.Near = schema.Near(p.Q, names, 5)
			return found, err
		})
	}
}

func (s *Service) showPart() schema.Op {
	return schema.Op{
		Name: "show_part", About: "One spare part.", Response: samplePart,
		Bind:    schema.Reads(bindPartID, s.Part),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance parts show 6204-2RS",
		Print: schema.Printed(func(w io.Writer, p Part) {
			schema.Facts(w, "part", fmt.Sprintf("%d, %s", p.ID, p.PartNumber), "name", p.Name, "in stock", p.Quantity.String()+
				" "+schema.Cell(p.Unit), "minimum", p.MinQuantity.String(),
				"unit cost", units(p.UnitCostCents), "supplier", schema.Cell(p.Supplier),
				"location", schema.Cell(p.Location), "low",
				yes(p.LowStock))
		}),
	}
}

func (s *Service) savePart() schema.Op {
	return schema.Op{
		Keys: []string{"part_number"},
		Rare: []string{"supplier", "unit"},
		Name: "save_part",
		About: "Create or change a spare part, identified by part_number. A new unit cost applies to parts used from then " +
			"on.",
		Writes: true, Idempotent: true, Response: samplePart,
		Fill: parts.Fill,
		Bind: record.Saves(s.db, parts, parts.Put, func(c *db.Conn, _ Part, id int64) (Part, error) {
			return parts.ByID(c, id)
		}),
		Example: "maintenance parts save 6204-2RS --name \"Ball bearing\" --quantity 12 --min-quantity 4 --unit-cost-cents " +
			"425",
		Did: schema.SaidIn(func(p Part, m schema.Money) string {
			return fmt.Sprintf("%s, %s: %v in stock at %s.", p.PartNumber, p.Name, p.Quantity, m(p.UnitCostCents))
		}),
		Leads: func(answer any) string { return partPage(answer.(Part).ID) },
	}
}

func (s *Service) removePart() schema.Op {
	return schema.Op{
		Name: "remove_part", About: "Remove a spare part that is used on no work order.",
		Writes: true, Destructive: true, Response: RemovedPart{ID: 1, PartNumber: "6204-2RS", Name: "Ball bearing"},
		Bind:    schema.Writes(s.db, bindPartID, removePart),
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Example: "maintenance parts remove 6204-2RS",
		Did: schema.Said(func(p RemovedPart) string {
			return fmt.Sprintf("The part %s, %s, is removed.", p.PartNumber, p.Name)
		}),
		Thing: func(answer any) string {
			return answer.(RemovedPart).Name + " (" + answer.(RemovedPart).PartNumber + ")"
		},
		Will: schema.Said(func(p RemovedPart) string {
			return fmt.Sprintf("The part %s (%s) will be removed for good. No work order uses it.", p.PartNumber, p.Name)
		}),
		Leads: func(any) string { return "/parts" },
	}
}
