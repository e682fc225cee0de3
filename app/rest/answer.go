package rest

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// statuses is the one table from refusals to HTTP.
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
	fault.Limited:      http.StatusTooManyRequests,
	fault.Unavailable:  http.StatusServiceUnavailable,
}

// written is an answer that is JSON already.
type written []byte

// encode appends the answer as JSON.
func encode(b []byte, answer any) ([]byte, error) {
	if v, ok := answer.(written); ok {
		return v, nil
	}
	return strict.Append(b, answer)
}

func status(op schema.Op, answer any) int {
	if s, ok := answer.(schema.StatusGiver); ok {
		return s.HTTPStatus()
	}
	if op.Creates {
		return http.StatusCreated
	}
	return http.StatusOK
}

// answer writes the answer. keep, unless it is nil, is shown the bytes of one with the
// status 200; they are not its own.
func (h *handler) answer(w http.ResponseWriter, op schema.Op, answer any, keep func(body []byte)) {
	held := strict.Borrow()
	body, err := encode((*held)[:0], answer)
	if _, shared := answer.(written); !shared {
		defer strict.GiveBack(held, body)
	}
	if err != nil {
		h.refuse(w, err)
		return
	}
	code := status(op, answer)
	send(w, code, body)
	if keep != nil && code == http.StatusOK {
		keep(body)
	}
}

func send(w http.ResponseWriter, status int, body []byte) {
	head := w.Header()
	head["Content-Type"] = contentType
	head["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = w.Write(body) // #nosec G705 -- it is JSON, said to be, and nosniff is set; a client that has gone is told nothing more
}

var contentType = []string{"application/json"}

// refuse answers with the refusal that err is, or with an internal error that tells
// nothing.
func (h *handler) refuse(w http.ResponseWriter, err error) {
	var again *db.Replay
	if errors.As(err, &again) {
		w.Header().Set("Idempotent-Replayed", "true")
		send(w, again.Status, again.Body)
		return
	}
	e, ok := fault.As(err)
	if !ok {
		h.Log.Error().Err(err).Str("service", h.Service.Name).Str("request_id", seen(w).id).Msg("internal error")
		e = fault.New(fault.Internal, "the program failed; the log has it under request %s", seen(w).id)
	} else if e.Kind == fault.Unavailable {
		h.Log.Error().AnErr("cause", e.Cause).Str("service", h.Service.Name).Str("request_id", seen(w).id).Msg(e.Detail)
	}
	Refuse(w, e)
}

// Refuse writes a refusal in the house's form: {"error": CODE, "detail": TEXT}.
func Refuse(w http.ResponseWriter, e *fault.Error) {
	head := w.Header()
	switch e.Kind {
	case fault.Unauthorized:
		head.Set("WWW-Authenticate", "Bearer")
	case fault.Limited:
		head.Set("Retry-After", strconv.Itoa(max(1, int((e.Retry+time.Second-1)/time.Second))))
	case fault.Malformed, fault.TooLarge:
		head.Set("Connection", "close") // what is left of the body is not worth reading
	}
	b, err := refusalBody(e)
	if err != nil {
		b = []byte(`{"error":"internal","detail":"the refusal could not be written"}`)
	}
	send(w, statuses[e.Kind], b)
}

// refusalBody has error and detail first, then what else the refusal tells.
func refusalBody(e *fault.Error) ([]byte, error) {
	b, err := strict.Marshal(struct {
		Error  string `json:"error"`
		Detail string `json:"detail"`
	}{e.Word(), e.Detail})
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

// panicked turns a panic into an internal error; the log has the stack.
func (h *handler) panicked(w http.ResponseWriter, _ *http.Request, cause any) {
	if cause == any(http.ErrAbortHandler) {
		panic(cause)
	}
	h.Log.Error().Str("stack", string(debug.Stack())).Str("request_id", seen(w).id).Msg(fmt.Sprint("panic: ", cause))
	if seen(w).status == 0 {
		h.refuse(w, errors.New("panic"))
	}
}
