// Package page has Page and the components from which a service's pages are made. A page is declared beside its
// service; package screen routes it, checks session and role, and adds the frame. Nothing here reads the database or a
// request: components find what they need in the Frame.
package page

import (
	"context"
	"encoding/json"
	"io"

	"github.com/a-h/templ"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// Area is the kind of people who see a page: each has its own sessions.
type Area uint8

// The areas of a service.
const (
	Staff  Area = iota // people with a role
	Tenant             // /portal on the rental service
	Buyer              // /my on the store
	Public             // no session, the address suffices: /request/<token>
)

// Roles in rising order.
const (
	Viewer = "viewer"
	Member = "member"
	Admin  = "admin"
	Owner  = "owner" // an admin of every service that is turned on; not an assignable role
)

// Page is one page of a service.
type Page struct {
	Path  string // "/work-orders/:id"; a fixed part precedes a named one
	Title string // the browser's title, "Work orders"; a view may have a better one (Titled)
	Menu  string // its word in the service's menu; "": not in it
	Key   string // the shortcut's letter after g; "" is none
	Role  string // the least role; default: viewer
	Area  Area
	Plain bool // drawn without the frame: printed letters, labels, receipts
	Marks bool // a list whose marks survive paging: it receives POST then

	Setting bool // linked from the settings page

	load func(f *schema.Form) schema.Handler
	view func(v any) templ.Component
	csv  func(v any) Sheet
}

// Spec declares a page whose value is a T.
type Spec[T any] struct {
	Path, Title, Menu, Key, Role string // these and the next four: as in Page

	Area    Area
	Plain   bool
	Marks   bool
	Setting bool

	// Load binds the page's query and path, with the binders of operations, and returns the function that reads the value
	// by calling the service's exported functions. A name in the path is bound with InPath. Unbound parameters are
	// ignored.
	Load func(f *schema.Form) Loader[T]
	// View is markup only: no query, no rule, no sum.
	View func(v T) templ.Component
	// CSV is the list as a file, for ?format=csv, with Paging.All set; nil: none.
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

// SheetBy is a list as a CSV file whose columns are named fields of its rows' JSON.
func SheetBy[T any](name string, rows []T, columns ...string) Sheet {
	return SheetOf(name, columns, rows, func(row T) []string {
		cells, fields := make([]string, len(columns)), map[string]json.RawMessage{}
		text, _ := json.Marshal(row) // an answer's row, which can be written
		_ = json.Unmarshal(text, &fields)
		for i, column := range columns {
			if json.Unmarshal(fields[column], &cells[i]) != nil {
				cells[i] = string(fields[column]) // a number
			}
		}
		return cells
	})
}

// New makes the page of s.
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

// Decode binds the page's arguments from in; a refusal names each wrong one.
func (p Page) Decode(in schema.Input) (schema.Handler, error) {
	return schema.Op{Bind: p.load}.Decode(in)
}

// Args are the page's arguments, including its filters.
func (p Page) Args() []schema.Arg { return schema.Op{Bind: p.load}.Args(schema.Page) }

// Draw is the markup of a value of the page's loader.
func (p Page) Draw(v any) templ.Component { return p.view(v) }

// HasCSV reports whether the list is available as a file.
func (p Page) HasCSV() bool { return p.csv != nil }

// Sheet is the value as a CSV file.
func (p Page) Sheet(v any) Sheet { return p.csv(v) }

// Titled is a value with its page's title: "Work order 12".
type Titled interface{ PageTitle() string }

// Noticed is a value with a warning above the page, "" for none.
type Noticed interface{ Notice() string }

// Audited is a value of a record's page whose audit trail has another name than the page's address: customers under
// their e-mail.
type Audited interface{ AuditSubject() string }

// Mailed is a value of a record's page whose messages have other subjects than the audit trail.
type Mailed interface{ MailSubjects() []string }

// Awaited is a value that is not ready: the browser requests the page at Again in two seconds, "" for never.
type Awaited interface{ Again() string }

// Confidential is a value whose page shows a secret, such as a license key: the page is neither stored nor compressed.
type Confidential interface{ ShowsSecret() bool }

// Elsewhere is a loader's error that redirects to another page of the service, for example when an exact number was
// searched for.
type Elsewhere struct{ Path string } //nolint:errname // it is a way, that travels as an error

func (e *Elsewhere) Error() string { return "see " + e.Path }

// PageSize is the number of rows on a page of a list.
const PageSize = 50

// printFormat requests a list on one page, for printing, with at most mostPrinted rows.
const (
	printFormat = "print"
	mostPrinted = 5000
)

// Paging is a list's search, order and position; a loader binds it and passes it on.
type Paging struct {
	Q     string // the search text
	Sort  string // a column's name, with "-" for the other direction; "" is the list's own order
	After string // next of the previous page
	Limit int64  // most rows to return; very large for a CSV file
	All   bool   // the whole list, for a CSV file or for printing
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
	f.Text(&p.After, "after", "Where the previous page ended", schema.Most(500))
	var format string
	f.Enum(&format, "format", "csv for a file of every matching row, print for a page to print",
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

// File is a page's value that is sent unchanged: a photo to show or a file to download.
type File struct {
	Name string // of a download; "": shown in place
	Kind string // its media type
	Body []byte

	Write func(w io.Writer) error // writes a body that may be too large for memory, instead of Body
}

// Once draws what an operation shows only once, such as codes as cards to print: T is its answer.
type Once struct {
	Op   string
	view func(answer any) templ.Component
}

// OnceOf returns how an operation's answer is shown once.
func OnceOf[T any](op string, view func(T) templ.Component) Once {
	return Once{Op: op, view: func(answer any) templ.Component {
		v, ok := answer.(T)
		if !ok {
			return nil
		}
		return view(v)
	}}
}

// Draw is the markup of the answer; nil if it is of another type.
func (o Once) Draw(answer any) templ.Component { return o.view(answer) }

// Always is the Load of a page without arguments.
func Always[T any](read Loader[T]) func(*schema.Form) Loader[T] {
	return func(*schema.Form) Loader[T] { return read }
}

// ByID is the Load of a record's page, whose path has the record's :id; name and about are those of the argument.
func ByID[T any](name, about string, read func(context.Context, db.Caller, int64) (T, error)) func(
	*schema.Form) Loader[T] {
	return func(f *schema.Form) Loader[T] {
		var id int64
		f.ID(&id, name, about, schema.InPath("id"))
		return func(ctx context.Context, who db.Caller) (T, error) { return read(ctx, who, id) }
	}
}
