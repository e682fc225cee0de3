package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"slices"
	"strings"
	"testing"
)

// TestLicenseKeysOfOtherProgramsImport: the samples have the columns that the five programs document.
func TestLicenseKeysOfOtherProgramsImport(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	c.Ok("store", "product", "save", "ECHO", "--name", "Tape Echo", "--activation-limit", "3")
	c.Ok("store", "product", "save", "CLUB", "--name", "Tape Club")
	for _, m := range [][]string{{"lemonsqueezy", "12", "ECHO", "--their-product-id", "4711"}, {"polar", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "ECHO"}} {
		c.Ok(append([]string{"store", "provider", "map"}, m...)...)
	}
	sample := func(name string) string { return filepath.Join("../../..", "testdata", "imports", "licenses-"+name) }

	code, out, told := c.Call("import", "store", "licenses", sample("gumroad.csv"), "--dry-run", "--json")
	if code != 1 || strings.Count(out, "prodEcho== of gumroad")+strings.Count(out, `\"prodEcho==\" of gumroad`) != 4 {
		t.Errorf("an unknown product: exit %d, %s%s", code, out, told)
	}
	for _, text := range []string{"8C1A2B3D-4E5F6071", "80e15db5-c796"} {
		assert.That(t, !strings.Contains(out+told, text), "the preview has the key %s: %s%s", text, out, told)
	}
	c.Ok("store", "provider", "map", "gumroad", "prodEcho==", "ECHO")

	for _, s := range []struct {
		file   string
		flags  []string
		said   []string
		stored []string
	}{
		{"gumroad.csv", []string{"--from", "gumroad"}, []string{"1 row was skipped: the sale has no license key", "1 row was skipped: the sale is a later charge"}, []string{
			"8C1A2B3D-4E5F6071-A2B3C4D5-E6F70819,ECHO,,ann@example.com,Ann Lee,active,,,2025-05-03T00:00:00Z,gumroad,gk1==,,",
			"1111AAAA-2222BBBB-3333CCCC-4444DDDD,ECHO,,bo@example.com,Bo Kim,revoked,,,2025-05-04T00:00:00Z,gumroad,gk2==,,",
			"5555EEEE-6666FFFF-77778888-9999AAAA,ECHO,,di@example.com,,suspended,,,2025-05-05T00:00:00Z,gumroad,gk3==,,",
			"BBBBCCCC-DDDDEEEE-FFFF0000-11112222,CLUB,,ed@example.com,Ed Poe,expired,,2026-06-01T00:00:00Z,2025-06-01T00:00:00Z,gumroad,gk4==,,",
			"ABCDABCD-ABCDABCD-ABCDABCD-ABCDABCD,ECHO,,gil@example.com,Gil Doe,revoked,,,2025-07-03T00:00:00Z,gumroad,gk7==,,",
		}},
		{"edd.csv", nil, []string{"a file of edd"}, []string{
			"0f3a9c5b7d1e4f60928374655647382a,ECHO,,ann@example.com,Ann Lee,active,2,2030-01-01T00:00:00Z,2025-03-01T10:15:00Z,edd,501,,\"[{\"\"fingerprint\"\":\"\"https://ann.example\"\",",
			"1f3a9c5b7d1e4f60928374655647382b,ECHO,,bo@example.com,Bo Kim,expired,1,2025-03-01T00:00:00Z,2024-03-01T10:15:00Z,edd,502,,",
			"2f3a9c5b7d1e4f60928374655647382c,ECHO,,cy@example.com,Cy Ott,suspended,unlimited,,2025-03-02T10:15:00Z,edd,503,,",
			"3f3a9c5b7d1e4f60928374655647382d,ECHO,,cy@example.com,Cy Ott,active,5,,2025-03-03T10:15:00Z,edd,504,,",
		}},
		{"lemonsqueezy.json", nil, []string{"a file of lemonsqueezy"}, []string{
			`80e15db5-c796-436b-850c-8f9c98a48abe,ECHO,,gernser@yahoo.com,Darlene Daugherty,active,5,,2025-05-24T14:15:07Z,lemonsqueezy,9,,"[{""fingerprint"":""47596ad9-a811-4ebf-ac8a-03fc7b6d2a17"",""label"":""Test"",""created_at"":""2025-11-05T14:50:55Z"",`,
			"38b1460a-5104-4067-a91d-77b872934d51,ECHO,,bo@example.com,Bo Kim,suspended,,2030-05-24T14:15:07Z,2025-05-25T14:15:07Z,lemonsqueezy,10,,",
		}},
		{"polar.json", []string{"--from", "polar"}, nil, []string{
			"ECHO-0B2C4D6E-8F10-4213-9415-161718191A1B,ECHO,,ann@example.com,Ann Lee,active,3,,2025-08-01T12:00:00Z,polar,ORD-",
			"ECHO-1B2C4D6E-8F10-4213-9415-161718191A1B,ECHO,,bo@example.com,Bo Kim,suspended,,2029-08-03T12:00:00Z,2025-08-03T12:00:00Z,polar,ORD-",
		}},
		{"keygen.json", nil, []string{"a file of keygen"}, []string{
			"C1B6DE-39A6E3-DE1529-8559A0-4AF593-V3,ECHO,,ann@example.com,Ann Lee,active,3,2030-01-01T00:00:00Z,2025-01-01T10:00:00Z,keygen,ORD-",
			"D1B6DE-39A6E3-DE1529-8559A0-4AF593-V3,ECHO,,bo@example.com,Bo Kim,suspended,,,2025-01-02T10:00:00Z,keygen,ORD-",
		}},
	} {
		args := append([]string{"import", "store", "licenses", sample(s.file)}, s.flags...)
		code, out, told := c.Call(args...)
		assert.That(t, code == 0, "%s: exit %d: %s%s", s.file, code, out, told)
		for _, word := range s.said {
			assert.That(t, strings.Contains(told, word), "%s: %q is not said: %s", s.file, word, told)
		}
		export := "\n" + c.Ok("export", "store", "licenses")
		for _, line := range s.stored {
			assert.Contains(t, export, "\n"+line, "%s: %s", s.file, line)
		}
		counts(c, s.file+" again", 0, 0, len(s.stored), 0, args...)
	}
	assert.Contains(t, c.Ok("doctor"), "\nstore: ok\n", "doctor")

	file := write(c, "own.csv", c.Ok("export", "store", "licenses"))
	counts(c, "the export", 0, 0, 15, 0, "import", "store", "licenses", file)
	c.Ok("user", "add", "mo", "--role", "member")
	if code, out, told := c.Call("import", "store", "licenses", file, "--as", "mo"); code == 0 || !strings.Contains(told, "role admin") {
		t.Errorf("a member imports: exit %d, %s%s", code, out, told)
	}
}

