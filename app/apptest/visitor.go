package apptest

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/account"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// Visitor visits pages like a browser without script: with a cookie jar, without following redirects, with the origin
// of its forms.
type Visitor struct {
	T      testing.TB
	Client *http.Client
	Base   string            // the service's address
	Head   map[string]string // further headers; "" omits one
}

// Sheet is an answered page.
type Sheet struct {
	Status int
	Header http.Header
	Body   string
	Doc    *html.Node
}

// Visitor is an HTTP client without a session at the service.
func (s *Fixture) Visitor(service string) *Visitor {
	jar, _ := cookiejar.New(nil)
	return &Visitor{T: s.T, Base: s.URL(service, ""), Client: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// At is the same visitor, with the same cookies, at another service.
func (v *Visitor) At(base string) *Visitor {
	w := *v
	w.Base = base
	return &w
}

// Password is the password of every user of a test.
const Password = "a fine long password"

// Person makes a user with the role in the services (none means all four) who sets a password by an invitation and is
// signed in at the service.
func (s *Fixture) Person(service, name, role string, services ...string) *Visitor {
	s.T.Helper()
	if len(services) == 0 {
		services = []string{"store", "maintenance", "rental", "reorder"}
	}
	ctx := context.Background()
	_, err := account.AddUser(ctx, s.Server.DB(), db.CLI(""), name, role, services)
	assert.OK(s.T, err)
	return s.Invited(service, name)
}

// Invited follows an invitation of the user.
func (s *Fixture) Invited(service, name string) *Visitor {
	s.T.Helper()
	token, _, err := account.Invite(context.Background(), s.Server.DB(), db.CLI(""), name)
	assert.OK(s.T, err)
	v := s.Visitor(service)
	got := v.Post("/welcome/"+token, "password", Password)
	assert.Must(s.T, got.Status == http.StatusSeeOther, "the invitation of %s: %d %s", name, got.Status, got.Body)
	return v
}

// Get requests a page.
func (v *Visitor) Get(path string) Sheet { return v.do(http.MethodGet, path, nil, "") }

// Post sends a form: names and values alternately.
func (v *Visitor) Post(path string, fields ...string) Sheet {
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	return v.do(http.MethodPost, path, strings.NewReader(form.Encode()), "application/x-www-form-urlencoded")
}

// Upload sends a form with a file, as browsers do.
func (v *Visitor) Upload(path string, fields map[string]string, field, name, content string) Sheet {
	v.T.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for n, text := range fields {
		_ = w.WriteField(n, text)
	}
	part, err := w.CreateFormFile(field, name)
	assert.OK(v.T, err)
	_, _ = io.WriteString(part, content)
	_ = w.Close()
	return v.do(http.MethodPost, path, &b, w.FormDataContentType())
}

// Request uses any method, without a body.
func (v *Visitor) Request(method, path string) Sheet { return v.do(method, path, nil, "") }

// Send sends a body of the kind as a form: multipart/form-data with a file.
func (v *Visitor) Send(path string, body io.Reader, kind string) Sheet {
	return v.do(http.MethodPost, path, body, kind)
}

func (v *Visitor) do(method, path string, body io.Reader, kind string) Sheet {
	v.T.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, v.Base+path, body)
	assert.OK(v.T, err)
	r.Header.Set("Accept", "text/html")
	if method == http.MethodPost {
		r.Header.Set("Origin", v.Base)
		r.Header.Set("Content-Type", kind)
	}
	for name, value := range v.Head {
		if value == "" {
			r.Header.Del(name)
		} else {
			r.Header.Set(name, value)
		}
	}
	resp, err := v.Client.Do(r)
	assert.OK(v.T, err)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	assert.OK(v.T, err)
	s := Sheet{Status: resp.StatusCode, Header: resp.Header, Body: string(b)}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		s.Doc, err = html.Parse(strings.NewReader(s.Body))
		assert.OK(v.T, err)
	}
	return s
}

// Each visits the elements of the document.
func (s Sheet) Each(do func(n *html.Node)) {
	if s.Doc == nil {
		return
	}
	for n := range s.Doc.Descendants() {
		if n.Type == html.ElementNode {
			do(n)
		}
	}
}

// Attr is an element's attribute.
func Attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// Has reports whether an element has the attribute.
func Has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// Text is an element's text.
func Text(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// First is the first element of the tag.
func (s Sheet) First(tag string) *html.Node {
	var found *html.Node
	s.Each(func(n *html.Node) {
		if found == nil && n.Data == tag {
			found = n
		}
	})
	return found
}

// Field is the value of the first hidden or typed field of that name.
func (s Sheet) Field(name string) string {
	value := ""
	s.Each(func(n *html.Node) {
		if value == "" && n.Data == "input" && Attr(n, "name") == name {
			value = Attr(n, "value")
		}
	})
	return value
}

// StatusIs fails unless the page has the status.
func StatusIs(t *testing.T, s Sheet, want int) Sheet {
	t.Helper()
	if s.Status != want {
		t.Fatalf("%d, want %d: %.2000s", s.Status, want, Text(s.Doc))
	}
	return s
}
