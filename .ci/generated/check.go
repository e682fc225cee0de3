// Package check calls every GET of a generated client, and the acts that are listed, and
// holds what the client read to what was sent.
package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
)

// Args gives the values of a path's parameters, in their order, by the client's method.
type Args map[string][]any

// Reads calls every method of client that needs no body but those of skip, and lists what
// was read otherwise than it was sent.
func Reads(client any, args Args, skip ...string) (called int, faults []string) {
	c := reflect.ValueOf(client)
	for i := range c.NumMethod() {
		name := c.Type().Method(i).Name
		if !strings.HasSuffix(name, "WithResponse") || strings.HasSuffix(name, "WithBodyWithResponse") {
			continue
		}
		op := strings.TrimSuffix(name, "WithResponse")
		if contains(skip, op) {
			continue
		}
		m := c.Method(i)
		in := []reflect.Value{reflect.ValueOf(context.Background())}
		given := args[op]
		body := false
		for n := 1; n < m.Type().NumIn()-1; n++ {
			t := m.Type().In(n)
			switch {
			case t.Kind() == reflect.Pointer: // of the query and the headers
				in = append(in, reflect.Zero(t))
			case len(given) == 0:
				body = true
			case t.Kind() == reflect.Struct: // the body
				v := reflect.New(t)
				if err := json.Unmarshal([]byte(given[0].(string)), v.Interface()); err != nil {
					faults = append(faults, fmt.Sprintf("%s: the body: %v", op, err))
				}
				in, given = append(in, v.Elem()), given[1:]
			default:
				in, given = append(in, reflect.ValueOf(given[0]).Convert(t)), given[1:]
			}
		}
		if body {
			continue
		}
		out := m.Call(in)
		if err, _ := out[1].Interface().(error); err != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", op, err))
			continue
		}
		called++
		faults = append(faults, exact(op, out[0].Elem())...)
	}
	return called, faults
}

func exact(op string, r reflect.Value) (faults []string) {
	res, _ := r.FieldByName("HTTPResponse").Interface().(*http.Response)
	body := r.FieldByName("Body").Bytes()
	field := r.FieldByName(fmt.Sprintf("JSON%d", res.StatusCode))
	if res.StatusCode >= 400 || !field.IsValid() || field.IsNil() {
		return []string{fmt.Sprintf("%s: %d %.200s", op, res.StatusCode, body)}
	}
	again := reflect.New(field.Type().Elem())
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(again.Interface()); err != nil {
		faults = append(faults, fmt.Sprintf("%s: %v", op, err))
	}
	read, err := json.Marshal(field.Interface())
	if err != nil {
		return append(faults, fmt.Sprintf("%s: %v", op, err))
	}
	return append(faults, differ(op, number(body), number(read))...)
}

func number(b []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	_ = d.Decode(&v)
	return v
}

// differ lists where what was sent is not what was read. A member that is null may be left
// out.
func differ(at string, sent, read any) (faults []string) {
	switch s := sent.(type) {
	case map[string]any:
		r, _ := read.(map[string]any)
		for k, v := range s {
			if v != nil || r[k] != nil {
				faults = append(faults, differ(at+"."+k, v, r[k])...)
			}
		}
	case []any:
		r, _ := read.([]any)
		if len(r) != len(s) {
			return []string{fmt.Sprintf("%s: %d sent, %d read", at, len(s), len(r))}
		}
		for i := range s {
			faults = append(faults, differ(fmt.Sprintf("%s[%d]", at, i), s[i], r[i])...)
		}
	case json.Number:
		r, ok := read.(json.Number)
		a, _ := s.Float64()
		b, _ := r.Float64()
		if !ok || a != b {
			return []string{fmt.Sprintf("%s: sent %v, read %v", at, sent, read)}
		}
	default:
		if sent != read {
			return []string{fmt.Sprintf("%s: sent %v, read %v", at, sent, read)}
		}
	}
	return faults
}

func contains(all []string, s string) bool {
	for _, a := range all {
		if a == s {
			return true
		}
	}
	return false
}
