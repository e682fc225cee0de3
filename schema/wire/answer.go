package wire

import (
	"net/http"
	"strconv"
	"time"

	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// statuses maps refusals to HTTP.
var statuses = map[fault.Kind]int{
	fault.Internal:     http.StatusInternalServerError,
	fault.Unauthorized: http.StatusUnauthorized,
	fault.NotFound:     http.StatusNotFound,
	fault.Method:       http.StatusMethodNotAllowed,
	fault.Forbidden:    http.StatusForbidden,
	fault.Media:        http.StatusUnsupportedMediaType,
	fault.TooLarge:     http.StatusRequestEntityTooLarge,
	fault.Malformed:    http.StatusBadRequest,
	fault.Invalid:      http.StatusUnprocessableEntity,
	fault.Conflict:     http.StatusConflict,
	fault.Gone:         http.StatusGone,
	fault.Limited:      http.StatusTooManyRequests,
	fault.Unavailable:  http.StatusServiceUnavailable,
}

// Status is the HTTP status of a refusal of the kind.
func Status(kind fault.Kind) int { return statuses[kind] }

// Send answers with JSON.
func Send(w http.ResponseWriter, status int, body []byte) {
	head := w.Header()
	head["Content-Type"] = contentType
	head["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	// #nosec G705 -- it is JSON, said to be, and nosniff is set; a failed write is ignored: the client has gone
	_, _ = w.Write(body)
}

var contentType = []string{"application/json"}

// Refuse answers with a refusal in the common form: {"error": CODE, "detail": TEXT}, then the refusal's other members.
func Refuse(w http.ResponseWriter, e *fault.Error) {
	RefuseHead(w, e)
	b, err := refusalBody(e)
	if err != nil {
		b = []byte(`{"error":"internal","detail":"the refusal could not be written"}`)
	}
	Send(w, statuses[e.Kind], b)
}

// RefuseHead sets the headers of a refusal.
func RefuseHead(w http.ResponseWriter, e *fault.Error) {
	head := w.Header()
	switch e.Kind {
	case fault.Unauthorized:
		head.Set("WWW-Authenticate", "Bearer")
	case fault.Limited:
		head.Set("Retry-After", strconv.Itoa(max(1, int((e.Retry+time.Second-1)/time.Second))))
	case fault.Unavailable:
		if e.Retry > 0 {
			head.Set("Retry-After", strconv.Itoa(int((e.Retry+time.Second-1)/time.Second)))
		}
	case fault.Malformed, fault.TooLarge:
		head.Set("Connection", "close") // the rest of the body is not worth reading
	}
}

func refusalBody(e *fault.Error) ([]byte, error) {
	b, err := strict.Marshal(struct {
		Error  string        `json:"error"`
		Detail string        `json:"detail"`
		Fields []fault.Field `json:"fields,omitempty"`
	}{e.Word(), e.Detail, e.Fields})
	if err != nil || len(e.More) == 0 {
		return b, err
	}
	more, err := strict.Marshal(e.More)
	if err != nil {
		return nil, err
	}
	b[len(b)-1] = ','
	return append(b, more[1:]...), nil
}
