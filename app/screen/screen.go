// Package screen serves a service's pages beside its API: it routes them, identifies the visitor, adds the frame, and
// runs the operations of forms. The pages are declared beside their services, with the components of package page; the
// rules stay in the services.
package screen

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"quartermaster/app/account"
	"quartermaster/app/doctor"
	"quartermaster/app/mailer"
	"quartermaster/app/rest"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// Options configure the pages of one service.
type Options struct {
	Service  schema.Service
	API      http.Handler // on the same port
	Common   []schema.Op  // operations that every service has: users, keys, receivers
	Places   []Place      // the running services, in the order of the menu
	DB       *db.DB
	Sessions *account.Sessions
	Doctor   *doctor.Desk
	Mail     *mailer.Book
	Log      zerolog.Logger
	Version  string
	Trusted  []netip.Prefix // proxies whose X-Forwarded-For counts
	Secure   bool           // TLS is ours or promised: cookies are Secure
	OwnTLS   bool           // TLS is ours
	Observe  func(rest.Observation)

	Background func(work func(ctx context.Context)) // runs long work in the background; ctx ends with the server

	Pages     []page.Page // the service's own, and those that all services have
	Portal    []schema.Op // operations of tenants
	Buyer     []schema.Op // operations of buyers
	Once      []page.Once // how one-time answers are drawn
	OpenBuyer OpenBuyer
	Open      []schema.Op // public operations, at their own Route

	On func(*db.DB) Options // the operations over a database that is bound to a transaction
}

// Place is a service that is served, and where. Waits counts what waits for somebody there, One
// and Many name it: "thing to order", "things to order".
type Place struct {
	page.Front
	Name, Title, URL, One, Many string
	Waits                       func(ctx context.Context) (int64, error)
}

type area = page.Area

// Screens answers every path of a service's port: that of its API by its handler.
type Screens struct {
	Options
	router  rest.Router[*route]
	pages   []page.Page
	ops     map[area]map[string]schema.Op
	base    string // the service's public address
	forged  *http.CrossOriginProtection
	cookies map[area]string // their names
	flashes flashes
	stopped sync.Map // the *fault.Error of an import by page, by the number of its work
	drafts  drafts
	kept    keptFilters
	marks   marks
	turns   chan struct{} // taken by pages that are read and drawn
}

// New makes the screens of one service.
func New(o Options) (*Screens, error) {
	s := &Screens{Options: o, marks: newMarks(), turns: make(chan struct{}, pagesAtOnce)}
	for _, p := range o.Places {
		if p.Name == o.Service.Name {
			s.base = strings.TrimSuffix(p.URL, "/")
		}
	}
	if err := s.nameCookies(); err != nil {
		return nil, err
	}
	s.forged = http.NewCrossOriginProtection()
	if origin := originOf(s.base); origin != "" {
		if err := s.forged.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	s.collectAll()
	s.routes()
	return s, s.samePath()
}

// samePath refuses two pages at one address: the later would never be shown.
func (s *Screens) samePath() error {
	titles := map[string]string{}
	for _, p := range s.pages {
		if first, taken := titles[p.Path]; taken {
			return fmt.Errorf("%s: the pages %q and %q have the same path %s; give the service's own page another",
				s.Service.Name, first, p.Title, p.Path)
		}
		titles[p.Path] = p.Title
	}
	return nil
}

// collectAll collects the operations of each area.
func (s *Screens) collectAll() {
	s.ops = map[area]map[string]schema.Op{}
	s.collect(page.Staff, slices.Concat(s.Service.Ops, s.Common, []schema.Op{s.setShop(), s.makeBackup()}))
	s.collect(page.Tenant, s.Portal)
	s.collect(page.Buyer, s.Buyer)
	s.collect(page.Public, s.Open)
}

// collect collects the operations with a form.
func (s *Screens) collect(a area, ops []schema.Op) {
	s.ops[a] = map[string]schema.Op{}
	for _, op := range ops {
		if _, twice := s.ops[a][op.Name]; op.Name == "" || op.Public && a != page.Public || twice {
			continue
		}
		s.ops[a][op.Name] = op
	}
}

// isAPI reports whether a path belongs to the service's API, which reads no cookie. /providers itself is a page; below it
// are the payment providers' addresses.
func isAPI(path string) bool {
	if path == "/providers" {
		return false
	}
	for _, p := range []string{"/api/", "/mcp", "/license/", "/providers/", "/v1/", "/healthz", "/.well-known/"} {
		if path == strings.TrimSuffix(p, "/") || strings.HasPrefix(path, strings.TrimSuffix(p, "/")+"/") {
			return true
		}
	}
	return false
}
