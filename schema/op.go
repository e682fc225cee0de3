// Package schema declares operations with their arguments, state machines, and tables of records for CSV. An operation
// is declared once; the router, the OpenAPI document, the agents' tools, the command line, the pages, the argument
// checks and the tests of all operations read that one declaration.
package schema

import (
	"cmp"
	"context"
	"io"
	"reflect"
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Handler runs one call whose arguments are bound.
type Handler func(ctx context.Context, who db.Caller) (any, error)

// Op is one operation of a service.
//
// Two operations of a service may share a name if one is for REST only and the other for agents only; the command line
// and the pages use the first.
type Op struct {
	Name  string // "record_payment", in snake_case; also the tool's name
	Route string // "POST /api/assets/:id/readings"; "": not on REST
	Tool  string // "record_meter"; "": not for agents
	About string // one or two sentences, for people and agents alike
	Says  string // its title for agents, which people approve: "Move a job"; default: the name's words

	Writes      bool // needs a full-access key and the role member or admin
	Whole       bool // needs an admin of every service that is turned on: see KeepsWhole
	Admin       bool // needs the role admin, like users, keys, receivers and settings
	Personal    bool // writes only the caller's own account: allowed to viewers
	Several     bool // several transactions, with progress in a db.Work; every other operation is one
	Idempotent  bool // twice with the same arguments has the effect of once
	Destructive bool // it may destroy data, or reaches people outside: confirmed first
	Asks        bool // confirmed on pages only; Destructive is confirmed everywhere
	Overwrites  bool // it may replace data if an argument says so: a hint for agents, not confirmed
	KeyRequired bool // agents must send a request_key: doing it twice does harm
	Credential  bool // makes or shows a one-time secret: asks for the password again
	Creates     bool // 201 instead of 200
	Public      bool // needs no API key; not a staff operation

	AgentAbout    string // replaces About for agents
	AgentResponse any    // the answer for agents, filled in, if it is not Response
	// Listed reports whether agents see the tool at present; nil: always. The operation of an unlisted tool refuses.
	Listed func(c *db.Conn) (bool, error)

	// Foreign marks an operation in the format of another program's interface: it accepts forms as well as JSON, ignores
	// unknown fields, and refuses in that format.
	Foreign func(status int, detail string) any
	Ready   func(context.Context) error // refuses, before anything is read, if it is turned off

	Bind     func(*Form) Handler // binds the arguments; without values it describes them
	Response any                 // a filled-in answer: its type is the shape, its value the example
	Examples []any               // answers of Response's type with the other statuses, filled in
	Statuses []int               // the statuses of its answer, if they vary (StatusGiver)
	MaxBody  int64               // bytes; 0 is 1 MiB
	Refuses  []fault.Kind        // refusals beyond those of every operation
	Own      []Refusal           // refusals of this operation alone, for its description

	// "store order refund ORDER_REF"; words in capitals are positional arguments; "": not at the command line
	Command string
	Example string                           // example lines of that command, without the program's name
	Print   func(w io.Writer, answer any)    // prints the answer for a person; nil prints Did's sentence
	Did     func(answer any, m Money) string // one sentence: what was done
	// for Destructive and Asks: what would be done, in numbers; answer is a trial's
	Will func(answer any, m Money) string
	// the question of pages before it is done, from a trial's answer; none without a Title
	Doubt   func(answer any, m Money) Question
	Preview func(answer any, m Money) Question // what its form on a page shows first, from a trial's answer
	Leads   func(answer any) string            // the record's page, "/work-orders/12"; "" is the first page
	Undo    func(answer any) *Undo             // the inverse operation, if there is one now

	// Rare are arguments that pages fold under "More" while they are empty; Groups are folded under their own title.
	Rare   []string
	Groups []Group

	// First are the arguments that begin its form on a page: one alone, the others in pairs. Beside is what people should
	// know while they fill it.
	First  []string
	Beside func(c *db.Conn, given map[string]string) (Beside, error)

	// Thing is the record's name in a question: "PO-000012, Wollwerk, 3 lines". Default: the record's choice.
	Thing func(answer any) string

	// Keys are the arguments that identify the record of an operation that makes or changes one; Number is the one that
	// may name it by number instead. It needs Fill. On pages such an operation has two forms: New refuses used keys, Edit
	// shows them as facts.
	Keys   []string
	Number string

	// Fill returns the record named by the given arguments, as texts by argument, for the Edit form (amounts in cents,
	// dates as YYYY-MM-DD, a list of objects under lines.0.sku, lines.0.qty, lines.1.sku ...); not found if they name
	// none. nil: the form begins empty.
	Fill func(c *db.Conn, given map[string]string) (record map[string]string, found bool, err error)
}

// Beside is a list of records beside a form.
type Beside struct {
	Title string
	Field string // the field whose value a row's Of is: rows of others are hidden when one is chosen
	Rows  []BesideRow
}

// BesideRow is one of them, with its page, and its state with the look of it.
type BesideRow struct{ Text, Note, Path, Of, State, Look string }

// Group is some fields of a form under one title.
type Group struct {
	Title  string
	Fields []string // by argument
}

// Question is shown on a page before an action that cannot be undone, or that may be a mistake.
type Question struct {
	Title  string // "Cancel work order 12?"
	Text   string // what will happen, in numbers
	Button string // the action's verb: "Cancel job"

	Points []string // the effect on each part, a line each
	Boxes  []Box    // additional options
}

// Box is an argument's value that a question offers as a check box.
type Box struct{ Field, Value, Label string }

// pageTitles are operations' titles on pages that differ from their names.
var pageTitles = map[string]string{
	"receive_payment": "Record payment", "create_workorder": "New work order", "create_purchase": "New purchase order",
	"create_ticket": "New ticket", "edit_workorder": "Edit work order", "advance_status": "Move work order",
	"record_meter": "Record reading",
	"adjust_stock": "Change stock", "suggest_purchases": "Draft orders", "receive_purchase": "Add to stock",
	"stock_part": "Add to stock", "return_part": "Give back",
	"unreceive_purchase": "Take back",
	"count_stock":        "Count",
	"complete_plan":      "Mark as done", "order_purchase": "Order", "cancel_purchase": "Cancel purchase order",
	"edit_purchase": "Edit purchase order",
	"record_order":  "Record order", "rotate_license_key": "Replace key", "add_expense": "New expense",
	"set_timezone": "Time zone", "set_currency": "Currency", "set_forecast": "Averages and cover",
	"set_labor_rate": "Labor rate",
	"set_late_fee":   "Late fee", "set_provider": "Payment provider", "map_provider": "Which product?",
	"set_license_limit": "Seats", "change_email": "Change e-mail", "resend_order": "Send to receivers again",
	"set_shop": "The shop", "create_key": "Create API key", "revoke_key": "Revoke API key",
	"set_license_api": "License API",
	"recost":          "Cost jobs anew", "import_bank": "Import a bank file",
	"set_first_day": "Change the first day", "set_opening": "Take leases over",
	"choose_board": "Whose jobs", "unset_mail": "Forget the mail server", "set_asset_status": "Set state", "move_workorders": "Move work orders",
	"move_licenses":   "Change licenses",
	"edit_workorders": "Assign or reschedule", "finish_workorders": "Mark as done",
}

// PageTitle is the operation's title on pages: "New work order".
func (o Op) PageTitle() string {
	if t := pageTitles[o.Name]; t != "" {
		return t
	}
	return o.Title()
}

// Verb is what the button of its form says: "Add work order", "Save" where the title is a noun.
func (o Op) Verb() string {
	title := o.PageTitle()
	if what, adds := strings.CutPrefix(title, "New "); adds {
		return "Add " + what
	}
	set, _, _ := strings.Cut(o.Name, "_")
	if pageTitles[o.Name] != "" && !o.Destructive && !strings.HasPrefix(title, "Set ") &&
		(set == "set" || set == "map" || set == "choose") {
		return "Save"
	}
	return title
}

// NewTitle is the title of the form of a new record: "New tenant".
func (o Op) NewTitle() string {
	if what, saves := strings.CutPrefix(o.PageTitle(), "Save "); saves {
		return "New " + what
	}
	return o.PageTitle()
}

// Confirmed reports whether pages ask first.
func (o Op) Confirmed() bool { return o.Destructive || o.Asks }

// At is an operation's line in its service's table of contents: route, tool and command, as in Op; "": not on that
// surface.
func At(route, tool, command string, op Op) Op {
	op.Route, op.Tool, op.Command = route, tool, command
	return op
}

// Money writes cents with the currency: "1,080.39 EUR". The surface that shows a sentence makes it for the shop's
// currency.
type Money func(cents int64) string

// Undo is the inverse of an action that was just done.
type Undo struct {
	Op     string            // its name
	Label  string            // "Reopen"
	Fields map[string]string // its arguments, by page field
}

// Refusal is one of an operation's own, as in its description.
type Refusal struct {
	Kind   fault.Kind
	Code   string // the value of error; "" is the kind's own code
	Detail string
	More   any // members beside error and detail, filled in; nil: none
}

// Method is the route's HTTP method.
func (o Op) Method() string { m, _, _ := strings.Cut(o.Route, " "); return m }

// Answer widens a function's result for a Handler: an error has no answer.
func Answer[T any](v T, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// Path is the route's path, with its named parts as :name.
func (o Op) Path() string { _, p, _ := strings.Cut(o.Route, " "); return p }

// TakesBody reports whether a request has a body, and writes.
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

// Args describes the operation's arguments on the surface, in order of binding.
func (o Op) Args(s Surface) []Arg {
	f := &Form{describing: true, surface: s}
	o.Bind(f)
	o.bindRequestKey(f)
	for i := range f.args {
		f.args[i].Rare = f.args[i].Rare || slices.Contains(o.Rare, f.args[i].Name)
	}
	if s == Page && o.First != nil {
		place := func(a Arg) uint { return uint(slices.Index(o.First, a.Name)) } // #nosec G115 -- -1 is the last place
		slices.SortStableFunc(f.args, func(a, b Arg) int { return cmp.Compare(place(a), place(b)) })
	}
	return f.args
}

// RequestKey is the additional argument of every writing tool: the Idempotency-Key of REST.
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

// Decode reads the arguments from in. A refusal names each wrong argument, its fault and what is allowed.
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

// StatusGiver is an answer with its own HTTP status, such as an activation: 201 for a new seat, 200 for an existing
// one.
type StatusGiver interface{ HTTPStatus() int }

// Downloader is an answer that a page sends as a file.
type Downloader interface {
	Download() (name, mediaType string, body []byte)
}

// Redacter is an answer that is stored for its idempotency key without its secrets, such as minted codes, which are
// shown once.
type Redacter interface{ Redacted() any }

// Partial is an answer of which parts may have been refused: the command names each refused part and fails with err,
// nil if there is none. If refused is not nil, it and Print show the parts one by one; otherwise Did shows the whole
// too.
type Partial interface {
	Refusals() (refused []string, err error)
}

// Left is an answer of an action on many rows that names the refused ones in the format of the rows' form: they stay
// marked.
type Left interface{ Left() []string }

// Lister is an answer whose CSV rows are not simply its first list: AsList returns an answer with the one list to use.
type Lister interface{ AsList() any }

// Event is a kind of event of a service.
type Event struct {
	Name  string
	About string
	Data  any // filled in, as Op.Response
}
