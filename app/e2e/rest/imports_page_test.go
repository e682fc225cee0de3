package rest

import (
	"net/http"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestImportPageAsksForTheFileFormat: the page asks for what a file leaves open, recognises usual column names, and
// proposes the same choices for the next file with the same header.
func TestImportPageAsksForTheFileFormat(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	v := l.Person("reorder", "ann", "admin")
	sheet := func(price string) string {
		return "Lagerliste\n\nArtikel;Bezeichnung;Preis;Farbe\nA-1;Tee;" + price + ";rot\nGesamt;;" + price + ";\n"
	}
	send := func(content string) string {
		sent := v.Upload("/import/skus", nil, "file", "liste.csv", content)
		return apptest.StatusIs(t, sent, http.StatusSeeOther).Header.Get("Location")
	}
	at := send(sheet("1.234"))
	first := apptest.StatusIs(t, v.Get(at), http.StatusOK)
	if page := apptest.Text(first.Doc); !strings.Contains(page, "header in line 3") || !strings.Contains(page, "Ignored columns") {
		t.Fatalf("%.3000s", page)
	}
	mapped := at + "&read=yes&map.0=sku&map.1=name&map.2=unit_cost"
	asked := v.Get(mapped)
	if page := apptest.Text(asked.Doc); asked.Status != http.StatusUnprocessableEntity && asked.Status != http.StatusBadRequest ||
		!strings.Contains(page, "“1.234” can be read in two ways") && !strings.Contains(page, `"1.234" can be read in two ways`) ||
		!strings.Contains(page, "Decimal separator") || strings.Contains(page, "--decimal") {
		t.Fatalf("%d %.3000s", asked.Status, page)
	}
	good := apptest.StatusIs(t, v.Get(mapped+"&decimal=comma"), http.StatusOK)
	apptest.StatusIs(t, v.Post("/import/skus", formAround(good, "")...), http.StatusSeeOther)
	got := apptest.StatusIs(t, v.Get("/export/skus"), http.StatusOK).Body
	assert.That(t, strings.Contains(got, "\nA-1,Tee,,,,,123400,") && !strings.Contains(got, "Gesamt"), "%s", got)
	named := v.Upload("/import/skus", nil, "file", "named.csv", "sku,name,unit_cost\nA-9,Tee,12.50\n").Header.Get("Location")
	own := apptest.StatusIs(t, v.Get(named), http.StatusOK)
	apptest.StatusIs(t, v.Post("/import/skus", formAround(own, "")...), http.StatusSeeOther)
	assert.Contains(t, v.Get("/export/skus").Body, "\nA-9,Tee,,,,,1250,", "our own names with an amount in units")
	again := apptest.StatusIs(t, v.Get(send(sheet("2.345"))), http.StatusOK)
	apptest.StatusIs(t, v.Post("/import/skus", formAround(again, "")...), http.StatusSeeOther)
	assert.Contains(t, v.Get("/export/skus").Body, "\nA-1,Tee,,,,,234500,")
}