// TestJSONOfLicensesIsRefusedByName: invalid JSON, JSON without a list of keys, and JSON for another table are refused.
func TestJSONOfLicensesIsRefusedByName(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	for content, says := range map[string]string{
		`{"data":[{"type":"license-keys"`: "the JSON in the file ends after line 1",
		"{\"data\":[]}\n{}":               "no license keys",
		`[{"id":"1"}]`:                    "no license keys",
		`[{"key":"abcdefghijk","x":1}]`:   `unknown column "key"`,
	} {
		code, _, told := c.Call("import", "store", "licenses", write(c, "keys.json", content))
		assert.That(t, code != 0 && strings.Contains(told, says), "%s: exit %d, %s", content, code, told)
	}
	b, err := os.ReadFile(filepath.Join("../../..", "testdata", "imports", "licenses-lemonsqueezy.json"))
	assert.OK(t, err)
	if code, _, told := c.Call("import", "store", "orders", write(c, "orders.json", string(b))); code == 0 || strings.Contains(told, "license keys") {
		t.Errorf("orders take JSON: %s", told)
	}
	code, out, _ := c.Call("import", "store", "licenses", write(c, "keys.json", string(b)), "--json")
	var got struct {
		Errors []struct {
			Line   int
			Reason string
		}
	}
	err = json.Unmarshal([]byte(out), &got)
	assert.That(t, code == 1 && err == nil && len(got.Errors) == 2 && got.Errors[1].Line == 2, "exit %d: %s", code, out)
	refused := filepath.Join(c.Dir, "refused.csv")
	_, _, _ = c.Call("import", "store", "licenses", write(c, "keys.json", string(b)), "--refused", refused)
	c.Ok("store", "product", "save", "ECHO", "--name", "Tape Echo")
	c.Ok("store", "provider", "map", "lemonsqueezy", "4711", "ECHO")
	equal(c, "mended, the refused rows import", c.Ok("import", "store", "licenses", refused), "imported 2 rows\n")
	seats := c.Ok("store", "licenses", "list")
	assert.That(t, slices.Contains(strings.Fields(seats), "1"), "the seats of JSON are lost: %s", seats)
}
