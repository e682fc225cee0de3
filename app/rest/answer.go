package rest

import (
	"errors"
	"net/http"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
	"quartermaster/schema/wire"
)

// written is an answer that is already JSON.
type written []byte

// encode writes the answer as JSON.
func encode(answer any) ([]byte, error) {
	if v, ok := answer.(written); ok {
		return v, nil
	}
	return strict.Marshal(answer)
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

// answer writes the answer. keep, unless nil, receives the bytes of one with status 200.
func (h *handler) answer(w *Record, op schema.Op, answer any, keep func(body []byte)) {
	body, err := encode(answer)
	if err != nil {
		h.refuse(w, err)
		return
	}
	code := status(op, answer)
	if keep != nil && code == http.StatusOK {
		keep(body)
	}
	wire.Send(w, code, body)
}

// refuse answers with err's refusal, or with an internal error without details.
func (h *handler) refuse(w *Record, err error) {
	var again *db.Replay
	if errors.As(err, &again) {
		w.Header().Set("Idempotent-Replayed", "true")
		wire.Send(w, again.Status, again.Body)
		return
	}
	e, ok := fault.As(err)
	if !ok {
		h.Log.Error().Err(err).Str("service", h.Service.Name).Str("request_id", w.ID).Msg("internal error")
		e = fault.New(fault.Internal, "the program failed; the log has it under request %s", w.ID)
	} else if e.Kind == fault.Unavailable {
		h.Log.Error().AnErr("cause", e.Cause).Str("service", h.Service.Name).Str("request_id", w.ID).Msg(e.Detail)
	}
	wire.Refuse(w, e)
}

// recovered turns a panic into an internal error; the log has the stack.
func (h *handler) recovered(w *Record) {
	cause := recover()
	if cause == nil {
		return
	}
	w.Panicked(h.Log, cause)
	if w.Status == 0 {
		h.refuse(w, errors.New("panic"))
	}
}
