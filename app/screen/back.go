package screen

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/schema"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/wire"
)

// errElsewhere says that a page does not have the refused form.
var errElsewhere = errors.New("this form is not on this page")

// comeBack shows the page from which a refused form was sent, with the form as sent, and reports whether it did. A form
// of the operation's own page, and one that the page no longer has, is shown on its own page.
func (x *exchange) comeBack(v *doView) (bool, error) {
	if v.alone || v.refusal.Kind == fault.Internal || len(v.differs) > 0 {
		return false, nil
	}
	own := ""
	if !strings.Contains(x.r.URL.Path, "/do/") { // a page that takes its form itself, such as /request/:token
		own = x.r.URL.RequestURI()
	}
	for _, at := range []string{own, x.referer(), v.from, v.then} {
		back, err := x.comeBackAt(at, v)
		if back || err != nil {
			return back, err
		}
	}
	return false, nil
}

// referer is the page of this address that sent the form, "" if unknown.
func (x *exchange) referer() string {
	u, err := url.Parse(x.r.Referer())
	if err != nil || u.Host != x.r.Host || u.Path == x.r.URL.Path { // the last: the form was refused before
		return ""
	}
	return u.RequestURI()
}

func (x *exchange) comeBackAt(at string, v *doView) (bool, error) {
	u, err := url.Parse(at)
	if err != nil || at == "" || x.ours(at) != at {
		return false, nil //nolint:nilerr // it is no page of ours
	}
	route, values := x.s.router.Find(u.EscapedPath())
	if route == nil || route.get == nil {
		return false, nil
	}
	refused := map[string]string{}
	for _, f := range v.refusal.Fields {
		if name := schema.PageField(f.Field); refused[name] == "" {
			refused[name] = f.Detail
		}
	}
	fields := maps.Clone(withoutSecrets(v.op, v.given))
	if u.Path == x.r.URL.Path {
		for name := range values { // the address has them
			delete(fields, name)
		}
	}
	again := *x
	again.route, again.path, again.audited = route, values, ""
	again.r = x.r.Clone(x.r.Context())
	again.r.Method, again.r.URL, again.r.Body = http.MethodGet, u, http.NoBody
	again.sent = &page.Sent{
		Op: v.op.Name, Fields: fields, Refused: refused, Text: v.refusal.Detail, Key: v.key,
		Offered: v.offered, At: at,
		Gone: v.refusal.Kind == fault.Conflict && at == x.referer() && onlyChosen(v.op, v.given),
	}
	if v.refusal.Kind == fault.Conflict {
		again.sent.Key = ""
	}
	again.refused = v.refusal
	err = route.get(&again)
	if x.rec.Status == 0 { // the page is gone, or has no such form
		return false, nil //nolint:nilerr // the form comes back on its own page
	}
	x.route = again.route
	return true, err
}

// onlyChosen reports whether nothing in the fields was typed.
func onlyChosen(op schema.Op, given url.Values) bool {
	for field := range given {
		a, found := fieldNamed(op.Args(schema.Page), field)
		if !found || a.Kind != schema.IntKind && a.Kind != schema.EnumKind {
			return false
		}
	}
	return true
}

// showAgain draws a page with a refused form.
func (x *exchange) showAgain(title string, f *page.Frame, body templ.Component) error {
	b := new(bytes.Buffer)
	if err := x.draw(f, b, body); err != nil {
		return err
	}
	if !x.sent.Back && !x.sent.Pressed && !x.sent.Gone {
		return errElsewhere
	}
	drawn := templ.Raw(b.String())
	if !x.sent.Back {
		drawn = refusedAct(x.refused.Detail, drawn)
	}
	x.retry(x.refused)
	v := x.around(f, title)
	v.body = drawn
	return x.sendDrawn(wire.Status(x.refused.Kind), f, document(v), false)
}
