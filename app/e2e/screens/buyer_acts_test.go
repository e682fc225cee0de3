package screens

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// woolShop has so many SKUs of one supplier, and a person who buys for it.
func woolShop(t *testing.T, n int) (*apptest.Fixture, *apptest.Visitor) {
	t.Helper()
	s := apptest.Start(t)
	skus, sales := "sku,name,supplier,unit_cost_cents,current_stock\n", "date,sku,qty\n"
	for i := range n {
		skus += fmt.Sprintf("SKU-%03d,Wool %d,Wollwerk,200,5\n", i, i)
		sales += fmt.Sprintf("2026-11-18,SKU-%03d,%d\n", i, 30+i)
	}
	for _, table := range [][2]string{{"skus", skus}, {"sales", sales}} {
		code, _, errs := s.Pipe(table[1], "import", "reorder", table[0], "-")
		assert.Must(t, code == 0, "%v", errs)
	}
	return s, s.Person("reorder", "ann", "member")
}

// why is the refusal beside a field.
func why(s apptest.Sheet, field string) (text string) {
	s.Each(func(n *html.Node) {
		if apptest.Attr(n, "class") == "why" && apptest.Attr(n, "id") == strings.ReplaceAll(field, ".", "-")+"-why" {
			text = apptest.Text(n)
		}
	})
	return text
}

// TestReceivingBeginsEmpty: what is typed is received and nothing else; one link fills in all. Too much is refused at its
// box, with the SKU, also below a line that is all here.
func TestReceivingBeginsEmpty(t *testing.T) {
	t.Parallel()
	_, v := woolShop(t, 3)
	at, path := "/purchase-orders/PO-000001", "/do/receive_purchase"
	status(t, v.Post("/do/create_purchase", "supplier", "Wollwerk", "order", "true", "lines.0.sku", "SKU-000", "lines.0.qty", "4",
		"lines.2.sku", "SKU-001", "lines.2.qty", "6", "lines.3.sku", "SKU-002", "lines.3.qty", "8"), http.StatusSeeOther)
	sent := cellsOf(status(t, v.Get(at), http.StatusOK, "Fill in all that is to come"), "receive_purchase")
	for i := range 3 {
		assert.Equal(t, sent.Get(fmt.Sprintf("lines.%d.qty", i)), "", "line %d begins with", i)
	}
	sent.Set("lines.0.qty", "4")
	location(t, post(v, path, sent), at)
	sent = cellsOf(status(t, v.Get(at), http.StatusOK, "Partly here"), "receive_purchase")
	sent.Set("lines.1.qty", "5")
	sent.Set("lines.2.qty", "80")
	got := status(t, post(v, path, sent), http.StatusUnprocessableEntity, `role="alert"`)
	if text := why(got, "lines.2.qty"); text != "Came in: 80 of SKU-002 is too much; at most 8 are to come" {
		t.Errorf("it says %q at the box, and in all %.300s", text, apptestAlert(got))
	}
	again := cellsOf(got, "receive_purchase")
	assert.That(t, again.Get("lines.1.qty") == "5" && again.Get("lines.2.qty") == "80", "it comes back with %v", again)
	sent.Set("lines.2.qty", "eight")
	got = status(t, post(v, path, sent), http.StatusUnprocessableEntity)
	text := why(got, "lines.2.qty")
	assert.That(t, strings.Contains(text, "eight"), "it says %q at the box", text)
	sent = cellsOf(status(t, v.Get(at+"?all=1"), http.StatusOK), "receive_purchase")
	assert.That(t, sent.Get("lines.1.qty") == "6" && sent.Get("lines.2.qty") == "8", "all that is to come is %v", sent)
	location(t, post(v, path, sent), at)
	status(t, v.Get(at), http.StatusOK, "Received")
}

// TestADraftWithoutASupplierIsNotOrdered: its page has no button for that before it has a supplier.
func TestADraftWithoutASupplierIsNotOrdered(t *testing.T) {
	t.Parallel()
	s, v := woolShop(t, 1)
	code, _, errs := s.Pipe("sku,name\nBARE,Bare\n", "import", "reorder", "skus", "-")
	assert.Must(t, code == 0, "%v", errs)
	code, _, errs = s.Pipe("date,sku,qty\n2026-11-18,BARE,30\n", "import", "reorder", "sales", "-")
	assert.Must(t, code == 0, "%v", errs)
	status(t, v.Post("/do/suggest_purchases", "skus", "BARE"), http.StatusSeeOther)
	got := status(t, v.Get("/purchase-orders/PO-000001"), http.StatusOK, "Choose a supplier before ordering.")
	assert.Lacks(t, got.Body, "Order it", "it offers to order from nobody")
	status(t, v.Post("/do/edit_purchase", "number", "PO-000001", "supplier", "Wollwerk"), http.StatusSeeOther)
	status(t, v.Get("/purchase-orders/PO-000001"), http.StatusOK, "Order it")
}

