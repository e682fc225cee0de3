package screens

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

const shopifyGoods = `Handle,Title,Vendor,Variant SKU,Variant Price,Image Src,Status
echo,Tape Echo,Klang,ECHO,49.00,a.png,active
voucher,Voucher,Klang,,25.00,b.png,active
old,Old filter,Klang,FILT,9.00,c.png,archived
`

// taxed is an order of 119.00 that includes 19.00 of tax.
const taxed = `Name,Email,Financial Status,Paid at,Currency,Subtotal,Shipping,Taxes,Total,Lineitem quantity,Lineitem price,Lineitem sku
#1001,ann@example.com,paid,2026-11-02 10:00:00 +0100,EUR,119.00,0.00,19.00,119.00,1,119.00,ECHO
`

// TestAnImportSaysWhatItLeavesOut previews and writes files of Shopify. Programs are called by their names, rows read
// from left to right as the table has them, yes and no are words, and a skipped row is named by its line, also after the
// import. Tax that is part of a price is told. A file of another table leads there.
func TestAnImportSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "olga", "admin")
	at := v.Upload("/import/products", nil, "file", "products.csv", shopifyGoods).Header.Get("Location")
	page := status(t, v.Get(at), http.StatusOK, "a file of Shopify&#39;s products", ">Shopify&#39;s products</option>",
		"1 row was skipped: the row has no SKU (line 3)", "<td>Yes</td>", "<td>No</td>")
	i, j := strings.Index(page.Body, `<th scope="col">SKU`), strings.Index(page.Body, `<th scope="col">Active`)
	assert.That(t, i >= 0 && j >= i, "SKU is the column at %d, Active that at %d", i, j)
	written := ended(t, v, post(v, "/import/products", sentBy(t, page, "/import/products")))
	assert.Contains(t, written, "1 row was skipped: the row has no SKU (line 3)", "after the import")

	at = v.Upload("/import/products", nil, "file", "orders.csv", taxed).Header.Get("Location")
	status(t, v.Get(at), http.StatusUnprocessableEntity, "It looks like a file of Shopify&#39;s orders.",
		`<a href="/import/orders">Import orders instead</a>`)
	at = v.Upload("/import/orders", nil, "file", "orders.csv", taxed).Header.Get("Location")
	status(t, v.Get(at), http.StatusOK,
		"The prices of 1 order include their tax, which is not stored on its own")
}

// TestAPreviewFitsAPhone opens the preview of an import of orders, with all its choices, at 320 pixels.
func TestAPreviewFitsAPhone(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	path := filepath.Join(t.TempDir(), "orders.csv")
	assert.OK(t, os.WriteFile(path, []byte(taxed), 0o600))
	b := owner(t, s, 320, 640)
	b.visit(s.URL("store", "/import/orders"))
	b.attach("file", path)
	b.press("Show what would happen")
	b.see("Send events for the imported history")
	wrong, err := eval[[]string](b, wrongAtNarrowest)
	b.must(err)
	assert.That(t, len(wrong) <= 0, "the preview: %s", strings.Join(wrong, "; "))
}

// gumroadSales are sales of two products that Gumroad knows by numbers of its own.
const gumroadSales = `Purchase ID,Item Name,Buyer Name,Purchase Email,Purchase Date,Taxes ($),Shipping ($),Sale Price ($),Product ID,Quantity
g1,Tape Echo,Ann Lee,ann@example.com,2026-05-03,0.0,0.0,49.0,xk2a==,1
g2,Tape Echo,Bo Kim,bo@example.com,2026-05-04,0.0,0.0,98.0,xk2a==,2
g3,Mixing Handbook,Cy Ott,cy@example.com,2026-05-05,0.0,0.0,30.0,pq77==,1
`

// TestSalesOfOtherNamesForProducts imports sales whose products have other names here: each is chosen once, or made
// from what the file calls it. The same file changes nothing then.
func TestSalesOfOtherNamesForProducts(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "olga", "admin")
	status(t, v.Post("/do/save_product", "sku", "ECHO", "name", "Tape Echo plugin", "price", "49"), http.StatusSeeOther)
	at := v.Upload("/import/orders", nil, "file", "sales.csv", gumroadSales).Header.Get("Location")
	page := status(t, v.Get(at), http.StatusOK, "0 of 3 rows are new", "Which product is it?", "Tape Echo (xk2a==) <small>2 rows",
		"Mixing Handbook (pq77==) <small>1 row", `first. The file calls it Mixing Handbook`, `name=Mixing+Handbook`)
	location(t, post(v, "/do/map_provider", sentBy(t, page, "/do/map_provider", "sku", "ECHO")), at)
	page = status(t, v.Get(at), http.StatusOK, "2 of 3 rows are new")
	assert.Lacks(t, page.Body, "xk2a==)", "the chosen product is asked for again")
	status(t, v.Post("/do/save_product", "sku", "pq77==", "name", "Mixing Handbook", "kind", "other"), http.StatusSeeOther)
	page = status(t, v.Get(at), http.StatusOK, "3 of 3 rows are new", "issue 3 licenses")
	ended(t, v, post(v, "/import/orders", sentBy(t, page, "/import/orders")))
	status(t, v.Get("/orders"), http.StatusOK, "2 x Tape Echo plugin", "Mixing Handbook")
	at = v.Upload("/import/orders", nil, "file", "sales.csv", gumroadSales).Header.Get("Location")
	status(t, v.Get(at), http.StatusOK, "0 of 3 rows are new, 0 changed, 3 the same, 0 refused")
}

// TestTheKindOfImportedProductsIsChosen: a file of products that does not say their kind is asked for it once, whether
// its program is found or chosen.
func TestTheKindOfImportedProductsIsChosen(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "olga", "admin")
	for _, from := range []string{"", "shopify-products"} {
		at := v.Upload("/import/products", map[string]string{"from": from}, "file", "products.csv", shopifyGoods).Header.Get("Location")
		page := status(t, v.Get(at), http.StatusOK, "What all products of this file are, those already here too", `<option value="download">Download</option>`)
		fields := sentBy(t, page, "/import/products", "set.0.value", "other")
		fields.Set("set.0.name", "kind")
		fields.Set("read", "yes")
		fields.Del("idempotency_key")
		page = status(t, v.Get("/import/products?"+fields.Encode()), http.StatusOK, "2 of 2 rows are new")
		assert.That(t, !strings.Contains(page.Body, "What all products of this file are, those already here too") &&
			!strings.Contains(page.Body, "come with a license"), "from %q: the kind is asked for again", from)
	}
}
