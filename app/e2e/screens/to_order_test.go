package screens

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// orderRow is a row of the first page as a person reads it, in cents.
type orderRow struct {
	SKU    string
	Order  string
	Cost   string
	Marked bool
}

// orderList is the list to order as a person reads it.
type orderList struct {
	Title, Bar string
	Rows       []orderRow
}

// readOrderList reads the page's title, its bar and its rows; the small print under a figure is not of the sum.
const readOrderList = `(() => {
	const first = e => { const c = e.cloneNode(true); c.querySelectorAll("small").forEach(s => s.remove()); return c.textContent.trim() };
	return {
		Title: document.querySelector("h1").textContent.replace(/\s+/g, " "),
		Bar: document.querySelector("form[data-sum] output").textContent,
		Rows: [...document.querySelectorAll("tr[data-id]")].map(r => ({
			SKU: r.dataset.id, Order: first(r.querySelector("[data-label=Order]")), Cost: first(r.querySelector("[data-label=Cost]")),
			Marked: r.querySelector("td.mark input[type=checkbox]").checked})) } })()`

// written is an amount of a page in cents; a dash is none.
func written(t *testing.T, text string) int64 {
	t.Helper()
	text = strings.ReplaceAll(text, ",", "")
	if text == "–" {
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	assert.OK(t, err, "%q is no amount", text)
	return int64(math.Round(v * 100))
}

// listed reads the list to order. The bar must be the sum of the marked rows; the sum of all is returned.
func listed(t *testing.T, b *tab) (list orderList, sum int64) {
	t.Helper()
	list, err := eval[orderList](b, readOrderList)
	b.must(err)
	marked, cost := 0, int64(0)
	for _, r := range list.Rows {
		assert.That(t, (r.Order == "–") == (r.Cost == "–"), "%s is ordered %s times for %s", r.SKU, r.Order, r.Cost)
		sum += written(t, r.Cost)
		if r.Marked {
			marked++
			cost += written(t, r.Cost)
		}
	}
	words := strings.Fields(strings.ReplaceAll(list.Bar, " marked", ""))
	if want := fmt.Sprint(marked, ","); len(words) != 3 || words[0] != want || written(t, words[1]) != cost {
		t.Errorf("%s: %d rows that cost %d are marked; the bar says %q", b.at(), marked, cost, list.Bar)
	}
	return list, sum
}

// titled fails unless the title of the list to order says the sum.
func titled(t *testing.T, list orderList, sum int64) {
	t.Helper()
	for word := range strings.FieldsSeq(list.Title) {
		if strings.Contains(word, ".") && written(t, word) == sum {
			return
		}
	}
	t.Errorf("the rows cost %d; the title is %q", sum, list.Title)
}

// TestTheRowsToOrderAddUp adds up the rows of the first page, as somebody with a calculator does: the sum is the title's,
// and that of the marked rows the bar's; with drafts, sorted, with a row unmarked, and after its marked rows are drafted.
func TestTheRowsToOrderAddUp(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	status(t, h.as(asMember, "reorder").Post("/do/create_purchase", "supplier", "Leaf & Co", "lines.0.sku", "TEA-CHAI-100",
		"lines.0.qty", "12"), http.StatusSeeOther)
	b := newTab(t, browser(t), 1280, 900, true)
	b.visit(h.URL("reorder", "/login"))
	b.fill("name", "member-m")
	b.fill("password", apptest.Password)
	b.press("Sign in")
	b.visit(h.URL("reorder", "/"))
	list, sum := listed(t, b)
	titled(t, list, sum)
	rows := map[string]orderRow{}
	for _, r := range list.Rows {
		rows[r.SKU] = r
	}
	if r := rows["TEA-CHAI-100"]; r.Order != "48" || r.Cost != "141.60" || !r.Marked {
		t.Errorf("of the masala chai 12 are in a draft and 60 are needed: %+v", r)
	}
	r := rows["CUP-LATTE"]
	assert.That(t, r.Order == "–" && r.Cost == "–" && !r.Marked, "a draft has all latte bowls that are needed: %+v", r)
	ofSupplier := apptest.Text(h.as(asMember, "reorder").Get("/suppliers/Leaf & Co").Doc)
	assert.Contains(t, ofSupplier, "TEA-CHAI-100Near29bags48", "the supplier's page says")
	for _, sort := range []string{"cost", "-cost", "order", "-order", "sku"} {
		b.visit(h.URL("reorder", "/?sort="+sort))
		sorted, again := listed(t, b)
		titled(t, sorted, again)
		costs := make([]int64, len(sorted.Rows))
		for i, r := range sorted.Rows {
			costs[i] = written(t, r.Cost)
		}
		if strings.HasPrefix(sort, "-") {
			slices.Reverse(costs)
		}
		assert.That(t, again == sum && (!strings.HasSuffix(sort, "cost") || slices.IsSorted(costs)),
			"sorted by %s the rows cost %v", sort, costs)
	}
	b.visit(h.URL("reorder", "/"))
	_, err := eval[bool](b, `document.querySelector("[value=TEA-CHAI-100][type=checkbox]").click() ?? true`)
	assert.OK(t, err)
	titled(t, list, sum)
	if less, same := listed(t, b); same != sum || less.Bar == list.Bar {
		t.Errorf("with a row unmarked the rows cost %d, and the bar says %q", same, less.Bar)
	}
	b.press("Draft orders")
	b.visit(h.URL("reorder", "/"))
	b.see("1 thing to order, 141.60 USD from 1 supplier")
	b.see("64 + draft 32")
	list, sum = listed(t, b)
	titled(t, list, sum)
}

// TestTheRowsToOrderAddUpOverPages does so with more rows than a page has, some of them in drafts.
func TestTheRowsToOrderAddUpOverPages(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("reorder", "ann", "member")
	skus, sales := "sku,name,supplier,moq,unit_cost_cents\n", "date,sku,qty\n"
	for i := range 60 {
		skus += fmt.Sprintf("SKU-%02d,Wool %d,%s,1,%d\n", i, i, []string{"Wollwerk", "Kiln", ""}[i%3], 100+i)
		sales += fmt.Sprintf("2026-11-18,SKU-%02d,%d\n", i, 30+i)
	}
	for _, table := range [][2]string{{"skus", skus}, {"sales", sales}} {
		code, _, errs := s.Pipe(table[1], "import", "reorder", table[0], "-")
		assert.Must(t, code == 0, "%v", errs)
	}
	for i := range 8 {
		status(t, v.Post("/do/create_purchase", "supplier", "Wollwerk", "lines.0.sku", fmt.Sprintf("SKU-%02d", 7*i), "lines.0.qty",
			fmt.Sprint(1+40*i)), http.StatusSeeOther)
	}
	b := newTab(t, browser(t), 1280, 900, true)
	b.visit(s.URL("reorder", "/login"))
	b.fill("name", "ann")
	b.fill("password", apptest.Password)
	b.press("Sign in")
	for _, sort := range []string{"", "?sort=cost", "?sort=-order"} {
		b.visit(s.URL("reorder", "/"+sort))
		list, sum := listed(t, b)
		assert.That(t, strings.HasSuffix(list.Title, "from 2 suppliers"),
			"the title is %q; two suppliers are known", list.Title)
		b.press("Next page")
		second, more := listed(t, b)
		assert.That(t, len(list.Rows)+len(second.Rows) == 60, "%d and %d rows are listed", len(list.Rows), len(second.Rows))
		titled(t, list, sum+more)
		titled(t, second, sum+more)
	}
}

// TestASKUShowsHowItsOrderIsComputed: who computes along on paper gets the quantity that the page suggests, also while a
// draft has a part of it.
func TestASKUShowsHowItsOrderIsComputed(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("reorder", "ann", "member")
	for _, table := range [][2]string{
		{"skus", "sku,name,supplier,current_stock,lead_time_days,safety_stock_days,pack_size,moq\nYARN,Yarn,Wollwerk,10,5,2,6,12\n"},
		{"sales", "date,sku,qty\n2026-11-18,YARN,70\n"},
	} {
		code, _, errs := s.Pipe(table[1], "import", "reorder", table[0], "-")
		assert.Must(t, code == 0, "%v", errs)
	}
	says := func(title string, facts ...string) {
		t.Helper()
		got := status(t, v.Get("/skus/YARN"), http.StatusOK)
		assert.Equal(t, apptest.Text(got.First("h1")), title, "the title")
		all := ""
		got.Each(func(n *html.Node) {
			if n.Data == "dt" || n.Data == "dd" || n.Data == "a" || n.Data == "button" {
				all += apptest.Text(n) + " "
			}
		})
		for _, fact := range facts {
			assert.Contains(t, all, fact+" ", "it does not say %q", fact)
		}
	}
	says("Yarn: order 360", "Sold 70 in 7 days", "Sold a day 70 ÷ 7 = 10",
		"Reorder point 70 ÷ 7 × (5 days lead time + 2 safety stock) = 70", "To last 5 days lead time + 2 safety stock + 30 cover = 37 days",
		"Sold in that time 70 ÷ 7 × 37 = 370", "Needed 370 − 10 in stock − 0 on order = 360", "To order at least 12, in packs of 6: 360", "Draft order")
	status(t, v.Post("/do/create_purchase", "supplier", "Wollwerk", "lines.0.sku", "YARN", "lines.0.qty", "100"), http.StatusSeeOther)
	says("Yarn: order 264 more, 100 in PO-000001", "In drafts 100", "To order at least 12, in packs of 6: 264", "Draft order")
	status(t, v.Post("/do/suggest_purchases", "skus", "YARN"), http.StatusSeeOther)
	says("Yarn: order 360, in PO-000001", "In drafts 364", "See PO-000001")
}
