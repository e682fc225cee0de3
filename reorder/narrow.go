package reorder

import (
	"strings"

	"quartermaster/schema/db"
)

// maxNarrowed is how many SKUs a search is narrowed to before they are sorted. Of more,
// the SKUs are walked in their order: a page fills soon then.
const maxNarrowed = 1000

// narrow finds the SKUs that may have Q in code or name, so that the others are not read. Texts of less than three
// letters are not indexed.
func (q *CatalogueQuery) narrow(c *db.Conn) error {
	grams := gramsOf(folded(q.Q))
	if grams == "" {
		return nil
	}
	n, _, err := db.One(c, db.Int, "SELECT count(*) FROM (SELECT rowid FROM sku_texts WHERE sku_texts MATCH ? LIMIT ?)",
		grams, maxNarrowed+1)
	if n <= maxNarrowed {
		q.grams = grams
	}
	return err
}

// gramsOf is the index query for all three-letter sequences of the folded text; "" for a shorter text, or one with a
// letter that the index and folded fold differently.
func gramsOf(text string) string {
	letters := []rune(text)
	var all []string
	for i, r := range letters {
		if !agreed(r) {
			return ""
		}
		if i+3 <= len(letters) {
			all = append(all, `"`+strings.ReplaceAll(string(letters[i:i+3]), `"`, `""`)+`"`)
		}
	}
	return strings.Join(all, " AND ")
}

// agreed reports whether the index folds a letter like folded does: Latin, Greek, and scripts without cases, from
// Arabic to Thai and from Hiragana to Han. They differ on old Cyrillic letters.
func agreed(r rune) bool {
	return r < 0x250 || r >= 0x386 && r <= 0x3ff && r != 0x3f3 || r >= 0x5d0 && r <= 0xe7f || r >= 0x3040 && r <= 0x9fff
}
