package schema

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/strict"
)

func TestRef(t *testing.T) {
	op := Op{Bind: func(f *Form) Handler {
		var ref string
		f.Ref(&ref, "meter", "which")
		return func(context.Context, db.Caller) (any, error) { return ref, nil }
	}}
	for _, c := range []struct{ body, want, refused string }{
		{`{}`, "", ""},
		{`{"meter":" hours "}`, "hours", ""},
		{`{"meter":"3"}`, "3", ""},
		{`{"meter":3}`, "3", ""},
		{`{"meter":3.5}`, "", "a name or an id"},
		{`{"meter":true}`, "", "a name or an id"},
		{`{"meter":[3]}`, "", "a name or an id"},
		{`{"meter":"a\u0001b"}`, "", "control character"},
		{`{"meter":"` + strings.Repeat("x", 201) + `"}`, "", "at most 200"},
	} {
		body := assert.Value(strict.Parse([]byte(c.body), strict.MaxDepth))(t)
		do, err := op.Decode(Input{Body: body, HasBody: true})
		if err != nil {
			assert.That(t, c.refused != "" && strings.Contains(err.Error(), c.refused), "%s: refused: %v", c.body, err)
			continue
		}
		got, _ := do(context.Background(), db.Caller{})
		assert.That(t, got == c.want && c.refused == "", "%s: %q, want %q", c.body, got, c.want)
	}
	shown := assert.Value(json.Marshal(op.Args(REST)[0].Schema(OpenAPI)))(t)
	const want = `{"anyOf":[{"maxLength":200,"type":"string"},{"minimum":1,"type":"integer"}],"description":"which"}`
	assert.That(t, string(shown) == want, "%s, want %s", shown, want)
}
