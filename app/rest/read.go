package rest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net/http"
	"net/url"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
	"quartermaster/schema/wire"
)

const (
	defaultBody = 1 << 20
	maxDepth    = 32
)

// body reads the body: media type, size, form.
func (h *handler) body(in *schema.Input, op schema.Op, raw bool, r *http.Request) error {
	if !raw { // a payment that is signed well is not lost over the name of its media type
		if err := wire.CheckMedia(r.Header.Get("Content-Type")); err != nil {
			return err
		}
	}
	most := op.MaxBody
	if most == 0 {
		most = defaultBody
	}
	body, err := wire.ReadBody(r, most)
	if err != nil {
		return err
	}
	in.Raw, in.HasBody = body, true
	if raw {
		return nil
	}
	v, err := strict.Parse(body, maxDepth)
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return fault.Malformedf("the body is empty; a JSON object is needed")
	case err != nil:
		return fault.Malformedf("the body cannot be read as JSON: %v", err)
	case v.Kind() != strict.Object:
		return fault.Malformedf("the body is %s; a JSON object is needed", v.Kind())
	}
	in.Body = v
	return nil
}

// takesRaw reports whether the operation reads the body as it came.
func takesRaw(op schema.Op) bool {
	for _, a := range op.Args(schema.REST) {
		if a.Kind == schema.RawBody {
			return true
		}
	}
	return false
}

// query reads the query string, refusing what url.ParseQuery would.
func query(raw string) (map[string][]string, error) {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return nil, fault.Invalidf("the query string cannot be read: percent-encode it, and separate parameters with &")
	}
	return q, nil
}

// once returns the context under which the answer is kept, when the request has an
// Idempotency-Key.
func (h *handler) once(ctx context.Context, who db.Caller, op schema.Op, r *http.Request, body []byte) (context.Context, error) {
	given := r.Header.Values("Idempotency-Key")
	if len(given) == 0 || op.Public || !op.Writes {
		return ctx, nil
	}
	key := given[0]
	if len(given) > 1 || len(key) < 1 || len(key) > 200 {
		return ctx, fault.Invalidf("Idempotency-Key: give it once, with 1 to 200 characters")
	}
	return db.Once(ctx, who, db.Idempotency{
		Key: key, Route: r.Method + " " + r.URL.Path, Body: sha256.Sum256(body),
		Render: func(answer any) (int, []byte, error) {
			if k, ok := answer.(schema.Redacter); ok {
				answer = k.Redacted()
			}
			b, err := encode(nil, answer)
			return status(op, answer), b, err
		},
	}), nil
}
