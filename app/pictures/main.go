// Command pictures takes a picture of every page that it is named, in three widths and
// two themes, as a phone, a tablet and a desk show it:
//
//	go run ./app/pictures -link http://127.0.0.1:8082/welcome/... -to DIR :8082/ :8083/arrears
//
// link is the one that serve --demo prints; it signs the browser in.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var widths = []struct {
	name       string
	wide, high int64
}{{"phone", 375, 812}, {"tablet", 768, 1024}, {"desk", 1280, 800}}

func main() {
	link := flag.String("link", "", "the demo's link, or \"\" for pages that need nobody")
	to := flag.String("to", "pictures", "where the pictures go")
	only := flag.String("only", "", "widths and themes, such as phone-light,desk-dark; \"\" is all")
	browser := flag.String("browser", "chromium-headless-shell", "the browser")
	whole := flag.Bool("whole", true, "the whole page, not what is seen at first")
	axe := flag.String("axe", "", "axe.min.js of axe-core: every page is checked with it too")
	flag.Parse()
	if err := run(*link, *to, *only, *browser, *axe, *whole, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(link, to, only, browser, axe string, whole bool, pages []string) error {
	var check string
	if axe != "" {
		b, err := os.ReadFile(axe) // #nosec G304 -- the caller names the file
		if err != nil {
			return err
		}
		check = string(b)
	}
	violations := 0

	if err := os.MkdirAll(to, 0o755); err != nil { // #nosec G301 -- pictures are for everybody
		return err
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.Flag("hide-scrollbars", true))
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	host := ""
	if link != "" {
		u, err := url.Parse(link)
		if err != nil {
			return err
		}
		host = u.Scheme + "://" + u.Hostname()
		if err := chromedp.Do(ctx, chromedp.Navigate(link), chromedp.Click("button.main"), chromedp.WaitVisible("header.top")); err != nil {
			return err
		}
	}
	for _, p := range pages {
		address := p
		if strings.HasPrefix(p, ":") {
			address = host + p
		}
		n, err := shots(ctx, address, to, only, check, whole)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		violations += n
	}
	if violations > 0 {
		return fmt.Errorf("%d violations", violations)
	}
	return nil
}

// examine runs axe on the page that is shown, and prints what it found.
func examine(ctx context.Context, axe, what string) (int, error) {
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](axe+`; axe.run().then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + " " + n.html.slice(0, 160) + " " + (n.any[0]?.message ?? ""))))`, chromedp.EvalAwaitPromise))
	for _, line := range found {
		fmt.Printf("%s: %s\n", what, line)
	}
	return len(found), err
}

// shots takes one page in each width and theme.
func shots(ctx context.Context, address, to, only, axe string, whole bool) (violations int, err error) { //nolint:gocognit // three loops around one picture
	for _, theme := range []string{"light", "dark"} {
		for _, w := range widths {
			if only != "" && !strings.Contains(","+only+",", ","+w.name+"-"+theme+",") {
				continue
			}
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
			})
			if err != nil {
				return violations, err
			}
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(w.wide, w.high), chromedp.Navigate(address), chromedp.WaitReady("main")); err != nil {
				return violations, err
			}
			wide, err := chromedp.Run(ctx, chromedp.Evaluate[int64]("document.documentElement.scrollWidth"))
			if err != nil {
				return violations, err
			}
			if axe != "" {
				n, err := examine(ctx, axe, address+" "+w.name+" "+theme)
				if err != nil {
					return violations, err
				}
				violations += n
			}
			shot := chromedp.CaptureScreenshot()
			if whole {
				shot = chromedp.FullScreenshot(100)
			}
			png, err := chromedp.Run(ctx, shot)
			if err != nil {
				return violations, err
			}
			if wide > w.wide {
				fmt.Printf("%s scrolls sideways at %d: it is %d wide\n", address, w.wide, wide)
			}
			if err := os.WriteFile(filepath.Join(to, fileName(address)+"-"+w.name+"-"+theme+".png"), png, 0o644); err != nil { // #nosec G306 -- pictures are for everybody
				return violations, err
			}
		}
	}
	return violations, nil
}

// fileName is the address without its host, as a file may be called.
func fileName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "page"
	}
	name := strings.Trim(u.Port()+strings.NewReplacer("/", "_", "?", "_", "&", "_", "=", "_").Replace(u.RequestURI()), "_")
	if len(name) > 80 {
		name = name[:80]
	}
	return name
}
