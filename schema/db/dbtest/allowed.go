package dbtest

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"quartermaster/schema/assert"
)

// Allowed is the list of a column's values: in the code, and where else it is repeated.
type Allowed struct {
	Column string   // "tickets.status"
	Values []string // the list in the code
	Tag    any      // a struct whose field of that name repeats them in its enum tag; nil: none
}

// AllowedAgree fails the test unless the tables' CHECKs and the enum tags have the same values as the code.
func (h *Fixture) AllowedAgree(all ...Allowed) {
	h.T.Helper()
	for _, a := range all {
		table, column, _ := strings.Cut(a.Column, ".")
		want := slices.Sorted(slices.Values(a.Values))
		sql := strings.Join(h.Texts("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", table), "")
		got := checked(sql, column)
		assert.That(h.T, slices.Equal(got, want), "%s: the table takes %q, the code %q", a.Column, got, want)
		if a.Tag == nil {
			continue
		}
		if got := tagged(reflect.TypeOf(a.Tag), column); !slices.Equal(got, want) {
			h.T.Errorf("%s: the answer's enum has %q, the code %q", a.Column, got, want)
		}
	}
}

// checked reads the values of a column's CHECK from the table's SQL.
func checked(sql, column string) []string {
	m := regexp.MustCompile(`CHECK \(` + column + ` IN \(([^)]*)\)`).FindStringSubmatch(sql)
	if m == nil {
		return nil
	}
	return slices.Sorted(strings.SplitSeq(strings.ReplaceAll(strings.ReplaceAll(m[1], "'", ""), " ", ""), ","))
}

// tagged reads the values of a field's enum tag, also in an embedded struct.
func tagged(t reflect.Type, name string) []string {
	for _, f := range reflect.VisibleFields(t) {
		if json, _, _ := strings.Cut(f.Tag.Get("json"), ","); json == name {
			return slices.Sorted(strings.SplitSeq(f.Tag.Get("enum"), ","))
		}
	}
	return nil
}
