package screens

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
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
	assert.Lacks(t, got.Body, "no plan is due", "the board says that no plan is due")
}

// TestAPlanIsMarkedAsDoneWhereOneIs: a reading that is far too high asks first; the list of what is due comes back, with
// the job that is still open.
func TestAPlanIsMarkedAsDoneWhereOneIs(t *testing.T) {
	t.Parallel()
	v := apptest.Start(t).Person("maintenance", "ann", "admin")
	status(t, v.Post("/do/save_asset", "asset_tag", "VAN-1", "name", "Van"), http.StatusSeeOther)
	status(t, v.Post("/do/save_meter", "asset_tag", "VAN-1", "name", "odometer", "unit", "km", "reading", "12000"),
		http.StatusSeeOther)
	status(t, v.Post("/do/save_plan", "asset_tag", "VAN-1", "title", "Oil", "interval_usage", "15000"), http.StatusSeeOther)
	status(t, v.Post("/do/create_workorder", "asset_id", "1", "pm_id", "1", "description", "Oil"), http.StatusSeeOther)
	form := status(t, v.Get("/pm-due?status=ok"), http.StatusOK, "/do/complete_plan?")
	to := regexp.MustCompile(`/do/complete_plan\?[^"]*`).FindString(form.Body)
	status(t, v.Get(strings.ReplaceAll(to, "&amp;", "&")), http.StatusOK, `name="then" value="/pm-due?status=ok"`)
	status(t, v.Post("/do/complete_plan", "id", "1", "reading", "999999"), http.StatusOK,
		"Mark Oil of Van as done?", "more digits than the last reading of odometer")
	got := v.Post("/do/complete_plan", "id", "1", "reading", "12500", "then", "/pm-due?status=ok")
	status(t, got, http.StatusSeeOther)
	status(t, v.Get("/pm-due?status=ok"), http.StatusOK, "Job 1 is still open for this plan.")
}

// TestWhatAPlanLacksIsSaidAtItsField: a plan without days and use is refused at its field, its rare fields stay folded,
// and the meter is chosen.
func TestWhatAPlanLacksIsSaidAtItsField(t *testing.T) {
	t.Parallel()
	v := openDemo(t).as(asAdmin, "maintenance")
	got := post(v, "/do/save_plan", url.Values{"asset_tag": {"LATHE-1"}, "title": {"Polish"}, "interval_days": {""},
		"interval_usage": {""}, "paused": {"false"}})
	status(t, got, http.StatusUnprocessableEntity, `name="interval_days" aria-invalid="true"`)
	_, more, _ := strings.Cut(got.Body, "<summary>More")
	assert.That(t, strings.Contains(more, `name="paused"`), "Paused has left More")
	before, _, _ := strings.Cut(v.Get("/do/save_plan").Body, "<summary>")
	assert.That(t, strings.Contains(before, `name="start_date"`) && strings.Contains(before, `value="2026-11-20"`),
		"a new plan does not say that it is due today at first")
	assert.That(t, regexp.MustCompile(`<select id="[^"]*" name="meter"`).MatchString(got.Body), "the meter is not chosen")
	_, more, _ = strings.Cut(v.Get("/do/record_meter?asset_id=2").Body, "<summary>More")
	assert.That(t, strings.Contains(more, `name="correction"`), "a reading's form shows the box of corrections at once")
	got = post(v, "/do/record_meter", url.Values{"asset_id": {"2"}, "reading": {"-1"}})
	status(t, got, http.StatusUnprocessableEntity, "it takes a number of 0 or more")
}

// TestPartsComeAndGo: a delivery is added to the stock, and of several used parts a form asks how many come back.
func TestPartsComeAndGo(t *testing.T) {
	t.Parallel()
	v := apptest.Start(t).Person("maintenance", "ann", "admin")
	status(t, v.Post("/do/save_asset", "asset_tag", "P-1", "name", "Pump"), http.StatusSeeOther)
	status(t, v.Post("/do/save_part", "part_number", "SEAL", "name", "Seal", "quantity", "3"), http.StatusSeeOther)
	status(t, v.Get("/parts/1"), http.StatusOK, "Add to stock")
	status(t, v.Post("/do/stock_part", "id", "1", "qty", "0"), http.StatusUnprocessableEntity, "above 0")
	status(t, v.Post("/do/stock_part", "id", "1", "qty", "20"), http.StatusSeeOther)
	status(t, v.Get("/parts/1"), http.StatusOK, "SEAL, Seal: 23 in stock now.")
	status(t, v.Post("/do/create_workorder", "asset_id", "1", "description", "Leaks"), http.StatusSeeOther)
	status(t, v.Post("/do/use_part", "id", "1", "part_number", "SEAL", "qty", "4"), http.StatusSeeOther)
	got := status(t, v.Get("/work-orders/1"), http.StatusOK, "/do/return_part?")
	to := regexp.MustCompile(`/do/return_part\?[^"]*`).FindString(got.Body)
	status(t, v.Get(strings.ReplaceAll(to, "&amp;", "&")), http.StatusOK, `name="qty"`, `value="4"`)
	status(t, v.Post("/do/return_part", "id", "1", "part_number", "SEAL", "qty", "3"), http.StatusSeeOther)
	status(t, v.Get("/parts/1"), http.StatusOK, "22 ")
}

