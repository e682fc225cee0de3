package screens

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// catalogue is a file of n SKUs.
func catalogue(n int) string {
	var b strings.Builder
	b.WriteString("sku,name,supplier,current_stock\n")
	for i := range n {
		fmt.Fprintf(&b, "S-%05d,Thing %d,Supplier,5\n", i, i)
	}
	return b.String()
}

// salesFile is a file of n sales of so many SKUs, quantity 1 each.
func salesFile(skus, n int) string {
	var b strings.Builder
	b.WriteString("date,sku,qty\n")
	day := time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC)
	for i := range n {
		fmt.Fprintf(&b, "%s,S-%05d,1\n", day.AddDate(0, 0, -(i/skus)).Format(time.DateOnly), i%skus)
	}
	return b.String()
}

// chosen uploads a file as a browser does and returns the fields of the form that imports it.
func chosen(t *testing.T, v *apptest.Visitor, table, text string, more ...string) []string {
	t.Helper()
	to := v.Upload("/import/"+table, nil, "file", table+".csv", text)
	assert.Must(t, to.Status == http.StatusSeeOther, "upload: %d %s", to.Status, to.Body)
	address := to.Header.Get("Location")
	preview := status(t, v.Get(address), http.StatusOK)
	query := assert.Value(url.ParseQuery(address[strings.IndexByte(address, '?')+1:]))(t)
	return append([]string{"file", query.Get("file"), "idempotency_key", preview.Field("idempotency_key")}, more...)
}

// ended follows an import to its end, as a browser that refreshes the page, and returns the result.
func ended(t *testing.T, v *apptest.Visitor, got apptest.Sheet) string {
	t.Helper()
	assert.Must(t, got.Status == http.StatusSeeOther, "import: %d %s", got.Status, got.Body)
	text := ""
	apptest.Await(t, "the end of the import", func() bool {
		page := v.Get(got.Header.Get("Location"))
		text = page.Body
		return page.Header.Get("Refresh") == ""
	})
	return text
}

var importedRows = regexp.MustCompile(`([0-9,]+) rows? of`)

// sold is the quantity sold of all SKUs.
func sold(s *apptest.Fixture) int64 {
	s.T.Helper()
	n := assert.Value(s.Server.DB().QueryInt("SELECT coalesce(sum(qty), 0) / 1000 FROM sales"))(s.T)
	return n
}

// TestFilesOfEverySizeImportCompletely imports files of one row to 40,000 by page.
func TestFilesOfEverySizeImportCompletely(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("reorder", "alice", "admin")
	early := v.Upload("/import/sales", nil, "file", "sales.csv", salesFile(1, 1)).Header.Get("Location")
	status(t, v.Get(early), http.StatusOK, "Perhaps it names what is not here yet", "Import SKUs first")
	for _, n := range []int{1, 51, 1000} {
		text := ended(t, v, v.Post("/import/skus", chosen(t, v, "skus", catalogue(n))...))
		stored, err := s.Server.DB().QueryInt("SELECT count(*) FROM skus")
		if err != nil || stored != int64(n) {
			t.Errorf("%d of %d SKUs were stored: %v; the page says %q", stored, n, err, importedRows.FindString(text))
		}
	}
	for _, n := range []int{1, 5000, 40_000} {
		before := sold(s)
		form := chosen(t, v, "sales", salesFile(1000, n), "add", "true")
		text := ended(t, v, v.Post("/import/sales", form...))
		if got := sold(s) - before; got != int64(n) {
			t.Errorf("%d of %d sales were stored; the page says %q", got, n, importedRows.FindString(text))
		}
		again := ended(t, v, v.Post("/import/sales", form...))
		if got := sold(s) - before; got != int64(n) || !strings.Contains(again, "imported into sales.") {
			t.Errorf("the same form again: %d sales of %d", got, n)
		}
	}
}

// TestAnImportFormSentTwiceAtOnce sends the form of an import in add mode several times at once: every sale counts
// once.
func TestAnImportFormSentTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("reorder", "alice", "admin")
	ended(t, v, v.Post("/import/skus", chosen(t, v, "skus", catalogue(100))...))
	form := chosen(t, v, "sales", salesFile(100, 5000), "add", "true")
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() { ended(t, v, v.Post("/import/sales", form...)) })
	}
	group.Wait()
	assert.Equal(t, sold(s), 5000, "sales count")
}
