package screens

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"quartermaster/app/apptest"
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
		if says := apptest.Text(got.Doc); strings.Contains(says, "REST") || !strings.Contains(says, "under More of the asset") {
			t.Errorf("%s: %s", op, says)
		}
	}
}

// TestAnEmptyBulkChangeIsRefused: work orders are not called changed when nothing was chosen.
func TestAnEmptyBulkChangeIsRefused(t *testing.T) {
	t.Parallel()
	got := post(openDemo(t).as(asAdmin, "maintenance"), "/do/edit_workorders",
		url.Values{"id": {"8", "10"}, "assigned_to": {""}, "due_date": {""}, "priority": {""}})
	status(t, got, http.StatusUnprocessableEntity)
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
	if sent != 1 {
		t.Errorf("the filters were asked for %d times before they were left, %d times in all", sent/10, sent%10)
	}
}
