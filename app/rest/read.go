package rest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

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
	if op.Foreign != nil {
		return foreign(in, op.MaxBody, r)
	}
	if !raw { // a well-signed payment is not lost over its media type
		if err := wire.CheckMedia(r.Header.Get("Content-Type")); err != nil {
			return err
		}
	}
	most := cmp.Or(op.MaxBody, defaultBody)
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

// foreign reads a body in another program's format: a form, or JSON of that program's media type.
func foreign(in *schema.Input, most int64, r *http.Request) error {
	kind, about, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	body, err := wire.ReadBody(r, most)
	if err != nil {
		return err
	}
	fields := url.Values{}
	switch kind {
	case "application/json", "application/vnd.api+json":
		if len(bytes.TrimSpace(body)) == 0 {
			body = []byte("{}")
		}
		var members map[string]any
		v, err := strict.Parse(body, maxDepth)
		if err != nil || v.Kind() != strict.Object || json.Unmarshal(body, &members) != nil {
			return fault.Malformedf("the body cannot be read as a JSON object")
		}
		for name, member := range members {
			if text, is := member.(string); is { // null counts as absent
				fields.Set(name, text)
			}
		}
	case "application/x-www-form-urlencoded":
		fields, err = url.ParseQuery(string(body))
	case "multipart/form-data":
		var form *multipart.Form
		if form, err = multipart.NewReader(bytes.NewReader(body), about["boundary"]).ReadForm(most); err == nil {
			fields = form.Value
			err = form.RemoveAll()
		}
	default:
		if len(body) > 0 {
			return fault.New(fault.Media,
				"the media type %s is not accepted; send a form or JSON", schema.Quote(r.Header.Get("Content-Type")))
		}
	}
	if err != nil {
		return fault.Malformedf("the form cannot be read")
	}
	plain := map[string]string{}
	for name, values := range fields {
		plain[name] = values[len(values)-1]
	}
	text, err := strict.Marshal(plain)
	if err == nil {
		in.Body, err = strict.Parse(text, maxDepth)
	}
	in.Raw, in.HasBody = text, true
	if err != nil {
		return fault.Malformedf("the form cannot be read")
	}
	return nil
}

// takesRaw reports whether the operation reads the unparsed body.
func takesRaw(op schema.Op) bool {
	return slices.ContainsFunc(op.Args(schema.REST), func(a schema.Arg) bool { return a.Kind == schema.RawBody })
}

// asking returns the caller with the request, whose answer is stored if it has an Idempotency-Key.
func (h *handler) asking(who db.Caller, op schema.Op, r *http.Request, body []byte) (db.Caller, error) {
	given := r.Header.Values("Idempotency-Key")
	if len(given) == 0 || op.Public || !op.Writes {
		return who, nil
	}
	key := given[0]
	if len(given) > 1 || len(key) < 1 || len(key) > 200 {
		return who, fault.Invalidf("Idempotency-Key: give it once, with 1 to 200 characters")
	}
	return who.Asking(&db.Request{
		Key: key, Route: r.Method + " " + pathOf(r), Body: sha256.Sum256(body),
		Render: func(answer any) (int, []byte, error) {
			if k, ok := answer.(schema.Redacter); ok {
				answer = k.Redacted()
			}
			b, err := encode(answer)
			return status(op, answer), b, err
		},
	}), nil
}

// pathOf is the request's path in a normal form: equal for the same record. Parts are unescaped, except a slash or a
// percent sign within a part.
func pathOf(r *http.Request) string {
	parts := strings.Split(r.URL.EscapedPath(), "/")
	for i, part := range parts {
		if text, err := url.PathUnescape(part); err == nil {
			part = text
		}
		parts[i] = inPart.Replace(part)
	}
	return strings.Join(parts, "/")
}

var inPart = strings.NewReplacer("%", "%25", "/", "%2F")
