package screen

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/wire"
)

// refusalView is the page of an error.
type refusalView struct {
	Heading, Text  string
	Lines, Seen    []string
	Search         bool
	Back, BackText string
}

var headings = map[fault.Kind]string{
	fault.Internal: "The program failed", fault.Unauthorized: "Sign in", fault.NotFound: "Not found",
	fault.Method: "Not found", fault.Forbidden: "Not allowed", fault.Media: "The form could not be read",
	fault.TooLarge: "Too large", fault.Malformed: "The form could not be read", fault.Invalid: "A filter is wrong",
	fault.Conflict: "Not possible now", fault.Limited: "Too many attempts", fault.Unavailable: "Nothing can be saved " +
		"right now",
	fault.Gone: "This link has ended",
}

// faultOf is err's refusal; an internal error shows only the request's id.
func (x *exchange) faultOf(err error) *fault.Error {
	if e, ok := fault.As(err); ok {
		if e.Kind == fault.Unavailable {
			x.s.Log.Error().AnErr("cause", e.Cause).Str("service", x.s.Service.Name).Str("request_id", x.rec.ID).Msg(e.Detail)
		}
		return e
	}
	var forged *forgedError
	if errors.As(err, &forged) {
		return fault.New(fault.Forbidden, "%s", err.Error())
	}
	x.s.Log.Error().Err(err).Str("service", x.s.Service.Name).Str("request_id", x.rec.ID).Msg("internal error")
	return fault.New(fault.Internal, "the program failed; the log has it under request %s", x.rec.ID)
}

// refuse answers with the page of an error, or with JSON for clients that do not accept pages.
func (x *exchange) refuse(err error) {
	if x.rec.Status != 0 {
		return
	}
	e := x.faultOf(err)
	x.retry(e)
	if !wantsPage(x.r) {
		x.sendJSON(e)
		return
	}
	e = schema.PlainBy(nil, e)
	v := refusalView{Heading: headings[e.Kind], Text: sentence(e.Detail), Back: "/", BackText: "Go to the first page"}
	var forged *forgedError
	signedIn := x.visitor != nil && x.visitor.caller.Role != "" && x.visitor.area == page.Staff
	switch {
	case errors.As(err, &forged):
		v.Heading, v.Seen, v.Lines = "This was refused", forged.seen, []string{x.remedy()}
	case e.Kind == fault.NotFound:
		v.Search = signedIn
		if x.route != nil {
			v.Heading = "Not found"
		}
	case e.Kind == fault.Forbidden && x.visitor != nil && x.visitor.caller.Role == "" && x.visitor.area == page.Staff:
		for _, p := range x.s.Places {
			if x.visitor.session.Roles[p.Name] != "" {
				v.Back, v.BackText = p.URL+"/", "Go to "+serviceWord(p.Name)
				break
			}
		}
	case e.Kind == fault.Conflict && x.r.URL.Path == "/mail" && signedIn && x.visitor.caller.Role == "admin":
		v.Back, v.BackText = "/settings/mail", "Set up mail"
	case e.Kind == fault.Invalid:
		v.Back, v.BackText = x.r.URL.EscapedPath(), "Show all, without filters"
		for _, f := range e.Fields {
			v.Lines = append(v.Lines, f.Detail)
		}
		if len(v.Lines) == 1 {
			v.Lines = nil
		}
	}
	if x.r.Method == http.MethodPost && (e.Kind == fault.Limited || e.Kind == fault.Unavailable) {
		v.Lines = append(v.Lines, "Nothing was written. Go back in your browser and send the form again; it takes effect "+
			"only once.")
	}
	if showErr := x.show(wire.Status(e.Kind), v.Heading, false, x.frame(), refusal(v)); showErr != nil {
		x.s.Log.Error().Err(showErr).Str("request_id", x.rec.ID).Msg("the page of an error could not be drawn")
		x.sendJSON(e)
	}
}

// retry says when to retry what may succeed later.
func (x *exchange) retry(e *fault.Error) {
	if e.Kind != fault.Limited && e.Kind != fault.Unavailable {
		return
	}
	x.w.Header().Set("Retry-After", strconv.Itoa(max(1, int((e.Retry+time.Second-1)/time.Second))))
}

// plainRefusal answers in one line.
func (s *Screens) plainRefusal(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
