// Package schema is what may be asked: operations with their arguments, state
// machines, and tables of records that travel as CSV. An operation is declared once;
// the router, the OpenAPI document, the agents' tool list, the command line, the
// screens, the argument checks and the tests over every operation all read that one
// telling.
package schema

import (
	"cmp"
	"context"
	"io"
	"reflect"
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Handler carries out one call whose arguments are bound.
type Handler func(ctx context.Context, who db.Caller) (any, error)

// Op is one thing that a service does.
//
// Two operations of a service may have one name when one of them is on REST only and
// the other for agents only; the command line and the screens take the first.
type Op struct {
	Name  string // "record_payment", in snake_case; the tool's name where there is one
	Route string // "POST /api/assets/:id/readings"; "" keeps it off REST
	Tool  string // "record_meter"; "" keeps it from agents
	About string // one or two sentences, for people and agents alike
	Says  string // its title for agents: what a person approves, "Move a job"; "" is its name's words

	Writes      bool // needs a full-access key and the role member or admin
	Whole       bool // needs an admin of every service that is switched on: see KeepsWhole
	Admin       bool // needs the role admin, as people, keys, receivers and settings do
	Personal    bool // writes, but only of the caller's own account: viewers may too
	Several     bool // takes several transactions, whose progress a db.Work keeps; every other operation is one
	Idempotent  bool // doing it twice with the same arguments is as doing it once
	Destructive bool // it may destroy what was there, or reaches people outside: confirmed before
	Asks        bool // on pages it is confirmed before, as what is Destructive is everywhere
	Overwrites  bool // it may replace what was there when an argument says so: a hint for agents, not confirmed
	KeyRequired bool // agents must give a request_key: done twice it does harm
	Credential  bool // makes or shows what is shown once: asks for the password again
	Creates     bool // 201 instead of 200
	Public      bool // needs no API key, and is no act of staff

	AgentAbout    string // what agents are told in place of About
	AgentResponse any    // what agents are answered, filled in, where it is not Response
	// Listed reports whether agents see the tool now; nil is always. One that is not listed is
	// refused by its operation.
	Listed func(c *db.Conn) (bool, error)

	// Foreign says that the operation has the shape of another program's interface: it takes forms as well as
	// JSON, ignores fields that it does not know, and refuses in that shape.
	Foreign func(status int, detail string) any
	Ready   func(context.Context) error // refuses, before anything is read, what is switched off

	Bind     func(*Form) Handler // binds the arguments; also called without values, to describe them
	Response any                 // an answer, filled in: its type is the shape, its value the example
	Examples []any               // answers of the same type as Response with the other statuses, filled in
	Statuses []int               // the statuses of its answer, when they vary (StatusGiver)
	MaxBody  int64               // bytes; 0 is 1 MiB
	Refuses  []fault.Kind        // what it may refuse beyond what every operation may
	Own      []Refusal           // refusals that no other operation has, for its description

	// "store order refund ORDER_REF"; words in capitals are positional arguments; "" keeps it off the command line
	Command string
	Example string                           // lines of that command as one types them, without the program's name
	Print   func(w io.Writer, answer any)    // what the command prints for a person; nil prints Did's sentence
	Did     func(answer any, m Money) string // one sentence, what was done
	// for Destructive and Asks: what would be done, in numbers; answer is of a trial
	Will func(answer any, m Money) string
	// what pages ask before it is done, by the answer of a trial; nothing without a Title
	Doubt   func(answer any, m Money) Question
	Preview func(answer any, m Money) Question // what its form on a page shows first, by the answer of a trial
	Leads   func(answer any) string            // the record's page, "/work-orders/12"; "" is the first page
	Undo    func(answer any) *Undo             // the inverse act, if there is one now

	// Rare are arguments that pages fold under "More" while they are empty, Groups those that they fold
	// under a title of their own.
	Rare   []string
	Groups []Group

	// Thing is what a question about the act calls its record: "PO-000012, Wollwerk, 3 lines". Without
	// it the record's choice does.
	Thing func(answer any) string

	// Keys are the arguments that identify the record of an operation that makes one or changes
	// it; Number is the one that may name a record by its number instead. It needs Fill. On pages
	// such an operation has two forms: New refuses keys that are in use, Edit shows them as facts.
	Keys   []string
	Number string

	// Fill gives the record that the given arguments name, as texts by argument, for the
	// form that edits it (amounts in cents, days as YYYY-MM-DD, a list of objects under
	// lines.0.sku, lines.0.qty, lines.1.sku ...); not found when they name none. nil: the form begins empty.
	Fill func(c *db.Conn, given map[string]string) (record map[string]string, found bool, err error)
}

// Group is some fields of a form under one title.
type Group struct {
	Title  string
	Fields []string // by argument
}

// Question is what a page asks before an act that cannot be taken back, or that may be a slip.
type Question struct {
	Title  string // "Cancel work order 12?"
	Text   string // what will happen, in numbers
	Button string // the act's verb: "Cancel job"

	Points []string // what would become of each part, a line each
	Boxes  []Box    // what may be done besides
}

// Box is a value of an argument that a question offers to send along.
type Box struct{ Field, Value, Label string }

// pageTitles are what pages call operations whose names say it otherwise.
var pageTitles = map[string]string{
	"receive_payment": "Record payment", "create_workorder": "New work order", "create_purchase": "New purchase order",
	"create_ticket": "New ticket", "edit_workorder": "Edit work order", "advance_status": "Move work order",
	"record_meter": "Record reading",
	"adjust_stock": "Change stock", "suggest_purchases": "Draft orders", "receive_purchase": "Add to stock",
	"count_stock":   "Count",
	"complete_plan": "Mark as done", "order_purchase": "Order", "cancel_purchase": "Cancel purchase order",
	"edit_purchase": "Edit purchase order",
	"record_order":  "Record order", "rotate_license_key": "Replace key", "add_expense": "New expense",
	"set_timezone": "Time zone", "set_currency": "Currency", "set_forecast": "Averages and cover",
	"set_labor_rate": "Labor rate",
	"set_late_fee":   "Late fee", "set_provider": "Payment provider", "map_provider": "Names of other programs",
	"set_shop":     "The shop",
	"choose_board": "Whose jobs", "set_asset_status": "Set state", "move_workorders": "Move work orders",
}

// PageTitle is what pages call the operation: "New work order".
func (o Op) PageTitle() string {
	if t := pageTitles[o.Name]; t != "" {
		return t
	}
	return o.Title()
}

// NewTitle is what pages call the form of a new record: "New tenant".
func (o Op) NewTitle() string {
	if what, saves := strings.CutPrefix(o.PageTitle(), "Save "); saves {
		return "New " + what
	}
	return o.PageTitle()
}

// Confirmed reports whether pages ask before it is done.
func (o Op) Confirmed() bool { return o.Destructive || o.Asks }

// At is an operation's line in its service's table of contents: its route, its tool and
// its command, as in Op; "" keeps it off that surface.
func At(route, tool, command string, op Op) Op {
	op.Route, op.Tool, op.Command = route, tool, command
	return op
}

// Money writes cents as people read them, with the currency: "1,080.39 EUR". It is
// made for the shop's currency by the surface that shows a sentence.
type Money func(cents int64) string

// Undo is an act that takes back what was just done.
type Undo struct {
	Op     string            // its name
	Label  string            // "Reopen"
	Fields map[string]string // its arguments, as the screens name them
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

// TakesBody reports whether a request brings its arguments in a body, and writes.
func (o Op) TakesBody() bool { m := o.Method(); return m == "POST" || m == "PATCH" }

// Title is the name as a person would write it: "Record meter".
func (o Op) Title() string {
	t := strings.ReplaceAll(o.Name, "_", " ")
	if t == "" {
		t = strings.ReplaceAll(o.Tool, "_", " ")
	}
	t = strings.ReplaceAll(t, "workorder", "work order")
	return titled(t)
}

// Args describes the operation's arguments, in the order in which it binds them, as
// the surface shows them.
func (o Op) Args(s Surface) []Arg {
	f := &Form{describing: true, surface: s}
	o.Bind(f)
	o.bindRequestKey(f)
	for i := range f.args {
		f.args[i].Rare = f.args[i].Rare || slices.Contains(o.Rare, f.args[i].Name)
	}
	return f.args
}

// RequestKey is the argument that every writing tool has beside its own: the
// Idempotency-Key of REST.
const RequestKey = "request_key"

func (o Op) bindRequestKey(f *Form) {
	if f.surface == Tool && o.Writes {
		var key string
		opts := []Opt{Most(200)}
		if o.KeyRequired {
			opts = append(opts, Required)
		}
		f.Text(&key, RequestKey, "the same key within 24 hours does nothing twice", opts...)
	}
}

// Decode reads the arguments out of in. A refusal names each argument that is wrong,
// what is wrong with it and what is allowed.
func (o Op) Decode(in Input) (Handler, error) {
	f := &Form{surface: in.Surface, in: in}
	handle := o.Bind(f)
	o.bindRequestKey(f)
	if err := f.finish(); err != nil {
		return nil, err
	}
	if !o.Writes && !o.Personal {
		return handle, nil
	}
	return func(ctx context.Context, who db.Caller) (any, error) {
		if who.Request == nil {
			who = who.Asking(&db.Request{})
		}
		who.Request.Several, who.Request.Answer = o.Several, reflect.TypeOf(o.Response)
		return handle(ctx, who)
	}, nil
}

// StatusGiver is an answer that decides its own HTTP status, as an activation that
// is 201 for a new seat and 200 for one that is held already.
type StatusGiver interface{ HTTPStatus() int }

// Downloader is an answer that a page sends as a file.
type Downloader interface {
	Download() (name, mediaType string, body []byte)
}

// Redacter is an answer that is kept for its idempotency key without its secrets, as
// the minted codes, which are shown once.
type Redacter interface{ Redacted() any }

// Partial is an answer that may have left something out: the command names each part that
// was refused and fails with err, nil when nothing was. Where refused is not nil the parts
// are shown one by one, by it and by Print; else the command shows the whole by Did too.
type Partial interface {
	Refusals() (refused []string, err error)
}

// Left is an answer of an act on many rows that names those that it refused, as the form of marked
// rows names them: they stay marked.
type Left interface{ Left() []string }

// Lister is an answer whose rows as CSV are not its first list as it stands: AsList gives
// an answer with the one list that they are.
type Lister interface{ AsList() any }

// Event is one kind of event that a service emits.
type Event struct {
	Name  string
	About string
	Data  any // filled in, as Op.Response
}

// Service is everything that one of the four services declares.
type Service struct {
	Name      string // "reorder"
	Title     string // "Reorder service"
	About     string
	Addr      string // where it listens by default: "127.0.0.1:8084"
	Agents    bool   // it has an agent endpoint
	Elsewhere string // where what agents have no tool for is done
	DemoPath  string // what the demo's curl line asks for: "/api/reorder-report"
	Ping      string // the version that GET /api/ping reports; "" is the program's
	Health    string // the version that GET /healthz reports
	Document  string // the version of the OpenAPI document
	Ops       []Op
	Tables    []Table
	Reports   []Table                                                  // exported, never imported
	Journal   func(ctx context.Context, w io.Writer, year int64) error // a year's entries for hledger; nil: it has none
	Records   []Record
	Events    []Event
	Check     func(c *db.Conn) (breaches []string, err error)  // recomputes every invariant, for doctor
	Demo      func(ctx context.Context, today exact.Day) error // fills an empty database with a believable small shop
}

// Record is a kind of record as the audit trail names it, and where people see one.
type Record struct {
	Noun string // of the trail's subjects: "work_order" in work_order:12
	Page string // "/work-orders/": its page is that and the id; "" is none of its own

	ByName bool // a subject that is no number is searched for in the list of its pages: customer:ann@example.com

	// Within finds the subject on whose page it is shown when it has none, as SQL with the id
	// as ?: "SELECT 'asset:' || asset_id FROM meters WHERE id = ?".
	Within string
}

// Record finds one of the service's kinds of records.
func (s Service) Record(noun string) Record {
	for _, r := range s.Records {
		if r.Noun == noun {
			return r
		}
	}
	return Record{}
}

// Tools are the operations that agents may call, as agents are told of them.
func (s Service) Tools() []Op {
	var tools []Op
	for _, op := range s.Ops {
		if op.Tool == "" {
			continue
		}
		if op.About = cmp.Or(op.AgentAbout, op.About); op.AgentResponse != nil {
			op.Response = op.AgentResponse
		}
		tools = append(tools, op)
	}
	return tools
}

// Op finds the first operation of the name: the one that the command line and the
// screens do.
func (s Service) Op(name string) (Op, bool) {
	for _, op := range s.Ops {
		if op.Name == name {
			return op, true
		}
	}
	return Op{}, false
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
