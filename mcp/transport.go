package mcp

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/fault"
	"quartermaster/schema/wire"
)

const defaultBody = 1 << 20

// checkOrigin refuses a foreign site's page in the user's browser. Programs send no Origin.
func (e *Endpoint) checkOrigin(r *http.Request) error {
	for _, origin := range r.Header.Values("Origin") {
		if !e.listed(origin) && !ownOrigin(r, origin) {
			return fault.Forbiddenf("the origin %s may not call this endpoint; serve --mcp-origin lists further ones",
				schema.Quote(origin))
		}
	}
	return nil
}

func (e *Endpoint) listed(origin string) bool {
	return slices.ContainsFunc(e.o.Origins, func(o string) bool {
		return strings.EqualFold(strings.TrimSuffix(o, "/"), origin)
	})
}

// ownOrigin reports whether the page comes from this server. For a name over plain HTTP, equal origin and Host are not
// enough: the name's owner can point it at this machine (DNS rebinding). An address, localhost, or a name in our
// verified certificate cannot be taken over so.
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

// refuse refuses a request before any message. Other errors are internal: logged in full, and not shown.
func (e *Endpoint) refuse(w http.ResponseWriter, err error) {
	requestID := w.Header().Get("X-Request-Id")
	f, ok := fault.As(err)
	if !ok || f.Kind == fault.Internal {
		e.log("", requestID, err)
		f = fault.New(fault.Internal, "%s", hidden(requestID))
	} else if f.Kind == fault.Unavailable {
		e.log("", requestID, err)
	}
	wire.Refuse(w, f)
}

// hidden is the caller's text for an internal error.
func hidden(requestID string) string {
	if requestID == "" {
		return "internal error: the program failed; the log has the details"
	}
	return "internal error, request " + requestID + ": the program failed; the log has the details under that id"
}

// log logs what the caller does not see.
func (e *Endpoint) log(tool, requestID string, err error) {
	text := "agent endpoint of " + e.service.Name
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
