package screens

import (
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// seenRows counts the records of the page's table that a window shows whole, above what stays at its foot; a supplier's
// band is no record.
const seenRows = `(() => {
	const bar = document.querySelector(".bulk.bar"), foot = bar ? bar.getBoundingClientRect().top : innerHeight;
	return [...document.querySelectorAll("main tbody tr:not(.band)")]
		.filter(r => r.getBoundingClientRect().bottom <= foot + .5).length;
})()`

// TestADeskShowsThirteenRows opens the longest lists in the window of a small desk.
func TestADeskShowsThirteenRows(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	b := newTab(t, browser(t), 1280, 800, true)
	b.visit(h.URL("reorder", "/login"))
	b.fill("name", "member-m")
	b.fill("password", apptest.Password)
	b.press("Sign in")
	for _, at := range [][2]string{{"store", "/orders"}, {"reorder", "/"}, {"reorder", "/count"}, {"reorder", "/skus"}} {
		b.visit(h.URL(at[0], at[1]))
		rows, err := eval[int](b, seenRows)
		assert.OK(t, err)
		assert.That(t, rows >= 13, "%s%s shows %d rows", at[0], at[1], rows)
	}
}

// TestOpenJobsFollowTheAsset: beside a new job stand the open ones of the asset that is chosen, and all before.
func TestOpenJobsFollowTheAsset(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	b := newTab(t, browser(t), 1280, 800, true)
	b.visit(h.URL("maintenance", "/login"))
	b.fill("name", "member-m")
	b.fill("password", apptest.Password)
	b.press("Sign in")
	b.visit(h.URL("maintenance", "/do/create_workorder"))
	for asset, want := range map[string]string{"": "Cooler trips its fuse", "Lathe": "Check the belts"} {
		shown, err := eval[string](b, `(() => {
			const f = document.querySelector("select[name=asset_id]");
			f.value = [...f.options].find(o => o.text.startsWith("`+asset+`") || !"`+asset+`").value;
			f.dispatchEvent(new Event("change"));
			return [...document.querySelectorAll("[data-beside] li")].filter(li => li.offsetHeight).map(li => li.innerText).join("\n") })()`)
		b.must(err)
		assert.Contains(t, shown, want, "open jobs beside %q", asset)
		assert.That(t, asset == "" || !strings.Contains(shown, "Cooler"), "beside a job of %s stands %q", asset, shown)
	}
}
