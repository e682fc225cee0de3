package screens

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"quartermaster/schema/assert"
)

func (b *tab) keys(keys string) {
	b.t.Helper()
	b.must(chromedp.Do(b.ctx, chromedp.KeyEvent(keys)))
}

// focused is the element with the focus: its position in the document, its kind, and whether the focus is visible.
type focused struct {
	Place int
	What  string
	Seen  bool
}

// TestKeyboard uses the keyboard alone. Tab follows the order of the page with a visible focus, shortcuts lead where
// their list says, Ctrl+Enter sends a form, Escape leaves a dialog.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	h := newFlowFixture(t)
	b := newTab(t, chromium, 1280, 800, true)
	g := &guest{pager: b, t: t, demo: h}
	g.signIn("maintenance", "alice")

	g.open("maintenance", "/")
	last := focused{Place: -1}
	for i := range 30 {
		b.keys(kb.Tab)
		now, err := eval[focused](b, `(() => { const e = document.activeElement, s = getComputedStyle(e);
			return {Place: [...document.querySelectorAll("*")].indexOf(e), What: e.outerHTML.slice(0, 80), Seen: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 && e.checkVisibility()} })()`)
		b.must(err)
		if i == 0 {
			skip, _ := eval[bool](b, `document.activeElement.matches(".skip")`)
			assert.That(t, skip, "the first stop is %s, not the link to the page", now.What)
		}
		assert.That(t, now.Place > last.Place, "Tab goes from %s back to %s", last.What, now.What)
		assert.That(t, now.Seen, "it is not seen that %s has the keys", now.What)
		last = now
	}

	b.visit(h.URL("maintenance", "/"))
	b.keys("?")
	b.see("Send the form")
	b.keys(kb.Escape)
	b.await("the list of keys stays", `!document.querySelector("dialog")`)
	b.keys("/")
	b.await("/ does not lead to the search", `document.activeElement.id === "search"`)
	b.visit(h.URL("maintenance", "/"))
	_, err := eval[bool](b,
		`document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true, bubbles: true}))`)
	b.must(err)
	b.await("Ctrl+K does not lead to the search", `document.activeElement.id === "search"`)
	b.visit(h.URL("maintenance", "/"))
	b.keys("ga")
	b.await("g a does not lead to the assets", `location.pathname === "/assets" && document.readyState === "complete"`)
	b.keys("j")
	b.keys("j")
	b.keys("k")
	b.keys(kb.Enter)
	b.await("Enter does not open the first row", `location.pathname === "/assets/1" && document.readyState === "complete"`)
	b.visit(h.URL("maintenance", "/work-orders"))
	b.keys("n")
	b.await("n does not open the form",
		`location.pathname === "/do/create_workorder" && document.readyState === "complete"`)
	b.fill("asset_id", "1")
	b.fill("description", "By the keys alone")
	b.must(chromedp.Do(b.ctx, chromedp.KeyEvent("\r", chromedp.KeyModifiers(2))))
	b.await("Ctrl+Enter does not send the form",
		`location.pathname.startsWith("/work-orders") && document.readyState === "complete"`)
	b.see("By the keys alone")

	b.visit(h.URL("reorder", "/count"))
	_, err = eval[bool](b, `(document.querySelector("[data-next]").focus(), true)`)
	b.must(err)
	b.keys("3")
	b.keys(kb.Tab)
	b.keys(kb.Tab)
	b.keys("5")
	b.await("two boxes are filled by the keys, and the page does not say how far they are off", `(() => {
		const off = [...document.querySelectorAll("td.e output")].map(o => Number(o.textContent.replace("−", "-")));
		const had = [...document.querySelectorAll("td.b data")].map(d => d.value);
		return document.querySelector(".bulk output").textContent.startsWith("2 of ") &&
			off[0] === 3 - had[0] && off[1] === 5 - had[1] })()`)
	_, err = eval[bool](b, `(document.querySelectorAll(".qty").forEach(i => { i.value = "" }), true)`)
	b.must(err) // or the browser asks before they are left

	// With shortcuts off they do nothing.
	h.Invited("store", "alice").Post("/do/set_preferences", "keys", "false", "idempotency_key", "off")
	g.signIn("maintenance", "alice")
	b.visit(h.URL("maintenance", "/"))
	b.keys("ga")
	assert.Equal(t, b.at(), "/", "keys that are off lead to")
	n, _ := eval[int](b, `document.querySelectorAll("dialog").length`)
	assert.That(t, n == 0, "%v", fmt.Sprint("a dialog is open: ", n))
}
