package agents

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"quartermaster/app/apptest"
)

// gen makes JSON from JSON Schema: valid values, and values that a program might send by mistake or on purpose.
type gen struct {
	*rand.Rand
	seen    map[string][]string // texts and numbers of answers, as JSON, by field name
	odd     int                 // one value in so many is strange; 0: none
	strange int                 // number of strange values made
}

// jsonSchema is a decoded JSON Schema.
type jsonSchema = map[string]any

// member is one member of an object; its value is JSON.
type member struct{ name, value string }

// pick returns one of the values at random.
func pick[T any](g *gen, all []T) T { return all[g.IntN(len(all))] }

// one is true once in n times.
func (g *gen) one(n int) bool { return g.IntN(n) == 0 }

// value returns a value for the schema, as JSON text.
func (g *gen) value(name string, s jsonSchema) string {
	if g.odd > 0 && g.one(g.odd) {
		g.strange++
		return g.oddity()
	}
	if any, ok := s["anyOf"].([]any); ok {
		s, _ = pick(g, any).(jsonSchema)
	}
	if enum, ok := s["enum"].([]any); ok {
		return apptest.JSONText(pick(g, enum))
	}
	switch s["type"] {
	case "integer":
		return g.integer(name, s)
	case "number":
		return g.number(name, s)
	case "boolean":
		return strconv.FormatBool(g.one(2))
	case "array":
		return g.array(name, s)
	case "object":
		return g.object(s)
	case "string":
		return g.text(name, s)
	}
	return g.text(name, jsonSchema{})
}

func (g *gen) integer(name string, s jsonSchema) string {
	low, high := bounds(s)
	switch {
	case (name == "id" || strings.HasSuffix(name, "_id")) && !g.one(8):
		if known := g.seen[name]; len(known) > 0 && g.one(2) {
			return pick(g, known)
		}
		return strconv.Itoa(1 + g.IntN(12))
	case g.one(6) && s["maximum"] != nil:
		return strconv.FormatInt(high, 10)
	case g.one(6) && s["minimum"] != nil:
		return strconv.FormatInt(low, 10)
	}
	return strconv.FormatInt(low+g.Int64N(min(high-low, 50)+1), 10)
}

func (g *gen) number(name string, s jsonSchema) string {
	low, high := bounds(s)
	if known := g.seen[name]; len(known) > 0 && g.one(2) {
		n, err := strconv.ParseFloat(pick(g, known), 64) // slightly more than a meter or a stock has
		if err == nil && int64(n) < high {
			return strconv.FormatInt(int64(n)+g.Int64N(5), 10)
		}
	}
	whole := strconv.FormatInt(low+g.Int64N(min(high-low, 2000)+1), 10)
	return whole + pick(g, []string{"", "", "", ".5", ".25", ".0", ".50"})
}

func bounds(s jsonSchema) (low, high int64) {
	high = 1 << 40
	if v, ok := s["minimum"].(float64); ok {
		low = int64(v)
	}
	if v, ok := s["maximum"].(float64); ok && v < float64(high) {
		high = int64(v)
	}
	return low, high
}

func (g *gen) array(name string, s jsonSchema) string {
	items, _ := s["items"].(jsonSchema)
	n := pick(g, []int{0, 1, 1, 2, 3, 5, 40})
	all := make([]string, n)
	for i := range all {
		all[i] = g.value(name, items)
	}
	return "[" + strings.Join(all, ",") + "]"
}

func (g *gen) object(s jsonSchema) string { return objectText(g.members(s)) }

func objectText(members []member) string {
	all := make([]string, len(members))
	for i, m := range members {
		all[i] = apptest.JSONText(m.name) + ":" + m.value
	}
	return "{" + strings.Join(all, ",") + "}"
}

// members returns an object's required members and some of the others, in any order.
func (g *gen) members(s jsonSchema) []member {
	properties, _ := s["properties"].(jsonSchema)
	required, _ := s["required"].([]any)
	var members []member
	for _, name := range sortedKeys(properties) {
		if !slices.Contains(required, any(name)) && g.one(2) {
			continue
		}
		p, _ := properties[name].(jsonSchema)
		members = append(members, member{name, g.value(name, p)})
	}
	g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return members
}

// aliases are fields whose values have another name in answers.
var aliases = map[string][]string{
	"ref": {"order_ref"}, "order": {"order_ref"}, "q": {"name", "sku"}, "code": {"codes"}, "after": {"next"},
	"email": {"customer_email", "email"}, "month": {"period"}, "assigned_to": {"assigned_to"},
}

