package crash

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

var hiddenKey = regexp.MustCompile(`name="idempotency_key" value="([^"]+)"`)

// TestAnImportByPageIsKilled ends the process as kill -9 does in the middle of an import in add mode, again and again.
// Sending the form again and opening the import's page both continue it. At the end each sale counts once.
func TestAnImportByPageIsKilled(t *testing.T) {
	dir := t.TempDir()
	apptest.Keys(t, dir)
	bulk(t, dir, 200, 100)
	sales := assert.Value(os.ReadFile(filepath.Join(dir, "sales.csv")))(t)
	var want int64
	for i := range 200 * 100 {
		want += 2 * int64(1+i%5)
	}
	_, _, _ = apptest.Exec(t, dir, "user", "add", "alice", "--role", "member", "--service", "reorder")
	_, link, _ := apptest.Exec(t, dir, "user", "invite", "alice")
	p := apptest.Serve(t, dir, "--timezone", "UTC")
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	v := &apptest.Visitor{T: t, Client: client, Base: p.URL("reorder", "")}
	got := v.Post(welcome.FindString(link), "password", apptest.Password)
	assert.Must(t, got.Status == http.StatusSeeOther, "the invitation: %d %.300s", got.Status, got.Body)
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, _ := w.CreateFormFile("file", "sales.csv")
	_, _ = part.Write(sales)
	_ = w.Close()
	to := v.Send("/import/sales", &body, w.FormDataContentType()).Header.Get("Location")
	key := hiddenKey.FindStringSubmatch(v.Get(to).Body)
	address, err := url.Parse(to)
	assert.Must(t, err == nil && key != nil, "the preview %s has no form: %v", to, err)
	form := url.Values{"file": {address.Query().Get("file")}, "add": {"true"}, "idempotency_key": {key[1]}}
	d := assert.Value(db.Open(filepath.Join(dir, "quartermaster.db"), db.Options{}))(t)
	defer d.Close()
	number := func(query string) int64 {
		n := assert.Value(d.QueryInt(query))(t)
		return n
	}
	kills := apptest.Times(3, 20)
	for kill := range kills {
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			if kill%2 == 1 { // the page that shows the progress
				r, err := client.Get(v.Base + "/import/sales?job=1")
				if err == nil {
					_, _ = io.Copy(io.Discard, r.Body)
					_ = r.Body.Close()
				}
				return
			}
			r, _ := http.NewRequest(http.MethodPost, v.Base+"/import/sales", strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", v.Base)
			if got, err := client.Do(r); err == nil {
				_ = got.Body.Close()
			}
		}()
		before := number("SELECT coalesce(max(steps), 0) FROM works")
		apptest.Await(t, "a step of the import", func() bool {
			return number("SELECT coalesce(max(steps), 0) FROM works") > before+1 || number("SELECT count(*) FROM works WHERE answer IS NOT NULL") > 0
		})
		p.Kill(t)
		<-sent
		if number("SELECT count(*) FROM works WHERE answer IS NULL") == 0 {
			t.Logf("the import was done before kill %d", kill+1)
			break
		}
		client.CloseIdleConnections()
		p = apptest.Serve(t, dir, "--timezone", "UTC")
		v.Base = p.URL("reorder", "")
	}
	text := ""
	apptest.Await(t, "the end of the import", func() bool {
		page := v.Get("/import/sales?job=1")
		text = page.Body
		return page.Header.Get("Refresh") == ""
	})
	if !strings.Contains(text, "40,000 rows of sales.csv were imported into sales.") {
		t.Errorf("the page says %.2000s", text[strings.Index(text, "<h1"):])
	}
	assert.Equal(t, number("SELECT sum(qty) / 1000 FROM sales"), want, "were sold after %d kills", kills)
	p.Kill(t)
}
