package strict_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"quartermaster/schema/assert"
	"quartermaster/schema/strict"
)

// acceptable is the slow reference: whether Parse must accept b.
func acceptable(b []byte, maxDepth int) bool {
	return json.Valid(b) && utf8.Valid(b) && surrogatesPaired(string(b)) && namesUnique(b, maxDepth)
}

// surrogatesPaired checks the escapes of valid JSON only.
func surrogatesPaired(s string) bool {
	half := func(s string) uint64 {
		if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
			return 0
		}
		r, _ := strconv.ParseUint(s[2:6], 16, 16)
		return r
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		if r := half(s[i:]); r >= 0xd800 && r < 0xe000 {
			low := half(s[i+6:])
			if r >= 0xdc00 || low < 0xdc00 || low > 0xdfff {
				return false
			}
			i += 6
		}
		i++
	}
	return true
}

// namesUnique also reports false if b, valid JSON, is nested too deeply.
func namesUnique(b []byte, maxDepth int) bool {
	type container struct {
		names map[string]bool // nil for an array
		value bool            // the next token is the value of a member
	}
	var open []container
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err == io.EOF {
			return true
		}
		if err != nil {
			return false
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		if len(open) > 0 {
			top := &open[len(open)-1]
			if top.names != nil && !top.value {
				name := token.(string)
				if top.names[name] {
					return false
				}
				top.names[name] = true
				top.value = true
				continue
			}
			top.value = false
		}
		switch token {
		case json.Delim('{'):
			open = append(open, container{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, container{})
		}
		if len(open) > maxDepth {
			return false
		}
	}
}

func checkParse(t *testing.T, b []byte, maxDepth int) {
	before := bytes.Clone(b)
	v, err := strict.Parse(b, maxDepth)
	assert.MustEqual(t, acceptable(b, maxDepth), (err == nil), "%.200q to depth %d: %v", b, maxDepth, err)
	if err != nil {
		checkError(t, b, err)
		return
	}
	checkWalk(t, b, v)
	assert.Must(t, bytes.Equal(v.Raw(), bytes.Trim(b, " \t\r\n")) && bytes.Equal(b, before),
		"%.200q: raw %.200q", b, v.Raw())
}

// TestSuite runs the reference over the inputs of the other tests, and over every prefix and every one-byte change of
// the short ones.
func TestSuite(t *testing.T) {
	for _, s := range seeds() {
		checkParse(t, []byte(s), strict.MaxDepth)
		if len(s) > 100 {
			continue
		}
		for i := range len(s) {
			checkParse(t, []byte(s[:i]), strict.MaxDepth)
			for _, c := range []byte("\"\\{}[],:0u9e-. \n\x00\x1f\x7f\x80\xc3\xed\xff") {
				b := []byte(s)
				b[i] = c
				checkParse(t, b, 2)
			}
		}
	}
}

func seeds() []string {
	var all []string
	for _, c := range refused {
		all = append(all, c.text)
	}
	all = append(all,
		`null`, `true`, ` false `, `0`, `-0`, `1.5e-7`, `1E400`, `""`, `[]`, `{}`, `[[],{}]`,
		`{"rows":[{"date":"2026-01-05","sku":"SKU-000123","qty":12}]}`,
		`{"a":"\u0061\n\\","b":{"a":1},"\u0062b":[true,null,-1.5]}`,
		`{"😀":"\ud83d\ude00","é":"e\u0301"}`,
		`{"a":1,"A":2,"\u0041a":3,"":4}`,
		`["12345678","1234567\"","abcdefg\\","[{]}\"","\\\\\\"]`,
	)
	var many strings.Builder
	for i := range 40 {
		many.WriteString(`"n` + strconv.Itoa(i) + `":[{}],`)
	}
	all = append(all, "{"+many.String()+`"m":1}`, "{"+many.String()+`"\u006e7":1}`,
		`{"rows":[`+strings.Repeat(`{"date":"2026-01-31","sku":"SKU-000001","qty":20},`, 60)+`{}]}`)
	return all
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s), uint8(strict.MaxDepth))
	}
	f.Add([]byte(`[[1],{"a":[]}]`), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, maxDepth uint8) {
		checkParse(t, b, int(maxDepth))
	})
}
