package screens

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/chromedp/chromedp"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// TestABrowserImportsFilesOfEverySize imports sales in add mode, files of 1 row to 40,000, in Chromium with script and
// without. The button is clicked twice. The server is killed as soon as the import has begun. The page is reloaded
// after the restart and at the end. Each sale counts once.
func TestABrowserImportsFilesOfEverySize(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	for name, script := range map[string]bool{"script": true, "no script": false} {
		t.Run(name, func(t *testing.T) {
			s := startImporter(t)
			b := newTab(t, chromium, 1200, 900, script)
			s.signIn(b)
			for _, n := range []int{1, 51, 5000, 40_000} {
				s.importKilled(b, n)
			}
		})
	}
}

// importer is a served shop with 1,000 SKUs and a user who imports.
type importer struct {
	t    *testing.T
	dir  string
	link string // her invitation
	d    *db.DB // beside the server
	p    *apptest.Process
	base string
}

func startImporter(t *testing.T) *importer {
	t.Helper()
	s := &importer{t: t, dir: t.TempDir()}
	apptest.Keys(t, s.dir)
	s.file("skus.csv", catalogue(1000))
	s.must("import", "reorder", "skus", "skus.csv")
	s.serve("reorder")
	return s
}

// serve serves the shop and invites alice to the service.
func (s *importer) serve(service string) {
	s.t.Helper()
	s.must("user", "add", "alice", "--role", "member", "--service", service)
	s.link = regexp.MustCompile(`/welcome/[A-Za-z0-9_-]{40,}`).FindString(s.must("user", "invite", "alice"))
	s.p = apptest.Serve(s.t, s.dir, "--timezone", "UTC")
	s.base = s.p.URL(service, "")
	d := assert.Value(db.Open(filepath.Join(s.dir, "quartermaster.db"), db.Options{}))(s.t)
	s.t.Cleanup(func() { _ = d.Close() })
	s.d = d
}

// must runs a command that must succeed and returns its output.
func (s *importer) must(args ...string) string {
	s.t.Helper()
	code, out, errs := apptest.Exec(s.t, s.dir, args...)
	assert.Must(s.t, code == 0, "%v %v", args, errs)
	return out
}

func (s *importer) file(name, text string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	assert.OK(s.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (s *importer) signIn(b *tab) {
	b.visit(s.base + s.link)
	b.fill("password", apptest.Password)
	b.press("Set the password and sign in")
}

func (s *importer) number(query string) int64 {
	s.t.Helper()
	n := assert.Value(s.d.QueryInt(query))(s.t)
	return n
}

// killed ends the server as kill -9 does and restarts it.
func (s *importer) killed() (underWay bool) {
	s.t.Helper()
	s.p.Kill(s.t)
	underWay = s.number("SELECT count(*) FROM works WHERE answer IS NULL") > 0
	address := assert.Value(url.Parse(s.base))(s.t)
	s.p = apptest.Serve(s.t, s.dir, "--timezone", "UTC", "--reorder-addr", address.Host)
	return underWay
}

// importKilled imports a file of n sales through the pages.
func (s *importer) importKilled(b *tab, n int) {
	const pieces = "SELECT coalesce(sum(qty), 0) / 1000 FROM sales"
	before, begun := s.number(pieces), s.number("SELECT count(*) FROM works")
	name := fmt.Sprintf("sales-%d.csv", n)
	b.visit(s.base + "/import/sales")
	b.attach("file", s.file(name, salesFile(1000, n)))
	b.press("Show what would happen")
	box := b.locate("field", "add")
	b.must(chromedp.Do(b.ctx, chromedp.MouseClickXY(box.X, box.Y)))
	b.press("Preview again")
	at := b.locate("button", "Write them")
	b.must(chromedp.Do(b.ctx, chromedp.MouseClickXY(at.X, at.Y), chromedp.MouseClickXY(at.X, at.Y)))
	apptest.Await(s.t, "the beginning of the import", func() bool { return s.number("SELECT count(*) FROM works") > begun })
	assert.That(s.t, s.killed() || n != 40_000, "it had ended before the kill")
	ends := quoted("imported into sales.")
	said := `document.body.textContent.replace(/\s+/g, " ").includes(` + ends + `)`
	b.reload()
	b.await("the import does not end", said)
	b.reload()
	b.await("no page comes", `document.readyState === "complete" && !!document.querySelector("main")`)
	if got := s.number(pieces) - before; got != int64(n) {
		s.t.Errorf("%s: %d sales were counted of %d; the page says %.600s", name, got, n, b.text())
	}
}

// reload loads the page again, or sends its form again, as soon as there is a page. A page that says that the server is
// unreachable counts too.
func (b *tab) reload() {
	b.t.Helper()
	var err error
	apptest.Await(b.t, "a page to load again", func() bool {
		err = chromedp.Do(b.ctx, chromedp.Reload())
		return err == nil
	})
}
