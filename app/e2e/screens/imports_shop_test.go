package screens

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quartermaster/app/apptest"
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
	if i, j := strings.Index(page.Body, `<th scope="col">SKU`), strings.Index(page.Body, `<th scope="col">Active`); i < 0 || j < i {
		t.Errorf("SKU is the column at %d, Active that at %d", i, j)
	}
	written := ended(t, v, post(v, "/import/products", sentBy(t, page, "/import/products")))
	if !strings.Contains(written, "1 row was skipped: the row has no SKU (line 3)") {
		t.Errorf("after the import: %s", written)
	}

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
	apptest.OK(t, os.WriteFile(path, []byte(taxed), 0o600))
	b := owner(t, s, 320, 640)
	b.visit(s.URL("store", "/import/orders"))
	b.attach("file", path)
	b.press("Show what would happen")
	b.see("Send events for the imported history")
	wrong, err := eval[[]string](b, wrongAtNarrowest)
	b.must(err)
	if len(wrong) > 0 {
		t.Errorf("the preview: %s", strings.Join(wrong, "; "))
	}
}
