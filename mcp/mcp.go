// Package mcp is the agent endpoint over a service's operations: the Model Context
// Protocol on POST /mcp, stateless, JSON in and JSON out, one message a request.
//
// It speaks both eras of the protocol at once. The handshake revisions open with
// initialize; the stateless revision carries its version in every request. Which of
// the two a request is of, the request itself says.
package mcp

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/wire"
)

// Options configure the endpoint of one service.
type Options struct {
	Version string          // the program's
	Origins []string        // origins beside the server's own whose pages may call, "https://agents.example"
	Log     func(err error) // receives what callers do not see: internal errors and their causes
	Cache   ResponseCache   // nil: no cache

	// View reads the shop's database: its name, currency and date, and records by name. nil: unknown.
	View func(ctx context.Context, fn func(*db.Conn) error) error

	// Authenticate returns the caller. Refusals of the kinds Unauthorized, Limited and Unavailable are answered as in
	// REST.
	Authenticate func(r *http.Request) (db.Caller, error)
}

// ResponseCache caches answers by caller, tool and arguments. Get returns a valid answer, or else the time of the
// request, for Put. app/cache implements it.
type ResponseCache interface {
	Get(who db.Caller, what, with string) (body []byte, at db.At, found bool)
	Put(who db.Caller, what, with string, at db.At, body []byte)
}

// Endpoint is the agent endpoint of one service.
type Endpoint struct {
	o       Options
	service schema.Service
	maxBody int64
	ready   func() *prepared // made at the first request, to keep the start short
}

// prepared is what is the same for all requests.
type prepared struct {
	tools       map[string]*tool
	names       [scopes]string // the tools that a key of the scope sees, as text
	prerendered prerendered
	listed      []func(*db.Conn) (bool, error) // of the tools that are listed at times
}

// New makes the endpoint of one service.
func New(s schema.Service, o Options) *Endpoint {
	e := &Endpoint{o: o, service: s, maxBody: defaultBody}
	if e.o.Log == nil {
		e.o.Log = func(error) {}
	}
	for _, op := range s.Tools() {
		e.maxBody = max(e.maxBody, op.MaxBody)
	}
	e.ready = sync.OnceValue(func() *prepared { return prepare(s, o.Version) })
	return e
}

// prepare panics if a tool's declaration is unusable: without a sentence, or with an answer that is not an object.
func prepare(s schema.Service, version string) *prepared {
	p := &prepared{tools: map[string]*tool{}}
	var all, read, always []*tool
	var known told
	for _, op := range s.Tools() { // first those that every key sees
		if !op.Writes {
			p.tools[op.Tool] = newTool(op, &known)
			read = append(read, p.tools[op.Tool])
		}
	}
	for _, op := range s.Tools() {
		if op.Writes {
			p.tools[op.Tool] = newTool(op, &known)
		}
		all = append(all, p.tools[op.Tool])
		if op.Listed == nil {
			always = append(always, p.tools[op.Tool])
		} else {
			p.listed = append(p.listed, op.Listed)
		}
	}
	visible := [scopes][]*tool{full: all, readOnly: read, fullNow: always}
	for scope, tools := range visible {
		p.names[scope] = namesOf(tools)
	}
	p.prerendered = render(s, version, visible)
	return p
}

// The lists of tools: a read-only key sees the tools that read, a full one all, except unlisted ones.
const (
	full = iota
	readOnly
	fullNow
	scopes
)

// scope is which of the lists the caller sees.
func (x *exchange) scope() int {
	if x.who.Scope != "full" {
		return readOnly
	}
	for _, listed := range x.e.ready().listed {
		shown := false
		err := x.e.view(x.r.Context(), func(c *db.Conn) (err error) {
			shown, err = listed(c)
			return err
		})
		if err != nil {
			x.e.log("tools/list", x.id, err)
		}
		if !shown {
			return fullNow
		}
	}
	return full
}

func namesOf(tools []*tool) string {
	return strings.Join(schema.Map(tools, func(t *tool) string { return t.op.Tool }), ", ")
}

// ServeHTTP answers one request. Faults before a message can be read are refused as in REST, in this order: origin,
// method, key, media type, size. Later answers are JSON-RPC.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who, body, err := e.receive(w, r)
	if err != nil {
		e.refuse(w, err)
		return
	}
	x := exchange{e: e, w: w, r: r, who: who, id: w.Header().Get("X-Request-Id")}
	status, answer := x.answer(nil, body)
	if answer == nil {
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(status)
		return
	}
	wire.Send(w, status, answer)
}

func (e *Endpoint) receive(w http.ResponseWriter, r *http.Request) (who db.Caller, body []byte, err error) {
	if err := e.checkOrigin(r); err != nil {
		return who, nil, err
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return who, nil,
			fault.New(fault.Method, "%s is not allowed here; the agent endpoint takes POST with one JSON-RPC message",
				schema.Quote(r.Method))
	}
	if who, err = e.o.Authenticate(r); err != nil {
		return who, nil, err
	}
	who.Via = "mcp"
	if err := wire.CheckMedia(r.Header.Get("Content-Type")); err != nil {
		return who, nil, err
	}
	if body, err = wire.ReadBody(r, e.maxBody); err != nil {
		return who, nil, err
	}
	who, err = e.o.Authenticate(r) // again: reading the body took as long as the client wished
	who.Via = "mcp"
	return who, body, err
}

// guarded calls fn and makes its panic an error, with the stack for the log.
func guarded[T any](fn func() (T, error)) (v T, err error) {
	defer func() {
		cause := recover()
		if e, is := cause.(error); is && errors.Is(e, http.ErrAbortHandler) {
			panic(cause)
		}
		if cause != nil {
			err = &panicked{cause: cause, stack: db.StackOf(cause)}
		}
	}()
	return fn()
}
