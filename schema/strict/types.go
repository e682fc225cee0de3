package strict

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// write appends a value of one type; the value is addressable.
type write func(b []byte, v reflect.Value) ([]byte, error)

// writes caches how each type is written. Types do not change, so an entry is valid for the life of the program.
var writes sync.Map // reflect.Type to write

func appendAny(b []byte, v any) ([]byte, error) {
	if v == nil {
		return append(b, "null"...), nil
	}
	given := reflect.ValueOf(v)
	w := writeOf(given.Type())
	held := reflect.New(given.Type()).Elem() // addressable, so that parts can be passed without a copy
	held.Set(given)
	return w(b, held)
}

func writeOf(t reflect.Type) write {
	if w, ok := writes.Load(t); ok {
		known, _ := w.(write)
		return known
	}
	// A recursive type finds this until its own writer is ready.
	var w write
	var ready sync.WaitGroup
	ready.Add(1)
	first, taken := writes.LoadOrStore(t, write(func(b []byte, v reflect.Value) ([]byte, error) {
		ready.Wait()
		return w(b, v)
	}))
	if taken {
		known, _ := first.(write)
		return known
	}
	w = work(t)
	ready.Done()
	writes.Store(t, w)
	return w
}

var (
	isAppender  = reflect.TypeFor[appender]()
	isMarshaler = reflect.TypeFor[json.Marshaler]()
	isText      = reflect.TypeFor[encoding.TextMarshaler]()
)

// work finds the writer of a type.
func work(t reflect.Type) write {
	switch p := reflect.PointerTo(t); {
	case t.Kind() != reflect.Pointer && p.Implements(isAppender):
		return func(b []byte, v reflect.Value) ([]byte, error) {
			a, _ := v.Addr().Interface().(appender)
			return a.AppendJSON(b), nil
		}
	case t.Kind() != reflect.Pointer && (p.Implements(isMarshaler) || p.Implements(isText)):
		return writeSlow
	}
	switch t.Kind() {
	case reflect.Bool:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(b, v.Bool()), nil }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendInt(b, v.Int(), 10), nil }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendUint(b, v.Uint(), 10), nil }
	case reflect.String:
		return func(b []byte, v reflect.Value) ([]byte, error) { return AppendText(b, v.String()), nil }
	case reflect.Interface:
		return func(b []byte, v reflect.Value) ([]byte, error) { return Append(b, v.Interface()) }
	case reflect.Pointer:
		return writePointer(t)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return writeSlice(t)
		}
	case reflect.Struct:
		if fields, ok := fieldsOf(t); ok {
			return writeStruct(fields)
		}
	}
	return writeSlow
}

func writeSlow(b []byte, v reflect.Value) ([]byte, error) { return slow(b, v.Interface()) }

func writePointer(t reflect.Type) write {
	elem := writeOf(t.Elem())
	return func(b []byte, v reflect.Value) ([]byte, error) {
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return elem(b, v.Elem())
	}
}

func writeSlice(t reflect.Type) write {
	elem := writeOf(t.Elem())
	return func(b []byte, v reflect.Value) (_ []byte, err error) {
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = elem(b, v.Index(i)); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	}
}

// member is one field of a struct.
type member struct {
	index     []int
	name      string // with its quotes and colon
	omitEmpty bool
	write     write
}

// Member is one field of a struct in JSON.
type Member struct {
	Name      string
	Index     []int // as for reflect's FieldByIndex
	Type      reflect.Type
	Tag       reflect.StructTag
	OmitEmpty bool
}

// Members lists a struct's members in encoding/json's order: json tags are read only here. ok is false for structs left
// to encoding/json: rare options, and names repeated at equal depth.
func Members(t reflect.Type) (members []Member, ok bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-":
			continue
		case f.Anonymous && name == "":
			if f.Type.Kind() != reflect.Struct || tagged {
				return nil, false
			}
			inner, ok := Members(f.Type)
			if !ok {
				return nil, false
			}
			for _, m := range inner {
				m.Index = append([]int{i}, m.Index...)
				members = append(members, m)
			}
			continue
		case !f.IsExported():
			continue
		case options != "" && options != "omitempty":
			return nil, false
		case name == "":
			name = f.Name
		}
		members = append(members, Member{Name: name, Index: []int{i}, Type: f.Type, Tag: f.Tag,
			OmitEmpty: options == "omitempty"})
	}
	return outermost(members)
}

// outermost drops the members that are hidden by an outer struct's, as Go and encoding/json do; ok is false if a name
// is repeated at equal depth.
func outermost(members []Member) (left []Member, ok bool) {
	depth := map[string]int{}
	for _, m := range members {
		if d, seen := depth[m.Name]; seen && d == len(m.Index) {
			return nil, false
		} else if !seen || len(m.Index) < d {
			depth[m.Name] = len(m.Index)
		}
	}
	return slices.DeleteFunc(members, func(m Member) bool { return len(m.Index) > depth[m.Name] }), true
}

// fieldsOf finds the writer of each member.
func fieldsOf(t reflect.Type) (fields []member, ok bool) {
	all, ok := Members(t)
	for _, m := range all {
		fields = append(fields, member{
			index: m.Index, name: string(AppendText(nil, m.Name)) + ":", omitEmpty: m.OmitEmpty, write: writeOf(m.Type),
		})
	}
	return fields, ok
}

func writeStruct(members []member) write {
	return func(b []byte, v reflect.Value) (_ []byte, err error) {
		open := byte('{')
		for i := range members {
			m := &members[i]
			f := v.Field(m.index[0])
			for _, at := range m.index[1:] {
				f = f.Field(at)
			}
			if m.omitEmpty && empty(f) {
				continue
			}
			b = append(append(b, open), m.name...)
			open = ','
			if b, err = m.write(b, f); err != nil {
				return b, err
			}
		}
		if open == '{' {
			b = append(b, open)
		}
		return append(b, '}'), nil
	}
}

// empty reports whether omitempty omits the value.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
