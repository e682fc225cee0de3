package schema

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"Carla", "Ben", "Ana", "Anna Maria"}
	for _, c := range []struct {
		asked string
		want  []string
	}{
		{"anna", []string{"Ana", "Anna Maria"}},
		{"BEN", []string{"Ben", "Ana"}},
		{"karla", []string{"Carla", "Ana"}},
		{"", []string{"Ana", "Ben"}},
	} {
		if got := Nearest(c.asked, names, 2); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.asked, got, c.want)
		}
	}
	if got := ThereAre("x", nil); got != "there are none" {
		t.Error(got)
	}
}
