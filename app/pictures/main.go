// Command pictures takes a picture of every given page, or of every existing page, in five widths (narrow phone to wide
// desktop) and two themes:
//
//	go run ./app/pictures -link http://127.0.0.1:8082/welcome/... -to DIR :8082/ :8083/arrears
//	go run ./app/pictures -link http://127.0.0.1:8082/welcome/... -to DIR -tour :8081,:8082,:8083,:8084
//
// link is printed by serve --demo; it signs the browser in. The tour follows the links of the store, maintenance,
// rental and reorder (in that order) as an admin, a tenant, a buyer and a visitor without a session, one page of each
// kind; it makes a tenant's invitation and an asset's public address for that. With -empty it shows an empty
// installation, by init's link, as its admin.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"
)

// options are the command's arguments.
type options struct {
	link, to, only, names, browser, axe, tour, list string
	empty                                           string
	whole                                           bool
}

func main() {
	var o options
	flag.StringVar(&o.link, "link", "", "the demo's link, or \"\" for pages that need nobody")
	flag.StringVar(&o.to, "to", "pictures", "where the pictures go; \"\" takes none")
	flag.StringVar(&o.only, "only", "", "widths and themes, such as phone-light,desk-dark; \"\" is all")
	flag.StringVar(&o.names, "names", "", "a regexp of the pictures' names without width and theme; \"\" is all")
	flag.StringVar(&o.browser, "browser", "chromium-headless-shell", "the browser")
	flag.BoolVar(&o.whole, "whole", true, "the whole page, not what is seen at first")
	flag.StringVar(&o.axe, "axe", "", "axe.min.js of axe-core: every page is checked with it too")
	flag.StringVar(&o.tour, "tour", "",
		"addresses of the store, maintenance, rental and reorder: every kind of page that they link to")
	flag.StringVar(&o.empty, "empty", "",
		"the same four of an installation that holds nothing: every kind of page of its admin")
	flag.StringVar(&o.list, "list", "", "a file for the addresses that were shown, each with the cookie that shows it")
	flag.Parse()
	if err := run(&o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// signIn follows the sign-in link, if there is one, and returns its host.
func (o *options) signIn(ctx context.Context) (host string, err error) {
	if o.link == "" {
		return "", nil
	}
	u, err := url.Parse(o.link)
	if err != nil {
		return "", err
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(o.link)); err != nil {
		return "", err
	}
	// The demo asks for no password.
	if _, err := chromedp.Run(ctx,
		chromedp.Evaluate[bool](
			`document.querySelectorAll("[type=password]").forEach(e => { e.value = "pictures of an empty shop" }) ?? true`)); err != nil {
		return "", err
	}
	return u.Scheme + "://" + u.Hostname(), chromedp.Do(ctx, chromedp.Click("button.main"),
		chromedp.WaitVisible("header.top"))
}

func run(o *options, pages []string) error {
	c := &camera{options: o}
	if o.axe != "" {
		b, err := os.ReadFile(o.axe)
		if err != nil {
			return err
		}
		c.check = string(b)
	}
	if o.to != "" {
		if err := os.MkdirAll(o.to, 0o755); err != nil { // #nosec G301 -- pictures are for everybody
			return err
		}
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(o.browser), chromedp.NoSandbox,
		chromedp.Flag("hide-scrollbars", true))
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	host, err := o.signIn(ctx)
	if err != nil {
		return err
	}
	full := func(p string) string {
		if strings.HasPrefix(p, ":") {
			return host + p
		}
		return p
	}
	for _, p := range pages {
		if err := c.shots(ctx, full(p), ""); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	for list, show := range map[string]func(context.Context, []string) error{o.tour: c.tourAll, o.empty: c.tourEmpty} {
		if list == "" {
			continue
		}
		var bases []string
		for p := range strings.SplitSeq(list, ",") {
			bases = append(bases, full(p))
		}
		if len(bases) != 4 {
			return fmt.Errorf("-tour and -empty name the store, maintenance, rental and reorder, with commas between")
		}
		if err := show(ctx, bases); err != nil {
			return err
		}
	}
	if o.list != "" {
		if err := os.WriteFile(filepath.Clean(o.list), []byte(strings.Join(c.shown, "")), 0o600); err != nil {
			return err
		}
	}
	fmt.Printf("%d pages, %d findings\n", c.pages, c.findings)
	if c.findings > 0 {
		return fmt.Errorf("%d findings", c.findings)
	}
	return nil
}
