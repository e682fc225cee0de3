package screens

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/app/server"
	"quartermaster/schema/assert"
)

// A document writes a label of a page *so*: a button, a link, a heading, a column or a field. *A*, *B* means that B is on
// the page to which A leads.
var (
	emphasis  = regexp.MustCompile(`(^|[\s(|])(\*[^*\n]+\*(?:,? (?:then )?\*[^*\n]+\*)*)(?:$|[\s.,;:)|])`)
	oneLabel  = regexp.MustCompile(`\*([^*]+)\*`)
	anyFigure = regexp.MustCompile(`[0-9]+ `)
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")
)

// shown are the labels of pages, and the pages to which those of links lead.
type shown struct {
	on    map[string]map[string]bool // page, label
	leads map[string][]string        // label, pages
}

// TestLabelsOfDocumentsAreOnPages compares each label that a document names with the pages of the demo: those of the four
// services for an admin, those of tenants and buyers, and the preview of an import.
func TestLabelsOfDocumentsAreOnPages(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	h.MustCLI("store", "signing-key", "make")
	h.MustCLI("mail", "set", "--host", "127.0.0.1", "--port", "1", "--from", "shop@example.com", "--security", "none")
	s := shown{map[string]map[string]bool{}, map[string][]string{}}
	for _, service := range server.Names {
		for _, path := range h.walked(t, service) {
			if !strings.Contains(path, "format=csv") && !strings.HasPrefix(path, "/docs") {
				s.collect(service, path, h.as(asAdmin, service).Get(path))
			}
		}
	}
	buyer := h.as(asAdmin, "reorder")
	sent := buyer.Upload("/import/skus", nil, "file", "a.csv", "sku\nTEA-9\n")
	s.collect("reorder", "/import/skus?file", buyer.Get(sent.Header.Get("Location")))
	for path, got := range crawl(h.as(asTenantA, "rental"), "/portal") {
		s.collect("rental", path, got)
	}
	for path, got := range crawl(h.as(asBuyer, "store"), "/my") {
		s.collect("store", path, got)
	}
	documents, err := filepath.Glob("../../../docs/*.md")
	assert.Must(t, err == nil && len(documents) >= 15, "%v %v", err, len(documents))
	named := 0
	for _, path := range append(documents, "../../../README.md") {
		text, err := os.ReadFile(path)
		assert.OK(t, err)
		// A label may be broken over two lines; a label that ends one match may not begin the next.
		plain := strings.ReplaceAll(strings.Join(strings.Fields(codeBlock.ReplaceAllString(string(text), "code")), " "), "**", "")
		for _, m := range emphasis.FindAllStringSubmatch(plain, -1) {
			way := oneLabel.FindAllStringSubmatch(m[2], -1)
			var pages []string
			for _, label := range way {
				named++
				name := anyFigure.ReplaceAllString(strings.ToLower(label[1]), "")
				if pages, err = s.find(name, pages); err != nil {
					t.Errorf("%s names %s: *%s* %v", path, m[2], label[1], err)
				}
			}
		}
	}
	assert.That(t, named >= 50, "only %d labels were looked up", named)
}

type labelError string

func (e labelError) Error() string { return string(e) }

// find looks the label up on the pages, or on all of them if none is named, and returns the pages to which it leads.
func (s shown) find(label string, pages []string) (next []string, err error) {
	for _, page := range pages {
		if s.on[page][label] {
			return s.leads[label], nil
		}
	}
	if len(pages) > 0 {
		return nil, labelError("is not on " + strings.Join(pages[:min(3, len(pages))], ", "))
	}
	for _, labels := range s.on {
		if labels[label] {
			return s.leads[label], nil
		}
	}
	return nil, labelError("is on no page")
}

// collect notes the texts of a page's buttons, links, headings, columns and fields: whole, without what only a screen reader
// says ("Invite, Ada Brandt"), and where the links lead.
func (s shown) collect(service, path string, got apptest.Sheet) {
	labels := map[string]bool{}
	s.on[service+path] = labels
	got.Each(func(n *html.Node) {
		switch n.Data {
		case "a", "button", "h1", "h2", "h3", "th", "summary", "label", "legend", "option", "span", "dt":
			text := strings.ToLower(strings.Join(strings.Fields(apptest.Text(n)), " "))
			whole, _, _ := strings.Cut(text, ",")
			for _, label := range []string{text, strings.TrimSpace(whole), strings.ToLower(seenText(n))} {
				label = anyFigure.ReplaceAllString(label, "")
				labels[label] = true
				if to, err := url.Parse(apptest.Attr(n, "href")); n.Data == "a" && err == nil && to.Host == "" && to.RequestURI() != path {
					s.leads[label] = append(s.leads[label], service+to.RequestURI())
				}
			}
		}
	})
}

// seenText is the text of an element itself, without that of the elements in it.
func seenText(n *html.Node) string {
	var b strings.Builder
	for c := range n.ChildNodes() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
