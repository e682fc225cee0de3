// Package fault has one error type for every refusal that a caller caused and can correct. Any error that is not a
// *fault.Error is internal: it is logged in full and shown to no client.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is the category of a refusal. rest maps kinds to statuses; mcp turns every kind into a result that the agent can
// read.
type Kind uint8

// The kinds, in the order in which a request is checked.
const (
	Internal     Kind = iota // never made by New: Of's result for any other error
	Unauthorized             // no valid credential
	NotFound                 // no such path, no such record
	Method                   // the path exists, the method does not
	Forbidden                // the credential is valid, but may not do this
	Media                    // the body's media type
	TooLarge                 // the body's size
	Malformed                // the body is not valid JSON or protocol
	Invalid                  // well-formed but wrong: a field, a check, an illegal move
	Conflict                 // right by itself, but the record's state forbids it
	Gone                     // it existed and has ended for good: an invitation
	Limited                  // too many failures from one address
	Unavailable              // disk full, database locked; nothing was written in part
)

// codes are the words in error bodies, one for each kind.
var codes = [...]string{
	Internal: "internal", Unauthorized: "unauthorized", NotFound: "not_found",
	Method: "method_not_allowed", Forbidden: "forbidden", Media: "unsupported_media_type",
	TooLarge: "payload_too_large", Malformed: "bad_request", Invalid: "validation",
	Conflict: "conflict", Gone: "gone", Limited: "rate_limited", Unavailable: "unavailable",
}

// String is the kind's code in an error body.
func (k Kind) String() string { return codes[k] }

// Error is a refusal. Detail is a sentence for a person or an agent: what was refused, by name, and what is allowed.
type Error struct {
	Kind   Kind
	Code   string         // replaces the kind's code ("activation_limit"); "": the kind's
	Detail string         // never empty, never secret or internal
	Fields []Field        // the refused fields, each with its own text; none for the whole
	More   map[string]any // further members of the error body ("limit": 3)
	Retry  time.Duration  // for Limited and Unavailable: when to retry
	Cause  error          // for the log only

	format string // of Detail, if it has amounts
	args   []any
}

// Field is a refused field with its text.
type Field struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`

	Columns []Column `json:"-"` // of a file: what each means is to be said
}

// Column is a column of a file, and what it probably means; "" if nothing is known.
type Column struct{ Name, Means string }

func (e *Error) Error() string { return e.Detail }

// Unwrap returns the cause, which is only logged.
func (e *Error) Unwrap() error { return e.Cause }

// Word is the code in the error body.
func (e *Error) Word() string {
	if e.Code != "" {
		return e.Code
	}
	return e.Kind.String()
}

// New is a refusal of the kind with a detail made as by fmt.Sprintf.
func New(k Kind, format string, args ...any) *Error {
	e := &Error{Kind: k, Detail: fmt.Sprintf(format, args...)}
	if slices.ContainsFunc(args, isAmount) {
		e.format, e.args = format, args
	}
	return e
}

// Fieldf refuses a well-formed but wrong field. The text is complete: it names the field.
func Fieldf(field, format string, args ...any) *Error { return Invalidf(format, args...).At(field) }

// At sets the fields of the refusal.
func (e *Error) At(fields ...string) *Error {
	for _, f := range fields {
		e.Fields = append(e.Fields, Field{Field: f, Detail: e.Detail})
	}
	return e
}

// Invalidf refuses well-formed but wrong data.
func Invalidf(format string, args ...any) *Error { return New(Invalid, format, args...) }

// NotFoundf refuses because a record does not exist.
func NotFoundf(format string, args ...any) *Error { return New(NotFound, format, args...) }

// Conflictf refuses because of the record's state.
func Conflictf(format string, args ...any) *Error { return New(Conflict, format, args...) }

// Forbiddenf refuses a valid credential that may not do this.
func Forbiddenf(format string, args ...any) *Error { return New(Forbidden, format, args...) }

// Malformedf refuses an unreadable body.
func Malformedf(format string, args ...any) *Error { return New(Malformed, format, args...) }

// Unavailablef refuses because the machine cannot store or read at present.
func Unavailablef(cause error, format string, args ...any) *Error {
	e := New(Unavailable, format, args...)
	e.Cause = cause
	return e
}

// As returns the refusal inside err, if there is one.
func As(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// Is reports whether err is a refusal of the kind.
func Is(err error, k Kind) bool {
	e, ok := As(err)
	return ok && e.Kind == k
}

// Together joins the refusals of one field for several records, each under its record's name.
func Together(field string, names []string, all []*Error) *Error {
	e := *all[0]
	e.format, e.args, e.Fields, e.Detail = "", nil, nil, ""
	for i, one := range all {
		form, args := one.format, one.args
		if form == "" {
			form, args = "%s", []any{one.Detail}
		}
		if i > 0 {
			e.format += "; "
		}
		e.format, e.args = e.format+"%s: "+strings.TrimPrefix(form, field+": "), append(append(e.args, names[i]), args...)
	}
	e.Detail = fmt.Sprintf(e.format, e.args...)
	e.Fields = []Field{{Field: field, Detail: e.Detail}}
	return &e
}
