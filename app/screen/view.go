package screen

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"quartermaster/app/mailer"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/wire"
	"quartermaster/webhook"
)

// frameView is the document around a page.
type frameView struct {
	title, shop, home, kind, theme string
	service, serviceTitle, user, q string
	clock, zone, logout, notice    string
	area                           area
	top, keys                      bool
	places                         []Place
	waits                          map[string]int64 // open tasks in each service where the user has a role
	menu, more                     []entry
	flashes                        []message
	mails                          []mailer.Mail      // mail about the page's record
	trail                          string             // the audit trail of the page's record
	mail                           mailer.Status      // of staff
	first                          bool               // it is the service's first page
	failing                        []webhook.Receiver // whose last delivery failed
	front                          *frontView         // on the service's first page
	body                           templ.Component
}

// entry is one item of a menu.
type entry struct {
	path, word, key string
	current         bool
}

// tabsOfPhone is how many entries of a menu a phone shows: all if there are five, else four, and "More" for the rest.
func tabsOfPhone(menu []entry) int {
	if len(menu) > 5 {
		return 4
	}
	return len(menu)
}

// frame is the components' knowledge of the request.
func (x *exchange) frame() *page.Frame {
	s := x.s
	f := &page.Frame{
		Service: s.Service.Name, Path: x.r.URL.EscapedPath(), Query: x.r.URL.Query(),
		Currency: x.shop.currency,
		Shop: page.Shop{Name: x.shop.name, Address: x.shop.address, Tax: x.shop.tax, Bank: x.shop.bank,
			Logo: x.shop.logo},
		Now: x.now(), Zone: s.DB.Zone(), Base: s.base, NewKey: x.newKey(), Mailing: x.shop.mailing,
	}
	f.Today = f.Now.Day(f.Zone)
	if x.route != nil {
		f.Area, f.Pattern = x.route.area, x.route.pattern
	}
	if x.visitor != nil {
		f.Who, f.Keys = x.visitor.caller, f.Area == page.Staff && x.visitor.session.Shortcuts
	}
	f.Sent = x.sent
	f.Op = func(name string) (schema.Op, bool) { op, ok := s.ops[f.Area][name]; return op, ok }
	f.Choices = x.choices
	return f
}

// show draws the body in the frame and sends it.
func (x *exchange) show(status int, title string, secret bool, f *page.Frame, body templ.Component) error {
	if x.sent != nil {
		return x.showAgain(title, f, body)
	}
	v := x.around(f, title)
	v.body = body
	return x.sendDrawn(status, f, document(v), secret)
}

// showInFrame shows a page that needs nothing of the shop but its frame.
func (x *exchange) showInFrame(status int, title string, secret bool, body templ.Component) error {
	return x.show(status, title, secret, x.frame(), body)
}

