package screen

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"quartermaster/app/table"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
	"quartermaster/schema/strict"
)

// docsView is the contents of a service's reference.
type docsView struct {
	service schema.Service
	ops     []schema.Op
}

// docsPage is a reference of the service's operations on every surface: made from the same declarations as its OpenAPI
// document, and readable offline.
func (s *Screens) docsPage() page.Page {
	return page.New(page.Spec[docsView]{
		Path: "/docs", Title: "Reference", Menu: "Reference",
		Load: page.Always(func(context.Context, db.Caller) (docsView, error) { return docsView{s.Service, s.told()}, nil }),
		View: docsContents,
	})
}

// told are the operations of the reference: the service's and the shared ones, each name once.
func (s *Screens) told() []schema.Op {
	var all []schema.Op
	for _, op := range slices.Concat(s.Service.Ops, s.Common) {
		named := slices.ContainsFunc(all, func(o schema.Op) bool {
			return o.Name == op.Name && o.Route == op.Route &&
				o.Tool == op.Tool
		})
		if op.Name != "" && !named {
			all = append(all, op)
		}
	}
	return all
}

// entryView is one entry of the reference: an operation, an event or a table.
type entryView struct {
	base, service string
	ops           []schema.Op // of one name
	event         *schema.Event
	table         *schema.Table
	links         []page.Action // of a table
}

// PageTitle is the entry's name.
func (v entryView) PageTitle() string {
	switch {
	case v.event != nil:
		return v.event.Name
	case v.table != nil:
		return v.table.Name
	}
	return v.ops[0].Name
}

func (s *Screens) docPage() page.Page {
	return page.New(page.Spec[entryView]{
		Path: "/docs/:name", Title: "Reference",
		Load: func(f *schema.Form) page.Loader[entryView] {
			var name string
			f.Text(&name, "name", "an operation, an event or a table", schema.InPath("name"))
			return func(_ context.Context, who db.Caller) (entryView, error) { return s.entry(name, who) }
		},
		View: docsEntry,
	})
}

func (s *Screens) entry(name string, who db.Caller) (entryView, error) {
	v := entryView{base: s.base, service: s.Service.Name}
	for _, op := range s.told() {
		if op.Name == name {
			v.ops = append(v.ops, op)
		}
	}
	if len(v.ops) > 0 {
		return v, nil
	}
	for _, e := range s.Service.Events {
		if e.Name == name {
			v.event = &e
			return v, nil
		}
	}
	if t, ok := s.Service.Table(name); ok {
		v.table, v.links = &t, []page.Action{page.Link("All of the reference", "/docs")}
		if !t.Secret || who.Role == page.Admin {
			v.links = append(v.links, page.Link("Import", "/import/"+t.Name), page.Link("Export", "/export/"+t.Name))
		}
		return v, nil
	}
	return v, fault.NotFoundf("the reference has no entry %s", schema.Quote(name))
}

// reached says how an operation is called.
func reached(op schema.Op) string {
	var all []string
	if op.Route != "" {
		all = append(all, "REST")
	}
	if op.Tool != "" {
		all = append(all, "agents")
	}
	if op.Command != "" {
		all = append(all, "command line")
	}
	return strings.Join(append(all, "screens"), ", ")
}

// commands are the lines of an example, to copy.
func commands(example string) string {
	return "quartermaster " + strings.ReplaceAll(example, "\n", "\nquartermaster ")
}

// tableCommands import and export a table, to copy.
func tableCommands(service, name string) string {
	of := service + " " + name
	return commands("import " + of + " --template > " + name + ".csv\nimport " + of + " " + name +
		".csv --dry-run\nimport " + of + " " + name + ".csv\nexport " + of)
}

// request is a line that calls the operation over REST, to copy; "" if others send it signed.
func (v entryView) request(op schema.Op) string {
	path, body := op.Path(), map[string]any{}
	query := []string{}
	var first *schema.Arg // of the optional ones
	for _, a := range op.Args(schema.REST) {
		switch {
		case a.Kind == schema.RawBody:
			return ""
		case a.Path != "":
			path = strings.Replace(path, ":"+a.Path, shellText(a.Sample()), 1)
		case a.Header != "":
		case op.TakesBody():
			if a.Required || a.InCents() && strings.Contains(op.Example, "--"+strings.ReplaceAll(a.Name, "_", "-")+" ") {
				body[a.Name] = a.Sample()
			} else if first == nil {
				first = &a
			}
		case a.Required:
			query = append(query, a.Name+"="+shellText(a.Sample()))
		}
	}
	if len(body) == 0 && first != nil {
		body[first.Name] = first.Sample()
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	line := "curl -H \"Authorization: Bearer $KEY\""
	if op.Public {
		line = "curl"
	}
	if op.TakesBody() {
		b, err := json.Marshal(body)
		if err != nil {
			b = []byte("{}")
		}
		if op.Method() != "POST" {
			line += " -X " + op.Method()
		}
		line += " -H 'Content-Type: application/json' \\\n  -d '" + strings.ReplaceAll(string(b), "'", `'\''`) + "'"
	}
	return line + " \\\n  '" + v.base + path + "'"
}

func shellText(v any) string {
	if s, ok := v.(string); ok {
		return strings.ReplaceAll(s, "'", "")
	}
	b, err := strict.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// indented is an answer as indented JSON; "" if it cannot be encoded.
func indented(v any) string {
	if v == nil {
		return ""
	}
	b, err := strict.Marshal(v)
	if err != nil {
		return ""
	}
	var tidy strings.Builder
	enc := json.NewEncoder(&tidy)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if enc.Encode(json.RawMessage(b)) != nil {
		return string(b)
	}
	const most = 4000
	text := strings.TrimSpace(tidy.String())
	if len(text) > most {
		return string([]rune(text)[:most/2]) + "\n..."
	}
	return text
}

// need says whether an argument is required.
func need(a schema.Arg) string {
	if a.Required {
		return "yes"
	}
	return ""
}

func takes(a schema.Arg) string {
	text := a.Takes()
	if a.Default != nil {
		text += "; " + shellText(a.Default) + " when left out"
	}
	return text
}

// programs are the other programs whose files the table accepts.
func programs(t schema.Table) []string { return table.ProgramsFor(t) }

func firstSentence(about string) string {
	if first, _, more := strings.Cut(about, ". "); more {
		return first + "."
	}
	return about
}