func (g *gen) text(name string, s jsonSchema) string {
	if format := s["format"]; format == "date" {
		return apptest.JSONText(g.day())
	}
	if s["pattern"] != nil && strings.Contains(fmt.Sprint(s["pattern"]), `\d{4}-`) {
		return apptest.JSONText(fmt.Sprintf("%d-%02d", 2024+g.IntN(4), 1+g.IntN(12)))
	}
	if (name == "id" || strings.HasSuffix(name, "_id")) && !g.one(4) { // an agent's text argument also accepts numbers
		quote := pick(g, []string{"", `"`})
		return quote + strings.Trim(g.integer(name, jsonSchema{}), `"`) + quote
	}
	if known := g.seen["sku"]; name == "counts" && len(known) > 0 { // SKU=QTY, one per line
		return strings.TrimSuffix(pick(g, known), `"`) + `=` + strconv.Itoa(g.IntN(200)) + `"`
	}
	if name == "category" && g.one(2) {
		return pick(g, []string{`"repairs"`, `"insurance"`, `"Bank fees"`})
	}
	for _, other := range append(aliases[name], name) {
		if known := g.seen[other]; len(known) > 0 && !g.one(6) {
			return pick(g, known)
		}
	}
	if strings.Contains(name, "date") || name == "due" {
		return apptest.JSONText(g.day())
	}
	if most, ok := s["maxLength"].(float64); ok && g.one(30) {
		return apptest.JSONText(strings.Repeat(pick(g, []string{"x", "é", "語"}), int(most)))
	}
	return apptest.JSONText(pick(g, words) + pick(g, []string{"", " ", "-"}) + strconv.Itoa(g.IntN(200)))
}

// day is a day near the present, mostly in the past.
func (g *gen) day() string {
	return apptest.Noon.AddDate(0, 0, 5-g.IntN(pick(g, []int{8, 60, 800}))).Format("2006-01-02")
}

var words = []string{"blue", "Ångström", "pump", "o'clock", "twenty", "naïve", "水", "a|b", "50%", "x_y", "\"quoted\"", "back\\slash", "tab\there", "line\nbreak"}

// oddities are values that no field accepts, or only some, or barely.
var oddities = []string{
	`null`, `true`, `false`, `0`, `1`, `-1`, `-0`, `0.0`, `-0.0001`, `0.001`, `0.0001`, `1.5`, `1.0`, `1e3`, `1E-3`, `1e400`, `-1e400`, `1e-400`,
	`2147483648`, `9007199254740993`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `-9223372036854775809`,
	`9223372036854775.807`, `9223372036854775.808`, `1000000000`, `1000000001`, `10000000000`, `1000000000000`, `1000000000001`, `92233720368547758.07`,
	`123456789012345678901234567890`, `0.1234567890123456789`, `100000000000000000000e-20`,
	`""`, `" "`, `"\t\n"`, `"0"`, `"1"`, `"-1"`, `"null"`, `"NaN"`, `"Infinity"`, `"true"`, `"\u0000"`, `"a\u0000b"`, `"\u0007"`, `"\u001b[31m"`, `"\u007f"`, `"\u0085"`,
	`"\ud800"`, `"\udc00\ud800"`, `"\ud83d\ude00"`, `"\u202eright"`, `"\ufeff"`, `"\ufffe"`, `"e\u0301"`, `"\/"`,
	`"2026-02-29"`, `"2026-02-30"`, `"2024-02-29"`, `"2026-13-01"`, `"2026-00-10"`, `"0000-00-00"`, `"0001-01-01"`, `"9999-12-31"`, `"10000-01-01"`, `"2026-1-1"`, `"2026-11-20T00:00:00Z"`, `"2026-00"`, `"9999-12"`,
	`"' OR 1=1 --"`, `"%"`, `"%00"`, `"_"`, `"*"`, `"\\"`, `"../../etc/passwd"`, `"<script>alert(1)</script>"`, `"{{7*7}}"`, `"a,b;c\td"`, `"\"; DROP TABLE audit; --"`,
	`[]`, `{}`, `[[]]`, `[null]`, `{"id":1}`, `{"":""}`, `[1,2,3]`, `["x"]`,
}

// oddity is a value unrelated to any schema.
func (g *gen) oddity() string {
	switch g.IntN(12) {
	case 0:
		return apptest.JSONText(strings.Repeat(pick(g, []string{"x", "é", "語", "😀", " ", "\u0301"}), pick(g, []int{33, 65, 200, 201, 10_000, 10_001, 70_000})))
	case 1:
		depth := 1 + g.IntN(40)
		return strings.Repeat("[", depth) + strings.Repeat("]", depth)
	case 2: // the value of another field
		if names := sortedKeys(g.seen); len(names) > 0 {
			return pick(g, g.seen[pick(g, names)])
		}
	}
	return pick(g, oddities)
}

func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// learn keeps the values of an answer for later requests.
func (g *gen) learn(name string, v any) {
	const most = 40
	switch v := v.(type) {
	case jsonSchema:
		for _, n := range sortedKeys(v) {
			g.learn(n, v[n])
		}
	case []any:
		for _, e := range v {
			g.learn(name, e)
		}
	case string, float64:
		text := apptest.JSONText(v)
		known := g.seen[name]
		switch {
		case strings.Contains(text, "*****-"): // a masked key opens nothing
		case len(text) > 300 || slices.Contains(known, text):
		case len(known) < most:
			g.seen[name] = append(known, text)
		default:
			known[g.IntN(most)] = text
		}
	}
}