// around fills the frame of the document.
func (x *exchange) around(f *page.Frame, title string) *frameView {
	s := x.s
	v := &frameView{
		title: title, shop: f.Shop.Name, home: "/", service: s.Service.Name, serviceTitle: serviceWord(s.Service.Name),
		area: f.Area, keys: f.Keys, q: "", clock: time.Unix(int64(f.Now), 0).In(f.Zone).Format("15:04"),
		zone:   strings.TrimPrefix(f.Zone.String(), "Etc/"),
		logout: "/logout", notice: f.Notice,
	}
	if x.visitor == nil || x.visitor.caller.Role == "" && f.Area == page.Staff || f.Area == page.Public {
		v.kind = "bare"
		return v
	}
	v.top, v.user = true, x.visitor.caller.User
	if f.Path == "/search" {
		v.q = f.Query.Get("q")
	}
	switch f.Area {
	case page.Tenant:
		v.kind, v.home, v.logout, v.user = "narrow", "/portal", "/portal/logout", "Menu"
	case page.Buyer:
		v.kind, v.home, v.logout, v.user = "narrow", "/my", "/my/logout", "Menu"
	default:
		v.places, v.waits, v.theme = s.Places, x.waits(), themeClass(x.visitor.session.Theme)
	}
	if f.Area == page.Staff {
		v.mail, v.first = x.mailStatus(), f.Path == "/"
		v.mails = x.mailsOf(v.mail)
	}
	at := x.shown()
	for _, p := range s.pages {
		e := entry{path: p.Path, word: p.Menu, key: p.Key, current: within(at, p.Path)}
		switch {
		case p.Menu == "" || p.Area != f.Area || !x.may(p.Role) || (p.Path == "/mail" || p.Path == "/reminders") &&
			!f.Mailing:
		case shared[p.Path]:
			v.more = append(v.more, e)
		default:
			if f.Area == page.Staff && f.Path != p.Path {
				e.path = s.kept.to(v.user, p.Path)
			}
			v.menu = append(v.menu, e)
		}
	}
	if f.Area == page.Staff {
		v.trail, v.failing, v.front = x.trailOf(), x.failing(), x.front(f)
		if doubt := s.DB.ClockDoubt(); doubt != "" && f.Path == "/" {
			v.notice = sentence(doubt) + "."
		}
	}
	if f.Area != page.Public {
		v.flashes = s.flashes.take(x.visitor.session.ID)
		for i := range v.flashes {
			if m := v.flashes[i].Marks; m != nil && f.Marks == nil {
				f.Marks = m
			}
		}
	}
	return v
}

// shown is the pattern of the page that the menu marks: of a form, the one that it leads back to.
func (x *exchange) shown() string {
	if path, _, _ := strings.Cut(x.place, "?"); path != "" {
		if r, _ := x.s.router.Find(path); r != nil {
			return r.pattern
		}
	}
	if x.route == nil {
		return ""
	}
	return x.route.pattern
}

// waits counts the open tasks in each service where the visitor has a role.
func (x *exchange) waits() map[string]int64 {
	counts := map[string]int64{}
	for _, p := range x.s.Places {
		if p.Waits == nil || x.visitor.session.Roles[p.Name] == "" {
			continue
		}
		n, err := p.Waits(x.r.Context())
		if err != nil {
			x.s.Log.Error().Err(err).Str("service", p.Name).Msg("the counts in the header could not be read")
			continue
		}
		counts[p.Name] = n
	}
	return counts
}

// documentTitle names the page, the service and the shop, to distinguish tabs.
func (d *frameView) documentTitle() string {
	if d.area == page.Staff && d.serviceTitle != "" && d.serviceTitle != d.title {
		return d.title + " - " + d.serviceTitle + " - " + d.shop
	}
	return d.title + " - " + d.shop
}

// paper is the page colour of a theme, for the browser's own bars; a user's theme overrides the device's.
func (d *frameView) paper(theme string) string {
	if d.theme != "" {
		theme = d.theme
	}
	return papers[theme]
}

// within reports whether a page is below the menu's page.
func within(pattern, menu string) bool {
	return pattern == menu || menu != "/" && strings.HasPrefix(pattern, menu+"/")
}

func (x *exchange) may(role string) bool { return role == "" || x.needs(role, "") == nil }

func themeClass(theme string) string {
	if theme == "auto" {
		return ""
	}
	return theme
}

