package rest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestPropertyOf450UnitsIsPaged reads the rent roll and the property page by page: at most 200 rows each, every unit
// once, all of them in the file.
func TestPropertyOf450UnitsIsPaged(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	var units strings.Builder
	units.WriteString("property,name\n")
	for i := range 450 {
		fmt.Fprintf(&units, "House,U%03d\n", i)
	}
	l.Load("units", units.String())
	v := l.Person("rental", "vic", "viewer")
	for _, path := range []string{"/rent-roll", "/properties/1"} {
		seen, pages := map[string]bool{}, 0
		for next := path; next != ""; pages++ {
			s := apptest.StatusIs(t, v.Get(next), http.StatusOK)
			next = ""
			rows := 0
			s.Each(func(n *html.Node) {
				if n.Data == "tr" && apptest.Has(n, "data-id") {
					rows++
					seen[apptest.Attr(n, "data-id")] = true
				}
				if n.Data == "a" && apptest.Attr(n, "rel") == "next" {
					next = apptest.Attr(n, "href")
				}
			})
			assert.Must(t, rows <= 200 && rows != 0, "%s shows %d rows", path, rows)
			if strings.HasPrefix(next, "?") {
				next = path + next
			}
		}
		assert.That(t, pages == 3 && len(seen) == 450, "%s: %d units on %d pages", path, len(seen), pages)
	}
	file := v.Get("/rent-roll?format=csv")
	assert.That(t, strings.Count(file.Body, "\n") == 451, "the file has %d lines", strings.Count(file.Body, "\n"))
}
