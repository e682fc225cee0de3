package screens

import (
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
