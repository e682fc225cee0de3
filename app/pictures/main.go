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
	flag.Parse()
	if err := run(*link, *to, *only, *browser, *whole, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(link, to, only, browser string, whole bool, pages []string) error {
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
		if err := shots(ctx, address, to, only, whole); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

// shots takes one page in each width and theme.
func shots(ctx context.Context, address, to, only string, whole bool) error {
	for _, theme := range []string{"light", "dark"} {
		for _, w := range widths {
			if only != "" && !strings.Contains(","+only+",", ","+w.name+"-"+theme+",") {
				continue
			}
			_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
			})
			if err != nil {
				return err
			}
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(w.wide, w.high), chromedp.Navigate(address), chromedp.WaitReady("main")); err != nil {
				return err
			}
			wide, err := chromedp.Run(ctx, chromedp.Evaluate[int64]("document.documentElement.scrollWidth"))
			if err != nil {
				return err
			}
			shot := chromedp.CaptureScreenshot()
			if whole {
				shot = chromedp.FullScreenshot(100)
			}
			png, err := chromedp.Run(ctx, shot)
			if err != nil {
				return err
			}
			if wide > w.wide {
				fmt.Printf("%s scrolls sideways at %d: it is %d wide\n", address, w.wide, wide)
			}
			if err := os.WriteFile(filepath.Join(to, fileName(address)+"-"+w.name+"-"+theme+".png"), png, 0o644); err != nil { // #nosec G306 -- pictures are for everybody
				return err
			}
		}
	}
	return nil
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
