package screens

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/app/server"
	"quartermaster/schema/assert"
)

// mostPage and mostFirst are the compressed bytes of a later page, and of a first visit with style and script, for a
// cheap phone on a slow line.
const (
	mostPage  = 14 << 10
	mostFirst = 30 << 10
)

// packed is the compressed size of a body, in bytes.
func packed(body string) int {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = z.Write([]byte(body))
	_ = z.Close()
	return b.Len()
}

// TestWeight weighs every linked page of the demo, the portal and the buyer's page, and the first visit of each.
func TestWeight(t *testing.T) {
	h := openDemo(t)
	heaviest := map[string]int{}
	weigh := func(what, path string, got apptest.Sheet) {
		if got.Doc == nil || strings.Contains(path, "/photos/") {
			return
		}
		n := packed(got.Body)
		heaviest[what] = max(heaviest[what], n)
		assert.That(t, n <= mostPage, "%s %s is %d bytes packed, at most %d", what, path, n, mostPage)
	}
	for _, service := range server.Names {
		for pattern, path := range h.examples(t, service) {
			if !strings.HasPrefix(pattern, "/import/") && !strings.Contains(path, "format=csv") {
				weigh(service, path, h.as(asAdmin, service).Get(path))
			}
		}
	}
	for what, c := range map[string]struct {
		v    *apptest.Visitor
		from string
	}{"portal": {h.as(asTenantA, "rental"), "/portal"}, "buyer": {h.as(asBuyer, "store"), "/my"}, "board": {h.as(asMember, "maintenance"), ""}} {
		first := h.Visitor(map[string]string{"portal": "rental", "buyer": "store", "board": "maintenance"}[what])
		door := first.Get(c.from + map[string]string{"board": "/login"}[what])
		total, requests := packed(door.Body), 2
		door.Each(func(n *html.Node) {
			for _, name := range []string{"href", "src"} {
				if to := apptest.Attr(n, name); strings.HasPrefix(to, "/static/") && (n.Data == "script" || apptest.Attr(n, "rel") == "stylesheet") {
					total += packed(first.Get(to).Body)
					requests++
				}
			}
		})
		inside := c.v.Get(c.from + map[string]string{"board": "/"}[what])
		assert.Must(t, inside.Status == http.StatusOK, "%s: %d", what, inside.Status)
		total += packed(inside.Body)
		assert.That(t, total <= mostFirst && requests <= 4,
			"the first visit of the %s is %d bytes in %d requests", what, total, requests)
		t.Logf("the first visit of the %s: %d bytes in %d requests", what, total, requests)
		if c.from != "" {
			for path, got := range crawl(c.v, c.from) {
				weigh(what, path, got)
			}
		}
	}
	t.Logf("the heaviest pages: %v", heaviest)
}
