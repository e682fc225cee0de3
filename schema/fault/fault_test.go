package fault

import (
	"testing"

	"quartermaster/schema/assert"
)

// TestEveryKindHasACode: every error body has a code in its error member, and no two kinds share one.
func TestEveryKindHasACode(t *testing.T) {
	seen := map[string]Kind{}
	for k := Internal; k <= Unavailable; k++ {
		assert.That(t, k.String() != "", "kind %d has no code", k)
		other, twice := seen[k.String()]
		assert.That(t, !twice, "kinds %d and %d share the code %s", other, k, k)
		seen[k.String()] = k
	}
}
