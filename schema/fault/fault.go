// Package fault is what may be refused: one error type for every refusal that a
// caller caused and can mend. Anything that is not a *fault.Error is internal: it
// is logged in full and shown to no client.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind says which sort of refusal it is. rest maps kinds to statuses; mcp turns
// every kind into a result that the agent can read.
type Kind uint8

// The kinds, in the order in which a request meets them.
const (
	Internal     Kind = iota // never made by New: what Of gives for any other error
	Unauthorized             // no valid credential
	NotFound                 // no such path, no such record
	Method                   // the path is there, the method is not
	Forbidden                // the credential is good, but may not do this
	Media                    // the body's media type
	TooLarge                 // the body's size
	Malformed                // the body is not what JSON or the protocol allows
	Invalid                  // well-formed but wrong: a field, a guard, an illegal move
	Conflict                 // right by itself, but the record's state is against it
	Gone                     // it was there, and has ended for good: an invitation
	Limited                  // too many failures from one address
	Unavailable              // disk full, database locked out; nothing was half-written
)

// codes are the words of the error body, one a kind.
var codes = [...]string{
	Internal: "internal", Unauthorized: "unauthorized", NotFound: "not_found",
	Method: "method_not_allowed", Forbidden: "forbidden", Media: "unsupported_media_type",
	TooLarge: "payload_too_large", Malformed: "bad_request", Invalid: "validation",
	Conflict: "conflict", Gone: "gone", Limited: "rate_limited", Unavailable: "unavailable",
}

// String is the kind's code as it stands in an error body.
func (k Kind) String() string { return codes[k] }

// Error is a refusal. Detail is a sentence for a person or an agent: what was
// refused, by name, and what is allowed.
type Error struct {
	Kind   Kind
	Code   string         // in place of the kind's code ("activation_limit"); "" is the kind's
	Detail string         // never empty, never a secret, never an internal
	Fields []Field        // the fields that it means, each with its own text; none when it is about the whole
	More   map[string]any // further members of the error body ("limit": 3)
	Retry  time.Duration  // for Limited and Unavailable: when to come back
	Cause  error          // for the log only

	format string // of Detail, where it holds amounts
	args   []any
}

// Field is what is wrong with one field.
type Field struct {
	Field  string `json:"field"`
	Detail string `json:"detail"`
}

func (e *Error) Error() string { return e.Detail }

// Unwrap returns the cause, which only the log sees.
func (e *Error) Unwrap() error { return e.Cause }

// Word is the code that the error body carries.
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

// Fieldf refuses what is well-formed but wrong with one field. The text stands by
// itself: it names the field.
func Fieldf(field, format string, args ...any) *Error { return Invalidf(format, args...).At(field) }

// At says which fields the refusal means.
func (e *Error) At(fields ...string) *Error {
	for _, f := range fields {
		e.Fields = append(e.Fields, Field{Field: f, Detail: e.Detail})
	}
	return e
}

// Invalidf refuses what is well-formed but wrong.
func Invalidf(format string, args ...any) *Error { return New(Invalid, format, args...) }

// NotFoundf refuses for want of a record.
func NotFoundf(format string, args ...any) *Error { return New(NotFound, format, args...) }

// Conflictf refuses because of the record's state.
func Conflictf(format string, args ...any) *Error { return New(Conflict, format, args...) }

// Forbiddenf refuses a good credential that may not do this.
func Forbiddenf(format string, args ...any) *Error { return New(Forbidden, format, args...) }

// Malformedf refuses a body that cannot be read at all.
func Malformedf(format string, args ...any) *Error { return New(Malformed, format, args...) }

// Unavailablef refuses because the machine cannot store or read just now.
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

// Together is one refusal of a field for several, each under the name of what it is about.
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
