package table

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/fault"
)

// mostJSON bounds a file of JSON answers, which is read as a whole.
const mostJSON = 128 << 20

// answers are the rows of a file of JSON answers: one row per license, whose line is its index.
type answers struct {
	header []string
	rows   []map[string]string
	at     int
}

func (a *answers) next() (record, bool, error) {
	if a.at == len(a.rows) {
		return record{}, false, nil
	}
	row := a.rows[a.at]
	a.at++
	return record{line: a.at, cells: schema.Map(a.header, func(name string) string { return row[name] })}, true, nil
}

// openJSON reads answers with licenses: lists, JSON:API documents, or single objects. A license's row includes its
// instances or machines as a list, its owner's address and its product's name.
func openJSON(f *File, found *Found) (*answers, error) {
	if f.size > mostJSON {
		return nil, fault.Invalidf("the file has %d MiB; JSON may have at most %d: split it", f.size>>20, mostJSON>>20)
	}
	text, err := io.ReadAll(f.whole())
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	all := resources{by: map[string]resource{}}
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, utf8Mark)))
	d.UseNumber()
	for {
		var v any
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line := 1 + bytes.Count(text[:min(int(d.InputOffset()), len(text))], []byte("\n"))
			return nil, fault.Invalidf("the JSON in the file ends after line %d: save the complete answers, one after "+
				"another", line)
		}
		all.collect(v)
	}
	a := &answers{rows: all.licenses()}
	names := map[string]bool{}
	for _, row := range a.rows {
		for name := range row {
			names[name] = true
		}
	}
	a.header = slices.Sorted(maps.Keys(names))
	if len(a.rows) == 0 {
		return nil, fault.Invalidf("the file holds no license keys: save the answers of the program's list of keys")
	}
	found.Format, found.Columns = "json", a.header
	return a, nil
}

// resource is one flattened object of an answer: metadata.email.
type resource struct {
	kind, id string
	cells    map[string]string
}

type resources struct {
	all []resource
	by  map[string]resource // by kind and id
}

// collect collects the objects of an answer.
func (r *resources) collect(v any) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			r.collect(one)
		}
	case map[string]any:
		_, isResource := v["attributes"]
		inside := false
		for _, name := range []string{"data", "items", "included"} {
			if list, has := v[name]; has && !isResource && v["key"] == nil {
				inside = true
				r.collect(list)
			}
		}
		if !inside {
			r.add(v)
		}
	}
}

func (r *resources) add(v map[string]any) {
	one := resource{cells: map[string]string{}}
	one.kind, one.id = textOf(v["type"]), textOf(v["id"])
	if attributes, is := v["attributes"].(map[string]any); is {
		flatten(one.cells, "", attributes)
	} else {
		flatten(one.cells, "", v)
	}
	relations, _ := v["relationships"].(map[string]any)
	for name, relation := range relations {
		of, _ := relation.(map[string]any)
		if data, is := of["data"].(map[string]any); is && one.cells[name] == "" {
			one.cells[name] = textOf(data["id"])
		}
	}
	r.all = append(r.all, one)
	r.by[one.kind+" "+one.id] = one
}

// flatten writes the members of an object as cells; lists stay JSON.
func flatten(cells map[string]string, prefix string, v map[string]any) {
	for name, member := range v {
		if inner, is := member.(map[string]any); is {
			flatten(cells, prefix+name+".", inner)
			continue
		}
		cells[prefix+name] = textOf(member)
	}
}

func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, _ := json.Marshal(v) // it was JSON
	return string(b)
}

// children are the kinds that belong to the row of the license in the named column.
var children = map[string]struct{ column, license string }{
	"license-key-instances": {"instances", "license_key_id"},
	"machines":              {"machines", "license"},
}

// licenses are the rows: one for each object with a key.
func (r *resources) licenses() (rows []map[string]string) {
	lists := map[string][]map[string]string{} // by column and license
	for _, one := range r.all {
		if child, is := children[one.kind]; is {
			of := cmp.Or(one.cells[child.license], one.cells["license-key"])
			lists[child.column+" "+of] = append(lists[child.column+" "+of], one.cells)
		}
	}
	for _, one := range r.all {
		if _, has := one.cells["key"]; !has || children[one.kind].column != "" || one.kind == "users" ||
			one.kind == "products" {
			continue
		}
		for _, child := range children {
			if list := lists[child.column+" "+one.id]; len(list) > 0 {
				b, _ := json.Marshal(list) // texts only
				one.cells[child.column] = string(b)
			}
		}
		if owner, known := r.by["users "+cmp.Or(one.cells["owner"], one.cells["user"])]; known {
			one.cells["owner.email"], one.cells["owner.fullName"] = owner.cells["email"], owner.cells["fullName"]
		}
		if product, known := r.by["products "+one.cells["product"]]; known {
			one.cells["product.name"] = product.cells["name"]
		}
		rows = append(rows, one.cells)
	}
	return rows
}
