package strict_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"quartermaster/schema/assert"
	"quartermaster/schema/strict"
)

var refused = []struct{ text, want string }{
	{``, `empty input: expected a value at byte 0`},
	{" \n", `empty input: expected a value at byte 2`},
	{"\xef\xbb\xbf1", `byte order mark at byte 0`},
	{"\x00", `expected a value but found a NUL byte at byte 0`},
	{"1\x00", `expected nothing after the value but found a NUL byte at byte 1`},
	{`1 2`, `expected nothing after the value but found '2' at byte 2`},
	{`{} {}`, `expected nothing after the value but found '{' at byte 3`},
	{`nul`, `a word that begins like null but is not at byte 0`},
	{`True`, `expected a value but found 'T' at byte 0`},
	{`truer`, `expected nothing after the value but found 'r' at byte 4`},
	{`[tru]`, `a word that begins like true but is not at byte 1`},
	{`NaN`, `expected a value but found 'N' at byte 0`},
	{`01`, `number with a leading zero at byte 0`},
	{`[-01]`, `number with a leading zero at byte 2`},
	{`-`, `unexpected end of input: expected a digit at byte 1`},
	{`+1`, `expected a value but found '+' at byte 0`},
	{`.5`, `expected a value but found '.' at byte 0`},
	{`[5.]`, `expected a digit after the decimal point but found ']' at byte 3`},
	{`5e`, `unexpected end of input: expected a digit in the exponent at byte 2`},
	{`[1e+]`, `expected a digit in the exponent but found ']' at byte 4`},
	{`0x1`, `expected nothing after the value but found 'x' at byte 1`},
	{`"abc`, `unexpected end of input: expected the end of a string at byte 4`},
	{`"abcdefghijkl`, `unexpected end of input: expected the end of a string at byte 13`},
	{`"a\`, `unexpected end of input: expected an escape at byte 3`},
	{"\"a\nb\"", `control character 0x0a in a string, which must be escaped at byte 2`},
	{"\"abcdefghij\x1fb\"", `control character 0x1f in a string, which must be escaped at byte 11`},
	{"\"a\x00\"", `a NUL byte in a string, which must be escaped at byte 2`},
	{`"\x41"`, `no such escape: a backslash before 'x' at byte 1`},
	{`"\u12g4"`, `\u without four hexadecimal digits at byte 1`},
	{`"\u12`, `\u without four hexadecimal digits at byte 1`},
	{`"\ud800"`, `escape \ud800 of half a surrogate pair at byte 1`},
	{`"\ud800x12345"`, `escape \ud800 of half a surrogate pair at byte 1`},
	{`"\ud800\u0041"`, `escape \ud800 of half a surrogate pair at byte 1`},
	{`"\ud800\ud800"`, `escape \ud800 of half a surrogate pair at byte 1`},
	{`"x\udc00\ud800"`, `escape \udc00 of half a surrogate pair at byte 2`},
	{`"\uDBFF\uDFF"`, `escape \udbff of half a surrogate pair at byte 1`},
	{"\"\xff\"", `invalid UTF-8 at byte 1`},
	{"\"abcdefghi\xc3\"", `invalid UTF-8 at byte 10`},
	{"\"\xc0\x80\"", `invalid UTF-8 at byte 1`},
	{"\"\xed\xa0\x80\"", `invalid UTF-8 at byte 1`},
	{"\"\xf4\x90\x80\x80\"", `invalid UTF-8 at byte 1`},
	{"\"ü\xe2\x82\"", `invalid UTF-8 at byte 3`},
	{"\xff", `expected a value but found byte 0xff at byte 0`},
	{"{\"a\xff\":1}", `invalid UTF-8 at byte 3`},
	{"[ü]", `expected a value but found 'ü' at byte 1`},
	{"[\u202e]", `expected a value but found character U+202e at byte 1`},
	{"[\u00a01]", `expected a value but found character U+00a0 at byte 1`},
	{"[\v1]", `expected a value but found control character 0x0b at byte 1`},
	{`[`, `unexpected end of input: expected a value at byte 1`},
	{`[1`, `unexpected end of input: expected ',' or ']' at byte 2`},
	{`[1,]`, `expected a value but found ']' at byte 3`},
	{`[,1]`, `expected a value but found ',' at byte 1`},
	{`[1 2]`, `expected ',' or ']' but found '2' at byte 3`},
	{`[1}`, `expected ',' or ']' but found '}' at byte 2`},
	{`]`, `expected a value but found ']' at byte 0`},
	{`{`, `unexpected end of input: expected a name in double quotes at byte 1`},
	{`{"a"`, `unexpected end of input: expected ':' at byte 4`},
	{`{"a":`, `unexpected end of input: expected a value at byte 5`},
	{`{"a":1`, `unexpected end of input: expected ',' or '}' at byte 6`},
	{`{"a":1,}`, `expected a name in double quotes but found '}' at byte 7`},
	{`{"a":1 "b":2}`, `expected ',' or '}' but found '"' at byte 7`},
	{`{"a" 1}`, `expected ':' but found '1' at byte 5`},
	{`{'a':1}`, `expected a name in double quotes but found a single quote at byte 1`},
	{`{a:1}`, `expected a name in double quotes but found 'a' at byte 1`},
	{`{1:1}`, `expected a name in double quotes but found '1' at byte 1`},
	{`{"a":1]`, `expected ',' or '}' but found ']' at byte 6`},
	{`// x`, `expected a value but found '/' at byte 0`},
	{`{"a":1,"b":2,"a":3}`, `duplicate name "a" at byte 13`},
	{`{"":1,"":3}`, `duplicate name "" at byte 6`},
	{`{"qty":1,"\u0071ty":3}`, `duplicate name "qty" at byte 9`},
	{`{"\u0071ty":1,"qt\u0079":3}`, `duplicate name "qty" at byte 14`},
	{`{"😀":1,"\ud83d\uDE00":3}`, `duplicate name "😀" at byte 10`},
	{`{"a\/":1,"a/":3}`, `duplicate name "a/" at byte 9`},
	{`{"\t\"\\":1,"\u0009\u0022\u005c":3}`, `duplicate name "\t\"\\" at byte 12`},
	{`[{"x":[{"a":1,"a":2}]}]`, `duplicate name "a" at byte 14`},
	{`{"a":{"a":{"a":1}},"b":0,"a":2}`, `duplicate name "a" at byte 25`},
	{`{"a":{"b":1},"b":{"\u0062":1,"b":2}}`, `duplicate name "b" at byte 29`},
	{"{\"a\u202eb\":1,\"a\u202eb\":2}", `duplicate name "a\u202eb" at byte 11`},
	{strings.Repeat("[", 33) + strings.Repeat("]", 33), `nested deeper than 32 at byte 32`},
	{strings.Repeat(`{"a":`, 33), `nested deeper than 32 at byte 160`},
	{strings.Repeat(`[`, 10000), `nested deeper than 32 at byte 32`},
}

func TestRefused(t *testing.T) {
	for _, c := range refused {
		v, err := strict.Parse([]byte(c.text), strict.MaxDepth)
		assert.That(t, err != nil && err.Error() == c.want, "%.60q: %v, want %s", c.text, err, c.want)
		assert.That(t, v.Kind() == strict.Null && v.Raw() == nil, "%.60q: refused, yet a value %q", c.text, v.Raw())
		checkError(t, []byte(c.text), err)
	}
}

// checkError checks what every error must fulfil.
func checkError(t *testing.T, b []byte, err error) {
	t.Helper()
	var e *strict.Error
	assert.Must(t, errors.As(err, &e), "%q: %T is not an Error", b, err)
	assert.Must(t, e.Offset >= 0 && e.Offset <= len(b) && len(e.What) <= 120 && utf8.ValidString(e.What), "%q: %#v", b, e)
	for _, r := range e.What {
		assert.Must(t, unicode.IsPrint(r), "%q: %q", b, e.What)
	}
}

func TestLongNameInError(t *testing.T) {
	for _, name := range []string{strings.Repeat("x", 1000), strings.Repeat("ü", 1000), strings.Repeat("\u202e", 1000)} {
		b := fmt.Appendf(nil, `{"%s":1,"%s":2}`, name, name)
		_, err := strict.Parse(b, 1)
		checkError(t, b, err)
		s := err.Error()
		assert.That(t, len(s) <= 90 && strings.Contains(s, `…" at byte `), "%v", s)
	}
}

func TestDepth(t *testing.T) {
	for _, c := range []struct {
		text  string
		depth int
		ok    bool
	}{
		{`1`, 0, true}, {`[]`, 0, false}, {`{}`, 0, false}, {`[1,"a"]`, 1, true}, {`{"a":1}`, 1, true},
		{`[[]]`, 1, false}, {`[{}]`, 1, false}, {`{"a":[]}`, 1, false}, {`{"a":[]}`, 2, true},
		{`[[],[],{}]`, 2, true}, {`[[],[[]]]`, 2, false},
		{strings.Repeat("[", 32) + strings.Repeat("]", 32), strict.MaxDepth, true},
		{strings.Repeat(`{"a":`, 32) + "1" + strings.Repeat("}", 32), strict.MaxDepth, true},
	} {
		_, err := strict.Parse([]byte(c.text), c.depth)
		assert.That(t, (err == nil) == c.ok, "%s to depth %d: %v", c.text, c.depth, err)
	}
}

// TestDuplicateAmongMany repeats each of n names in turn, plain and escaped, around the sizes at which the search for
// duplicates changes its algorithm.
func TestDuplicateAmongMany(t *testing.T) {
	for _, n := range []int{1, 2, 15, 16, 17, 18, 31, 32, 33, 34, 64, 65, 66, 300} {
		var s strings.Builder
		for i := range n {
			fmt.Fprintf(&s, `"n%d":{"n%d":0},`, i, i)
		}
		members := s.String()
		fresh := []byte("{" + members + `"m":0}`)
		_, err := strict.Parse(fresh, 2)
		assert.OK(t, err, "%d names", n)
		for i := range n {
			for _, name := range []string{"n%d", `\u006e%d`} {
				again := fmt.Appendf(nil, `{%s"`+name+`":0}`, members, i)
				want := fmt.Sprintf(`duplicate name "n%d" at byte %d`, i, len(members)+1)
				_, err := strict.Parse(again, 2)
				assert.Must(t, err != nil && err.Error() == want, "%d names: %v, want %s", n, err, want)
			}
		}
	}
}

// TestManyNamesAreFast has inputs on which careless duplicate searches are quadratic: one huge object, and thousands of
// objects just large enough for a table.
func TestManyNamesAreFast(t *testing.T) {
	var s strings.Builder
	object := func(names int) {
		s.WriteString("{")
		for i := range names {
			fmt.Fprintf(&s, `"%d":0,`, i)
		}
		s.WriteString(`"last":0},`)
	}
	s.WriteString("[")
	object(200_000)
	for range 5000 {
		object(20)
	}
	s.WriteString("0]")
	began := time.Now()
	_, err := strict.Parse([]byte(s.String()), 2)
	assert.OK(t, err)
	took := time.Since(began)
	assert.That(t, took <= 5*time.Second, "took %v", took)
}
