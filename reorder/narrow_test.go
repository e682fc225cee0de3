package reorder

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// TestSearchFindsWhatAScanFinds: the index finds at least what a scan of every text finds, in any letters and case.
func TestSearchFindsWhatAScanFinds(t *testing.T) {
	s := open(t)
	var letters []rune // letters whose case folds, and some that do not
	for r := rune('!'); r <= unicode.MaxRune; r++ {
		if c := []rune(folded(string(r))); unicode.IsGraphic(r) && agreed(c[0]) && (folded(string(r)) != string(r) || unicode.SimpleFold(r) != r || r < 0x250 || r == '世') {
			letters = append(letters, r)
		}
	}
	s.Must(db.Exec(context.Background(), s.DB, cli, func(tx *db.Tx) error {
		for i, r := range letters {
			_, err := tx.Exec(`INSERT INTO skus (active, current_stock, is_below, judged_on, lead_time_days, safety_stock_days, pack_size, moq, unit_cost_cents, created_at, updated_at,
				sku, name, supplier, supplier_sku, barcode, unit) VALUES (1, 0, 0, 0, 7, 0, 1, 0, 0, 0, 0, ?, ?, '', '', '', '')`, fmt.Sprintf("S%05d", i), "x"+string(r)+"y")
			if err != nil {
				return err
			}
		}
		if _, err := tx.Exec("UPDATE skus SET name = 'Renamed ' || name WHERE id % 3 = 0"); err != nil {
			return err
		}
		return tx.Audit("test", "test", nil)
	}))
	s.Must(s.DB.View(context.Background(), func(c *db.Conn) error {
		for i, r := range letters {
			for _, text := range []string{"x" + string(r) + "y", strings.ToUpper("x" + string(r) + "y"), folded("x" + string(r) + "y")} {
				q := CatalogueQuery{Q: text, Limit: 1000}
				found, err := catalogue(c, q)
				if err != nil {
					return err
				}
				has := false
				for _, k := range found.SKUs {
					has = has || k.Code == fmt.Sprintf("S%05d", i)
				}
				assert.That(t, has || !hasFolded("x"+string(r)+"y", folded(text)), "%q does not find the name with %q (%U)", text,
					r, r)
			}
		}
		for _, text := range []string{"renamed x", "S000", "s00012", `"; OR "`, "no such thing", "AND", "zzz", "a*b", "x y z", "\nx"} {
			q := CatalogueQuery{Q: text, Limit: 10_000}
			found, err := catalogue(c, q)
			if err != nil {
				return fmt.Errorf("%q: %w", text, err)
			}
			all, err := catalogue(c, CatalogueQuery{Limit: 10_000})
			if err != nil {
				return err
			}
			n := 0
			for _, k := range all.SKUs {
				if hasFolded(k.Code, folded(text)) || hasFolded(k.Name, folded(text)) {
					n++
				}
			}
			assert.That(t, n == len(found.SKUs), "%q finds %d, there are %d", text, len(found.SKUs), n)
		}
		return nil
	}))
}

// TestSearchSKUs: a search finds all words in any order, in code, name and barcode.
func TestSearchSKUs(t *testing.T) {
	s := open(t)
	for _, k := range []string{"TEA-1,Grüner Tee 100 g,4006381333931", "TEA-2,Schwarzer Tee,12", "CUP,Becher grün,7"} {
		s.sku("sku,name,barcode", k)
	}
	for q, want := range map[string]string{"tee gruner": "TEA-1", "GRUN": "CUP TEA-1", "tea-2 schwarz": "TEA-2", "4006381333931": "TEA-1", "tee rot": ""} {
		page := val(s.Shelf(context.Background(), ShelfQuery{Q: q}))
		var found []string
		for _, r := range page.Rows {
			found = append(found, r.SKU)
		}
		assert.Equal(t, strings.Join(found, " "), want, "%q finds", q)
	}
}
