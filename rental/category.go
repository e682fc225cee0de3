package rental

import (
	"cmp"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// ownCategories are the categories that the shop added, sorted.
func ownCategories(c *db.Conn) ([]string, error) {
	kept, err := c.Setting(settingCategories)
	if err != nil || kept == "" {
		return nil, err
	}
	return strings.Split(kept, "\n"), nil
}

const settingCategories = "expense_categories"

// categories are those that expenses may have.
func categories(c *db.Conn) ([]string, error) {
	own, err := ownCategories(c)
	return append(slices.Clone(expenseCategories), own...), err
}

// categoryOf finds a category, in any case, with blanks or - for _.
func categoryOf(c *db.Conn, said string) (string, error) {
	all, err := categories(c)
	if err != nil {
		return "", err
	}
	plainly := strings.NewReplacer(" ", "_", "-", "_")
	for _, name := range all {
		if strings.EqualFold(plainly.Replace(name), plainly.Replace(strings.TrimSpace(said))) {
			return name, nil
		}
	}
	return "", fault.Fieldf("category",
		"category: %s is not a category; choose one of %s", schema.Quote(said), strings.Join(all, ", "))
}

// CategoryList is what set_categories answers.
type CategoryList struct {
	Own        []string `json:"own"`
	Categories []string `json:"categories" about:"all that expenses may have"`
}

// setCategories sets the shop's own categories. One that an expense has stays.
func setCategories(tx *db.Tx, names []string) (done CategoryList, err error) {
	was, err := ownCategories(&tx.Conn)
	if err != nil {
		return done, err
	}
	done.Own = []string{}
	for _, name := range names {
		name = flat(name)
		same := func(other string) bool { return strings.EqualFold(other, name) }
		switch {
		case name == "":
			continue
		case slices.ContainsFunc(expenseCategories, same):
			return done, fault.Fieldf("names", "names: every shop has the category %s already", name)
		case slices.ContainsFunc(done.Own, same):
			return done, fault.Fieldf("names", "names: %s is named twice", name)
		}
		done.Own = append(done.Own, name)
	}
	slices.SortFunc(done.Own, func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) })
	for _, name := range was {
		if slices.Contains(done.Own, name) {
			continue
		}
		id, used, err := db.One(&tx.Conn, db.Int, `SELECT id FROM expenses WHERE category = ?1
			UNION ALL SELECT id FROM recurring_expenses WHERE category = ?1 LIMIT 1`, name)
		if err != nil {
			return done, err
		}
		if used {
			return done, fault.Conflictf("the category %s is in use, by expense %d among others", schema.Quote(name),
				id).At("names")
		}
	}
	if err := tx.SetSetting(settingCategories, strings.Join(done.Own, "\n")); err != nil {
		return done, err
	}
	if done.Categories, err = categories(&tx.Conn); err != nil {
		return done, err
	}
	return done, tx.Audit("expense_categories.changed", "settings", map[string]any{"before": was, "after": done.Own})
}
