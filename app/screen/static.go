package screen

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed static
var files embed.FS

// asset is one static file. It is compressed at its first request, since that would be the longest part of a start.
type asset struct {
	path, kind string
	plain      []byte
	packed     func() []byte
}

var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// comments are lines of the script that hold only a comment: they are not sent.
var comments = regexp.MustCompile(`(?m)^\s*// .*\n`)

// assets are the static files by address, and their addresses by name.
var assets, addresses = func() (map[string]*asset, map[string]string) {
	byPath, byName := map[string]*asset{}, map[string]string{}
	entries, err := files.ReadDir("static")
	if err != nil {
		panic(err) // embedded: it exists or the build is broken
	}
	for _, e := range entries {
		b, err := files.ReadFile("static/" + e.Name())
		if err != nil {
			panic(err)
		}
		b = comments.ReplaceAll(b, nil)
		sum := sha256.Sum256(b)
		a := &asset{path: "/static/" + hex.EncodeToString(sum[:8]) + "/" + e.Name(), kind: kinds[path.Ext(e.Name())],
			plain: b, packed: sync.OnceValue(func() []byte { return pack(b) })}
		byPath[a.path], byName[e.Name()] = a, a.path
	}
	return byPath, byName
}()

// papers are the style sheet's --paper in each theme.
var papers = map[string]string{"light": "#fbfaf7", "dark": "#111417"}

// iconOf is the address of a service's icon; a page without service has the first one's.
func iconOf(service string) string {
	if a, ok := addresses["icon-"+service+".svg"]; ok {
		return a
	}
	return addresses["icon-store.svg"]
}

// favicon answers programs that request /favicon.ico without reading the page.
func favicon(x *exchange) error {
	x.w.Header().Set("Location", iconOf(x.s.Service.Name))
	x.w.WriteHeader(http.StatusFound)
	return nil
}

// manifest answers a phone that installs the service on its home screen.
func manifest(x *exchange) error {
	word := serviceWord(x.s.Service.Name)
	body, err := json.Marshal(map[string]any{
		"name": x.shop.name + ": " + word, "short_name": word, "start_url": "/", "display": "minimal-ui",
		"background_color": papers["light"], "theme_color": papers["light"],
		"icons": []map[string]string{{"src": iconOf(x.s.Service.Name), "sizes": "any", "type": "image/svg+xml"}},
	})
	if err != nil {
		return err
	}
	x.w.Header().Set("Content-Type", "application/manifest+json")
	_, err = x.w.Write(body)
	return err
}

func pack(b []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

// static answers with a static file, which never changes under its address.
func (s *Screens) static(w http.ResponseWriter, r *http.Request) {
	a, ok := assets[r.URL.Path]
	if !ok {
		s.plainRefusal(w, http.StatusNotFound, "there is no such file")
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.plainRefusal(w, http.StatusMethodNotAllowed, "request a static file with GET")
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body := a.plain
	if takesGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = a.packed()
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		_, _ = w.Write(body)
	}
}

// takesGzip reports whether the client accepts gzip.
func takesGzip(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.TrimSpace(name) == "gzip" {
			q = strings.ReplaceAll(q, " ", "")
			return q != "q=0" && q != "q=0.0"
		}
	}
	return false
}
