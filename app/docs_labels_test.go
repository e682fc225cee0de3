package app

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/app/server"
)

// emphasis matches a label of a page, which a document writes as *label*: a button, a link, a heading, a column or a
// field.
var (
	emphasis  = regexp.MustCompile(`(?:^|[\s(|])\*([^*\n]+)\*(?:$|[\s.,;:)|])`)
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")
)

// TestLabelsOfDocumentsAreOnPages requires each label that a document names to be on a page of the demo: the services'
// pages as an admin sees them, the tenants' or the buyers'.
func TestLabelsOfDocumentsAreOnPages(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	labels := map[string]bool{}
	for _, service := range server.Names {
		for _, path := range h.walked(t, service) {
			if !strings.Contains(path, "format=csv") && !strings.HasPrefix(path, "/docs") {
				collectLabels(h.as(asAdmin, service).Get(path), labels)
			}
		}
	}
	for _, got := range crawl(h.as(asTenantA, "rental"), "/portal") {
		collectLabels(got, labels)
	}
	for _, got := range crawl(h.as(asBuyer, "store"), "/my") {
		collectLabels(got, labels)
	}
	documents, err := filepath.Glob("../docs/*.md")
	if err != nil || len(documents) < 15 {
		t.Fatal(err, len(documents))
	}
	named := 0
	for _, path := range append(documents, "../README.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range emphasis.FindAllStringSubmatch(codeBlock.ReplaceAllString(string(text), "code"), -1) {
			named++
			if !labels[strings.ToLower(m[1])] {
				t.Errorf("%s names *%s*, which no page of the demo has", path, m[1])
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d labels were looked up", named)
	}
}

// collectLabels notes the texts of a page's buttons, links, headings, columns and fields, complete and without the
// parts for screen readers ("Invite, Ada Brandt").
func collectLabels(got apptest.Sheet, labels map[string]bool) {
	got.Each(func(n *html.Node) {
		switch n.Data {
		case "a", "button", "h1", "h2", "h3", "th", "summary", "label", "legend", "option", "span", "dt":
			text := strings.ToLower(strings.Join(strings.Fields(apptest.Text(n)), " "))
			whole, _, _ := strings.Cut(text, ",")
			labels[text], labels[strings.TrimSpace(whole)] = true, true
			if seen := seenText(n); seen != "" {
				labels[strings.ToLower(seen)] = true
			}
		}
	})
}

// seenText is the text of an element without that of its child elements.
func seenText(n *html.Node) string {
	var b strings.Builder
	for c := range n.ChildNodes() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data + " ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
