package screens

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestTheCurrencyIsSetOnEachService: a shop that has only one service has its settings.
func TestTheCurrencyIsSetOnEachService(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	ann := s.Person("rental", "ann", "admin")
	for service, currency := range map[string]string{"rental": "EUR", "maintenance": "JPY", "reorder": "CHF", "store": "GBP"} {
		v := ann.At(s.URL(service, ""))
		status(t, v.Get("/settings"), http.StatusOK, `action="/do/set_currency"`, `action="/do/set_timezone"`)
		status(t, v.Post("/do/set_currency", "currency", currency), http.StatusSeeOther)
		status(t, v.Get("/settings"), http.StatusOK, currency)
	}
}

// TestLogo sets the shop's logo on the page: it stands on prints and on the pages of customers and tenants, is part
// of a backup, and loses what the camera wrote into it. What is no picture, or too large, is refused on the page.
func TestLogo(t *testing.T) {
	t.Parallel()
	s := sellPluginsAndBooks(t)
	v := s.Person("store", "vera", "admin")
	order := buy(t, s, "--email", "ann@example.com", "--line", "BOOK")
	png := "\x89PNG\r\n\x1a\n" + "\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
		"\x00\x00\x00\x0bIDATx\x9cc`\x00\x02\x00\x00\x05\x00\x01z^\xab?\x00\x00\x00\x00IEND\xaeB`\x82"
	send := func(name, content string, want int, says string) {
		t.Helper()
		status(t, v.Upload("/do/set_logo", map[string]string{"then": "/settings"}, "logo", name, content), want, says)
	}
	send("logo.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>", http.StatusUnprocessableEntity, "choose a PNG, JPEG, WebP or GIF")
	send("big.png", png+strings.Repeat("x", 1<<20), http.StatusUnprocessableEntity, "too large")
	status(t, v.Get("/logo"), http.StatusNotFound)
	send("logo.png", png+"shot at home", http.StatusSeeOther, "")
	pages := []apptest.Sheet{v.Get("/settings"), v.Get("/orders/" + order.Ref + "/receipt"), s.Visitor("store").Get("/my")}
	var address string
	for i, got := range pages {
		address = apptest.Attr(got.First("img"), "src")
		assert.Must(t, strings.HasPrefix(address, "/logo?v="), "page %d has no logo: %s", i, got.Body)
	}
	got := status(t, s.Visitor("store").Get(address), http.StatusOK)
	assert.That(t, got.Body == png && got.Header.Get("Content-Type") == "image/png",
		"%s: %q", got.Header.Get("Content-Type"), got.Body)
	copied := filepath.Join(t.TempDir(), "copy.db")
	code, _, errs := apptest.Exec(t, filepath.Dir(copied), "backup", copied, "--db", s.Path)
	assert.Must(t, code == 0, "backup: %s", errs)
	code, out, errs := apptest.Exec(t, filepath.Dir(copied), "settings", "remove-logo", "--yes", "--db", copied)
	assert.That(t, code == 0, "the copy has no logo: exit %d: %s%s", code, out, errs)
	status(t, v.Post("/do/remove_logo"), http.StatusOK, "Prints and the pages")
	status(t, v.Post("/do/remove_logo", "confirm", "yes"), http.StatusSeeOther)
	assert.Lacks(t, v.Get("/orders/"+order.Ref+"/receipt").Body, "/logo", "the logo is still there")
}
