package rest

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// needed lists a form's empty required fields, which a browser would not send.
func needed(s apptest.Sheet) (names []string) {
	s.Each(func(n *html.Node) {
		if apptest.Has(n, "required") {
			names = append(names, apptest.Attr(n, "name"))
		}
	})
	return names
}

// TestRecordOrderNeedsNoLines: the browser requires the product, which comes first, and not the lines under More. Tax
// and discount add up.
func TestRecordOrderNeedsNoLines(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.Pipe("sku,name,price_cents,kind\nTEA,Tea,1000,other\n", "import", "store", "products", "-")
	v := s.Person("store", "ann", "member")
	form := apptest.StatusIs(t, v.Get("/do/record_order"), http.StatusOK)
	assert.Equal(t, strings.Join(needed(form), " "), "email", "required")
	product, buyer := strings.Index(form.Body, `name="sku"`), strings.Index(form.Body, `name="email"`)
	assert.That(t, product <= buyer, "the buyer is asked for before the product")
	for want, fields := range map[string][]string{
		"12.00": {"sku", "TEA", "email", "a@example.com", "tax", "2.00"},
		"11.00": {"sku", "TEA", "email", "b@example.com", "tax", "2.00", "discount", "1.00"},
		"9.00":  {"sku", "TEA", "email", "c@example.com", "tax", "2.00", "total", "9.00"},
	} {
		done := apptest.StatusIs(t, v.Post("/do/record_order", fields...), http.StatusSeeOther)
		assert.Contains(t, v.Get(done.Header.Get("Location")).Body, "is recorded: "+want, "%v is not %s", fields, want)
	}
	apptest.StatusIs(t, v.Post("/do/record_order", "sku", "TEA", "email", "d@example.com", "tax", "9.00", "total", "5.00"), http.StatusUnprocessableEntity)
	s.MustCLI("doctor")
}

// TestLabelsOfAllMarked: one sheet has a label for each marked machine, or for every machine that matches.
func TestLabelsOfAllMarked(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.Pipe("asset_tag,name,status\nA-1,Lathe,operational\nA-2,Mill,down\nA-3,Press,operational\n", "import", "maintenance", "assets", "-")
	v := s.Person("maintenance", "ann", "member")
	for want, fields := range map[int][]string{2: {"id", "1", "id", "3"}, 3: {"match", "q="}, 1: {"match", "status=down"}} {
		done := apptest.StatusIs(t, v.Post("/do/make_labels", fields...), http.StatusSeeOther)
		got := strings.Count(v.Get(done.Header.Get("Location")).Body, `class="paper label"`)
		assert.That(t, got == want, "%v: %d labels, want %d", fields, got, want)
	}
	bob := s.Person("maintenance", "bob", "admin")
	bob.Post("/do/save_asset", "asset_tag", "A-4", "name", "Van", "status", "retired")
	done := apptest.StatusIs(t, bob.Post("/do/make_labels", "match", "q=", "requests", "1"), http.StatusSeeOther)
	assert.Equal(t, strings.Count(bob.Get(done.Header.Get("Location")).Body, `class="paper label"`), 4+3,
		"labels, and a second for requests of each machine that")
	assert.Contains(t, v.Get("/assets").Body, "All 4 that match", "all that match cannot be marked at once")
}
