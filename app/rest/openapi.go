package rest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
	"quartermaster/schema/wire"
)

// obj is a JSON object of the document; encoding/json sorts its names, so that the document has the same bytes at every
// start.
type obj = map[string]any

// document makes the service's OpenAPI 3.0.3 description from the router's declarations.
func document(s schema.Service, agent bool) []byte {
	paths := obj{}
	for _, op := range s.Ops {
		if op.Route == "" {
			continue
		}
		path := documentPath(op)
		item, ok := paths[path].(obj)
		if !ok {
			item = obj{}
			paths[path] = item
		}
		item[strings.ToLower(op.Method())] = operation(op)
	}
	if agent {
		paths["/mcp"] = agentPath()
	}
	named := components{}
	named.extract(paths)
	events := webhooks(s.Events)
	named.extract(events)
	schemas := obj{"Error": errorSchema()}
	for name, schemaOf := range named {
		schemas[name] = schemaOf
	}
	doc := obj{
		"openapi": "3.0.3",
		"info":    obj{"title": s.Title, "version": s.Document, "description": s.About},
		"servers": []obj{{"url": "/"}},
		"paths":   paths,
		"components": obj{
			// #nosec G101 -- it describes the format of a key
			"securitySchemes": obj{"key": obj{"type": "http", "scheme": "bearer",
				"bearerFormat": "apk_ and 40 hexadecimal characters"}},
			"schemas": schemas,
		},
		"x-webhooks": events,
		"tags":       tags(s),
	}
	b, err := strict.Marshal(doc)
	if err != nil {
		panic(fmt.Sprintf("rest: the document of %s cannot be written: %v", s.Name, err)) // a declaration is wrong
	}
	return b
}

// documentPath is the route's path in OpenAPI's notation.
func documentPath(op schema.Op) string {
	parts := strings.Split(op.Path(), "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ":") {
			parts[i] = "{" + p[1:] + "}"
		}
	}
	return strings.Join(parts, "/")
}

func operation(op schema.Op) obj {
	summary, _, _ := strings.Cut(op.About, ". ")
	o := obj{
		"operationId": cmp.Or(op.Name, path.Base(op.Path())), // the appliance's own have no name: ping
		"tags":        []any{tagOf(op)},
		"summary":     strings.TrimSuffix(summary, "."),
		"description": op.About,
		"responses":   responses(op),
	}
	if op.Public {
		o["security"] = []obj{}
	} else {
		o["security"] = []obj{{"key": []string{}}}
	}
	var params []obj
	var fields []schema.Arg
	for _, a := range op.Args(schema.REST) {
		switch {
		case a.Path != "":
			params = append(params, parameter(a, a.Path, "path"))
		case a.Header != "":
			params = append(params, parameter(a, a.Header, "header"))
		case op.TakesBody():
			fields = append(fields, a)
		default:
			params = append(params, parameter(a, a.Name, "query"))
		}
	}
	if op.Writes && !op.Public {
		params = append(params, obj{
			"name": "Idempotency-Key", "in": "header", "required": false,
			"description": "Send the same key to repeat a request safely: the first answer is kept for 24 hours and given " +
				"again, with Idempotent-Replayed: true.",
			"schema": obj{"type": "string", "minLength": 1, "maxLength": 200}, "example": "4f1c0b62",
		})
	}
	if len(params) > 0 {
		o["parameters"] = params
	}
	if op.TakesBody() {
		o["requestBody"] = requestBody(fields, op.Foreign != nil)
	}
	return o
}

// tagOf groups the operations by the first part of their path.
func tagOf(op schema.Op) string {
	parts := strings.Split(strings.TrimPrefix(op.Path(), "/api"), "/")
	return strings.TrimSuffix(parts[1], ".json")
}

func tags(s schema.Service) []obj {
	seen := map[string]bool{}
	var all []obj
	for _, op := range s.Ops {
		if op.Route != "" && !seen[tagOf(op)] {
			seen[tagOf(op)] = true
			all = append(all, obj{"name": tagOf(op)})
		}
	}
	return all
}

func parameter(a schema.Arg, name, in string) obj {
	s := a.Schema(schema.OpenAPI)
	delete(s, "description")
	return obj{
		"name": name, "in": in, "required": in == "path" || a.Required,
		"description": a.About, "schema": s, "example": a.Sample(),
	}
}

