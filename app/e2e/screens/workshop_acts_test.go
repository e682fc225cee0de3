package screens

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestLowerReadingsSpeakOfThePage: every act that takes a reading refuses one below the present value with what to do
// on the asset's page.
func TestLowerReadingsSpeakOfThePage(t *testing.T) {
	t.Parallel()
	v := openDemo(t).as(asAdmin, "maintenance")
	for op, form := range map[string]url.Values{
		"record_meter":  {"asset_id": {"2"}, "reading": {"1"}},
		"complete_plan": {"id": {"3"}, "reading": {"1"}},
		"replace_meter": {"asset_id": {"2"}, "last_reading": {"1"}, "reading": {"0"}},
	} {
		got := post(v, "/do/"+op, form)
		status(t, got, http.StatusConflict)
		assert.That(t, op != "replace_meter" || strings.Contains(got.Body, `name="last_reading" aria-invalid="true"`),
			"the last reading is refused at another field")
		if says := apptest.Text(got.Doc); strings.Contains(says, "REST") || strings.Contains(says, "asset 2") || !strings.Contains(says, "under More of the asset") {
			t.Errorf("%s: %s", op, says)
		}
	}
}

// TestAnEmptyBulkChangeIsRefused: work orders are not called changed when nothing was chosen.
func TestAnEmptyBulkChangeIsRefused(t *testing.T) {
	t.Parallel()
	got := post(openDemo(t).as(asAdmin, "maintenance"), "/do/edit_workorders",
		url.Values{"id": {"8", "10"}, "assigned_to": {""}, "due_date": {""}, "priority": {""}})
	status(t, got, http.StatusUnprocessableEntity, "Give an assignee, a due day or a priority")
	v := openDemo(t).as(asAdmin, "maintenance")
	post(v, "/do/edit_workorders", url.Values{"id": {"8", "31"}, "priority": {"high"}})
	got = status(t, v.Get("/work-orders"), http.StatusOK, "ork order 31 is cancelled")
	assert.Lacks(t, apptest.Text(got.Doc), "31: work order 31", "a refused order is named twice")
	many := url.Values{"marked_field": {"id"}, "marked_open": {"yes"}}
	for i := range 20 {
		many.Add("id", strconv.Itoa(i+1))
	}
	status(t, post(openDemo(t).as(asAdmin, "maintenance"), "/do/edit_workorders", many), http.StatusOK, "20: 1, 2, 3,")
}

// TestFiltersWaitUntilTheyAreLeft: a first day that is typed is not asked for before the last day is typed too.
func TestFiltersWaitUntilTheyAreLeft(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	b := owner(t, s, 1280, 900)
	b.visit(s.URL("store", "/orders"))
	sent, err := eval[int](b, `(() => {
		let n = 0;
		const f = document.querySelector("form.filters");
		f.addEventListener("submit", e => { n++; e.preventDefault(); });
		const leave = (i, to) => i.dispatchEvent(new FocusEvent("focusout", {bubbles: true, relatedTarget: to}));
		f.from.value = "2026-01-01"; leave(f.from, f.to);
		const waited = n;
		f.to.value = "2026-01-31"; leave(f.to, document.body);
		return waited * 10 + n })()`)
	b.must(err)
	assert.That(t, sent == 1,
		"the filters were asked for %d times before they were left, %d times in all", sent/10, sent%10)
}

// TestChangedColumnsArePreviewedFirst: who changes what a column means and presses Write sees the new preview.
func TestChangedColumnsArePreviewedFirst(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	b := owner(t, s, 1280, 900)
	b.visit(s.URL("store", "/import/products"))
	file := filepath.Join(t.TempDir(), "products.csv")
	assert.OK(t, os.WriteFile(file, []byte("sku,name,cost\nECHO,Tape Echo,12.50\n"), 0o600))
	b.attach("file", file)
	b.press("Show what would happen")
	label, err := eval[string](b, `(() => {
		const column = document.querySelectorAll("form[data-reading] select[name^='map.']")[2];
		column.value = [...column.options].find(o => o.value.startsWith("price")).value;
		column.dispatchEvent(new Event("change", {bubbles: true}));
		return document.querySelector("form[data-writes] .main").textContent })()`)
	b.must(err)
	assert.That(t, label == "Preview again", "the button that writes is called %q", label)
	b.press("Preview again")
	b.await("the page does not show the price", `document.body.textContent.includes("12.50")`)
	b.press("Write them")
	b.await("the product has no price", `document.body.textContent.includes("1 row")`)
	b.visit(s.URL("store", "/products/ECHO"))
	b.await("the product has no price", `document.body.textContent.includes("12.50")`)
}

// TestARefusedRequestComesBackOnItsPage: a visitor's request without words comes back on the machine's page, with the
// name as typed.
func TestARefusedRequestComesBackOnItsPage(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	admin := h.as(asAdmin, "maintenance")
	post(admin, "/do/set_requests", url.Values{"asset_id": {"1"}, "on": {"true"}})
	at := regexp.MustCompile("/request/[A-Za-z0-9_-]+").FindString(admin.Get("/assets/1").Body)
	assert.Must(t, at != "", "the asset's page has no address for requests")
	got := post(h.as(asNobody, "maintenance"), at, url.Values{"description": {""}, "name": {"Zoe"}})
	status(t, got, http.StatusUnprocessableEntity, "Zoe")
	says := apptest.Text(got.Doc)
	assert.That(t, strings.Contains(says, "What is wrong with Lathe?") && !strings.Contains(says, "Token"), "%s", says)
}
