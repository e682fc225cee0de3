package page

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Frame is what a page's components know about their request. Package screen puts it into the context.
type Frame struct {
	Service  string // "rental"
	Who      db.Caller
	Area     Area
	Path     string     // of the address, as requested
	Pattern  string     // of the page: "/leases/:id"
	Query    url.Values // of the address
	Filters  []schema.Arg
	Currency string // the shop's, "EUR"
	Shop     Shop
	Today    exact.Day
	Now      exact.Instant
	Zone     *time.Location
	Base     string // the service's public address, without a trailing slash
	Keys     bool   // keyboard shortcuts are on
	Mailing  bool   // mail is set up

	Op      func(name string) (schema.Op, bool)                        // an operation of this area by its name
	Choices func(a schema.Arg, f schema.Find) ([]schema.Choice, error) // the choices of a field
	NewKey  func() string                                              // a fresh idempotency key
	Years   bool                                                       // dates have their year, as on prints
	Notice  string                                                     // a warning above the page (Noticed)

	Turns   bool                       // the page receives the marks of the previous one
	Marks   *Marks                     // of the previous page, or of refused rows
	listed  map[string][]schema.Choice // choices read so far, by source and field
	marking *Marking                   // the drawn form of marked rows
	onPage  map[string]bool            // rows whose boxes were drawn
	// rows of a Bulk form: they have keys, one is of the refused form, the one being drawn is
	rowsKeyed, rowsSent, rowSent bool
	cellsWrong                   int    // drawn cells that were refused
	counting                     string // the operation of a count's boxes: who turns the page saves them

	Wrong   map[string]string // refused filters, by name
	Sent    *Sent             // a refused form that is shown again
	Missing []string          // operations of drawn controls that do not exist
}

// Shop is the head of prints. Logo is the address of its picture, "" if there is none.
type Shop struct{ Name, Address, Tax, Bank, Logo string }

type frameKey struct{}

// With puts the frame into the context.
func With(ctx context.Context, f *Frame) context.Context {
	return context.WithValue(ctx, frameKey{}, f)
}

// From is the context's frame; an empty one if there is none.
func From(ctx context.Context) *Frame {
	if f, ok := ctx.Value(frameKey{}).(*Frame); ok {
		return f
	}
	return &Frame{Currency: "USD", Zone: time.UTC}
}

// May reports whether the caller may do the operation: a viewer sees no control that writes.
func May(ctx context.Context, op string) bool {
	_, ok := From(ctx).may(op)
	return ok
}

func (f *Frame) may(name string) (schema.Op, bool) {
	if f.Op == nil {
		return schema.Op{}, false
	}
	op, ok := f.Op(name)
	if !ok {
		f.Missing = append(f.Missing, name)
		return op, false
	}
	if f.Area != Staff {
		return op, true
	}
	switch {
	case op.Personal:
		return op, true
	case op.Admin && f.Who.Role != Admin:
		return op, false
	case op.Writes && f.Who.Role != Admin && f.Who.Role != Member:
		return op, false
	}
	return op, true
}

// Is reports whether the caller has at least the role.
func Is(ctx context.Context, role string) bool { return From(ctx).is(role) }

func (f *Frame) is(role string) bool {
	order := []string{Viewer, Member, Admin}
	return slices.Index(order, f.Who.Role) >= slices.Index(order, role)
}

// DoPath is the address that does an operation.
func (f *Frame) DoPath(op string) string {
	switch f.Area {
	case Tenant:
		return "/portal/do/" + op
	case Buyer:
		return "/my/do/" + op
	case Public:
		return f.Path
	}
	return "/do/" + op
}

// record is the address of the record of a page such as /leases/12/statement, "" on others. A tenant's papers lead to
// the first page.
func (f *Frame) record() string {
	switch at := strings.LastIndexByte(f.Path, '/'); {
	case strings.Count(f.Path, "/") != 3:
		return ""
	case f.Area == Staff:
		return f.Path[:at]
	case f.Area == Tenant:
		return "/portal"
	}
	return ""
}

// Filtered reports whether the page's address selects, sorts or turns pages: a list may be empty only by that.
func Filtered(ctx context.Context) bool { return len(From(ctx).Query) > 0 }

// Here is the address of the drawn page, with its query.
func (f *Frame) Here() string {
	if len(f.Query) == 0 {
		return f.Path
	}
	return f.Path + "?" + f.Query.Encode()
}

// with is the page's address with one parameter changed, or removed by "". The list starts at its first page.
func (f *Frame) with(name, value string) string {
	q := url.Values{}
	for k, v := range f.Query {
		if k != "after" && k != "format" && k != name && strings.Join(v, "") != "" {
			q[k] = v
		}
	}
	if value != "" {
		q.Set(name, value)
	}
	if len(q) == 0 {
		return f.Path
	}
	return f.Path + "?" + q.Encode()
}

// WithQuery is the page's address with one parameter changed, or removed by "".
func WithQuery(ctx context.Context, name, value string) string { return From(ctx).with(name, value) }

// Num is a whole number as text, for a field.
func Num[T ~int | ~int64 | ~int32](n T) string { return strconv.FormatInt(int64(n), 10) }

// Path joins the parts of a path, each escaped: Path("skus", sku).
func Path(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(p))
	}
	return b.String()
}
