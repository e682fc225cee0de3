package screens

import (
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// owner is a tab in which olga, an admin of the store, is signed in.
func owner(t *testing.T, s *apptest.Fixture, wide, high int64) *tab {
	t.Helper()
	s.Person("store", "olga", "admin")
	b := newTab(t, browser(t), wide, high, true)
	b.visit(s.URL("store", "/login"))
	b.fill("name", "olga")
	b.fill("password", apptest.Password)
	b.press("Sign in")
	return b
}

// TestADoubleClickSendsOnce clicks twice on a button. The form is sent once: an answer that is shown once, as that of
// Mint codes, is not lost to a second one.
func TestADoubleClickSendsOnce(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.MustCLI("store", "product", "save", "ECHO", "--name", "Tape Echo", "--price-cents", "1000")
	b := owner(t, s, 1280, 900)
	b.visit(s.URL("store", "/do/mint_codes"))
	b.fill("count", "20")
	b.fill("sku", "ECHO")
	sent, err := eval[int](b, `(() => {
		let n = 0;
		addEventListener("submit", e => { n++; e.preventDefault(); });
		const button = (`+find+`)("", "button", "Mint codes");
		button.click(); button.click();
		return n })()`)
	b.must(err)
	assert.That(t, sent == 1, "two clicks sent the form %d times", sent)
	b.visit(s.URL("store", "/"))
	went, err := eval[[]bool](b, `(() => {
		const link = document.querySelector("a[href='/products']");
		addEventListener("click", e => e.preventDefault());
		const click = n => { let reached = false; link.onclick = () => { reached = true; };
			link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, detail: n })); return reached; };
		return [click(2), click(1), click(2)] })()`)
	b.must(err)
	assert.EqualSlices(t, went, []bool{false, true, true},
		"the second click of a double click on the page before, a click and a double click followed a link")
}

// TestTheFirstWrongFieldHasTheFocus refuses a form in a browser with script: one types on in the field that is wrong.
func TestTheFirstWrongFieldHasTheFocus(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	b := owner(t, s, 360, 740)
	b.visit(s.URL("store", "/do/save_product"))
	b.fill("sku", "ECHO")
	b.fill("price", "49,000")
	b.press("Save")
	b.see("can be read in two ways")
	b.await("the wrong field has not the focus", `document.activeElement.name === "price"`)
}

// TestAQuestionCanBeLeftOnAPhone asks about an order of 5900 for 59.00, on a phone: the way out is on the page.
func TestAQuestionCanBeLeftOnAPhone(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.MustCLI("store", "product", "save", "ECHO", "--name", "Tape Echo", "--price-cents", "5900")
	b := owner(t, s, 360, 740)
	b.visit(s.URL("store", "/do/record_order"))
	b.fill("sku", "ECHO")
	b.fill("email", "ann@example.com")
	b.fill("total", "5900")
	_, err := eval[bool](b, `(document.querySelector("form[data-ask] .main").click(), true)`)
	b.must(err)
	b.await("the question does not stand over the form",
		`document.querySelector("dialog[open]")?.textContent.includes("Record 5,900.00")`)
	_, err = eval[bool](b, `(document.querySelector("dialog a.btn.quiet").click(), true)`)
	b.must(err)
	b.await("the typed amount is gone", `!document.querySelector("dialog") && document.querySelector("[name=total]").value === "5900"`)
	s.MustCLI("store", "order", "record", "--email", "ann@example.com", "--sku", "ECHO")
	b.visit(s.URL("store", "/do/revoke_license?license_id=1"))
	b.see("Revoke the license of ann@example.com?")
	b.press("Keep it")
	b.see("License")
}
