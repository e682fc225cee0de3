package screens

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/app/server"
	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/page"
)

// machineTalk matches technical text that no page may show: names of arguments and values, flags, commands, HTTP
// statuses, amounts in cents, encodings.
var machineTalk = regexp.MustCompile(`\b[a-z]+(?:_[a-z0-9]+)+\b|(?:^|\s)--[a-z][a-z-]+|\bquartermaster [a-z]+|\bHTTP/? ?[0-9]|\bGET /|\b(?:cents|JSON|null|true|false|in-progress)\b|\b(?:order\.paid|sku\.reorder_point)\b`)

// inCode is what stands in code and is no data of the shop: a command, with its flags.
var inCode = regexp.MustCompile(`\bquartermaster [a-z].*|\bserve --.*`)

// oldWords are names that the glossary replaces.
var oldWords = regexp.MustCompile(`(?i)\b(?:receive payment|create work order|create purchase|advance status|licenses that work|` +
	`until forever|least order|lies unsold|take into stock|means: nothing|cells are parted|read it so|what stands there|come in again|` +
	`there is no such page|is not asked so|who changed it, and when|rows told|your word that)\b|^(?:record a payment|new key)$`)

// oneOfMany is a single thing that a sentence counts as several.
var oneOfMany = regexp.MustCompile(`(?:^|[\s(])1 (?:[a-z]+ )?(?:jobs|things|rows|days|leases|tenants|orders|licenses|charges|units|` +
	`machines|assets|plans|payments|suppliers|customers|products|codes|lines|services|tickets|steps|minutes|weeks|months|years|` +
	`people|periods|sessions|events|files|messages|photos|parts|readings|meters|notes|keys|seats|SKUs|are|were)\b`)

// isoDay is a day as programs write it; people read 19 Nov.
var isoDay = regexp.MustCompile(`(?:^|[\s(])[12][0-9]{3}-[01][0-9]-[0-3][0-9](?:$|[\s,.;:)T])`)

// ofProviders are names from a payment provider or the list of API keys, which are data.
var ofProviders = regexp.MustCompile(`\b(?:pi|apk|dp|sub|evt)_[a-z0-9_]+|serve --demo`)

// ofMachines are the pages about keys and receivers.
var ofMachines = []string{"/docs", "/keys", "/webhooks"}

// fileTalk is what not even pages about files may say: they have names and values of columns, but no flags or commands.
var fileTalk = regexp.MustCompile(`(?:^|\s)--[a-z][a-z-]+|\bquartermaster [a-z]+`)

func speaksOfMachines(path string) bool {
	if op, is := strings.CutPrefix(path, "/do/"); is {
		return strings.Contains(op, "webhook") || strings.Contains(op, "key") || strings.Contains(op, "resend") || strings.Contains(op, "deliver") ||
			strings.Contains(op, "import") || strings.Contains(op, "event")
	}
	return slices.ContainsFunc(ofMachines, func(p string) bool { return strings.HasPrefix(path, p) })
}

// spoken are the texts of a page that people read or hear. data is what users or programs wrote, which is in code,
// fields and names.
func spoken(n *html.Node, say func(text string)) {
	if n.Type == html.ElementNode {
		switch n.Data {
		case "code":
			n = &html.Node{Type: html.TextNode, Data: inCode.FindString(apptest.Text(n))}
		case "script", "style", "kbd", "textarea", "head":
			return
		}
		for _, name := range []string{"aria-label", "placeholder", "title"} {
			say(apptest.Attr(n, name))
		}
	}
	if n.Type == html.TextNode {
		say(n.Data)
	}
	for c := range n.ChildNodes() {
		spoken(c, say)
	}
}

// TestPagesSpeakPlainly reads every linked page, every form, and the refusals of each form sent empty and with nonsense
// in every field, in the demo and in an empty installation.
func TestPagesSpeakPlainly(t *testing.T) {
	t.Parallel()
	empty := apptest.Start(t)
	shops := map[string]*apptest.Fixture{"demo": demoShop(t), "empty": empty}
	for what, s := range shops {
		ada := s.Person("store", "ada", "admin")
		for _, service := range server.Names {
			t.Run(what+"/"+service, func(t *testing.T) {
				r := reader{t: t, v: ada.At(s.URL(service, "")), said: map[string]bool{}, asked: map[string]bool{}, alike: map[string]int{}}
				r.read()
				for _, op := range s.Server.Screens(service).Acts(page.Staff) {
					r.tryForm(op)
				}
				t.Logf("%d pages and refusals", r.n)
			})
		}
	}
}

