package rest

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"quartermaster/schema/db"
)

// Record is the ResponseWriter of a request, and notes its outcome.
type Record struct {
	http.ResponseWriter
	ID, Route     string
	Status, Bytes int
	began         time.Time
	r             *http.Request
}

// NewRecord begins an answer with the headers of all; the request's address becomes the client's.
func NewRecord(w http.ResponseWriter, r *http.Request, proxies []netip.Prefix) *Record {
	rec := &Record{ResponseWriter: w, ID: requestID(r), Route: "none", began: time.Now(), r: r}
	r.RemoteAddr = client(r, proxies)
	head := w.Header()
	head["X-Request-Id"] = []string{rec.ID}
	head["X-Content-Type-Options"] = nosniff
	return rec
}

var (
	nosniff = []string{"nosniff"}
	noStore = []string{"no-store"}
)

// WriteHeader notes the status.
func (w *Record) WriteHeader(status int) {
	w.Status = cmp.Or(w.Status, status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *Record) Write(b []byte) (int, error) {
	w.Status = cmp.Or(w.Status, http.StatusOK)
	n, err := w.ResponseWriter.Write(b)
	w.Bytes += n
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *Record) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Panicked logs a panic with its stack.
func (w *Record) Panicked(log zerolog.Logger, cause any) {
	if cause == any(http.ErrAbortHandler) {
		panic(cause)
	}
	log.Error().Str("stack", string(db.StackOf(cause))).Str("request_id", w.ID).Msg(fmt.Sprint("panic: ", cause))
}

// Finish writes the request's log line and its metrics: never a key, a secret, a code or a body, and the path only as
// its pattern. by is the kind of the caller's name.
func (w *Record) Finish(service string, e *zerolog.Event, observe func(Observation), by, name string) {
	took := time.Since(w.began)
	if observe != nil {
		observe(Observation{Service: service, Method: known(w.r.Method), Route: w.Route, Status: w.Status, Took: took})
	}
	if e == nil {
		return
	}
	e = e.Str("service", service).Str("method", known(w.r.Method)).Str("route", w.Route).
		Int("status", w.Status).Int64("us", took.Microseconds()).Int("bytes", w.Bytes).Str("request_id", w.ID)
	if name != "" {
		e = e.Str(by, name)
	}
	e.Msg("request")
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := NewRecord(w, r, h.Trusted)
	rec.Header()["Cache-Control"] = noStore
	if h.CORSOrigin != "" && h.cors(rec, r) {
		rec.Route = "preflight"
	} else {
		h.dispatch(rec, r)
	}
	e := h.Log.Info()
	if rec.Route == "/healthz" && rec.Status == http.StatusOK { // a monitor asks every few seconds
		e = h.Log.Debug()
	}
	rec.Finish(h.Service.Name, e, h.Observe, "key", keyPrefix(r))
}

// keyPrefix is the part of the key that the list of keys shows.
func keyPrefix(r *http.Request) string {
	const shown = len("apk_") + 4
	_, key, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if key = strings.TrimSpace(key); !ok || len(key) != len("apk_")+40 || key[:4] != "apk_" {
		return ""
	}
	return key[:shown]
}

// known keeps unknown methods out of the log and the metrics.
func known(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return method
	}
	return "other"
}

// requestID is the client's request id, or a new one.
func requestID(r *http.Request) string {
	id := r.Header.Get("X-Request-Id")
	if len(id) >= 1 && len(id) <= 128 && strings.IndexFunc(id, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-'
	}) < 0 {
		return id
	}
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// client is the client's address: the connection's, or behind a trusted proxy the last untrusted address in
// X-Forwarded-For.
func client(r *http.Request, proxies []netip.Prefix) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if len(proxies) == 0 || !trusted(proxies, host) {
		return host
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop := strings.TrimSpace(hops[i])
		addr, err := netip.ParseAddr(hop)
		if err != nil {
			break
		}
		host = addr.Unmap().String()
		if !trusted(proxies, host) {
			break
		}
	}
	return host
}

func trusted(proxies []netip.Prefix, host string) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(proxies, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
}

// cors answers a preflight of the one listed origin and allows it to read answers; it reports whether the request is
// answered.
func (h *handler) cors(w *Record, r *http.Request) bool {
	if r.Header.Get("Origin") != h.CORSOrigin {
		return false
	}
	head := w.Header()
	head.Set("Access-Control-Allow-Origin", h.CORSOrigin)
	head.Set("Vary", "Origin")
	head.Set("Access-Control-Expose-Headers", "X-Request-Id, Idempotent-Replayed, Retry-After")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	head.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE")
	head.Set("Access-Control-Allow-Headers",
		"Authorization, Content-Type, Idempotency-Key, X-Request-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name")
	head.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}