func requestBody(fields []schema.Arg, foreign bool) obj {
	if len(fields) == 1 && fields[0].Kind == schema.RawBody {
		return obj{"required": true, "description": fields[0].About,
			"content": obj{"application/json": obj{"schema": obj{"type": "object"}}}}
	}
	props, example, required := obj{}, obj{}, []string{}
	for _, a := range fields {
		props[a.Name] = a.Schema(schema.OpenAPI)
		if a.Required || a.Example != nil {
			example[a.Name] = a.Sample()
		}
		if a.Required {
			required = append(required, a.Name)
		}
	}
	s := obj{"type": "object", "properties": props, "additionalProperties": foreign}
	if len(required) > 0 {
		s["required"] = required
	}
	content := obj{"application/json": obj{"schema": s, "example": example}}
	if foreign {
		content["application/vnd.api+json"], content["application/x-www-form-urlencoded"] = content["application/json"],
			content["application/json"]
		content["multipart/form-data"] = content["application/json"]
	}
	return obj{"required": true, "content": content}
}

func responses(op schema.Op) obj {
	all := obj{}
	good := op.Statuses
	if len(good) == 0 {
		good = []int{status(op, nil)}
	}
	for _, k := range refusals(op) {
		all[strconv.Itoa(wire.Status(k))] = refusalOf(op, k)
	}
	for _, code := range good {
		all[strconv.Itoa(code)] = obj{
			"description": http.StatusText(code),
			"headers": obj{"X-Request-Id": obj{"description": "names this request in the log",
				"schema": obj{"type": "string"}}},
			"content": obj{"application/json": obj{
				"schema": schema.ShapeOf(op.Response).Schema(schema.OpenAPI), "example": example(op, code),
			}},
		}
	}
	return all
}

// example is the answer with the status as JSON.
func example(op schema.Op, code int) json.RawMessage {
	gives := op.Response
	for _, other := range op.Examples {
		if status(op, other) == code {
			gives = other
		}
	}
	b, err := encode(gives)
	if err != nil {
		panic(fmt.Sprintf("rest: the example of %s cannot be written: %v", op.Route, err)) // a declaration is wrong
	}
	return b
}

