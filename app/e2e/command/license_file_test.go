package command

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestSamplesVerifyLicenseFiles runs the samples of docs/keys.md on a valid license file and on files that must be
// refused.
func TestSamplesVerifyLicenseFiles(t *testing.T) {
	c := apptest.NewCLI(t)
	c.Ok("store", "product", "save", "ECHO", "--price-cents", "4900")
	c.Ok("store", "order", "record", "--email", "ann@example.com", "--sku", "ECHO")
	keyID := strings.Fields(c.Ok("store", "signing-key", "make"))[0]
	public := regexp.MustCompile(keyID + `\s+yes\s+(\S{43})`).FindStringSubmatch(c.Ok("store", "signing-key", "list"))
	assert.Must(t, public != nil, "no public key in the list")
	made := strings.TrimSpace(c.Ok("store", "license", "file", "1", "--fingerprint", "m1"))
	var claims string
	if b, err := base64.RawURLEncoding.DecodeString(strings.Split(made, ".")[1]); err == nil {
		claims = string(b)
	}
	var now int64
	_, err := fmt.Sscanf(regexp.MustCompile(`"iat":(\d+)`).FindString(claims), `"iat":%d`, &now)
	assert.OK(t, err)

	own := ed25519.NewKeyFromSeed(make([]byte, 32))
	encode := base64.RawURLEncoding.EncodeToString
	sign := func(head, body string) string {
		text := encode([]byte(head)) + "." + encode([]byte(body))
		return text + "." + encode(ed25519.Sign(own, []byte(text)))
	}
	const head = `{"alg":"EdDSA","kid":"own","typ":"JWT"}`
	body := func(iat, exp int64) string {
		return fmt.Sprintf(`{"jti":"1","iat":%d,"exp":%d,"machine":"m1","sku":"ECHO"}`, iat, exp)
	}
	good := sign(head, body(1000, 2000))
	part := strings.Split(good, ".")
	type try struct {
		name, file, machine, sku string
		now                      int64
		good                     bool
	}
	tries := []try{
		{"as it was made", made, "m1", "ECHO", now, true},
		{"on another machine", made, "m2", "ECHO", now, false},
		{"of another product", made, "m1", "OTHER", now, false},
		{"after its end", made, "m1", "ECHO", now + 31*24*3600, false},
		{"before it was made", made, "m1", "ECHO", now - 301, false},
		{"own, good", good, "m1", "ECHO", 1500, true},
		{"a clock 300 s behind", good, "m1", "ECHO", 700, true},
		{"a clock 301 s behind", good, "m1", "ECHO", 699, false},
		{"its last second", good, "m1", "ECHO", 1999, true},
		{"its end", good, "m1", "ECHO", 2000, false},
		{"an unknown key", sign(`{"alg":"EdDSA","kid":"x"}`, body(1000, 2000)), "m1", "ECHO", 1500, false},
		{"no algorithm", sign(`{"alg":"none","kid":"own"}`, body(1000, 2000)), "m1", "ECHO", 1500, false},
		{"no signature", part[0] + "." + part[1] + ".", "m1", "ECHO", 1500, false},
		{"two parts", part[0] + "." + part[1], "m1", "ECHO", 1500, false},
		{"four parts", good + ".", "m1", "ECHO", 1500, false},
		{"padded", good + "==", "m1", "ECHO", 1500, false},
		{"bits behind the signature", good[:len(good)-1] + string(good[len(good)-1]+1), "m1", "ECHO", 1500, false},
		{"nothing", "", "m1", "ECHO", 1500, false},
		{"no JSON", sign(head, "x"), "m1", "ECHO", 1500, false},
	}
	for i := range made {
		b := []byte(made)
		if b[i]++; b[i] > 'z' {
			b[i] = 'A'
		}
		tries = append(tries, try{fmt.Sprint("byte ", i, " is another"), string(b), "m1", "ECHO", now, false})
	}
	var asked strings.Builder
	for _, f := range tries {
		fmt.Fprintf(&asked, "%q\t%s\t%s\t%d\n", f.file, f.machine, f.sku, f.now)
	}
	ownPublic := encode(own.Public().(ed25519.PublicKey))
	keys := strings.NewReplacer(`{"KEY-ID": "PUBLIC-KEY"}`, `{"`+keyID+`": "`+public[1]+`", "own": "`+ownPublic+`"}`,
		`{ "KEY-ID": "PUBLIC-KEY" }`, `{ "`+keyID+`": "`+public[1]+`", "own": "`+ownPublic+`" }`)
	doc := assert.Value(os.ReadFile("../../../docs/keys.md"))(t)
	for _, s := range []struct{ name, driver, code, command, there string }{
		{"license.go", "main.go", goDriver, "go run .", "go version"},
		{"license.py", "main.py", pythonDriver, "/usr/bin/python3 main.py", "/usr/bin/python3 -c import_cryptography"},
		{"license.mjs", "main.mjs", jsDriver, "node --no-warnings main.mjs", "node --version"},
	} {
		t.Run(s.name, func(t *testing.T) {
			block := regexp.MustCompile("(?s)```[a-z]+ " + regexp.QuoteMeta(s.name) + "\n(.*?)```").FindSubmatch(doc)
			assert.Must(t, block != nil, "the document has no such sample")
			if shown, err := os.ReadFile("../../../store/page/samples/" + s.name + ".txt"); err != nil || string(shown) != string(block[1]) {
				t.Errorf("the settings show another sample: %v", err)
			}
			n := strings.Count(string(block[1]), "\n")
			assert.That(t, n <= 25, "the sample has %d lines, more than 25", n)
			dir := t.TempDir()
			code := strings.Replace(keys.Replace(string(block[1])), "package license", "package main", 1)
			for name, text := range map[string]string{s.name: code, s.driver: s.code, "go.mod": "module sample\n\ngo 1.24\n", "asked": asked.String()} {
				assert.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			words := strings.Fields(s.command)
			if !there(t, strings.Fields(s.there)) && os.Getenv("CI") == "" {
				t.Skipf("what runs %s is not on this machine; the gate installs it", s.name)
			}
			run := exec.CommandContext(t.Context(), words[0], words[1:]...) // #nosec G204 -- of the table above
			run.Dir = dir
			run.WaitDelay = time.Second
			out, err := run.CombinedOutput()
			assert.OK(t, err, "%s", out)
			answers := strings.Fields(string(out))
			assert.Must(t, len(answers) == len(tries), "%d answers to %d files\n%.500s", len(answers), len(tries), out)
			for i, f := range tries {
				assert.Equal(t, strings.EqualFold(answers[i], "true"), f.good, "%s", f.name)
			}
		})
	}
}

// there reports whether a command can run.
func there(t *testing.T, command []string) bool {
	t.Helper()
	for i := range command {
		command[i] = strings.ReplaceAll(command[i], "_", " ")
	}
	return exec.CommandContext(t.Context(), command[0], command[1:]...).Run() == nil // #nosec G204 -- of the table above
}

const goDriver = `package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	f, _ := os.Open("asked")
	for s := bufio.NewScanner(f); s.Scan(); {
		c := strings.Split(s.Text(), "\t")
		file, _ := strconv.Unquote(c[0])
		now, _ := strconv.ParseFloat(c[3], 64)
		fmt.Println(Valid(file, c[1], c[2], now))
	}
}
`

const pythonDriver = `import json
from license import valid
for line in open("asked"):
    file, machine, sku, now = line.rstrip("\n").split("\t")
    print(valid(json.loads(file), machine, sku, int(now)))
`

const jsDriver = `import { readFileSync } from "node:fs";
import { valid } from "./license.mjs";
for (const line of readFileSync("asked", "utf8").trimEnd().split("\n")) {
  const [file, machine, sku, now] = line.split("\t");
  console.log(await valid(JSON.parse(file), machine, sku, Number(now)));
}
`
