package words

import (
	"testing"

	"quartermaster/schema/assert"
)

// TestWords: words are found in any order and case, with or without diacritics.
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
		assert.Equal(t, Of(c.words).In(c.texts...), c.found, "%q in %q", c.words, c.texts)
	}
}

// TestNumber: a number is read with and without its prefix.
func TestNumber(t *testing.T) {
	for text, want := range map[string]int64{
		"12": 12, "#12": 12, "WO-12": 12, "wo-000012": 12, "wo12": 12, "#000012": 12, "job 12": 12, " 12 ": 12,
		"": 0, "pump": 0, "12 pumps": 0, "po-12": 0, "house 12": 0, "-": 0, "-12": 0, "99999999999999999999": 0, "2B": 0,
	} {
		assert.Equal(t, Number(text, "WO", "job"), want, "%q", text)
	}
}
