package screens

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestOnesOwnJobsComeFirst: a member's jobs are before the others: the overdue one, then by due day, then by priority.
func TestOnesOwnJobsComeFirst(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.Pipe("asset_tag,name\nA-1,Lathe\n", "import", "maintenance", "assets", "-")
	v := s.Person("maintenance", "ann", "member")
	for _, job := range [][3]string{{"Undated low", "", "low"}, {"Due later", "2026-12-24", "low"},
		{"Undated urgent", "", "urgent"}, {"Due sooner", "2026-12-01", "low"}, {"Overdue", "2026-11-01", "medium"}} {
		status(t, v.Post("/do/create_workorder", "asset_id", "1", "description", job[0], "due_date", job[1], "priority", job[2],
			"assigned_to", "Ann"), http.StatusSeeOther)
	}
	status(t, v.Post("/do/create_workorder", "asset_id", "1", "description", "Of nobody", "priority", "urgent"),
		http.StatusSeeOther)
	_, mine, _ := strings.Cut(apptest.Text(status(t, v.Get("/"), http.StatusOK, "Mine, 5").Doc), "Mine, 5")
	mine, _, _ = strings.Cut(mine, "Of nobody")
	var at []int
	for _, title := range []string{"Overdue", "Due sooner", "Due later", "Undated urgent", "Undated low"} {
		at = append(at, strings.Index(mine, title))
	}
	assert.That(t, slices.IsSorted(at) && at[0] >= 0, "one's own jobs are in another order, %v: %.600s", at, mine)
}

// TestTheCalendarHoldsPlansByUse: a plan by use alone is in the week in which its meter will show it.
func TestTheCalendarHoldsPlansByUse(t *testing.T) {
	t.Parallel()
	v := apptest.Start(t).Person("maintenance", "ann", "admin")
	status(t, v.Post("/do/save_asset", "asset_tag", "P-1", "name", "Pump"), http.StatusSeeOther)
	status(t, v.Post("/do/save_meter", "asset_tag", "P-1", "name", "hours", "unit", "h"), http.StatusSeeOther)
	status(t, v.Post("/do/save_plan", "asset_tag", "P-1", "title", "Seal", "interval_usage", "300"), http.StatusSeeOther)
	_, weeks, _ := strings.Cut(apptest.Text(v.Get("/pm-due").Doc), "Twelve weeks ahead")
	assert.Contains(t, weeks, "the due day is unknown", "without readings its day is known")
	for _, r := range [][2]string{{"10", "2026-11-01"}, {"200", "2026-11-20"}} {
		status(t, v.Post("/do/record_meter", "asset_id", "1", "reading", r[0], "read_date", r[1], "confirm", "yes"),
			http.StatusSeeOther)
	}
	_, weeks, _ = strings.Cut(apptest.Text(v.Get("/pm-due").Doc), "Twelve weeks ahead")
	at := strings.Index(weeks, "Pump, Seal")
	assert.That(t, at >= strings.Index(weeks, "Week of 23 Nov") && at <= strings.Index(weeks, "Week of 7 Dec"),
		"100 h at 10 h a day are not ten days ahead: %s", weeks)
}

// TestAnImplausibleReadingAsksFirst: on a page a reading more than ten times the usual use a day is written once it is
// confirmed; a job before an hourly rate says what it cost, and setting the rate offers to cost it anew.
func TestAnImplausibleReadingAsksFirst(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	v := h.as(asAdmin, "maintenance")
	asked := status(t, post(v, "/do/record_meter", url.Values{"asset_id": {"3"}, "reading": {"999999"}}), http.StatusOK,
		"Record 999999 km?", "more than ten times its use")
	assert.Equal(t, countOf(t, h, "SELECT count(*) FROM readings WHERE value = 999999000"), "0",
		"it is written before it is confirmed")
	status(t, post(v, "/do/record_meter", sentBy(t, asked, "/do/record_meter")), http.StatusSeeOther)
	assert.Equal(t, countOf(t, h, "SELECT count(*) FROM readings WHERE value = 999999000"), "1")
	w := apptest.Start(t).Person("maintenance", "ann", "admin")
	status(t, w.Post("/do/save_asset", "asset_tag", "P-1", "name", "Pump"), http.StatusSeeOther)
	status(t, w.Post("/do/create_workorder", "asset_id", "1", "description", "Leaks"), http.StatusSeeOther)
	status(t, w.Post("/do/finish_workorders", "id", "1", "resolution", "Sealed", "labor_minutes", "90"), http.StatusSeeOther)
	status(t, w.Get("/work-orders/1"), http.StatusOK, "Labor costs nothing while no hourly rate is set.")
	status(t, w.Post("/do/set_labor_rate", "labor_rate", "40"), http.StatusSeeOther)
	status(t, w.Get("/settings"), http.StatusOK, "1 job was done without a rate", "Cost them anew")
	status(t, w.Post("/do/recost", "confirm", "yes"), http.StatusSeeOther)
	status(t, w.Get("/figures"), http.StatusOK, "60.00")
}

// TestPhotosFitTheirColumn: a photo of a wide screen is no wider than its column, on a phone and a desk, and leads to the
// whole one.
func TestPhotosFitTheirColumn(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("maintenance", "ann", "admin")
	status(t, v.Post("/do/save_asset", "asset_tag", "P-1", "name", "Pump"), http.StatusSeeOther)
	status(t, v.Post("/do/create_workorder", "asset_id", "1", "description", "Leaks"), http.StatusSeeOther)
	var wide bytes.Buffer
	assert.OK(t, png.Encode(&wide, image.NewGray(image.Rect(0, 0, 2400, 300))))
	status(t, v.Upload("/do/add_photo", map[string]string{"id": "1"}, "file", "wide.png", wide.String()), http.StatusSeeOther)
	b := owner(t, s, 360, 800)
	for _, width := range []int64{360, 1280} {
		b.must(chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 800)))
		b.visit(s.URL("maintenance", "/work-orders/1"))
		b.await("the photo does not fit its column, or does not lead to the whole", `(() => {
			const i = document.querySelector(".photos img"), column = i.closest(".photos").getBoundingClientRect();
			i.loading = "eager";
			return i.complete && i.naturalWidth === 2400 && i.getBoundingClientRect().width <= column.width &&
				document.documentElement.scrollWidth <= innerWidth && i.parentElement.getAttribute("href") === "/photos/1" })()`)
	}
}
