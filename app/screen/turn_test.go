package screen

import (
	"context"
	"net/http/httptest"
	"testing"

	"quartermaster/schema/assert"
)

// TestTurns: no more pages than pagesAtOnce are read and drawn at once. A page that ends its turn before it is sent
// frees one turn, not two, and a visitor who leaves waits no longer.
func TestTurns(t *testing.T) {
	s := &Screens{turns: make(chan struct{}, pagesAtOnce)}
	gone, leave := context.WithCancel(t.Context())
	leave()
	page := func(ctx context.Context) *exchange {
		return &exchange{s: s, r: httptest.NewRequestWithContext(ctx, "GET", "/", nil)}
	}
	first := page(t.Context())
	for x := first; len(s.turns) < pagesAtOnce; x = page(t.Context()) {
		assert.OK(t, x.takeTurn())
	}
	err := page(gone).takeTurn()
	assert.That(t, err != nil, "one more page had a turn")
	first.endTurn()
	first.endTurn()
	assert.That(t, len(s.turns) == pagesAtOnce-1, "%d turns are taken, want %d", len(s.turns), pagesAtOnce-1)
}
