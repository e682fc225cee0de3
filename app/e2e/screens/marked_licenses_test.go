package screens

import (
	"net/http"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestMarkedLicensesAreChanged marks licenses in their list: they are suspended, resumed and, after a question, revoked.
// A refused one is told in red, apart from what was done, and stays marked.
func TestMarkedLicensesAreChanged(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "olga", "admin")
	status(t, v.Post("/do/save_product", "sku", "ECHO", "license_days", "30"), http.StatusSeeOther)
	for _, who := range []string{"ann", "bo", "cy"} {
		status(t, v.Post("/do/record_order", "email", who+"@example.com", "sku", "ECHO"), http.StatusSeeOther)
	}
	status(t, v.Get("/do/extend_license?license_id=1"), http.StatusOK, "ann@example.com, …", ", until ")
	const form = "bulk-move_licenses"
	fields := formOf(status(t, v.Get("/licenses"), http.StatusOK, "All 3 that match", "Change the marked"), form)
	fields.Set("status", "suspended")
	status(t, sendForm(v, "/do/move_licenses", fields), http.StatusUnprocessableEntity, "Mark at least one license")
	fields["id"] = []string{"1", "2"}
	location(t, sendForm(v, "/do/move_licenses", fields), "/licenses")
	fields = formOf(status(t, v.Get("/licenses"), http.StatusOK, "2 licenses are suspended."), form)
	fields["match"] = []string{"q=ann"}
	fields.Set("status", "active")
	location(t, sendForm(v, "/do/move_licenses", fields), "/licenses")
	fields = formOf(status(t, v.Get("/licenses"), http.StatusOK, "The license of ann@example.com is active."), form)
	fields["id"] = []string{"1", "2"}
	fields.Set("status", "active")
	location(t, sendForm(v, "/do/move_licenses", fields), "/licenses")
	page := status(t, v.Get("/licenses"), http.StatusOK, "The license of bo@example.com is active.",
		`<div class="flash bad" role="alert"><div><p>1 was refused:</p><p class="why">ECHO of ann@example.com: `)
	fields = formOf(page, form)
	assert.EqualSlices(t, fields["id"], []string{"1"}, "marked after the act")
	fields["id"] = []string{"1", "3"}
	fields.Set("status", "revoked")
	asked := status(t, sendForm(v, "/do/move_licenses", fields), http.StatusOK, "Revoke 2 licenses?", "ECHO of cy@example.com", "Keep it")
	location(t, post(v, "/do/move_licenses", sentBy(t, asked, "/do/move_licenses")), "/licenses")
	status(t, v.Get("/licenses?status=revoked"), http.StatusOK, "2 licenses are revoked.")
}
