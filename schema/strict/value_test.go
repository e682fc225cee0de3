package strict_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/strict"
)

func parse(t testing.TB, s string) strict.Value {
	t.Helper()
	v, err := strict.Parse([]byte(s), strict.MaxDepth)
	assert.OK(t, err, "%.60q", s)
	return v
}

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		text string
		kind strict.Kind
		name string
	}{
		{"null", strict.Null, "null"},
		{"true", strict.Bool, "true or false"},
		{"false", strict.Bool, "true or false"},
		{"-0.5E+7", strict.Number, "a number"},
		{"0", strict.Number, "a number"},
		{`""`, strict.String, "a string"},
		{"[ ]", strict.Array, "an array"},
		{"{\t}", strict.Object, "an object"},
	} {
		v := parse(t, " \n"+c.text+"\r\t")
		assert.That(t, v.Kind() == c.kind && c.kind.String() == c.name && string(v.Raw()) == c.text,
			"%s: %v, raw %s", c.text, v.Kind(), v.Raw())
		assert.That(t, v.Bool() == (c.text == "true"), "%s: Bool %v", c.text, v.Bool())
		if v.Text() != "" || c.kind != strict.String && v.TextBytes(nil) != nil {
			t.Errorf("%s: Text %q", c.text, v.Text())
		}
		for range v.Fields {
			t.Errorf("%s has a field", c.text)
		}
		for range v.Items {
			t.Errorf("%s has an item", c.text)
		}
		m, ok := v.Get("")
		assert.That(t, !ok && m.Raw() == nil, "%s has a member", c.text)
	}
	var zero strict.Value
	assert.That(t, zero.Kind() == strict.Null && zero.Raw() == nil && zero.Text() == "" && !zero.Bool(), "zero Value")
	assert.Equal(t, strict.Kind(99).String(), "no kind of value")
}