// TestSuggestingAgainSaysThatNothingIsMissing: a suggestion that changes no draft does not say that it drafted any.
func TestSuggestingAgainSaysThatNothingIsMissing(t *testing.T) {
	t.Parallel()
	s, v := woolShop(t, 2)
	location(t, v.Post("/do/suggest_purchases"), "/purchase-orders/PO-000001")
	status(t, v.Get("/purchase-orders"), http.StatusOK, "Purchase order PO-000001 for Wollwerk is drafted")
	v.Post("/do/suggest_purchases")
	status(t, v.Get("/purchase-orders"), http.StatusOK, "Nothing more is to be drafted: the drafts have all that is needed.")
	a := s.Post("reorder", "/api/sales-history", `{"rows":[{"date":"2026-11-19","sku":"SKU-000","qty":90}]}`)
	assert.Must(t, a.Status < 300, "%v", a.Body)
	v.Post("/do/suggest_purchases")
	status(t, v.Get("/purchase-orders"), http.StatusOK, "Purchase order PO-000001 for Wollwerk is drafted")
	status(t, v.Post("/do/save_sku", "sku", "BARE", "name", "Bare", "moq", "5"), http.StatusSeeOther)
	a = s.Post("reorder", "/api/sales-history", `{"rows":[{"date":"2026-11-19","sku":"BARE","qty":9}]}`)
	assert.Must(t, a.Status < 300, "%v", a.Body)
	v.Post("/do/suggest_purchases")
	status(t, v.Get("/purchase-orders"), http.StatusOK, "Purchase order PO-000002 is drafted: 0.00 USD. Choose its supplier")
}

// TestACountIsSavedWhereItIsTurned counts on two pages. Turning saves the first; a page on which nothing was counted is
// passed by; a mistake comes back at its box. Other ways out ask first.
func TestACountIsSavedWhereItIsTurned(t *testing.T) {
	t.Parallel()
	s, v := woolShop(t, 230)
	shown := status(t, v.Get("/count"), http.StatusOK, "Save, next page", `rel="next"`)
	next := ""
	shown.Each(func(n *html.Node) {
		if n.Data == "button" && apptest.Attr(n, "name") == "turn" {
			next = apptest.Attr(n, "value")
		}
	})
	sent := cellsOf(shown, "count_stock")
	sent.Set("turn", next)
	location(t, post(v, "/do/count_stock", sent), next)
	if got := v.Get(next); strings.Contains(got.Body, `role="status"`) || strings.Contains(got.Body, `role="alert"`) {
		t.Errorf("after a page without a count it says something: %.200s", apptestAlert(got))
	}
	sent.Set("counts.7.qty", "1o")
	got := status(t, post(v, "/do/count_stock", sent), http.StatusUnprocessableEntity)
	if again := cellsOf(got, "count_stock"); again.Get("counts.7.qty") != "1o" || !strings.Contains(why(got, "counts.7.qty"), "1o") {
		t.Errorf("a mistake comes back as %q, with %q", again.Get("counts.7.qty"), why(got, "counts.7.qty"))
	}
	sent.Set("counts.7.qty", "12")
	location(t, post(v, "/do/count_stock", sent), next)
	status(t, v.Get(next), http.StatusOK, "1 SKU is counted; the stock of 1 changed.", "Save, first page")
	status(t, v.Get("/skus/SKU-007"), http.StatusOK, "12")

	b := newTab(t, browser(t), 360, 740, true)
	b.visit(s.URL("reorder", "/login"))
	b.fill("name", "ann")
	b.fill("password", apptest.Password)
	b.press("Sign in")
	b.visit(s.URL("reorder", "/count"))
	asks := func() bool {
		held, err := eval[bool](b, `!dispatchEvent(new Event("beforeunload", {cancelable: true}))`)
		b.must(err)
		return held
	}
	assert.That(t, !asks(), "it asks although nothing was counted")
	b.fill("counts.3.qty", "9")
	assert.That(t, asks(), "a typed count is left without a word")
	b.press("Save, next page")
	b.see("1 SKU is counted")
}

// TestADraftsPriceIsChangedOnAPhone types a price and a quantity into the boxes of a draft, 360 pixels wide.
func TestADraftsPriceIsChangedOnAPhone(t *testing.T) {
	t.Parallel()
	s, v := woolShop(t, 1)
	status(t, v.Post("/do/suggest_purchases"), http.StatusSeeOther)
	b := newTab(t, browser(t), 360, 740, true)
	b.visit(s.URL("reorder", "/login"))
	b.fill("name", "ann")
	b.fill("password", apptest.Password)
	b.press("Sign in")
	b.visit(s.URL("reorder", "/purchase-orders/PO-000001"))
	b.fill("lines.0.unit_cost", "2.5x")
	b.press("Save lines")
	b.see("for example 1234.56.")
	b.fill("lines.0.unit_cost", "2.50")
	held, err := eval[bool](b, `!dispatchEvent(new Event("beforeunload", {cancelable: true}))`)
	assert.That(t, err == nil && held, "a typed price is left without a word: %v", err)
	b.fill("lines.0.qty", "10")
	b.press("Save lines")
	b.see("Purchase order PO-000001 is changed: 25.00 USD.")
}

// TestNarrowedSalesAreAddedUp: by a channel its share alone; a range that ends before it begins is said at its field.
func TestNarrowedSalesAreAddedUp(t *testing.T) {
	t.Parallel()
	s, v := woolShop(t, 3) // 30, 31 and 32 on 18 Nov
	if code, _, errs := s.Pipe("date,sku,qty,channel\n2026-11-17,SKU-001,4,web\n2026-11-18,SKU-002,2.5,web\n", "import",
		"reorder", "sales", "-"); code != 0 {
		t.Fatal(errs)
	}
	status(t, v.Get("/sales?from=2026-11-18&to=2026-11-18"), http.StatusOK, "95.5 sold, all rows added up")
	status(t, v.Get("/sales?channel=web"), http.StatusOK, "6.5 sold by web, all rows added up")
	status(t, v.Get("/sales?channel=web&sku=SKU-001"), http.StatusOK, "4 sold by web, all rows added up")
	status(t, v.Get("/sales?from=2026-11-18&to=2026-11-17"), http.StatusUnprocessableEntity, `value="2026-11-18"`,
		"To: 17 Nov 2026 is before from, 18 Nov 2026")
}