// refusals lists the operation's possible refusals, by its arguments and permissions.
func refusals(op schema.Op) []fault.Kind {
	kinds := []fault.Kind{fault.Internal, fault.Unavailable, fault.Invalid}
	if !op.Public {
		kinds = append(kinds, fault.Unauthorized, fault.Limited)
		if op.Writes {
			kinds = append(kinds, fault.Forbidden, fault.Conflict)
		}
	}
	if op.TakesBody() {
		kinds = append(kinds, fault.Malformed, fault.TooLarge)
		if !takesRaw(op) {
			kinds = append(kinds, fault.Media)
		}
	}
	if strings.Contains(op.Path(), ":") {
		kinds = append(kinds, fault.NotFound)
	}
	kinds = append(kinds, op.Refuses...)
	for _, own := range op.Own {
		kinds = append(kinds, own.Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

var about = map[fault.Kind]string{
	fault.Internal:     "The program failed; the log has the request under its id.",
	fault.Unauthorized: "The key is missing, malformed, unknown, revoked or another service's.",
	fault.NotFound:     "There is no such record.",
	fault.Forbidden:    "The key is read-only, or its owner's role may not do this.",
	fault.Media:        "The body's media type is not application/json.",
	fault.TooLarge:     "The body is too large.",
	fault.Malformed:    "The body cannot be read: not a JSON object, duplicate names, invalid UTF-8, nested too deep.",
	fault.Invalid:      "Well-formed but wrong; the detail names the field and what is allowed.",
	fault.Conflict:     "The record's state does not allow it, or the Idempotency-Key was used for another body.",
	fault.Limited:      "Too many failures from this address; try again after Retry-After.",
	fault.Unavailable:  "The disk is full or the database is locked; nothing was written.",
}

func refusal(k fault.Kind) obj {
	r := obj{
		"description": about[k],
		"content": obj{"application/json": obj{
			"schema":  obj{"$ref": "#/components/schemas/Error"},
			"example": obj{"error": k.String(), "detail": about[k]},
		}},
	}
	if k == fault.Limited {
		r["headers"] = obj{"Retry-After": obj{"description": "seconds to wait", "schema": obj{"type": "integer"}}}
	}
	return r
}

// refusalOf is refusal for an operation that may have refusals of its own: then each has its example, beside those of
// every operation of its kind.
func refusalOf(op schema.Op, k fault.Kind) obj {
	r, s, examples, details := refusal(k), obj{"$ref": "#/components/schemas/Error"}, obj{}, []string{}
	if !op.Public || k == fault.Invalid || k == fault.Malformed {
		examples[k.String()] = obj{"value": obj{"error": k.String(), "detail": about[k]}}
		details = append(details, about[k])
	}
	own := slices.DeleteFunc(slices.Clone(op.Own), func(r schema.Refusal) bool { return r.Kind != k })
	if len(own) == 0 {
		return r
	}
	for _, o := range own {
		e := &fault.Error{Kind: k, Code: o.Code}
		value := obj{"error": e.Word(), "detail": o.Detail}
		if o.More != nil {
			s = errorSchema()
			props, _ := s["properties"].(obj)
			for _, f := range schema.ShapeOf(o.More).Fields {
				props[f.Name] = f.Shape.Schema(schema.OpenAPI)
			}
			maps.Copy(value, told(o.More))
		}
		examples[name(examples, e.Word())] = obj{"value": value}
		details = append(details, o.Detail)
	}
	r["description"] = strings.Join(details, " Or: ")
	r["content"] = obj{"application/json": obj{"schema": s, "examples": examples}}
	return r
}

// name is an unused name for an example.
func name(examples obj, word string) string {
	free := word
	for n := 2; examples[free] != nil; n++ {
		free = word + "_" + strconv.Itoa(n)
	}
	return free
}

// told are a filled-in value's members, by name.
func told(more any) obj {
	var m obj
	b, err := strict.Marshal(more)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		panic(fmt.Sprintf("rest: a refusal's details cannot be written: %v", err)) // a declaration is wrong
	}
	return m
}

func errorSchema() obj {
	return obj{
		"type": "object", "required": []string{"error", "detail"},
		"properties": obj{
			"error":  obj{"type": "string", "description": "the refusal's code"},
			"detail": obj{"type": "string", "description": "what was refused, by name, and what is allowed"},
			"fields": obj{"type": "array", "description": "the refused fields, each with its own text; absent when there are " +
				"none",
				"items": obj{"type": "object", "required": []string{"field", "detail"},
					"properties": obj{"field": obj{"type": "string"}, "detail": obj{"type": "string"}}}},
		},
	}
}

func agentPath() obj {
	message := obj{"application/json": obj{"schema": obj{"type": "object"}}}
	return obj{
		"post": obj{
			"operationId": "mcp", "summary": "The agent endpoint",
			"description": "One JSON-RPC 2.0 message of the Model Context Protocol a request, over stateless streamable HTTP. " +
				"tools/list describes the tools.",
			"security": []obj{{"key": []string{}}},
			"requestBody": obj{"required": true, "content": obj{"application/json": obj{
				"schema": obj{"type": "object", "required": []string{"jsonrpc", "method"},
					"properties": obj{"jsonrpc": obj{"type": "string", "enum": []string{"2.0"}}, "method": obj{"type": "string"},
						"id": obj{}, "params": obj{"type": "object"}}},
				"example": obj{"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
			}}},
			"responses": obj{
				"200": obj{"description": "The answer, or a JSON-RPC error", "content": message},
				"202": obj{"description": "A notification was accepted"},
				"400": obj{"description": "The message cannot be read", "content": message},
				"401": refusal(fault.Unauthorized), "403": refusal(fault.Forbidden),
				"404": obj{"description": "An unknown method of the stateless revision", "content": message},
				"413": refusal(fault.TooLarge), "415": refusal(fault.Media), "429": refusal(fault.Limited),
				"500": refusal(fault.Internal), "503": refusal(fault.Unavailable),
			},
		},
		"get": obj{
			"operationId": "mcp_get", "summary": "Not allowed: the endpoint keeps no stream", "security": []obj{},
			"responses": obj{"405": obj{"description": "Allow: POST",
				"content": obj{"application/json": obj{"schema": obj{"$ref": "#/components/schemas/Error"}}}}},
		},
	}
}

// webhooks describes the events, since OpenAPI 3.0 has no element for them.
func webhooks(events []schema.Event) obj {
	all := obj{}
	for _, e := range events {
		s := obj{"type": "object", "required": []string{"id", "event", "service", "created_at", "data"}, "properties": obj{
			"id": obj{"type": "string"}, "event": obj{"type": "string", "enum": []string{e.Name}},
			"service":    obj{"type": "string"},
			"created_at": obj{"type": "string", "format": "date-time"}, "data": schema.ShapeOf(e.Data).Schema(schema.OpenAPI),
		}}
		all[e.Name] = obj{"post": obj{"description": e.About,
			"requestBody": obj{"content": obj{"application/json": obj{"schema": s}}}}}
	}
	return all
}
