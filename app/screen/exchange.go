package screen

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/a-h/templ"

	"quartermaster/app/rest"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/wire"
)

// exchange is one request for a page.
type exchange struct {
	s       *Screens
	w       http.ResponseWriter
	r       *http.Request
	rec     *rest.Record
	route   *route
	path    map[string]string // the named parts of the route
	visitor *visitor          // nil: not signed in
	shop    shopSettings      // as read when the request came
	fields  url.Values        // of a POST
	sent    *page.Sent        // a refused form that is shown again
	refused *fault.Error      // the refusal
	audited string            // the page's record in the audit trail's form, if its address does not imply it
	place   string            // the page that a form leads back to
	mailed  []string          // the page's subjects of messages, if they differ from the audit trail's
	turned  bool              // it holds one of the service's turns
}

// pagesAtOnce is how many pages of a service are read and drawn at once. Each may hold megabytes of rows; more of them
// than processors are no faster.
const pagesAtOnce = 4

// takeTurn waits until the page may be read and drawn.
func (x *exchange) takeTurn() error {
	select {
	case x.s.turns <- struct{}{}:
		x.turned = true
		return nil
	case <-x.r.Context().Done():
		return x.r.Context().Err()
	}
}

// endTurn lets the next page begin, before the client, which may be slow, is sent this one.
func (x *exchange) endTurn() {
	if x.turned {
		x.turned = false
		<-x.s.turns
	}
}

// who is the caller of this request's operations and queries.
func (x *exchange) who() db.Caller { return x.visitor.caller }

// read reads the database for the request.
func read[T any](x *exchange, fn func(*db.Conn) (T, error)) (T, error) {
	return db.Read(x.r.Context(), x.s.DB, fn)
}

const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; manifest-src 'self'; " +
	"connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP answers one request.
func (s *Screens) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isAPI(r.URL.Path) {
		s.API.ServeHTTP(w, r)
		return
	}
	rec := rest.NewRecord(w, r, s.Trusted)
	x := &exchange{s: s, w: rec, r: r, rec: rec}
	h := w.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if s.OwnTLS {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
	defer x.finish()
	defer x.recovered()
	if strings.HasPrefix(r.URL.Path, "/static/") {
		rec.Route = "/static/"
		s.static(rec, r)
		return
	}
	h.Set("Cache-Control", "private, no-cache")
	if err := x.serve(); err != nil {
		x.refuse(err)
	}
}

// serve finds the route and the visitor.
func (x *exchange) serve() (err error) {
	x.shop, err = x.s.settings(x.r.Context())
	x.shop.name = cmp.Or(x.shop.name, "Quartermaster")
	if err != nil {
		return err
	}
	route, values := x.s.router.Find(x.r.URL.EscapedPath())
	if route == nil {
		_ = x.look(page.Staff) // only for the page's frame
		return fault.NotFoundf("there is no page %s here", x.r.URL.Path)
	}
	x.route, x.path = route, values
	answer := route.of(x.r.Method)
	if answer == nil {
		x.w.Header().Set("Allow", route.allows())
		_ = x.look(route.area)
		return fault.New(fault.Method, "%s is not allowed here; allowed: %s", x.r.Method, route.allows())
	}
	if x.r.Method == http.MethodPost {
		if err := x.onlyReads(); err != nil {
			_ = x.look(route.area)
			return err
		}
		if err := x.checkForged(); err != nil {
			return err
		}
	}
	if err := x.look(route.area); err != nil && !route.open {
		return err
	}
	return answer(x)
}

// recovered turns a panic into an error page; the log has the stack.
func (x *exchange) recovered() {
	cause := recover()
	if cause == nil {
		return
	}
	x.rec.Panicked(x.s.Log, cause)
	defer func() {
		if again := recover(); again != nil && x.rec.Status == 0 { // drawing the error page failed
			x.s.plainRefusal(x.w, http.StatusInternalServerError, "the program failed; the log has it under request "+x.rec.ID)
		}
	}()
	if x.rec.Status == 0 {
		x.refuse(errors.New("panic"))
	}
}

