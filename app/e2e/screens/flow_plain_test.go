package screens

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// plain goes through a flow without a browser: it reads the documents, fills in their forms and follows redirects, like
// a browser without script.
type plain struct {
	t     *testing.T
	v     *apptest.Visitor
	path  string
	sheet apptest.Sheet
	typed map[*html.Node]string // by control
	files map[*html.Node]string
}

func newPlain(t *testing.T, v *apptest.Visitor) *plain { return &plain{t: t, v: v} }

func (p *plain) taps() int { return 0 }

func (p *plain) at() string { return p.path }

func (p *plain) visit(address string) {
	p.t.Helper()
	u := assert.Value(url.Parse(address))(p.t)
	p.v = p.v.At(u.Scheme + "://" + u.Host)
	p.path = u.RequestURI()
	p.show(p.v.Get(p.path))
}

// show takes an answer and follows its redirects.
func (p *plain) show(got apptest.Sheet) {
	p.t.Helper()
	for range 5 {
		if got.Status != http.StatusSeeOther {
			p.sheet, p.typed, p.files = got, map[*html.Node]string{}, map[*html.Node]string{}
			assert.Must(p.t, got.Doc != nil, "%s is no page: %d %.200s", p.path, got.Status, got.Body)
			return
		}
		p.path = got.Header.Get("Location")
		got = p.v.Get(p.path)
	}
	p.t.Fatal("it leads on and on")
}

// places are where a step looks: the rows that contain the text, else main, else the page.
func (p *plain) places(row string) []*html.Node {
	var main *html.Node
	var rows []*html.Node
	p.sheet.Each(func(n *html.Node) {
		if n.Data == "main" {
			main = n
		}
		if apptest.Has(n, "data-id") && row != "" && strings.Contains(apptest.Text(n), row) {
			rows = append(rows, n)
		}
	})
	if row != "" {
		return rows
	}
	return []*html.Node{main, p.sheet.Doc}
}

// control finds a visible field.
func (p *plain) control(target string) *html.Node {
	p.t.Helper()
	row, name := parted(target)
	for _, place := range p.places(row) {
		for n := range place.Descendants() {
			if (n.Data == "input" || n.Data == "select" || n.Data == "textarea") && isField(apptest.Attr(n, "name"), name) && apptest.Attr(n, "type") != "hidden" {
				return n
			}
		}
	}
	p.t.Fatalf("%s has no field %s: %s", p.path, target, p.text())
	return nil
}

// isField reports whether name means the field: its name, or the last part of it after a dot.
func isField(name, meant string) bool {
	return name == meant || strings.HasPrefix(meant, ".") && strings.HasSuffix(name, meant)
}

func (p *plain) fill(field, value string) { p.t.Helper(); p.typed[p.control(field)] = value }

func (p *plain) reveal(string) {}

func (p *plain) attach(field, path string) { p.t.Helper(); p.files[p.control(field)] = path }

func (p *plain) field(name string) string {
	p.t.Helper()
	return strings.Join(p.values(p.control(name)), "\n")
}

func (p *plain) see(text string) {
	p.t.Helper()
	assert.Must(p.t, strings.Contains(p.text(), text), "%s does not say %q: %.1500s", p.path, text, p.text())
}

// text is the text of the page.
func (p *plain) text() string { return strings.Join(strings.Fields(apptest.Text(p.sheet.Doc)), " ") }

func (p *plain) press(target string) {
	p.t.Helper()
	row, label := parted(target)
	for _, place := range p.places(row) {
		for n := range place.Descendants() {
			if (n.Data != "a" && n.Data != "button") || !says(apptest.Text(n), label) || apptest.Has(n, "hidden") {
				continue
			}
			if n.Data == "a" {
				p.go_(apptest.Attr(n, "href"))
			} else {
				p.send(n)
			}
			return
		}
	}
	p.t.Fatalf("%s has no button %s: %.2000s", p.path, target, p.text())
}

// go_ follows a link.
func (p *plain) go_(href string) {
	p.t.Helper()
	base := assert.Value(url.Parse(p.v.Base + p.path))(p.t)
	to := assert.Value(base.Parse(href))(p.t)
	p.visit(to.String())
}

// send sends the form of a button with all its controls.
func (p *plain) send(button *html.Node) {
	p.t.Helper()
	id, form := apptest.Attr(button, "form"), button
	for form != nil && form.Data != "form" && id == "" {
		form = form.Parent
	}
	fields, files := url.Values{}, map[string]string{}
	p.sheet.Each(func(n *html.Node) {
		if id != "" && n.Data == "form" && apptest.Attr(n, "id") == id {
			form = n
		}
	})
	assert.Must(p.t, form != nil, "the button %q has no form", apptest.Text(button))
	p.sheet.Each(func(n *html.Node) {
		name := apptest.Attr(n, "name")
		if name == "" || !belongs(n, form) {
			return
		}
		if path := p.files[n]; path != "" {
			files[name] = path
		}
		if n.Data == "input" || n.Data == "select" || n.Data == "textarea" || n == button {
			fields[name] = append(fields[name], p.values(n)...)
		}
	})
	action := apptest.Attr(form, "action")
	if action == "" {
		action = p.path
	}
	if !strings.EqualFold(apptest.Attr(form, "method"), "post") {
		p.path = action + "?" + fields.Encode()
		p.show(p.v.Get(p.path))
		return
	}
	p.path = action
	p.show(p.post(action, fields, files))
}

func (p *plain) post(action string, fields url.Values, files map[string]string) apptest.Sheet {
	p.t.Helper()
	if len(files) == 0 {
		var flat []string
		for name, values := range fields {
			for _, v := range values {
				flat = append(flat, name, v)
			}
		}
		return p.v.Post(action, flat...)
	}
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, values := range fields {
		for _, v := range values {
			_ = w.WriteField(name, v)
		}
	}
	for name, path := range files {
		b := assert.Value(os.ReadFile(path))(p.t)
		part := assert.Value(w.CreateFormFile(name, filepath.Base(path)))(p.t)
		_, _ = part.Write(b)
	}
	_ = w.Close()
	return p.v.Send(action, io.Reader(&body), w.FormDataContentType())
}

// belongs reports whether the control is part of the form.
func belongs(n, form *html.Node) bool {
	if id := apptest.Attr(n, "form"); id != "" {
		return id == apptest.Attr(form, "id")
	}
	for up := n.Parent; up != nil; up = up.Parent {
		if up == form {
			return true
		}
	}
	return false
}

// values are the values that a control sends.
func (p *plain) values(n *html.Node) []string {
	if v, is := p.typed[n]; is {
		return []string{v}
	}
	switch n.Data {
	case "textarea":
		return []string{strings.TrimPrefix(apptest.Text(n), "\n")}
	case "select":
		first, have := "", false
		for c := range n.Descendants() {
			if c.Data != "option" {
				continue
			}
			if apptest.Has(c, "selected") {
				return []string{apptest.Attr(c, "value")}
			}
			if !have {
				first, have = apptest.Attr(c, "value"), true
			}
		}
		return []string{first}
	}
	switch apptest.Attr(n, "type") {
	case "file":
		return nil
	case "checkbox", "radio":
		if !apptest.Has(n, "checked") {
			return nil
		}
	}
	return []string{apptest.Attr(n, "value")}
}
