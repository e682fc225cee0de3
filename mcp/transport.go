package mcp

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

const defaultBody = 1 << 20

// checkOrigin refuses a page of a foreign site in the user's browser. Programs send
// no Origin and are not concerned.
func (e *Endpoint) checkOrigin(r *http.Request) error {
	for _, origin := range r.Header.Values("Origin") {
		if !e.listed(origin) && !ownOrigin(r, origin) {
			return fault.Forbiddenf("the origin %s may not call this endpoint; serve --mcp-origin lists further ones", schema.Quote(origin))
		}
	}
	return nil
}

func (e *Endpoint) listed(origin string) bool {
	for _, o := range e.o.Origins {
		if strings.EqualFold(strings.TrimSuffix(o, "/"), origin) {
			return true
		}
	}
	return false
}

// ownOrigin tells whether the page comes from this very server. That its origin and
// the Host agree is not enough for a name over plain HTTP: whoever owns a name can
// point it at this machine (DNS rebinding). An address, localhost, or a name that
// the browser has checked against our certificate cannot be taken over so.
func ownOrigin(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || !strings.EqualFold(u.Host, r.Host) || u.Host == "" {
		return false
	}
	if r.TLS != nil {
		return u.Scheme == "https"
	}
	if u.Scheme != "http" && u.Scheme != "https" { // https: behind a proxy
		return false
	}
	_, err = netip.ParseAddr(u.Hostname())
	return err == nil || strings.EqualFold(u.Hostname(), "localhost")
}

func checkMedia(contentType string) error {
	if contentType == "application/json" {
		return nil
	}
	media, params, err := mime.ParseMediaType(contentType)
	charset, given := params["charset"]
	if err != nil || media != "application/json" || given && !strings.EqualFold(charset, "utf-8") {
		return fault.New(fault.Media, "Content-Type %s is not taken; send Content-Type: application/json (UTF-8)", schema.Quote(contentType))
	}
	return nil
}

// readBody reads the whole body.
func readBody(r *http.Request, most int64) ([]byte, error) {
	if r.ContentLength > most {
		return nil, tooLarge(r, most)
	}
	body, err := strict.Take(http.MaxBytesReader(nil, r.Body, most), r.ContentLength)
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge(r, most)
	case err != nil:
		return nil, fault.Malformedf("the body could not be read to its end%s", cutShort(err))
	}
	return body, nil
}

// tooLarge refuses a body for its size. Many clients send all of it before they look
// for an answer, and would meet a closed connection in its place; so a body that is
// not far too large is read and thrown away. A client that asked first has sent none.
func tooLarge(r *http.Request, most int64) error {
	const patience = 16 << 20
	if r.Header.Get("Expect") == "" && r.ContentLength <= most+patience {
		_, _ = io.CopyN(io.Discard, r.Body, most+patience) // the answer is the same if it fails
	}
	return fault.New(fault.TooLarge, "the body is larger than the %d bytes that are allowed here", most)
}

func cutShort(err error) string {
	var slow net.Error
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ": it is shorter than announced"
	case errors.As(err, &slow) && slow.Timeout():
		return " in time"
	}
	return ""
}

// statuses are those of the refusals that come before any message.
var statuses = map[fault.Kind]int{
	fault.Internal:     http.StatusInternalServerError,
	fault.Unauthorized: http.StatusUnauthorized,
	fault.Method:       http.StatusMethodNotAllowed,
	fault.Forbidden:    http.StatusForbidden,
	fault.Media:        http.StatusUnsupportedMediaType,
	fault.TooLarge:     http.StatusRequestEntityTooLarge,
	fault.Malformed:    http.StatusBadRequest,
	fault.Limited:      http.StatusTooManyRequests,
	fault.Unavailable:  http.StatusServiceUnavailable,
}

// refuse answers in the house's form: {"error": CODE, "detail": TEXT}. What is no
// refusal is internal: logged in full, told to nobody.
func (e *Endpoint) refuse(w http.ResponseWriter, err error) {
	requestID := w.Header().Get("X-Request-Id")
	f, ok := fault.As(err)
	if !ok || statuses[f.Kind] == 0 {
		e.log("", requestID, err)
		f = fault.New(fault.Internal, "%s", hidden(requestID))
	} else if f.Kind == fault.Unavailable {
		e.log("", requestID, err)
	}
	head := w.Header()
	switch f.Kind {
	case fault.Unauthorized:
		head.Set("WWW-Authenticate", "Bearer")
	case fault.Limited:
		head.Set("Retry-After", strconv.Itoa(max(1, int((f.Retry+time.Second-1)/time.Second))))
	case fault.Malformed, fault.TooLarge:
		head.Set("Connection", "close") // what is left of the body is not worth reading
	}
	b := append([]byte(`{"error":`), quoted(f.Word())...)
	b = append(append(b, `,"detail":`...), quoted(f.Detail)...)
	send(w, statuses[f.Kind], append(b, '}'))
}

func send(w http.ResponseWriter, status int, body []byte) {
	head := w.Header()
	head["Content-Type"] = contentType
	head["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // #nosec G705 -- it is JSON, said to be, and nosniff is set; a client that has gone is told nothing more
}

var contentType = []string{"application/json"}

// hidden is what a caller learns of an internal error.
func hidden(requestID string) string {
	if requestID == "" {
		return "internal error: the program failed and nothing more can be told; the log has it"
	}
	return "internal error, request " + requestID + ": the program failed and nothing more can be told; the log has it under that id"
}

// log tells the log what the caller is not told.
func (e *Endpoint) log(tool, requestID string, err error) {
	text := "agent endpoint of " + e.service
	if tool != "" {
		text += ", tool " + tool
	}
	if requestID != "" {
		text += ", request " + requestID
	}
	if f, ok := fault.As(err); ok && f.Cause != nil {
		err = fmt.Errorf("%w (%w)", err, f.Cause)
	}
	e.o.Log(fmt.Errorf("%s: %w", text, err))
}

// panicked is a panic on its way to the log.
type panicked struct {
	cause any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.cause, p.stack) }

// quoted is s as a JSON string, whatever bytes it holds.
func quoted(s string) []byte {
	b, err := strict.Marshal(s)
	if err != nil {
		return []byte(`""`)
	}
	return b
}
