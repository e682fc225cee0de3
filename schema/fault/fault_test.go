package fault

import "testing"

// TestEveryKindHasACode: every error body has a code in its error member, and no two kinds share one.
func TestEveryKindHasACode(t *testing.T) {
	seen := map[string]Kind{}
	for k := Internal; k <= Unavailable; k++ {
		if k.String() == "" {
			t.Errorf("kind %d has no code", k)
		}
		if other, twice := seen[k.String()]; twice {
			t.Errorf("kinds %d and %d share the code %s", other, k, k)
		}
		seen[k.String()] = k
	}
}
