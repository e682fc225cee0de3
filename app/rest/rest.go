// Package rest serves a service's operations over HTTP: strict JSON in, JSON out, refusals as statuses, and the OpenAPI
// document.
package rest

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"quartermaster/app/cache"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/wire"
)

// Options configure the handler of one service.
type Options struct {
	Service      schema.Service
	Version      string // the program's
	DB           *db.DB
	Authenticate func(ctx context.Context, service, authorization, remote string) (db.Caller, error)
	Cache        *cache.ResponseCache
	Agent        http.Handler // POST /mcp; nil for a service without agents
	Log          zerolog.Logger
	Trusted      []netip.Prefix // proxies whose X-Forwarded-For counts
	CORSOrigin   string         // the one origin that browsers may call from; "": none
	Observe      func(Observation)
}

// Observation is one served request, for the metrics.
type Observation struct {
	Service, Method, Route string
	Status                 int
	Took                   time.Duration
}

// handler is one service's HTTP surface.
type handler struct {
	Options
	router   Router[route]
	document func() []byte // made at the first request
}

// route are the handlers of a path, by method.
type route map[string]handle

// handle answers a request whose path has these named parts.
type handle func(w *Record, r *http.Request, path map[string]string)

// New makes the handler of one service.
func New(o Options) http.Handler {
	h := &handler{Options: o}
	h.Service.Ops = append([]schema.Op{h.ping(), h.health(), h.openapi()}, o.Service.Ops...)
	h.document = sync.OnceValue(func() []byte { return document(h.Service, o.Agent != nil) })
	routes := map[string]route{}
	add := func(method, path string, serve handle) {
		if routes[path] == nil {
			routes[path] = route{}
			h.router.Add(path, routes[path])
		}
		routes[path][method] = serve
	}
	for _, op := range h.Service.Ops {
		if op.Route == "" {
			continue
		}
		serve := h.serve(op)
		add(op.Method(), op.Path(), serve)
		if op.Method() == http.MethodGet {
			add(http.MethodHead, op.Path(), serve)
		}
	}
	if o.Agent != nil {
		for _, method := range []string{"GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"} {
			add(method, "/mcp", h.agent)
		}
	}
	return h
}

// dispatch finds the operation of a request.
func (h *handler) dispatch(w *Record, r *http.Request) {
	defer h.recovered(w)
	routes, path := h.router.Find(r.URL.EscapedPath())
	serve := routes[r.Method]
	switch {
	case serve != nil:
		serve(w, r, path)
	case routes != nil:
		h.methodNotAllowed(w, r, routes)
	default:
		h.notFound(w, r)
	}
}

func (h *handler) agent(w *Record, r *http.Request, _ map[string]string) {
	w.Route = "/mcp"
	h.Agent.ServeHTTP(w, r)
}

// notFound refuses an unknown path. Under /api the key is checked first.
func (h *handler) notFound(w *Record, r *http.Request) {
	if err := h.keyFirst(r); err != nil {
		h.refuse(w, err)
		return
	}
	h.refuse(w, fault.NotFoundf("there is no %s here; GET /api/openapi.json lists all addresses",
		schema.Quote(r.URL.Path)))
}

// methodNotAllowed refuses a known path with a wrong method.
func (h *handler) methodNotAllowed(w *Record, r *http.Request, routes route) {
	if err := h.keyFirst(r); err != nil {
		h.refuse(w, err)
		return
	}
	for _, op := range h.Service.Ops {
		// an operation that is turned off does not exist
		if op.Ready != nil && op.Path() == r.URL.Path && op.Ready(r.Context()) != nil {
			h.notFound(w, r)
			return
		}
	}
	allowed := slices.DeleteFunc(slices.Sorted(maps.Keys(routes)),
		func(m string) bool { return m == http.MethodOptions }) // only the agents' endpoint answers it, with a refusal
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	h.refuse(w, fault.New(fault.Method, "%s is not allowed on %s; allowed: %s",
		schema.Quote(r.Method), schema.Quote(r.URL.Path), w.Header().Get("Allow")))
}

// keyFirst checks the key of a request that reaches no operation, unless an
// operation at its path needs none.
func (h *handler) keyFirst(r *http.Request) error {
	open := func(op schema.Op) bool { return op.Public && op.Path() == r.URL.Path }
	if !strings.HasPrefix(r.URL.Path, "/api/") || slices.ContainsFunc(h.Service.Ops, open) {
		return nil
	}
	_, err := h.Authenticate(r.Context(), h.Service.Name, r.Header.Get("Authorization"), r.RemoteAddr)
	return err
}

