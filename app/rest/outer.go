package rest

import (
	"crypto/rand"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// record notes the outcome of a request; it is the ResponseWriter of every handler.
type record struct {
	http.ResponseWriter
	id, route string
	status    int
	bytes     int
}

func (w *record) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *record) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += n
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *record) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// seen is the record of a request that came through outermost.
func seen(w http.ResponseWriter) *record {
	if r, ok := w.(*record); ok {
		return r
	}
	return &record{ResponseWriter: w}
}

// outermost adds the headers to every response, logs every request in one line and counts it.
func (h *handler) outermost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &record{ResponseWriter: w, id: RequestID(r)}
		r.RemoteAddr = Client(r, h.Trusted)
		head := w.Header()
		head["X-Request-Id"] = []string{rec.id}
		head["X-Content-Type-Options"] = nosniff
		head["Cache-Control"] = noStore
		if h.CORSOrigin != "" && h.cors(rec, r) {
			rec.route = "preflight"
		} else {
			next.ServeHTTP(rec, r)
		}
		h.finish(rec, r, time.Since(start))
	})
}

var (
	nosniff = []string{"nosniff"}
	noStore = []string{"no-store"}
)

// finish writes the request's log line and its metrics: never a key, a secret, a code
// or a body, and the path only as its pattern.
func (h *handler) finish(rec *record, r *http.Request, took time.Duration) {
	if rec.route == "" {
		rec.route = "none"
	}
	if h.Observe != nil {
		h.Observe(Observation{Service: h.Service.Name, Method: Known(r.Method), Route: rec.route, Status: rec.status,
			Took: took})
	}
	e := h.Log.Info()
	if rec.route == "/healthz" && rec.status == http.StatusOK { // a monitor asks every few seconds
		e = h.Log.Debug()
	}
	if e == nil {
		return
	}
	e = e.Str("service", h.Service.Name).Str("method", Known(r.Method)).Str("route", rec.route).
		Int("status", rec.status).Int64("us", took.Microseconds()).Int("bytes", rec.bytes).Str("request_id", rec.id)
	if p := keyPrefix(r); p != "" {
		e = e.Str("key", p)
	}
	e.Msg("request")
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

// Known keeps unknown methods out of the log and the metrics.
func Known(method string) string {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS":
		return method
	}
	return "other"
}

// RequestID is the client's request id, or a new one.
func RequestID(r *http.Request) string {
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

// Client is the client's address: the connection's, or behind a trusted proxy the last untrusted address in
// X-Forwarded-For.
func Client(r *http.Request, proxies []netip.Prefix) string {
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
func (h *handler) cors(w *record, r *http.Request) bool {
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
