package strict

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
)

type inner struct {
	A int64   `json:"a"`
	B *string `json:"b"`
}

type tree struct {
	Name string  `json:"name"`
	Kids []*tree `json:"kids"`
}

type everything struct {
	Promoted
	Text     string             `json:"text"`
	Empty    string             `json:"empty,omitempty"`
	None     *exact.Day         `json:"none"`
	Day      *exact.Day         `json:"day"`
	Qty      exact.Milli        `json:"qty"`
	Dec      exact.Decimal      `json:"dec"`
	At       exact.Instant      `json:"at"`
	Month    exact.Month        `json:"month"`
	Rows     []inner            `json:"rows"`
	Nil      []inner            `json:"nil"`
	Map      map[string]int     `json:"map"`
	Any      any                `json:"any"`
	Raw      json.RawMessage    `json:"raw"`
	Bytes    []byte             `json:"bytes"`
	Float    float64            `json:"float"`
	Bool     bool               `json:"bool"`
	Time     time.Time          `json:"time"`
	Small    uint8              `json:"small"`
	Nested   struct{ X, Y int } `json:"nested"`
	Hidden   string             `json:"-"`
	secret   string
	Untagged int
}

type inner2 struct {
	Up string `json:"up"`
}

// Promoted is exported, so its fields belong to the struct that embeds it.
type Promoted struct {
	P int `json:"p"`
}

type outer struct {
	Promoted
	Q int `json:"q"`
}

// hidden embeds an unexported struct, which is left to encoding/json.
type hidden struct {
	inner2
	V int `json:"v"`
}

type shadow struct {
	Promoted
	P string `json:"p"`
}

// sparse may begin with omitted members, and may omit all.
type sparse struct {
	A int    `json:"a,omitempty"`
	B string `json:"b,omitempty"`
}

func reference(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	assert.OK(t, enc.Encode(v))
	return strings.TrimSuffix(b.String(), "\n")
}

func TestMarshalIsEncodingJSON(t *testing.T) {
	s, d := "ein \"Wort\" <b> & \u2028 \xff \x01", exact.DateOf(2026, 11, 20)
	full := everything{
		Text: s, Day: &d, Qty: 12_500, Dec: exact.Decimal{Unscaled: -1234, Places: 2}, At: 1_795_000_000, Month: d.Month(),
		Rows: []inner{{1, &s}, {-2, nil}}, Map: map[string]int{"b": 1, "a": 2}, Any: inner{A: 3}, Raw: json.RawMessage(`{"x":[1,2]}`),
		Bytes: []byte("hey"), Float: 1e21, Bool: true, Time: time.Unix(1, 5).UTC(), Small: 255, Hidden: "h", secret: "s",
	}
	for _, v := range []any{
		nil, 1, "x", s, true, []string{}, []string(nil), map[string]any{"k": []int{1}}, full, &full, everything{Raw: json.RawMessage("1"), Month: d.Month()}, hidden{inner2{"u"}, 1},
		outer{Promoted{1}, 2}, shadow{Promoted{1}, "x"}, []any{1, "a", nil, full}, d, &d, exact.Milli(1), []exact.Day{d}, struct{}{},
		tree{Name: "a", Kids: []*tree{{Name: "b"}, nil}}, json.RawMessage(`[1]`), sparse{}, sparse{A: 1}, sparse{B: "b"}, sparse{1, "b"},
	} {
		got, err := Marshal(v)
		want := reference(t, v)
		assert.That(t, err == nil && string(got) == want, "%T:\n got %s (%v)\nwant %s", v, got, err, want)
	}
	_, err := Marshal(map[string]any{"f": func() {}})
	assert.That(t, err != nil, "a function was written")
}
