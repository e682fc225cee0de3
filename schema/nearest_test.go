package schema

import (
	"testing"

	"quartermaster/schema/assert"
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
		assert.EqualSlices(t, Nearest(c.asked, names, 2), c.want, "%q", c.asked)
	}
	assert.Equal(t, ThereAre("x", nil), "there are none")
}
