package page

import (
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/mail"
)

// TestWhereToPayStandsAboveTheSignature: a letter's last paragraph is its signature if it is the shop's, so that what
// is to be paid stands before it; a text that ends otherwise has it at its end.
func TestWhereToPayStandsAboveTheSignature(t *testing.T) {
	lines := func(all ...string) mail.Piece { return mail.Piece{Lines: all} }
	for _, c := range []struct {
		name, shop string
		all        []mail.Piece
		want       int
	}{
		{"signed with an address", "Brandt", []mail.Piece{lines("You owe."), lines("Brandt", "12 Harbour Street")}, 1},
		{"signed by a person", "Brandt", []mail.Piece{lines("You owe."), lines("Ada")}, 2},
		{"a table last", "Brandt", []mail.Piece{lines("You owe."), {Rows: [][]string{{"Rent", "1 Nov", "5.00"}}}}, 2},
		{"no name of the shop", "", []mail.Piece{lines("You owe.")}, 1},
		{"nothing", "Brandt", nil, 0},
	} {
		got := signature(c.all, c.shop)
		assert.That(t, got == c.want, "%s: the signature is paragraph %d, want %d", c.name, got, c.want)
	}
}
