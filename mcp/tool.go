package mcp

import (
	"cmp"
	"fmt"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/strict"
)

// tool is one operation for agents.
type tool struct {
	op     schema.Op
	large  bool // its answer may be
	cents  bool // its answer holds amounts without their currency
	listed listed
}

// listed is a tool's entry in tools/list.
type listed struct {
	Name         string         `json:"name"`
	Title        string         `json:"title"`
	Description  string         `json:"description"`
	InputSchema  inputSchema    `json:"inputSchema"`
	OutputSchema map[string]any `json:"outputSchema"`
	Annotations  annotations    `json:"annotations"`
}

// inputSchema has only an object's plain keywords at its top: widely used clients drop a whole list over one $ref,
// oneOf or anyOf there.
type inputSchema struct {
	Type       string     `json:"type"`
	Properties properties `json:"properties"`
	Required   []string   `json:"required,omitempty"`
	Additional bool       `json:"additionalProperties"`
}

// annotations are hints by which a client decides what to ask its user.
type annotations struct {
	ReadOnly    bool `json:"readOnlyHint"`
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	OpenWorld   bool `json:"openWorldHint"`
}

// properties are the arguments in order of declaration, which no map keeps.
type properties []schema.Arg

// MarshalJSON writes an object with one schema an argument.
func (p properties) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, a := range p {
		s, err := strict.Marshal(a.Schema(schema.JSONSchema))
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", a.Name, err)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strict.AppendText(b, a.Name), ':')
		b = append(b, s...)
	}
	return append(b, '}'), nil
}

func newTool(op schema.Op, known *told) *tool {
	in := inputSchema{Type: "object", Properties: properties{}}
	for _, a := range op.Args(schema.Tool) {
		if a.Header != "" || a.Kind == schema.RawBody {
			continue // what only a request over REST carries
		}
		if slices.ContainsFunc(in.Properties, func(b schema.Arg) bool { return b.Name == a.Name }) {
			panic(fmt.Sprintf("mcp: the tool %s has the argument %s twice", op.Tool, a.Name))
		}
		in.Properties = append(in.Properties, a)
		if a.Required {
			in.Required = append(in.Required, a.Name)
		}
	}
	out := schema.ShapeOf(op.Response).Schema(schema.JSONSchema)
	if out["type"] != "object" || op.About == "" {
		panic(fmt.Sprintf("mcp: the tool %s needs a sentence and an answer that is an object", op.Tool))
	}
	short := known.brief(op.Tool, out)
	untold := schema.ShapeOf(op.Response).CentsUntold()
	if props, is := short["properties"].(map[string]any); is && untold {
		props["currency"] = map[string]any{"type": "string"}
	}
	return &tool{op: op, large: schema.ShapeOf(op.Response).Unbounded(), cents: untold, listed: listed{
		Name: op.Tool, Title: cmp.Or(op.Says, op.Title()), Description: op.About, InputSchema: in, OutputSchema: short,
		Annotations: annotations{
			ReadOnly: !op.Writes, Destructive: op.Destructive || op.Overwrites,
			Idempotent: op.Idempotent || !op.Writes,
		},
	}}
}