// TestPrintedPagesLeaveNoMessage: that labels are ready is not said on the page after them.
func TestPrintedPagesLeaveNoMessage(t *testing.T) {
	t.Parallel()
	v := openDemo(t).as(asAdmin, "maintenance")
	status(t, post(v, "/do/make_labels", url.Values{"id": {"1", "2"}}), http.StatusSeeOther)
	assert.Lacks(t, v.Get("/assets").Body, "ready to print", "the list of assets says that the labels are ready")
}

// TestListsOfMachinesAreReadAsMeant: German columns are known, and two vehicles of one name are not made one.
func TestListsOfMachinesAreReadAsMeant(t *testing.T) {
	t.Parallel()
	v := apptest.Start(t).Person("maintenance", "ann", "admin")
	for _, c := range []struct {
		table, file string
		said        []string
	}{
		{"assets", "Bezeichnung;Inventarnummer;Zustand\nDrehbank;M-1;in Betrieb\nSäge;M-3;stillgelegt\n",
			[]string{"2 of 2 rows are new", ">retired<"}},
		{"parts", "Teilenummer;Bezeichnung;Bestand;Preis\nV-13;Keilriemen;3;12,50\n",
			[]string{"1 of 1 row is new", "12.50"}},
		{"assets", "Vehicle Name,VIN\nVan,WVW111\nVan,WVW222\nVan,WVW111\n", []string{"1 of 3 rows are new",
			"is on line 2 too, with the serial number WVW111; give each asset a tag of its own"}},
		{"assets", "Name,Type,License Plate,VIN,Make,Model\nVan,Van,AA 1,WVW1,VW,T6\nVan,Van,AA 2,WVW2,VW,T6\n",
			[]string{"1 of 2 rows are new", "on line 2 too"}},
		{"assets", "asset_tag,serial_number\nA,1\nA,2\n", []string{"1 of 2 rows are new, 1 changed"}},
	} {
		path := "/import/" + c.table
		at := v.Upload(path, nil, "file", "list.csv", c.file).Header.Get("Location")
		status(t, v.Get(at), http.StatusOK, c.said...)
	}
}

// TestARangeThatEndsBeforeItBegins comes back on its page, with both days as typed.
func TestARangeThatEndsBeforeItBegins(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	for _, service := range []string{"maintenance", "store"} {
		v := h.as(asAdmin, service)
		status(t, v.Get("/figures?from=2026-09-01&to=2026-08-01"), http.StatusUnprocessableEntity,
			`value="2026-09-01"`, `value="2026-08-01"`, "1 Sep 2026")
		got := v.Get("/figures?from=2026-09-01&to=2026-08-01")
		assert.That(t, strings.Contains(got.Body, "<h1>") && !strings.Contains(got.Body, "A filter is wrong</h1>"),
			"%s: the page of the figures does not come back", service)
	}
}

// TestARenameSaysWhatItDid: a tag in use is refused at its field, and a name that stays is not called new.
func TestARenameSaysWhatItDid(t *testing.T) {
	t.Parallel()
	v := openDemo(t).as(asAdmin, "maintenance")
	got := post(v, "/do/rename_asset", url.Values{"asset_id": {"3"}, "name": {"Van 1"}, "code": {"VAN-2"}})
	status(t, got, http.StatusConflict, `name="code" aria-invalid="true"`)
	status(t, post(v, "/do/rename_asset", url.Values{"asset_id": {"3"}, "name": {"Van 1"}, "code": {"VAN-1"}}),
		http.StatusSeeOther)
	status(t, v.Get("/assets/3"), http.StatusOK, "Van 1 (VAN-1) keeps its name and tag.",
		"meter=odometer&amp;reading=124307.8")
}

// TestAMachineThatIsDownIsSaidAtOnePress: on its page, and so that it runs again.
func TestAMachineThatIsDownIsSaidAtOnePress(t *testing.T) {
	t.Parallel()
	v := openDemo(t).as(asAdmin, "maintenance")
	for _, turn := range [][2]string{{"Mark as down", "down"}, {"Mark as running", "operational"}} {
		assert.Must(t, strings.Contains(v.Get("/assets/1").Body, turn[0]+"<"), "the page of the lathe has no %q", turn[0])
		status(t, post(v, "/do/set_asset_status", url.Values{"id": {"1"}, "status": {turn[1]}}), http.StatusSeeOther)
		status(t, v.Get("/assets/1"), http.StatusOK, "Lathe is "+turn[1]+".")
	}
	assert.Lacks(t, v.Get("/assets/1").Body, "Mark as running<", "a machine that runs is offered to run again")
}
