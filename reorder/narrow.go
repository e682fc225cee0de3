package reorder

import (
	"strings"

	"quartermaster/schema/db"
)

// maxNarrowed is how many SKUs a search is narrowed to before they are sorted. Of more,
// the SKUs are walked in their order: a page fills soon then.
const maxNarrowed = 1000

// narrow looks up which SKUs may have Q in code or name, so that the others are not
// looked at. Texts of less than three letters are not indexed.
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

// gramsOf asks for all that hold every three letters in a row of the folded text; "" for a
// text that has no three, or a letter on whose cases the index and folded do not agree.
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

// agreed tells of a folded letter that the index folds the same letters to it as folded
// does: Latin, Greek, and what has no cases, from Arabic to Thai and from Hiragana to Han.
// Cyrillic has old letters on which they differ.
func agreed(r rune) bool {
	return r < 0x250 || r >= 0x386 && r <= 0x3ff && r != 0x3f3 || r >= 0x5d0 && r <= 0xe7f || r >= 0x3040 && r <= 0x9fff
}
