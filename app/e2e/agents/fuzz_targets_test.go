package agents

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/google/jsonschema-go/jsonschema"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// target is an operation of an OpenAPI document or a tool of an agent endpoint.
type target struct {
	service    string
	open       bool // needs no key
	writes     bool
	asked      int
	good       int // answers that were not refusals
	route      *routers.Route
	method     string
	path       string // with {names}
	parameters []parameter
	body       jsonSchema // nil for a GET
	signed     bool       // its body is read only with a provider's signature

	tool  string
	takes jsonSchema
	gives *jsonschema.Resolved
}

func (t *target) String() string {
	if t.tool != "" {
		return t.service + " tool " + t.tool
	}
	return t.service + " " + t.method + " " + t.path
}

func (t *target) fed() bool { return t.good > 0 }

type parameter struct {
	name, in string
	required bool
	schema   jsonSchema
}

// restTargets are the operations of the service's OpenAPI document.
func restTargets(s *apptest.Fixture, service string) []*target {
	s.T.Helper()
	body := s.Do(service, "GET", "/api/openapi.json", "", "").Body
	var raw struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Required bool
				Schema   jsonSchema
			}
			RequestBody *struct {
				Content map[string]struct{ Schema jsonSchema }
			}
			Security []any
		}
	}
	apptest.Answer{Body: body}.JSON(s.T, &raw)
	doc := closedDocument(s, body)
	var targets []*target
	for _, path := range sortedKeys(raw.Paths) {
		if strings.HasPrefix(path, "/v1/") {
			continue // another program's format: TestLicenseAPIMatchesLemonSqueezy
		}
		for _, method := range sortedKeys(raw.Paths[path]) {
			o := raw.Paths[path][method]
			t := &target{service: service, method: strings.ToUpper(method), path: path, open: len(o.Security) == 0}
			item := doc.Paths.Value(path)
			t.route = &routers.Route{Spec: doc, Path: path, PathItem: item, Method: t.method, Operation: item.GetOperation(t.method)}
			for _, p := range o.Parameters {
				t.parameters = append(t.parameters, parameter{p.Name, p.In, p.Required, p.Schema})
				t.signed = t.signed || strings.HasSuffix(strings.ToLower(p.Name), "-signature")
			}
			if o.RequestBody != nil {
				t.body = o.RequestBody.Content["application/json"].Schema
			}
			t.writes = t.method == "POST"
			if path != "/mcp" {
				targets = append(targets, t)
			}
		}
	}
	return targets
}

// closedDocument is the document with every described answer closed: an undocumented field is then an error, like a
// wrong type.
func closedDocument(s *apptest.Fixture, body string) *openapi3.T {
	s.T.Helper()
	var raw any
	apptest.Answer{Body: body}.JSON(s.T, &raw)
	closeObjects(raw)
	doc := assert.Value(openapi3.NewLoader().LoadFromData([]byte(apptest.JSONText(raw))))(s.T)
	return doc
}

// closeObjects sets additionalProperties to false wherever a schema has properties.
func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		_, object := v["properties"].(map[string]any)
		if _, told := v["additionalProperties"]; object && v["type"] == "object" && !told {
			v["additionalProperties"] = false
		}
		for _, e := range v {
			closeObjects(e)
		}
	case []any:
		for _, e := range v {
			closeObjects(e)
		}
	}
}

// agentRoute is the document's description of POST /mcp. Its JSON-RPC messages stay open.
func agentRoute(s *apptest.Fixture, service string) *routers.Route {
	s.T.Helper()
	doc, err := openapi3.NewLoader().LoadFromData([]byte(s.Do(service, "GET", "/api/openapi.json", "", "").Body))
	assert.OK(s.T, err)
	item := doc.Paths.Value("/mcp")
	return &routers.Route{Spec: doc, Path: "/mcp", PathItem: item, Method: "POST", Operation: item.Post}
}

// toolTargets are the tools that the service lists.
func toolTargets(s *apptest.Fixture, service string) []*target {
	s.T.Helper()
	var listed struct {
		Result struct {
			Tools []struct {
				Name         string
				InputSchema  jsonSchema
				OutputSchema json.RawMessage
				Annotations  struct{ ReadOnlyHint bool }
			}
		}
	}
	s.Post(service, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).JSON(s.T, &listed)
	route := agentRoute(s, service)
	var targets []*target
	for _, tool := range listed.Result.Tools {
		var out any
		apptest.Answer{Body: string(tool.OutputSchema)}.JSON(s.T, &out)
		closeObjects(out)
		var described jsonschema.Schema
		apptest.Answer{Body: apptest.JSONText(out)}.JSON(s.T, &described)
		gives, err := described.Resolve(nil)
		assert.OK(s.T, err, "%s", tool.Name)
		targets = append(targets, &target{
			service: service, method: "POST", path: "/mcp", route: route, writes: !tool.Annotations.ReadOnlyHint,
			tool: tool.Name, takes: tool.InputSchema, gives: gives,
		})
	}
	slices.SortFunc(targets, func(a, b *target) int { return strings.Compare(a.tool, b.tool) })
	return targets
}
