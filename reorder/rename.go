package reorder

import (
	"cmp"
	"context"
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// RenamedSKU is a SKU with a new name, a new code, or both.
type RenamedSKU struct {
	SKU     string `json:"sku"`
	Name    string `json:"name"`
	WasSKU  string `json:"was_sku"`
	WasName string `json:"was_name"`
}

// RenameSKU gives a SKU another name or code; an empty one stays. A code in use is a conflict. Its stock, sales, orders
// and movements stay.
func (s *Service) RenameSKU(ctx context.Context, who db.Caller, sku, name, code string) (RenamedSKU, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (none RenamedSKU, err error) {
		k, err := find(&tx.Conn, sku)
		if err != nil {
			return none, err
		}
		done := RenamedSKU{SKU: cmp.Or(code, k.Code), Name: cmp.Or(name, k.Name), WasSKU: k.Code, WasName: k.Name}
		changes := map[string][2]string{}
		if done.Name != k.Name {
			changes["name"] = [2]string{k.Name, done.Name}
		}
		if done.SKU != k.Code {
			changes["sku"] = [2]string{k.Code, done.SKU}
			other, found, err := lookUp(&tx.Conn, done.SKU)
			if err != nil {
				return none, err
			}
			if found {
				return none, fault.Conflictf("%s is in use: %s has it", schema.Quote(code), other.Name).At("code")
			}
		}
		if len(changes) == 0 {
			return done, nil
		}
		tx.Do("UPDATE skus SET sku = ?, name = ?, updated_at = ? WHERE id = ?", done.SKU, done.Name,
			tx.Now(), k.id)
		return done, tx.Audit("sku.renamed", subject(done.SKU), changes)
	})
}

func (s *Service) renameSKU() schema.Op {
	return schema.Op{
		Name: "rename_sku", Writes: true, Idempotent: true,
		About: "Rename a SKU, or change its code. Its stock, sales and orders stay; files and tills must use the new " +
			"code.",
		Response: RenamedSKU{SKU: "TEA-100", Name: "Green tea, 100 g", WasSKU: sample.Code, WasName: sample.Name},
		Refuses:  []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: func(f *schema.Form) schema.Handler {
			var sku, name, code string
			f.Text(&sku, "sku", "the SKU, in its exact case", schema.Positional("SKU"), schema.Required, schema.Most(maxCode),
				schema.Example(sample.Code), schema.Choices(anySKU))
			f.Text(&name, "name", "the new name", schema.Most(maxName))
			f.Text(&code, "code", "the new code", schema.Most(maxCode), schema.Label("New SKU"))
			if !f.Describing() && name == "" && code == "" {
				f.Refuse("name", "name is missing: give a new name or a new code")
			}
			return func(ctx context.Context, who db.Caller) (any, error) {
				done, err := s.RenameSKU(ctx, who, sku, name, code)
				return done, s.nearest(ctx, err, sku)
			}
		},
		Example: `reorder skus rename TEA-1 --name "Green tea, 100 g" --code TEA-100`,
		Did: schema.Said(func(r RenamedSKU) string {
			if r.WasName == r.Name && r.WasSKU == r.SKU {
				return fmt.Sprintf("%s (%s) keeps its name and code.", r.Name, r.SKU)
			}
			return fmt.Sprintf("%s (%s) is now %s (%s).", r.WasName, r.WasSKU, r.Name, r.SKU)
		}),
		Leads: func(answer any) string { return skuPage(answer.(RenamedSKU).SKU) },
	}
}
