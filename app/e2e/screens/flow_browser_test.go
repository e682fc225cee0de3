package screens

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"quartermaster/schema/assert"
)

// pageTimeout is the longest wait for a page while other tests run.
const pageTimeout = 10 * time.Second

// browser starts Chromium once per test. Without one the test is skipped, or fails where CI is set.
func browser(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		assert.Must(t, os.Getenv("CI") == "", "chromium-headless-shell is not there")
		t.Skip("chromium-headless-shell is not there")
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("hide-scrollbars", true))
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	assert.OK(t, chromedp.Do(ctx))
	return ctx
}

// tab is a browser window with cookies of its own.
type tab struct {
	t       *testing.T
	ctx     context.Context
	touched int

	mu       sync.Mutex
	hosts    map[string]bool // requested
	troubles []string        // console errors, exceptions, violations of the security policy
}

// newTab opens a window; script enables the pages' script.
func newTab(t *testing.T, browser context.Context, wide, high int64, script bool) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, hosts: map[string]bool{}}
	b.must(chromedp.Do(ctx, chromedp.EmulateViewport(wide, high)))
	b.must(chromedp.Listen(ctx, b.hear))
	_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: !script})
	assert.OK(t, err)
	t.Cleanup(b.calm)
	return b
}

// hear records what no page may do.
func (b *tab) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Host != "" {
			b.hosts[u.Hostname()] = true
		}
	case *cdplog.EventEntryAdded:
		// A refused form has a 4xx status, which the browser logs too.
		if e.Entry.Level == cdplog.EntryLevelError && e.Entry.Source != cdplog.EntrySourceNetwork {
			b.troubles = append(b.troubles, e.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		b.troubles = append(b.troubles, e.ExceptionDetails.Text)
	}
}

// calm fails the test for recorded troubles.
func (b *tab) calm() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, what := range b.troubles {
		b.t.Errorf("the browser says: %s", what)
	}
	for host := range b.hosts {
		assert.That(b.t, host == "127.0.0.1", "a page asks %s for something", host)
	}
}

func (b *tab) must(err error) {
	b.t.Helper()
	assert.OK(b.t, err)
}

func (b *tab) taps() int { return b.touched }

func (b *tab) visit(address string) {
	b.t.Helper()
	b.touched = 0
	b.must(chromedp.Do(b.ctx, chromedp.Navigate(address), chromedp.WaitReady("main")))
}

// eval runs an expression in the page.
func eval[T any](b *tab, expression string, args ...any) (v T, err error) {
	for i, a := range args {
		text, _ := json.Marshal(a)
		expression = strings.ReplaceAll(expression, fmt.Sprintf("$%d", i+1), string(text))
	}
	return chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
}

// find is a script function that returns the first visible element of the kind, inside the open dialog if there is one.
const find = `(row, kind, key) => {
	const scope = document.querySelector("dialog[open]") ?? document;
	const seen = e => e.checkVisibility({visibilityProperty: true});
	const text = e => e.textContent.replace(/\s+/g, " ").trim();
	const says = (t, k) => t === k || k.endsWith("-") && t.startsWith(k) || t.startsWith(k + ",") || t.startsWith(k + " ");
	for (const area of [scope.querySelector("main") ?? scope, scope]) {
		const places = row ? [...area.querySelectorAll("[data-id]")].filter(r => r.textContent.includes(row)) : [area];
		for (const p of places) {
			const all = kind === "field" ? [...p.querySelectorAll("input:not([type=hidden]), select, textarea")].filter(e => key.startsWith(".") ? e.name.endsWith(key) : e.name === key)
				: [...p.querySelectorAll("a[href], button, summary, label.btn")].filter(e => says(text(e), key));
			const e = all.find(seen);
			if (e) return e;
		}
	}
}`

// place is the position of an element after scrolling to it.
type place struct {
	X, Y    float64
	Found   bool
	Focused bool
	Given   bool   // nothing has the focus yet, and the page will give it to this element
	Kind    string // of a field
	Covered string // the element that covers it
}

func (b *tab) locate(kind, target string) place {
	b.t.Helper()
	row, key := parted(target)
	p, err := eval[place](b, `(() => { const e = (`+find+`)($1, $2, $3); if (!e) return {Found: false};
		e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
		const r = e.getClientRects()[0] ?? e.getBoundingClientRect(), x = r.x + r.width / 2, y = r.y + r.height / 2, top = document.elementFromPoint(x, y);
		const over = !top || top === e || e.contains(top) || top.contains(e) || top.closest("label")?.htmlFor === e.id ? "" : top.outerHTML.slice(0, 120);
		return {Found: true, X: x, Y: y, Focused: document.activeElement === e, Given: e.autofocus && document.activeElement === document.body, Kind: e.tagName === "INPUT" ? e.type : e.tagName, Covered: over} })()`, row, kind, key)
	b.must(err)
	if !p.Found && kind == "button" && row == "" && b.unfold(key) {
		return b.locate(kind, target)
	}
	if !p.Found {
		b.t.Fatalf("%s has no %s %q: %.1500s", b.at(), kind, target, b.text())
	}
	if p.Covered != "" {
		b.t.Fatalf("%s: %q lies below %s", b.at(), target, p.Covered)
	}
	return p
}

