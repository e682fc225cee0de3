package screens

import (
	"net/http"
	"strings"
	"testing"

	"quartermaster/app/apptest"
)

// TestTheBoardNamesAPlanThatIsDue: the first page names the only plan that is due, before a job is open.
func TestTheBoardNamesAPlanThatIsDue(t *testing.T) {
	t.Parallel()
	v := apptest.Start(t).Person("maintenance", "ann", "admin")
	status(t, v.Post("/do/save_asset", "asset_tag", "P-1", "name", "Pump"), http.StatusSeeOther)
	status(t, v.Get("/"), http.StatusOK, "No job is waiting", "no plan is due")
	status(t, v.Post("/do/save_plan", "asset_tag", "P-1", "title", "Grease", "interval_days", "30"), http.StatusSeeOther)
	status(t, v.Get("/"), http.StatusOK, "1 plan is due, no job is open", "Grease, Pump is due soon")
	status(t, v.Post("/do/save_plan", "asset_tag", "P-1", "title", "Clean", "interval_days", "7"), http.StatusSeeOther)
	got := status(t, v.Get("/"), http.StatusOK, "2 plans are due, no job is open", "2 plans are due soon")
	if strings.Contains(got.Body, "no plan is due") {
		t.Error("the board says that no plan is due")
	}
}
