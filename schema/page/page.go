// Package page is what a service's screens are made of: Page, and the components that
// pages are drawn with. A page is declared beside its service; package screen routes
// it, checks session and role, and wraps the frame around it. Nothing here reads the
// database or a request: what a component needs to know stands in the Frame.
package page

import (
	"context"
	"io"

	"github.com/a-h/templ"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// Area says who may be looking: each has sessions of its own.
type Area uint8

// The areas of a service.
const (
	Staff  Area = iota // people with a role
	Tenant             // /portal on the rental service
	Buyer              // /my on the store
	Public             // no session, the address is enough: /request/<token>
)

// Roles from the least.
const (
	Viewer = "viewer"
	Member = "member"
	Admin  = "admin"
	Owner  = "owner" // an admin of every service that is switched on; no role that is given
)

// Page is one page of a service.
type Page struct {
	Path  string // "/work-orders/:id"; a fixed part comes before a named one
	Title string // the browser's title, "Work orders"; a view may give a better one (Titled)
	Menu  string // its word in the service's menu; "" keeps it out
	Key   string // the letter that leads there after g; "" is none
	Role  string // the least role; "" is viewer
	Area  Area
	Plain bool // drawn without the frame: letters, labels, receipts that are printed
	Marks bool // a list whose marks are kept while one turns its pages: it is posted to then

	Setting bool // the page of the settings leads there

	load func(f *schema.Form) schema.Handler
	view func(v any) templ.Component
	csv  func(v any) Sheet
}

// Spec tells a page whose value is a T.
type Spec[T any] struct {
	Path, Title, Menu, Key, Role string

	Area    Area
	Plain   bool
	Marks   bool
	Setting bool

	// Load binds the page's query and path, with the binders that operations use, and
	// gives what reads the value: calls of the service's exported functions. A name of
	// the path is bound with InPath. Parameters that it does not bind are ignored.
	Load func(f *schema.Form) Loader[T]
	// View is markup and nothing else: no query, no rule, no sum.
	View func(v T) templ.Component
	// CSV is the list as a file, for ?format=csv; Load is called with the Paging's All
	// then. Nil is a page without one.
	CSV func(v T) Sheet
}

// Loader reads a page's value for a caller.
type Loader[T any] func(ctx context.Context, who db.Caller) (T, error)

// Sheet is a list as a CSV file.
type Sheet struct {
	Name    string // of the file, without ".csv"
	Columns []string
	Rows    [][]string
}

// SheetOf is a list as a CSV file, with the cells of each row.
func SheetOf[T any](name string, columns []string, rows []T, cells func(T) []string) Sheet {
	sheet := Sheet{Name: name, Columns: columns, Rows: make([][]string, len(rows))}
	for i, r := range rows {
		sheet.Rows[i] = cells(r)
	}
	return sheet
}

// New makes the page that s tells.
func New[T any](s Spec[T]) Page {
	p := Page{Path: s.Path, Title: s.Title, Menu: s.Menu, Key: s.Key, Role: s.Role, Area: s.Area, Plain: s.Plain,
		Marks: s.Marks, Setting: s.Setting}
	bind, view, sheet := s.Load, s.View, s.CSV
	p.load = func(f *schema.Form) schema.Handler {
		load := bind(f)
		return func(ctx context.Context, who db.Caller) (any, error) { return load(ctx, who) }
	}
	p.view = func(v any) templ.Component { return view(v.(T)) }
	if sheet != nil {
		p.csv = func(v any) Sheet { return sheet(v.(T)) }
	}
	return p
}

// Decode binds the page's arguments out of in; a refusal names each that is wrong.
func (p Page) Decode(in schema.Input) (schema.Handler, error) {
	return schema.Op{Bind: p.load}.Decode(in)
}

// Args are the page's arguments, its filters among them.
func (p Page) Args() []schema.Arg { return schema.Op{Bind: p.load}.Args(schema.Page) }

// Draw is the markup of a value that the page's handler gave.
func (p Page) Draw(v any) templ.Component { return p.view(v) }

// HasCSV reports whether the list can be had as a file.
func (p Page) HasCSV() bool { return p.csv != nil }

// Sheet is the value as a CSV file.
func (p Page) Sheet(v any) Sheet { return p.csv(v) }

// Titled is a value that gives its page's title: "Work order 12".
type Titled interface{ PageTitle() string }

// Noticed is a value that is to be read with a caveat, "" for none: it stands above the page.
type Noticed interface{ Notice() string }

// Audited is a value of a record's page whose audit trail is kept under another name than
// the page's address: customers under their e-mail.
type Audited interface{ AuditSubject() string }

// Mailed is a value of a record's page whose messages are listed under other names than the trail's.
type Mailed interface{ MailSubjects() []string }

// Awaited is a value that is not ready: the browser asks for the page at Again in two
// seconds, "" for never.
type Awaited interface{ Again() string }

// Confidential is a value whose page shows a secret, such as a license key: the page is
// neither stored nor packed.
type Confidential interface{ ShowsSecret() bool }

// Elsewhere is the error by which a loader leads to another page of the service, as an
// exact number typed into the search does.
type Elsewhere struct{ Path string } //nolint:errname // it is a way, that travels as an error

func (e *Elsewhere) Error() string { return "see " + e.Path }

// PageSize is how many rows a list shows.
const PageSize = 50

// printFormat asks for a list on one page, to be printed; it has mostPrinted rows at most.
const (
	printFormat = "print"
	mostPrinted = 5000
)

// Paging is a list's search, order and place; a loader binds it and passes it on.
type Paging struct {
	Q     string // what was searched for
	Sort  string // a column's name, or "-" and it for the other direction; "" is the list's own order
	After string // next of the page before
	Limit int64  // rows to give at most; very large for a CSV file
	All   bool   // the whole list is wanted, for a CSV file or to be printed
}

// Bind binds q, sort (one of sorts, or - and one), after and format.
func (p *Paging) Bind(f *schema.Form, sorts ...string) {
	f.Text(&p.Q, "q", "What to search for", schema.Most(200), schema.Label("Search"))
	var both []string
	for _, s := range sorts {
		both = append(both, s, "-"+s)
	}
	if len(both) > 0 {
		f.Enum(&p.Sort, "sort", "The column to sort by", both)
	}
	f.Text(&p.After, "after", "Where the page before ended", schema.Most(500))
	var format string
	f.Enum(&format, "format", "csv for a file of all that is filtered, print for a page of it",
		[]string{"csv", printFormat})
	p.Limit = PageSize
	switch p.All = format != ""; format {
	case "csv":
		p.Limit = 1 << 40
	case printFormat:
		p.Limit = mostPrinted
	}
}

// Column is Sort without its direction.
func (p *Paging) Column() (name string, falling bool) {
	if len(p.Sort) > 1 && p.Sort[0] == '-' {
		return p.Sort[1:], true
	}
	return p.Sort, false
}

// File is a page's value that is no page: it is sent as it is, a photo to look at or a
// file to keep.
type File struct {
	Name string // of a file to keep; "" is looked at in place
	Kind string // its media type
	Body []byte

	Write func(w io.Writer) error // writes a body that may be too large for memory, in place of Body
}

// Once draws what an operation shows once, such as codes as cards to print: T is its
// answer.
type Once struct {
	Op   string
	view func(answer any) templ.Component
}

// OnceOf reports how an operation's answer is shown once.
func OnceOf[T any](op string, view func(T) templ.Component) Once {
	return Once{Op: op, view: func(answer any) templ.Component {
		v, ok := answer.(T)
		if !ok {
			return nil
		}
		return view(v)
	}}
}

// Draw is the markup of the answer; nil when it is of another type.
func (o Once) Draw(answer any) templ.Component { return o.view(answer) }