// finish writes the request's log line and its metrics.
func (x *exchange) finish() {
	if x.route != nil {
		x.rec.Route = x.route.pattern
	}
	user := ""
	if x.visitor != nil {
		user = x.visitor.caller.User
	}
	x.rec.Finish(x.s.Service.Name, x.s.Log.Info(), x.s.Observe, "user", user)
}

// packers are gzip writers, each of more than a megabyte; packing bounds them to the number of processors.
var (
	packers = sync.Pool{New: func() any {
		z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
		return z
	}}
	packing = make(chan struct{}, runtime.GOMAXPROCS(0))
)

func packTo(to io.Writer, body []byte) {
	packing <- struct{}{}
	defer func() { <-packing }()
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	z.Reset(to)
	_, _ = z.Write(body) // into memory, like Close
	_ = z.Close()
}

// send writes a whole page. One that shows a secret is neither cached nor compressed.
func (x *exchange) send(status int, body []byte, secret bool) {
	x.endTurn()
	h := x.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	if secret {
		h.Set("Cache-Control", "no-store")
	} else {
		h.Add("Vary", "Accept-Encoding")
	}
	if secret || len(body) < 1024 || !takesGzip(x.r) || x.r.Method == http.MethodHead {
		h.Set("Content-Length", strconv.Itoa(len(body)))
		x.w.WriteHeader(status)
		if x.r.Method != http.MethodHead {
			_, _ = x.w.Write(body)
		}
		return
	}
	packed := templ.GetBuffer()
	defer templ.ReleaseBuffer(packed)
	packTo(packed, body)
	h.Set("Content-Encoding", "gzip")
	h.Set("Content-Length", strconv.Itoa(packed.Len()))
	x.w.WriteHeader(status)
	_, _ = x.w.Write(packed.Bytes())
}

// sendJSON answers clients that do not accept pages.
func (x *exchange) sendJSON(e *fault.Error) {
	x.w.Header().Set("Cache-Control", "no-store")
	wire.Refuse(x.w, e)
}

// noJSON says where a page's records are available as JSON.
func (x *exchange) noJSON() error {
	body, err := json.Marshal(map[string]string{"error": "not_acceptable", "detail": "this is the address of a page, " +
		"not of JSON; " +
		"the same records are under /api/ with an API key, as /api/openapi.json describes"})
	if err != nil {
		return err
	}
	x.w.Header().Set("Cache-Control", "no-store")
	wire.Send(x.w, http.StatusNotAcceptable, body)
	return nil
}

// wantsOnlyJSON reports whether the client names JSON in Accept and accepts nothing else.
func wantsOnlyJSON(r *http.Request) bool {
	accept := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/") &&
		!strings.Contains(accept, "*/*")
}

// wantsPage reports whether the client names text/html in Accept.
func wantsPage(r *http.Request) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Accept"), ",")), "text/html")
}

// lead redirects the browser, with GET.
func (x *exchange) lead(path string) error {
	h := x.w.Header()
	h.Set("Location", path)
	x.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// draw writes the markup of a component.
func (x *exchange) draw(f *page.Frame, to *bytes.Buffer, c templ.Component) error {
	if err := c.Render(page.With(x.r.Context(), f), to); err != nil {
		return err
	}
	for _, name := range f.Missing {
		x.s.Log.Warn().Str("service", x.s.Service.Name).Str("op", name).Str("page", x.route.pattern).Msg("a page offers " +
			"an operation that does not exist")
	}
	f.Missing = nil
	return nil
}

// sendDrawn draws a whole document and sends it.
func (x *exchange) sendDrawn(status int, f *page.Frame, c templ.Component, secret bool) error {
	if x.r.Method != http.MethodPost && status == http.StatusOK && wantsOnlyJSON(x.r) {
		return x.noJSON()
	}
	b := templ.GetBuffer()
	defer templ.ReleaseBuffer(b)
	if err := x.draw(f, b, c); err != nil {
		return err
	}
	x.send(status, b.Bytes(), secret)
	return nil
}
