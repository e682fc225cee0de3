package screens

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/app/server"
)

// oneWord and the others are names as people choose them: a word of 60 letters, characters of several runes,
// right-to-left text, a long name with spaces, and a note of 1,000 letters.
var (
	oneWord   = strings.Repeat("Donaudampfschiff", 4)[:60]
	emoji     = "👩‍🔧🏳️‍🌈 🚐💨 " + strings.Repeat("🔩", 30)
	fromRight = "شركة الشحن والتوريد الدولية المحدودة لقطع الغيار"
	longName  = "Harbour & Sons Import, Export, Wholesale, Retail and Repair of Everything Afloat Limited (in liquidation)"
	longNote  = strings.Repeat("Mindestbestellmengenunterschreitung", 29)[:1000]
)

// awkward stores records with such names; | separates commands.
func awkward(s *apptest.Fixture) {
	do := func(format string, args ...any) { s.MustCLI(strings.Split(fmt.Sprintf(format, args...), "|")...) }
	do("reorder|suppliers|save|%s|--email|%s@example.com|--notes|%s|--address|%s",
		longName, oneWord[:50], longNote, longNote[:200])
	for i, name := range []string{oneWord, emoji, fromRight} {
		code := fmt.Sprintf("%s-%d", strings.ToUpper(oneWord[:40]), i)
		mail := fmt.Sprintf("%s%d@%s.example.com", oneWord[:50], i, oneWord[:50])
		do("reorder|skus|save|%s|--name|%s|--supplier|%s|--unit|Verpackungseinheit", code, name, longName)
		do("maintenance|assets|save|%s|--name|%s|--location|%s|--notes|%s", code, name, longName, longNote)
		do("maintenance|parts|save|%s|--name|%s|--quantity|5", code, name)
		do("maintenance|plans|save|%s|%s|--interval-days|90", code, name)
		do("maintenance|work-orders|create|%s|--description|%s\n%s|--assigned-to|%s", code, name, longNote, oneWord)
		do("store|product|save|%s|--name|%s|--price-cents|99999999", code, name)
		do("store|order|record|--email|%s|--name|%s|--sku|%s", mail, name, code)
		do("rental|property|save|%s|--address|%s", name, longNote[:200])
		do("rental|unit|save|%s|%s", name, oneWord[:40])
		do("rental|tenant|save|%s|--email|%s", name, mail)
		do("rental|lease|save|%s|%s|2026-10-01|--tenant|%s|--rent-cents|123456789", name, oneWord[:40], name)
	}
	do("reorder|po|create|--supplier|%s|--line|%s-0=99999", longName, strings.ToUpper(oneWord[:40]))
}

// wrongAtNarrowest reports which parts of the shown page are too wide.
const wrongAtNarrowest = `[
	document.documentElement.scrollWidth > 320 ? "it is " + document.documentElement.scrollWidth + " wide, as " +
		[...document.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > 321).slice(0, 3)
			.map(e => e.outerHTML.slice(0, 60)).join(", ") : "",
	...[...document.querySelectorAll(".sheet:not(.scroll)")].filter(e => e.scrollWidth > e.clientWidth + 1)
		.map(e => "cut off: " + (e.querySelector("table")?.ariaLabel ?? "a panel"))].filter(x => x)`

// TestAwkwardNames opens, at 320 pixels, one page of each pattern that lists and records link to. No page scrolls
// sideways and no table is cut off.
func TestAwkwardNames(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	s := apptest.Start(t)
	awkward(s)
	s.Person("store", "ann", "admin")
	b := newTab(t, chromium, 320, 640, true)
	b.visit(s.URL("store", "/login"))
	b.fill("name", "ann")
	b.fill("password", apptest.Password)
	b.press("Sign in")
	pages := 0
	for _, service := range server.Names {
		seen, queue := map[string]bool{}, []string{"/"}
		for len(queue) > 0 && pages < 250 {
			path := queue[0]
			queue = queue[1:]
			b.visit(s.URL(service, path))
			pages++
			found, err := eval[[]string](b, wrongAtNarrowest)
			b.must(err)
			for _, f := range found {
				t.Errorf("%s of %s: %s", path, service, f)
			}
			links, err := eval[[]string](b, `[...document.querySelectorAll("a[href]")].map(a => a.href)`)
			b.must(err)
			for _, l := range links {
				u, err := url.Parse(l)
				if err != nil || "http://"+u.Host != s.URL(service, "") || strings.Contains(l, "format=csv") ||
					strings.HasPrefix(u.Path, "/docs") || strings.HasPrefix(u.Path, "/export") {
					continue
				}
				p := s.Server.Screens(service).PatternOf(u.EscapedPath())
				if p == "/do/:op" {
					p = u.Path
				}
				if p != "" && !seen[p] {
					seen[p] = true
					queue = append(queue, u.RequestURI())
				}
			}
		}
	}
	t.Logf("%d pages", pages)
}
