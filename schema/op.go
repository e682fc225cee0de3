// Package schema is what may be asked: operations with their arguments, state
// machines, and tables of records that travel as CSV. An operation is told once;
// the router, the OpenAPI document, the agents' tool list, the argument checks and
// the tests over every operation all read that one telling.
package schema

import (
	"context"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Handler carries out one call whose arguments are bound.
type Handler func(ctx context.Context, who db.Caller) (any, error)

// Op is one thing that a service does.
type Op struct {
	Route       string              // "POST /api/assets/:id/readings"; "" keeps it off REST
	Tool        string              // "record_meter"; "" keeps it from agents
	About       string              // one or two sentences, for people and agents alike
	Writes      bool                // needs a full-access key and the role member or admin
	Idempotent  bool                // doing it twice with the same arguments is as doing it once
	Destructive bool                // it may destroy what was there (a hint for agents)
	Creates     bool                // 201 instead of 200
	Public      bool                // needs no API key
	Statuses    []int               // the statuses of its answer, when they vary (StatusGiver)
	MaxBody     int64               // bytes; 0 is 1 MiB
	Bind        func(*Form) Handler // binds the arguments; also called without values, to describe them
	Response    any                 // an answer, filled in: its type is the shape, its value the example
	Examples    []any               // answers of the same type as Gives with the other statuses of May, filled in
	Refuses     []fault.Kind        // what it may refuse beyond what every operation may
	Own         []Refusal           // refusals that no other operation has, for its description
}

// Refusal is one of an operation's own, as its description shows it.
type Refusal struct {
	Kind   fault.Kind
	Code   string // what stands in error; "" is the kind's own word
	Detail string
	More   any // what it tells beside error and detail, filled in; nil is nothing
}

// Method is the route's HTTP method.
func (o Op) Method() string { m, _, _ := strings.Cut(o.Route, " "); return m }

// Path is the route's path in httprouter's notation.
func (o Op) Path() string { _, p, _ := strings.Cut(o.Route, " "); return p }

// Title is the tool's name as a person would write it: "Record meter".
func (o Op) Title() string {
	t := strings.ReplaceAll(o.Tool, "_", " ")
	return strings.ToUpper(t[:1]) + t[1:]
}

// Args describes the operation's arguments, in the order in which it binds them, as
// the surface shows them.
func (o Op) Args(s Surface) []Arg {
	f := &Form{describing: true, surface: s}
	o.Bind(f)
	return f.args
}

// Bind reads the arguments out of in. A refusal names the argument, what is wrong
// with it and what is allowed.
func (o Op) Decode(in Input) (Handler, error) {
	f := &Form{surface: in.Surface, in: in}
	do := o.Bind(f)
	if err := f.finish(); err != nil {
		return nil, err
	}
	return do, nil
}

// StatusGiver is an answer that decides its own HTTP status, as an activation that
// is 201 for a new seat and 200 for one that is held already.
type StatusGiver interface{ HTTPStatus() int }

// Keeper is an answer that is kept for its idempotency key in another form, as the
// minted codes, which are shown once.
type Keeper interface{ Kept() any }

// Event is one kind of event that a service emits.
type Event struct {
	Name  string
	About string
	Data  any // filled in, as Op.Response
}

// Service is everything that one of the four services declares.
type Service struct {
	Name     string // "reorder"
	Title    string // "Reorder service"
	About    string
	Ping     string // the version that GET /api/ping reports; "" is the program's
	Health   string // the version that GET /healthz reports
	Document string // the version of the OpenAPI document
	Ops      []Op
	Tables   []Table
	Events   []Event
	Check    func(c *db.Conn) (breaches []string, err error)  // recomputes every invariant, for doctor
	Demo     func(ctx context.Context, today exact.Day) error // fills an empty database with a believable small shop
}

// Tools are the operations that agents may call.
func (s Service) Tools() []Op {
	var tools []Op
	for _, op := range s.Ops {
		if op.Tool != "" {
			tools = append(tools, op)
		}
	}
	return tools
}

// Table finds one of the service's tables.
func (s Service) Table(name string) (Table, bool) {
	for _, t := range s.Tables {
		if t.Name == name {
			return t, true
		}
	}
	return Table{}, false
}
