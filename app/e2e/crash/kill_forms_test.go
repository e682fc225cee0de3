package crash

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// forms is a browser that sends one form after another, each with its own idempotency key, and repeats what was not
// answered.
type forms struct {
	t      *testing.T
	client *http.Client
	base   atomic.Value // of the service, which changes with each start
	sent   atomic.Int64 // forms that were answered
	again  atomic.Int64 // sent more than once
	up     sync.RWMutex // held for writing while the server is down
}

// post sends the form until it is answered. Every answer leads to the SKU's page.
func (f *forms) post(ctx context.Context, n int64) {
	body := url.Values{"sku": {"COUNTED"}, "delta": {"1"}, "reason": {fmt.Sprint("form ", n)}, "idempotency_key": {fmt.Sprint("form-", n)}}.Encode()
	for try := 0; ctx.Err() == nil; try++ {
		if try == 1 {
			f.again.Add(1)
		}
		f.up.RLock()
		base, _ := f.base.Load().(string)
		f.up.RUnlock()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/do/adjust_stock", strings.NewReader(body))
		if err != nil {
			f.t.Error(err)
			return
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Origin", base)
		resp, err := f.client.Do(r)
		if err != nil {
			continue // it was killed, so the person sends the form again
		}
		b, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/skus/COUNTED" {
			f.t.Errorf("form %d, time %d: %d to %q: %.300s", n, try+1, resp.StatusCode, resp.Header.Get("Location"), b)
			return
		}
		f.sent.Add(1)
		return
	}
}

var welcome = regexp.MustCompile(`/welcome/[A-Za-z0-9_-]{40,}`)

// TestKillAmidForms ends the process as kill -9 does while four windows of one browser send forms. Each form is done
// once, no answered one is lost, and the browser stays signed in.
func TestKillAmidForms(t *testing.T) {
	const windows = 4
	all, kills := int64(apptest.Times(120, 1000)), apptest.Times(4, 40)
	random := rand.New(rand.NewPCG(20261122, 1))
	dir := t.TempDir()
	apptest.Keys(t, dir)
	must := func(args ...string) string {
		t.Helper()
		code, out, errs := apptest.Exec(t, dir, args...)
		assert.Must(t, code == 0, "%v: exit %d: %s%s", args, code, out, errs)
		return out
	}
	must("user", "add", "alice", "--role", "member", "--service", "reorder")
	link := welcome.FindString(must("user", "invite", "alice"))
	p := apptest.Serve(t, dir, "--timezone", "UTC")
	jar, _ := cookiejar.New(nil)
	f := &forms{t: t, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	v := &apptest.Visitor{T: t, Client: f.client, Base: p.URL("reorder", "")}
	got := v.Post(link, "password", apptest.Password)
	assert.Must(t, got.Status == http.StatusSeeOther, "the invitation: %d %.300s", got.Status, got.Body)
	got = v.Post("/do/save_sku", "sku", "COUNTED", "name", "Counted")
	assert.Must(t, got.Status == http.StatusSeeOther, "the SKU: %d %.300s", got.Status, got.Body)
	f.base.Store(p.URL("reorder", ""))
	ctx, stop := context.WithTimeout(context.Background(), 8*time.Minute)
	defer stop()
	var next atomic.Int64
	var group sync.WaitGroup
	for range windows {
		group.Go(func() {
			for n := next.Add(1); n <= all && !t.Failed(); n = next.Add(1) {
				f.post(ctx, n)
			}
		})
	}
	for kill := 1; kill <= kills; kill++ {
		goal := all * int64(kill) / int64(kills+1)
		apptest.Await(t, "answers", func() bool { return f.sent.Load() >= goal || t.Failed() })
		<-time.After(time.Duration(random.IntN(2000)) * time.Microsecond)
		f.up.Lock()
		p.Kill(t)
		f.client.CloseIdleConnections()
		p = apptest.Serve(t, dir, "--timezone", "UTC")
		f.base.Store(p.URL("reorder", ""))
		f.up.Unlock()
	}
	group.Wait()
	assert.Must(t, f.sent.Load() == all, "%d of %d forms were answered", f.sent.Load(), all)
	v.Base = p.URL("reorder", "")
	assert.Equal(t, v.Get("/skus/COUNTED").Status, http.StatusOK, "after %d kills the browser", kills)
	p.Kill(t)
	holdsForms(t, filepath.Join(dir, "quartermaster.db"), all)
	t.Logf("%d forms, %d kills, %d forms sent more than once", all, kills, f.again.Load())
}

// holdsForms requires each form's work once: in the stock, and as an entry of the audit trail.
func holdsForms(t *testing.T, path string, all int64) {
	t.Helper()
	d := assert.Value(db.Open(path, db.Options{}))(t)
	defer d.Close()
	for query, want := range map[string]int64{
		"SELECT current_stock / 1000 FROM skus WHERE sku = 'COUNTED'":                                         all,
		"SELECT count(*) FROM audit WHERE action = 'stock.adjusted'":                                          all,
		"SELECT count(DISTINCT json_extract(changes, '$.reason')) FROM audit WHERE action = 'stock.adjusted'": all,
	} {
		got, err := d.QueryInt(query)
		assert.That(t, err == nil && got == want, "%s: %d, want %d (%v)", query, got, want, err)
	}
}
