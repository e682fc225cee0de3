package screens

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestOrdersThatLastTooLongAreUnticked: a row whose order lasts more than 180 days says how long, and is not marked by
// itself.
func TestOrdersThatLastTooLongAreUnticked(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	for _, table := range [][2]string{
		{"skus", "sku,name,current_stock,moq\nASSAM,Assam,0,1000\nBOWL,Bowl,0,1\n"},
		{"sales", "date,sku,qty\n2026-11-18,ASSAM,30\n2026-11-18,BOWL,30\n"},
	} {
		code, _, errs := s.Pipe(table[1], "import", "reorder", table[0], "-")
		assert.Must(t, code == 0, "%v", errs)
	}
	got := status(t, s.Person("reorder", "ann", "member").Get("/"), http.StatusOK)
	marked := map[string]bool{}
	got.Each(func(n *html.Node) {
		if n.Data == "input" && apptest.Attr(n, "type") == "checkbox" && apptest.Attr(n, "name") == "skus" {
			marked[apptest.Attr(n, "value")] = apptest.Has(n, "checked")
		}
		if n.Data == "tr" && apptest.Attr(n, "data-id") == "ASSAM" {
			assert.Contains(t, strings.Join(strings.Fields(apptest.Text(n)), " "), "lasts 233 days", "the row")
		}
	})
	assert.That(t, len(marked) == 2 && !marked["ASSAM"] && marked["BOWL"], "marked are %v", marked)
}

// TestTheDepositIsOfferedAndSettled: the agreed deposit is offered as a charge with its amount, and who ends the lease
// is told what is held.
func TestTheDepositIsOfferedAndSettled(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("rental", "ann", "admin")
	for _, p := range [][]string{
		{"save_property", "name", "House"}, {"save_unit", "property", "House", "name", "1A"}, {"save_tenant", "name", "Ada Lind"},
		{"save_lease", "property", "House", "unit", "1A", "tenant", "Ada Lind", "rent", "850", "frequency", "monthly", "start_date", "2026-11-01",
			"deposit", "1700"},
	} {
		status(t, v.Post("/do/"+p[0], p[1:]...), http.StatusSeeOther)
	}
	status(t, v.Get("/leases/1"), http.StatusOK, "Charge the deposit", "amount=1700.00")
	status(t, v.Post("/do/add_charge", "lease_id", "1", "type", "deposit", "label", "Deposit", "due_date", "2026-11-01", "amount", "1700.00"), http.StatusSeeOther)
	assert.Lacks(t, v.Get("/leases/1").Body, "Charge the deposit", "a deposit that was charged is offered again")
	status(t, v.Post("/do/record_payment", "lease_id", "1", "charge_id", "2", "amount", "1700", "method", "cash", "paid_date", "2026-11-20"), http.StatusSeeOther)
	status(t, v.Post("/do/end_lease", "lease_id", "1", "date", "2026-11-30"), http.StatusOK, "1,700.00 USD of deposit is held")
	status(t, v.Post("/do/end_lease", "lease_id", "1", "date", "2026-11-30", "confirm", "yes"), http.StatusSeeOther)
	status(t, v.Get("/leases/1"), http.StatusOK, "1,700.00 USD of deposit is held", "Return deposit")
}
