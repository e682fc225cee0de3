package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var widths = []struct {
	name       string
	wide, high int64
}{{"narrow", 320, 640}, {"phone", 360, 740}, {"tablet", 768, 1024}, {"desk", 1280, 800}, {"wide", 1920, 1080}}

// narrowest is the width at which no page may scroll sideways.
const narrowest = 320

// camera takes the pictures, and counts the pages' faults.
type camera struct {
	*options
	check    string   // axe
	pages    int      // pages shown
	findings int      // of axe, and pages that scroll sideways
	shown    []string // lines of the list
}

// shots shows one page, and takes it in each width and theme.
func (c *camera) shots(ctx context.Context, address, name string) error {
	if name == "" {
		name = fileName(address)
	}
	c.pages++
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(narrowest, 640), chromedp.Navigate(address),
		chromedp.WaitReady("main")); err != nil {
		return err
	}
	return c.present(ctx, address, name)
}

// present takes the present page in each width and theme, and checks it.
func (c *camera) present(ctx context.Context, what, name string) error {
	if err := errors.Join(c.sideways(ctx, what), c.cut(ctx, what)); err != nil {
		return err
	}
	if is, err := regexp.MatchString(c.names, name); !is || err != nil {
		return err
	}
	for _, theme := range []string{"light", "dark"} {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: features(theme),
		})
		if err != nil {
			return err
		}
		for _, w := range widths {
			kind := w.name + "-" + theme
			if c.only != "" && !strings.Contains(","+c.only+",", ","+kind+",") {
				continue
			}
			if err := errors.Join(c.fit(ctx, w.wide, w.high), c.examine(ctx, what+" "+kind), c.cut(ctx, what+" "+kind),
				c.shoot(ctx, name+"-"+kind)); err != nil {
				return err
			}
		}
	}
	return nil
}

// sideways finds a page that is wider than the narrowest window.
func (c *camera) sideways(ctx context.Context, what string) error {
	wide, err := chromedp.Run(ctx, chromedp.Evaluate[int64]("document.documentElement.scrollWidth"))
	if wide > narrowest {
		c.found("%s scrolls sideways at %d: it is %d wide", what, narrowest, wide)
	}
	return err
}

// cut finds tables that are wider than their container, though scrollable, and short words that are broken over lines,
// as in a column with no room.
func (c *camera) cut(ctx context.Context, what string) error {
	for kind, script := range map[string]string{"cut off": wide, "broken words": broken} {
		list, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](script))
		if err != nil {
			return err
		}
		if len(list) > 0 {
			c.found("%s: %s: %s", what, kind, strings.Join(list, "; "))
		}
	}
	return nil
}

const (
	wide = `[...document.querySelectorAll(".sheet:not(.scroll)")].filter(e => e.scrollWidth > e.clientWidth + 1)
		.map(e => (e.querySelector("table")?.ariaLabel ?? "a panel") + ", " + e.scrollWidth + " in " + e.clientWidth)`
	broken = `(() => {
		const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		const range = document.createRange(), found = new Set();
		for (let t; t = texts.nextNode();) {
			for (const m of t.data.matchAll(/(?<![^\s(])\p{L}{3,14}(?![^\s.,:;)])/gu)) {
				range.setStart(t, m.index); range.setEnd(t, m.index + m[0].length);
				const tops = [...range.getClientRects()].map(r => Math.round(r.top));
				if (Math.max(...tops) - Math.min(...tops) > 8) found.add(m[0]);
			}
		}
		return [...found].slice(0, 5); })()`
)

func (c *camera) found(format string, args ...any) {
	c.findings++
	fmt.Printf(format+"\n", args...)
}

// fit makes the window as high as the page for a full picture, so that elements fixed to the bottom are below the rest.
func (c *camera) fit(ctx context.Context, wide, high int64) error {
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(wide, high)); err != nil || !c.whole {
		return err
	}
	whole, err := chromedp.Run(ctx, chromedp.Evaluate[int64]("document.documentElement.scrollHeight"))
	if err != nil {
		return err
	}
	return chromedp.Do(ctx, chromedp.EmulateViewport(wide, min(max(high, whole), 6000)))
}

// shoot takes the browser's present picture.
func (c *camera) shoot(ctx context.Context, name string) error {
	if c.to == "" {
		return nil
	}
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.to, name+".png"), png, 0o644) // #nosec G306 -- pictures are for everybody
}

// examine runs axe on the shown page and prints its findings.
func (c *camera) examine(ctx context.Context, what string) error {
	if c.check == "" {
		return nil
	}
	found, err := chromedp.Run(ctx,
		chromedp.Evaluate[[]string](`(window.axe ? Promise.resolve() : Promise.resolve().then(() => {`+c.check+
			`})).then(() => axe.run({rules: {"target-size": {enabled: true}}})).then(r =>
		r.violations.flatMap(v => v.nodes.map(n => v.id + " " + n.html.slice(0, 160) + " " + (n.any[0]?.message ?? ""))))`,
			chromedp.EvalAwaitPromise))
	for _, line := range found {
		c.found("%s: %s", what, line)
	}
	return err
}

// fileName is the address without its host, as a file name.
func fileName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "page"
	}
	name := strings.Trim(u.Port()+strings.NewReplacer("/", "_", "?", "_", "&", "_", "=", "_").Replace(u.RequestURI()), "_")
	return name[:min(len(name), 80)]
}

// features are what the browser says its reader wants: the theme, and nothing that moves.
func features(theme string) []*emulation.MediaFeature {
	return []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme},
		{Name: "prefers-reduced-motion", Value: "reduce"}}
}
