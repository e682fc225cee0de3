package screens

import (
	"net/http"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// TestTabsAndHeadersNameTheService opens each service's first page. The title names service and shop, the header
// counts what waits in the others, and icon, manifest and /favicon.ico exist.
func TestTabsAndHeadersNameTheService(t *testing.T) {
	h := openDemo(t)
	icons := map[string]bool{}
	for _, service := range []string{"store", "maintenance", "rental", "reorder"} {
		v := h.as(asAdmin, service)
		got := status(t, v.Get("/account"), http.StatusOK, "things wait", "things to order", "leases behind",
			"jobs open")
		assert.Contains(t, got.Body, strings.ToUpper(service[:1])+service[1:]+" - Brandt",
			"the title of %s does", service)
		_, rest, _ := strings.Cut(got.Body, `rel="icon" type="image/svg+xml" href="`)
		icon, _, _ := strings.Cut(rest, `"`)
		icons[icon] = true
		status(t, v.Get(icon), http.StatusOK)
		status(t, v.Get("/manifest.webmanifest"), http.StatusOK, icon, "Brandt")
		if ico := v.Get("/favicon.ico"); ico.Status != http.StatusOK && ico.Status != http.StatusFound {
			t.Errorf("/favicon.ico of %s is %d", service, ico.Status)
		}
	}
	assert.That(t, len(icons) == 4, "the services have %d icons, not one each: %v", len(icons), icons)
}