// serve is the one path from a request to an operation. Its refusals follow the contract's order: key, role and scope,
// media type, size and form of the body, fields; the operation itself refuses records and states.
func (h *handler) serve(op schema.Op) handle {
	route, raw := documentPath(op), takesRaw(op)
	large := schema.ShapeOf(op.Response).Unbounded()
	return func(w *Record, r *http.Request, named map[string]string) {
		w.Route = route
		var who db.Caller
		var err error
		if !op.Public {
			who, err = h.Authenticate(r.Context(), h.Service.Name, r.Header.Get("Authorization"), r.RemoteAddr)
			if err != nil {
				h.refuse(w, err)
				return
			}
			who.Via = "rest"
		}
		if op.Writes && !op.Public {
			if err := who.MayWrite(op.Route); err != nil {
				h.refuse(w, err)
				return
			}
		}
		if op.Method() == http.MethodGet && !op.Public {
			h.read(w, op, large, who, r, named)
			return
		}
		answer, err := h.call(op, raw, who, r, named)
		if e, refused := fault.As(err); refused && op.Foreign != nil {
			wire.RefuseHead(w, e)
			answer, err = op.Foreign(wire.Status(e.Kind), e.Detail), nil
		}
		if err != nil {
			h.refuse(w, err)
			return
		}
		h.answer(w, op, answer, nil)
	}
}

// read answers a GET, from the cache if its answer is still valid. A possibly large one waits for its turn.
func (h *handler) read(w *Record, op schema.Op, large bool, who db.Caller, r *http.Request,
	named map[string]string) {
	path := pathOf(r)
	body, at, found := h.Cache.Get(who, path, r.URL.RawQuery)
	if !found && large {
		if err := wire.Hold(w, wire.LargeAnswer); err != nil {
			h.refuse(w, err)
			return
		}
		body, at, found = h.Cache.Get(who, path, r.URL.RawQuery) // the previous request may have been the same
	}
	if found {
		wire.Send(w, http.StatusOK, body)
		return
	}
	answer, err := h.call(op, false, who, r, named)
	if err != nil {
		h.refuse(w, err)
		return
	}
	h.answer(w, op, answer, func(body []byte) {
		h.Cache.Put(who, path, r.URL.RawQuery, at, body)
	})
}

func (h *handler) call(op schema.Op, raw bool, who db.Caller, r *http.Request, named map[string]string) (any, error) {
	ctx := r.Context()
	in := schema.Input{
		Surface: schema.REST, Header: r.Header.Get, Remote: r.RemoteAddr, Lenient: op.Foreign != nil,
		Path: func(name string) string { return named[name] },
	}
	if op.Ready != nil {
		if err := op.Ready(ctx); err != nil {
			return nil, err
		}
	}
	if r.URL.RawQuery != "" {
		q, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return nil, fault.Invalidf("the query string cannot be read: percent-encode it, and separate parameters with &")
		}
		in.Query = q
	}
	if op.TakesBody() {
		if err := h.body(&in, op, raw, r); err != nil {
			return nil, err
		}
		var err error
		if who, err = h.asking(who, op, r, in.Raw); err != nil {
			return nil, err
		}
	}
	do, err := op.Decode(in)
	if err != nil {
		return nil, err
	}
	return do(ctx, who)
}

// Ping is the answer of GET /api/ping.
type Ping struct {
	OK      bool   `json:"ok"`
	User    string `json:"user" about:"the user whose key this is"`
	App     string `json:"app" about:"the service"`
	Version string `json:"version"`
	Role    string `json:"role" enum:"viewer,member,admin"`
	Scope   string `json:"scope" enum:"read,full"`
}

func (h *handler) ping() schema.Op {
	version := cmp.Or(h.Service.Ping, h.Version)
	return schema.Op{
		Route:    "GET /api/ping",
		About:    "Check an API key: whose it is and what it may do.",
		Response: Ping{OK: true, User: "alice", App: h.Service.Name, Version: version, Role: "admin", Scope: "full"},
		Bind: func(*schema.Form) schema.Handler {
			return func(_ context.Context, who db.Caller) (any, error) {
				return Ping{OK: true, User: who.User, App: h.Service.Name, Version: version, Role: who.Role, Scope: who.Scope}, nil
			}
		},
	}
}

// Health is the answer of GET /healthz; OK is false, with 503, if the database cannot be read.
type Health struct {
	OK      bool   `json:"ok"`
	App     string `json:"app" about:"the service"`
	Version string `json:"version"`
}

// HTTPStatus is 503 if the service is not healthy.
func (v Health) HTTPStatus() int {
	if v.OK {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

func (h *handler) health() schema.Op {
	well := Health{OK: true, App: h.Service.Name, Version: h.Service.Health}
	return schema.Op{
		Name: "health", Route: "GET /healthz", Public: true,
		About:    "Whether the service works; 503 with ok false when the database cannot be read.",
		Response: well, Statuses: []int{http.StatusOK, http.StatusServiceUnavailable},
		Examples: []any{Health{App: well.App, Version: well.Version}},
		Bind: func(*schema.Form) schema.Handler {
			return func(ctx context.Context, _ db.Caller) (any, error) {
				v := well
				v.OK = h.DB.View(ctx, func(c *db.Conn) error {
					_, _, err := db.One(c, db.Int, "SELECT stamp FROM credential_stamp")
					return err
				}) == nil
				return v, nil
			}
		},
	}
}

func (h *handler) openapi() schema.Op {
	return schema.Op{
		Name: "describe", Route: "GET /api/openapi.json", Public: true,
		About:    "This description, as OpenAPI 3.0.3.",
		Response: map[string]any{},
		Bind: func(*schema.Form) schema.Handler {
			return func(context.Context, db.Caller) (any, error) { return written(h.document()), nil }
		},
	}
}
