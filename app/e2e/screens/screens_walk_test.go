package screens

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/app/cli"
	"quartermaster/app/server"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// demoShop is an appliance on a copy of the demo's file, since filling it takes longer than most tests.
func demoShop(t testing.TB) *apptest.Fixture {
	t.Helper()
	file, err := demoFile()
	assert.OK(t, err)
	s := &apptest.Fixture{T: t, Path: filepath.Join(t.TempDir(), "demo.db"), Clock: &apptest.Clock{}, Log: &apptest.Buffer{}}
	s.Clock.Set(apptest.Noon)
	assert.OK(t, os.WriteFile(s.Path, file, 0o600))
	s.Server, err = serveDemo(s.Path, s.Log, s.Clock.Now)
	assert.OK(t, err)
	t.Cleanup(s.Down)
	return s
}

// demoFile is the demo's file, filled once.
var demoFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "demo")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "demo.db")
	filled, err := serveDemo(path, io.Discard, func() time.Time { return apptest.Noon })
	if err != nil {
		return nil, err
	}
	if err := filled.Stop(); err != nil {
		return nil, err
	}
	return os.ReadFile(path) // #nosec G304 -- just made
})

func serveDemo(path string, log io.Writer, now func() time.Time) (*server.Server, error) {
	args := []string{"--db", path, "--demo", "--timezone", "UTC", "--log-format", "json"}
	for _, name := range server.Names {
		args = append(args, "--"+name+"-addr", "127.0.0.1:0")
	}
	return cli.Start(context.Background(), cli.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: log, Getenv: func(string) string { return "" }, Now: now,
	})
}

// walker visits a service's pages as one person.
type walker struct {
	t       *testing.T
	v       *apptest.Visitor
	service string
	role    string
	queue   []string
	seen    map[string]int // by pattern
	asked   map[string]bool
	visited int
}

var number = regexp.MustCompile(`/[0-9]+(/|$|\?)`)

// pattern is an address without record ids, so that only a few of many similar pages are visited.
func pattern(path string) string {
	u, err := url.Parse(path)
	if err != nil {
		return path
	}
	p := number.ReplaceAllString(u.Path, "/N$1")
	for _, base := range []string{"/skus/", "/purchase-orders/", "/orders/", "/redeem-codes/", "/licenses/", "/customers/", "/audit"} {
		if strings.HasPrefix(p, base) {
			p = base
		}
	}
	if u.RawQuery != "" {
		var names []string
		for name := range u.Query() {
			names = append(names, name)
		}
		p += fmt.Sprint("?", len(names))
	}
	return p
}

func (w *walker) follow(href string) {
	u, err := url.Parse(href)
	if err != nil || u.Host != "" && w.v.Base != u.Scheme+"://"+u.Host || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "/static/") {
		return
	}
	path := u.RequestURI()
	if w.asked[path] || w.seen[pattern(path)] >= 2 {
		return
	}
	w.asked[path] = true
	w.seen[pattern(path)]++
	w.queue = append(w.queue, path)
}

func (w *walker) walk() {
	w.asked, w.seen, w.visited = map[string]bool{}, map[string]int{}, 0
	w.follow("/")
	for len(w.queue) > 0 && w.visited < 250 {
		path := w.queue[0]
		w.queue = w.queue[1:]
		w.visited++
		w.check(path, w.v.Get(path))
	}
}