// unfold taps the "More" that hides a button of the label on a phone, if there is one.
func (b *tab) unfold(key string) bool {
	b.t.Helper()
	p, err := eval[place](b, `(() => { for (const o of document.querySelectorAll("[popovertarget]")) {
		const sheet = document.getElementById(o.getAttribute("popovertarget")), r = o.getBoundingClientRect();
		if (sheet.matches(":popover-open") || ![...sheet.querySelectorAll("a[href], button")].some(e => e.textContent.replace(/\s+/g, " ").trim().startsWith($1))) continue;
		return {Found: true, X: r.x + r.width / 2, Y: r.y + r.height / 2} }
		return {Found: false} })()`, key)
	b.must(err)
	if p.Found {
		b.touched++
		b.must(chromedp.Do(b.ctx, chromedp.MouseClickXY(p.X, p.Y)))
		b.await("More does not open", `!!document.querySelector(":popover-open")`)
	}
	return p.Found
}

func (b *tab) fill(field, value string) {
	b.t.Helper()
	p := b.locate("field", field)
	row, key := parted(field)
	if p.Given && !p.Focused { // the focus is set when the page is drawn
		b.await(field+" is not given the keys", fmt.Sprintf(`document.activeElement === (%s)(%s, "field", %s)`, find,
			quoted(row), quoted(key)))
		p.Focused = true
	}
	if !p.Focused {
		b.touched++
	}
	if p.Kind == "SELECT" || p.Kind == "date" {
		_, err := eval[bool](b, `(() => { const e = (`+find+
			`)($1, "field", $2); e.value = $3; e.dispatchEvent(new Event("change", {bubbles: true})); return true })()`, row,
			key, value)
		b.must(err)
		return
	}
	_, err := eval[bool](b, `(() => { const e = (`+find+`)($1, "field", $2); e.focus(); e.select?.(); return true })()`,
		row, key)
	b.must(err)
	_, err = chromedp.Call(b.ctx, input.InsertText, input.InsertTextParams{Text: value})
	b.must(err)
}

func (b *tab) reveal(summary string) {
	b.t.Helper()
	p := b.locate("button", summary)
	b.touched++
	b.must(chromedp.Do(b.ctx, chromedp.MouseClickXY(p.X, p.Y)))
	b.await(summary+" does not open", `!!document.querySelector("details[open]")`)
}

func (b *tab) attach(field, path string) {
	b.t.Helper()
	b.locate("field", field)
	b.touched++
	b.must(chromedp.Do(b.ctx, chromedp.SetUploadFiles(`main input[type=file][name="`+field+`"]`, []string{path})))
}

func (b *tab) field(name string) string {
	b.t.Helper()
	row, key := parted(name)
	v, err := eval[string](b, `(`+find+`)($1, "field", $2)?.value ?? "(there is no such field)"`, row, key)
	b.must(err)
	return v
}

// press clicks like a mouse and waits for another page or a dialog.
func (b *tab) press(target string) {
	b.t.Helper()
	p := b.locate("button", target)
	b.touched++
	before, err := eval[bool](b,
		`(() => { document.documentElement.dataset.was = "1"; return !!document.querySelector("dialog[open]") })()`)
	b.must(err)
	b.must(chromedp.Do(b.ctx, chromedp.MouseClickXY(p.X, p.Y)))
	b.await("nothing comes of "+target, `document.documentElement.dataset.was ? !`+fmt.Sprint(before)+
		` && !!document.querySelector("dialog[open]") : document.readyState === "complete"`)
}

// await polls the page until the expression holds.
func (b *tab) await(what, expression string) {
	b.t.Helper()
	for end := time.Now().Add(pageTimeout); ; {
		// Between two pages there is no document to evaluate in.
		is, err := eval[bool](b, expression)
		if err == nil && is {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("%s: %s (%v): %.1500s", b.at(), what, err, b.text())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (b *tab) see(text string) {
	b.t.Helper()
	b.await(fmt.Sprintf("it does not say %q", text),
		`(document.querySelector("dialog[open]") ?? document.body).textContent.replace(/\s+/g, " ").includes(`+quoted(text)+
			`)`)
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func (b *tab) text() string {
	v, _ := eval[string](b, `document.body.innerText.replace(/\s+/g, " ")`)
	return v
}

func (b *tab) at() string {
	v, _ := eval[string](b, `location.pathname + location.search`)
	return v
}
