package schema

import "testing"

// Words are found in any order and case, with or without diacritics.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		words string
		texts []string
		found bool
	}{
		{"muller anna", []string{"Anna Müller"}, true},
		{"MÜLLER", []string{"anna muller"}, true},
		{"muller", []string{"anna mu\u0308ller"}, true},
		{"anna 12", []string{"Anna", "WO-000012"}, true},
		{"anna 13", []string{"Anna", "WO-000012"}, false},
		{"lodz strasse", []string{"Straße in Łódź"}, true},
		{"mueller", []string{"Müller"}, false},
		{"  ", []string{""}, true},
		{"чай", []string{"Зелёный ЧАЙ"}, true},
	} {
		if got := WordsOf(c.words).In(c.texts...); got != c.found {
			t.Errorf("%q in %q: %v", c.words, c.texts, got)
		}
	}
}