func TestText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`"abc"`, "abc"},
		{`"Größe ß 数量 😀"`, "Größe ß 数量 😀"},
		{`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t"},
		{`"\u0041\u00fc\u20AC\uFFFF\u0000"`, "Aü€\uffff\x00"},
		{`"\ud83d\ude00\uD800\uDC00x\uDBFF\uDFFF"`, "😀\U00010000x\U0010ffff"},
		{`"12345678"`, "12345678"},
		{`"1234567\""`, `1234567"`},
		{`"12345678\\"`, `12345678\`},
		{`"[{\"}]"`, `[{"}]`},
		{"\"\x7f\"", "\x7f"},
	} {
		v := parse(t, c.text)
		assert.Equal(t, v.Text(), c.want, "Text of %s", c.text)
		buf := make([]byte, 2, 64)
		got := v.TextBytes(buf)
		assert.That(t, string(got) == c.want, "TextBytes of %s = %q, want %q", c.text, got, c.want)
		escaped := strings.Contains(c.text, `\`)
		assert.That(t, escaped == (len(got) > 0 && &got[0] == &buf[0]), "TextBytes of %s: in the buffer %v", c.text, !escaped)
	}
}

func TestWalk(t *testing.T) {
	v := parse(t, ` { "a" : [ 1 , "x]" , { } ] , "b\u0062" : { "c" : null } ,"d":-1.5e3,"e":"" } `)
	var got []string
	for name, m := range v.Fields {
		got = append(got, fmt.Sprintf("%s=%s", name, m.Raw()))
	}
	want := []string{`a=[ 1 , "x]" , { } ]`, `bb={ "c" : null }`, `d=-1.5e3`, `e=""`}
	assert.That(t, reflect.DeepEqual(got, want), "fields %q", got)
	list, ok := v.Get("a")
	assert.Must(t, ok, "no a")
	got = nil
	for i, item := range list.Items {
		got = append(got, fmt.Sprintf("%d=%s", i, item.Raw()))
		if i == 1 {
			break
		}
	}
	want = []string{`0=1`, `1="x]"`}
	assert.That(t, reflect.DeepEqual(got, want), "items %q", got)
	if m, ok := v.Get("bb"); !ok || m.Kind() != strict.Object {
		t.Errorf("bb: %v", m.Kind())
	}
	for _, name := range []string{"", "c", "A", `b\u0062`} {
		if m, ok := v.Get(name); ok {
			t.Errorf("%q: %s", name, m.Raw())
		}
	}
}

// TestInputIsNotWritten appends to the slices that a Value returns, and parses part of a larger buffer.
func TestInputIsNotWritten(t *testing.T) {
	text := `{"a":"x","b":[1,2]}`
	buf := []byte(text + strings.Repeat("#", 5000))
	v := assert.Value(strict.Parse(buf[:len(text)], strict.MaxDepth))(t)
	for name, m := range v.Fields {
		_ = append(name, "!!!"...)
		_ = append(m.Raw(), "!!!"...)
		_ = append(m.TextBytes(nil), "!!!"...)
		for _, item := range m.Items {
			_ = append(item.Raw(), "!!!"...)
		}
	}
	_ = append(v.Raw(), "!!!"...)
	if string(buf[:len(text)]) != text || buf[len(text)] != '#' {
		t.Errorf("%s", buf[:len(text)+3])
	}
}

// longTexts have arrays and objects long enough to be indexed, at several depths, with strings that look like brackets
// and quotes.
func longTexts() []string {
	var texts []string
	for _, item := range []string{
		`"` + strings.Repeat("x", 1500) + `"`,
		`{"k]":"[{\"","n":[1,2,{"\\":"\\"}]}`,
		`[[[[["}"]]]],"ü\\\\\"]",-1.25e-7,true,null]`,
		`"\\\"]}"`, `1`, `[]`,
	} {
		for _, n := range []int{1, 3, 40, 400} {
			list := "[" + strings.Repeat(item+" , ", n) + item + "]"
			texts = append(texts, list,
				`{"first":`+list+`,"inner":{"a":`+list+`,"b":[`+list+`,`+list+`]},"last":{"x":1}}`,
				" [ 0 , [ "+list+" ] , \n "+list+" ] ")
		}
	}
	return texts
}

func TestWalkLong(t *testing.T) {
	for _, s := range longTexts() {
		buf := []byte(s + strings.Repeat(" ", 100))
		v, err := strict.Parse(buf[:len(s)], strict.MaxDepth)
		assert.OK(t, err, "%.60s", s)
		checkWalk(t, []byte(s), v)
	}
}

// checkWalk compares a walk over v with the result of encoding/json for b.
func checkWalk(t *testing.T, b []byte, v strict.Value) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	var want any
	assert.OK(t, d.Decode(&want), "%.200q: encoding/json", b)
	got := decode(t, v)
	assert.Must(t, reflect.DeepEqual(got, want), "%.200q: walked %.200v, want %.200v", b, got, want)
}

// decode returns the result of encoding/json with UseNumber for v.
func decode(t *testing.T, v strict.Value) any {
	assert.Must(t, json.Valid(v.Raw()), "raw %q", v.Raw())
	switch v.Kind() {
	case strict.Bool:
		return v.Bool()
	case strict.Number:
		return json.Number(v.Raw())
	case strict.String:
		if b := v.TextBytes(nil); string(b) != v.Text() {
			t.Fatalf("%s: TextBytes %q, Text %q", v.Raw(), b, v.Text())
		}
		return v.Text()
	case strict.Array:
		list := []any{}
		for i, item := range v.Items {
			assert.Must(t, i == len(list), "item %d as %d", len(list), i)
			list = append(list, decode(t, item))
		}
		return list
	case strict.Object:
		object := map[string]any{}
		for name, m := range v.Fields {
			if got, ok := v.Get(string(name)); len(object) < 8 && (!ok || string(got.Raw()) != string(m.Raw())) {
				t.Fatalf("Get(%q) = %q, %v", name, got.Raw(), ok)
			}
			object[string(name)] = decode(t, m)
		}
		return object
	}
	return nil
}