func serviceWord(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// input is the arguments in a page's address.
func (x *exchange) input(args []schema.Arg) (schema.Input, error) {
	values := url.Values{}
	for name, v := range x.r.URL.Query() {
		list := slices.ContainsFunc(args, func(a schema.Arg) bool {
			return a.Kind == schema.ListKind &&
				schema.PageField(a.Name) == name
		})
		if len(v) > 1 && !list {
			v = v[len(v)-1:] // the last one counts, as in a form's fields
		}
		values[name] = v
	}
	for _, a := range args {
		if a.Path == "" {
			continue
		}
		v := x.path[a.Path]
		if a.Kind == schema.IntKind && !isID(v) {
			return schema.Input{}, fault.NotFoundf("there is no %s here; numbers are positive and whole", schema.Quote(v))
		}
		values[schema.PageField(a.Name)] = []string{v}
	}
	if err := x.chosen(args, values); err != nil {
		return schema.Input{}, err
	}
	return x.inputOf(values, true), nil
}

func (x *exchange) inputOf(values url.Values, lenient bool) schema.Input {
	return schema.Input{
		Surface: schema.Page, Values: values, Lenient: lenient, Remote: x.r.RemoteAddr,
		Currency: exact.CurrencyOf(x.shop.currency),
		Path:     func(name string) string { return x.path[name] }, Header: func(string) string { return "" },
		View: func(fn func(*db.Conn) error) error { return x.s.DB.View(x.r.Context(), fn) },
	}
}

func isID(s string) bool {
	if s == "" || s[0] == '0' || len(s) > 18 {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// page answers GET for a declared page.
func (s *Screens) page(p page.Page) handle {
	args := p.Args()
	return func(x *exchange) error {
		if done, err := x.admit(); done || err != nil {
			return err
		}
		if err := x.needs(orViewer(p.Role), p.Title); err != nil {
			return err
		}
		in, err := x.input(args)
		if err != nil {
			return err
		}
		load, wrong, err := withoutWrong(p, in)
		if err != nil {
			return err
		}
		if x.r.Method != http.MethodPost { // the body is still to be read
			if err := x.takeTurn(); err != nil {
				return err
			}
			defer x.endTurn()
		}
		value, wrong, err := x.loaded(p, in, load, wrong)
		var elsewhere *page.Elsewhere
		switch {
		case errors.As(err, &elsewhere):
			return x.lead(elsewhere.Path)
		case err != nil:
			return err
		}
		if file, is := value.(page.File); is {
			x.endTurn()
			return x.sendFile(file)
		}
		if wrong == nil && p.HasCSV() && x.r.URL.Query().Get("format") == "csv" {
			x.endTurn()
			return x.sendCSV(p.Sheet(value))
		}
		f := x.frame()
		if f.Turns = p.Marks; x.r.Method == http.MethodPost {
			sent, err := x.receive(mostForm)
			if err != nil {
				return err
			}
			f.Marks = &sent.marks
		}
		f.Filters = slices.DeleteFunc(slices.Clone(args), func(a schema.Arg) bool { return a.Path != "" })
		if wrong == nil {
			x.keepFilters(p, f)
		}
		return x.showPage(p, f, value, wrong)
	}
}

// showPage sends a page with its loaded value; wrong are the refused filters.
func (x *exchange) showPage(p page.Page, f *page.Frame, value any, wrong *fault.Error) error {
	title := p.Title
	if t, ok := value.(page.Titled); ok {
		title = t.PageTitle()
	}
	if n, ok := value.(page.Noticed); ok {
		f.Notice = n.Notice()
	}
	if a, ok := value.(page.Audited); ok {
		x.audited = a.AuditSubject()
	}
	if m, ok := value.(page.Mailed); ok {
		x.mailed = m.MailSubjects()
	}
	if a, ok := value.(page.Awaited); ok && a.Again() != "" {
		x.w.Header().Set("Refresh", "2; url="+a.Again())
	}
	secret, _ := value.(page.Confidential)
	switch {
	case p.Plain:
		return x.showPlain(title, f, p.Draw(value))
	case wrong != nil:
		f.Wrong = map[string]string{}
		for _, r := range wrong.Fields {
			f.Wrong[schema.PageField(r.Field)] = sentence(r.Detail)
		}
		return x.show(wire.Status(wrong.Kind), title, false, f, wrongFilters(wrong, f.Path, p.Draw(value)))
	}
	return x.show(http.StatusOK, title, secret != nil && secret.ShowsSecret(), f, p.Draw(value))
}

func orViewer(role string) string {
	if role == "" {
		return page.Viewer
	}
	return role
}

// showPlain sends a page without the frame, for printing.
func (x *exchange) showPlain(title string, f *page.Frame, body templ.Component) error {
	v := &frameView{title: title, shop: f.Shop.Name, kind: "print", notice: f.Notice, body: body}
	return x.sendDrawn(http.StatusOK, f, document(v), false)
}