// reader reads a service's pages.
type reader struct {
	t     *testing.T
	v     *apptest.Visitor
	said  map[string]bool
	asked map[string]bool
	alike map[string]int
	n     int
}

func (r *reader) read() {
	queue := []string{"/"}
	for len(queue) > 0 && r.n < 150 {
		path := queue[0]
		queue = queue[1:]
		got := r.v.Get(path)
		r.hear(path, got)
		if strings.Count(path, "/") == 1 && !strings.Contains(path, "?") && path != "/" { // a record that there is not
			r.hear(path+"/nothing", r.v.Get(path+"/nothing"))
		}
		got.Each(func(a *html.Node) {
			u, err := url.Parse(apptest.Attr(a, "href"))
			if a.Data != "a" || err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "/do/") || u.Query().Get("format") != "" {
				return
			}
			next := u.RequestURI()
			if like := pattern(next); !r.asked[next] && r.alike[like] < 2 {
				r.asked[next] = true
				r.alike[like]++
				queue = append(queue, next)
			}
		})
	}
}

// hear checks the page's text.
func (r *reader) hear(path string, got apptest.Sheet) {
	r.n++
	if got.Doc == nil || speaksOfMachines(path) {
		return
	}
	got.Each(func(n *html.Node) {
		if n.Data == "option" && slices.Contains([]string{"True", "False", "0"}, apptest.Text(n)) && !r.said[path] {
			r.said[path] = true
			r.t.Errorf("%s offers %q, where a person says Yes or No", path, apptest.Text(n))
		}
	})
	spoken(got.Doc, func(text string) {
		text = strings.Join(strings.Fields(text), " ")
		text = ofProviders.ReplaceAllString(text, "")
		if old := oldWords.FindString(text); old != "" && !r.said[path+old] {
			r.said[path+old] = true
			r.t.Errorf("%s (%d) says %q, which has another name now: %.160s", path, got.Status, old, text)
		}
		found := fileTalk.FindAllString(text, -1)
		if !strings.HasPrefix(path, "/import") && !strings.HasPrefix(path, "/export") {
			found = append(machineTalk.FindAllString(text, -1), oneOfMany.FindAllString(text, -1)...)
			found = append(found, isoDay.FindAllString(text, -1)...)
		}
		for _, word := range found {
			if at := fmt.Sprint(path, word); !r.said[at] && !inQuotes(text, word) {
				r.said[at] = true
				r.t.Errorf("%s (%d) says %q: %.160s", path, got.Status, word, text)
			}
		}
	})
}

// inQuotes reports whether the word was typed: refusals repeat it in quotes.
func inQuotes(text, word string) bool {
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 0 && strings.Contains(part, strings.TrimSpace(word)) {
			return false
		}
	}
	return true
}

// ownSession are actions that would sign the reader out.
var ownSession = []string{"end_session", "end_other_sessions", "change_password", "disable_user", "remove_user", "end_sessions", "set_services"}

// tryForm reads the form of an operation, and its refusals.
func (r *reader) tryForm(op schema.Op) {
	path := "/do/" + op.Name
	form := r.v.Get(path)
	r.hear(path, form)
	form.Each(func(n *html.Node) {
		if strings.HasSuffix(apptest.Attr(n, "id"), "-help") {
			r.helps(path, n)
		}
	})
	if slices.Contains(ownSession, op.Name) || !op.Writes {
		return
	}
	var nonsense []string
	for _, a := range op.Args(schema.Page) {
		if a.Kind != schema.TableKind && a.Kind != schema.RowsKind && a.Kind != schema.FileKind {
			nonsense = append(nonsense, schema.PageField(a.Name), "?!")
		}
	}
	if got := r.v.Post(path, nonsense...); got.Status >= 400 {
		r.hear(path, got)
	}
	if got := r.v.Post(path, "no-field", "x"); got.Status >= 400 {
		r.hear(path, got)
	}
}

// helps wants a help text to say more than the label above it, in the words of people.
func (r *reader) helps(path string, help *html.Node) {
	label := ""
	for n := range help.Parent.Descendants() {
		if n.Data == "label" && n.FirstChild != nil && label == "" {
			label = strings.ToLower(strings.TrimSpace(n.FirstChild.Data))
		}
	}
	text := strings.ToLower(apptest.Text(help))
	rest := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(text, "the "), "its "), "your ")
	rest, repeats := strings.CutPrefix(rest, label)
	repeats = repeats && label != "" && strings.HasPrefix(strings.TrimLeft(rest, " ,"), "(")
	assert.That(r.t, !repeats && !strings.ContainsAny(text, "[]{}|_"), "%s: below %q stands %q", path, label, text)
}