// check tests what every page must fulfil.
func (w *walker) check(path string, got apptest.Sheet) {
	w.t.Helper()
	bad := func(format string, args ...any) {
		w.t.Errorf("%s %s as %s: %s", w.service, path, w.role, fmt.Sprintf(format, args...))
	}
	if got.Status == http.StatusSeeOther {
		w.follow(got.Header.Get("Location"))
		return
	}
	if got.Status != http.StatusOK {
		bad("a link leads to %d", got.Status)
		return
	}
	if got.Doc == nil {
		return // a file
	}
	if len(got.Body) > 400_000 {
		bad("it has %d bytes", len(got.Body))
	}
	ids, labels, h1, level := map[string]bool{}, map[string]bool{}, 0, 0
	got.Each(func(n *html.Node) {
		if id := apptest.Attr(n, "id"); id != "" {
			if ids[id] {
				bad("the id %s stands twice", id)
			}
			ids[id] = true
		}
		if n.Data == "label" {
			labels[apptest.Attr(n, "for")] = true
		}
		for _, a := range n.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				bad("<%s> has %s inline", n.Data, a.Key)
			}
		}
	})
	got.Each(func(n *html.Node) {
		switch n.Data {
		case "h1", "h2", "h3", "h4":
			now := int(n.Data[1] - '0')
			if now == 1 {
				h1++
			}
			if now > level+1 {
				bad("the heading %q is of level %d below level %d", apptest.Text(n), now, level)
			}
			level = now
		case "script":
			if apptest.Attr(n, "src") == "" {
				bad("a script stands inline")
			}
		case "style":
			bad("a style stands inline")
		case "th":
			if apptest.Attr(n, "scope") == "" {
				bad("a header cell has no scope")
			}
		case "input", "select", "textarea":
			kind := apptest.Attr(n, "type")
			if kind != "hidden" && !labels[apptest.Attr(n, "id")] && apptest.Attr(n, "aria-label") == "" {
				bad("the field %s has no label", apptest.Attr(n, "name"))
			}
		case "form":
			w.form(n, bad)
		case "a":
			if href := apptest.Attr(n, "href"); !apptest.Has(n, "download") {
				w.follow(href)
			}
		}
	})
	if h1 != 1 {
		bad("it has %d h1", h1)
	}
	if !ids["main"] {
		bad("it has no main to skip to")
	}
}

var ofAnybody = map[string]bool{"/logout": true, "/do/end_session": true, "/do/end_other_sessions": true, "/do/change_password": true, "/do/set_preferences": true,
	"/do/set_user_email": true, "/do/set_notices": true}

// form checks that callers who may not write find no form that does, and that every other has its idempotency key.
func (w *walker) form(n *html.Node, bad func(string, ...any)) {
	if apptest.Attr(n, "method") != "post" {
		return
	}
	action := apptest.Attr(n, "action")
	if w.role == "viewer" && !ofAnybody[action] {
		bad("a viewer finds a form to %s", action)
	}
	hasKey, file := false, false
	for c := range n.Descendants() {
		hasKey = hasKey || c.Data == "input" && apptest.Attr(c, "name") == "idempotency_key"
		file = file || c.Data == "input" && apptest.Attr(c, "type") == "file"
	}
	if strings.HasPrefix(action, "/do/") && !hasKey {
		bad("the form to %s has no idempotency key", action)
	}
}

func rowsOf(t *testing.T, d *db.DB) (n int64) {
	t.Helper()
	err := d.View(context.Background(), func(c *db.Conn) (err error) {
		n, _, err = db.One(c, db.Int, "SELECT (SELECT count(*) FROM audit) + (SELECT count(*) FROM events)")
		return err
	})
	assert.OK(t, err)
	return n
}

// TestWalk visits every page and form of the demo as each role.
func TestWalk(t *testing.T) {
	t.Parallel()
	s := demoShop(t)
	for _, role := range []string{"viewer", "member", "admin"} {
		v := s.Person("store", role+"-walker", role)
		for _, service := range server.Names {
			t.Run(service+"/"+role, func(t *testing.T) {
				w := &walker{t: t, v: v.At(s.URL(service, "")), service: service, role: role}
				w.walk()
				assert.That(t, w.visited >= 15, "only %d pages are linked", w.visited)
				before := rowsOf(t, s.Server.DB())
				w.walk()
				after := rowsOf(t, s.Server.DB())
				assert.That(t, after == before, "reading all pages again wrote %d rows", after-before)
			})
		}
	}
}

// TestFormOfEveryOperation opens the form of every operation and the import of every table: each works from the day it
// is declared.
func TestFormOfEveryOperation(t *testing.T) {
	t.Parallel()
	s := demoShop(t)
	v := s.Person("store", "alice", "admin")
	for _, service := range s.Server.Declared() {
		if service.Name == "" {
			continue
		}
		at := v.At(s.URL(service.Name, ""))
		for _, op := range service.Ops {
			if op.Name == "" || op.Public {
				continue
			}
			assert.Equal(t, at.Get("/do/"+op.Name).Status, http.StatusOK, "%s: GET /do/%s", service.Name, op.Name)
		}
		for _, table := range service.Tables {
			for _, path := range []string{"/import/", "/export/"} {
				assert.Equal(t, at.Get(path+table.Name).Status, http.StatusOK, "%s: GET %s%s", service.Name, path, table.Name)
			}
		}
	}
}
