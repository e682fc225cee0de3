package rest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestPrintsAreComplete: counting sheets, shelf labels and lists are printed complete, not one page of them, and
// the file of a list has all its rows.
func TestPrintsAreComplete(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	catalogue := "sku,name,supplier\n"
	for i := range 260 {
		catalogue += fmt.Sprintf("S-%03d,Tea %d,Leaf\n", i, i)
	}
	code, out, errs := s.Pipe(catalogue, "import", "reorder", "skus", "-")
	assert.Must(t, code == 0, "%v %v", out, errs)
	v := s.Person("reorder", "ann", "admin")
	rows := func(path, of string) int {
		t.Helper()
		return strings.Count(apptest.StatusIs(t, v.Get(path), http.StatusOK).Body, of)
	}
	for _, c := range []struct {
		path, of string
		want     int
	}{
		{"/skus?format=csv", "\nS-", 260}, {"/skus", "<tr data-id", 50}, {"/skus?format=print", "<tr data-id", 260},
		{"/count?format=print", "<tr data-id", 260}, {"/labels", `class="paper label"`, 260}, {"/labels?q=tea+25", `class="paper label"`, 13},
	} {
		got := rows(c.path, c.of)
		assert.That(t, got == c.want, "%s has %d rows, want %d", c.path, got, c.want)
	}
	for path, link := range map[string]string{"/count": "Print all 260", "/skus?q=tea": "Print all 260"} {
		assert.That(t, rows(path, link) == 1, "%s does not offer %q", path, link)
	}
}
