package store_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// blocks returns the code blocks of a document of docs/ in the language, in order.
func blocks(t *testing.T, name, language string) []string {
	t.Helper()
	page := assert.Value(os.ReadFile("../docs/" + name))(t)
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"[^\n]*\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		found = append(found, m[1])
	}
	assert.Must(t, len(found) != 0, "docs/%s has no %s", name, language)
	return found
}

// shopOfThePage is a running appliance that sells what the document sells.
func shopOfThePage(t *testing.T) *apptest.Fixture {
	t.Helper()
	s := apptest.Start(t)
	code, _, errs := s.Pipe(blocks(t, "store.md", "csv")[0], "import", "store", "products", "-")
	assert.Must(t, code == 0, "%v", errs)
	return s
}

// sold records an order and returns its reference and its license.
func sold(t *testing.T, s *apptest.Fixture) (ref, key string) {
	t.Helper()
	var order struct {
		OrderRef string `json:"order_ref"`
		Licenses []struct {
			Key string `json:"license_key"`
		} `json:"licenses"`
	}
	out := s.MustCLI("store", "order", "record", "--email", "ann@example.com", "--sku", "PLUGIN", "--tier", "pro", "--json")
	assert.OK(t, json.Unmarshal([]byte(out), &order))
	return order.OrderRef, order.Licenses[0].Key
}

// TestDocumentedSamplesRun runs the document's three programs against a real server, each if its interpreter is
// installed.
func TestDocumentedSamplesRun(t *testing.T) {
	for _, sample := range []struct {
		language, file string
		command        []string
	}{
		{"go", "sample.go", []string{"go", "run"}},
		{"python", "sample.py", []string{"python3"}},
		{"js", "sample.js", []string{"node"}},
	} {
		t.Run(sample.language, func(t *testing.T) {
			program := blocks(t, "license-checks.md", sample.language)[0]
			if _, err := exec.LookPath(sample.command[0]); err != nil {
				t.Logf("not run: there is no %s here", sample.command[0])
				return
			}
			s := shopOfThePage(t)
			ref, key := sold(t, s)
			dir := t.TempDir()
			path := filepath.Join(dir, sample.file)
			assert.OK(t, os.WriteFile(path, []byte(program), 0o600))
			run := func(url, key, fingerprint string, good bool, says string) {
				t.Helper()
				args := append(append([]string{}, sample.command[1:]...), path, url, key, fingerprint)
				cmd := exec.CommandContext(t.Context(), sample.command[0], args...)
				cmd.Env = append(os.Environ(), "TMPDIR="+dir)
				out, err := cmd.Output()
				assert.That(t, (err == nil) == good && strings.TrimSpace(string(out)) == says,
					"%s %s: says %q (%v), want %q, good: %v", sample.file, fingerprint, out, err, says, good)
			}
			store := s.URL("store", "")
			const closed = "http://127.0.0.1:1"
			run(store, key, "one", true, "activated")
			run(store, strings.ToLower(key), "one", true, "valid")
			run(closed, key, "one", true, "no answer from the store")
			run(closed, key, "never seen", false, "no answer from the store")
			run(store, key, "two", true, "activated")
			run(store, key, "three", true, "activated")
			run(store, key, "four", false, "all 3 seats are taken: give one up on another machine")
			run(store, "00000-00000-00000-00000-00000", "five", false, "no license has this key")
			s.MustCLI("store", "order", "refund", ref)
			run(store, key, "one", false, "the license was revoked")
			run(closed, key, "one", false, "no answer from the store")
		})
	}
}

// TestTheCurlLinesOfThePage runs the lines of docs/license-checks.md and docs/store.md that begin with curl.
func TestTheCurlLinesOfThePage(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Log("not run: there is no curl here")
		return
	}
	s := shopOfThePage(t)
	ref, key := sold(t, s)
	minted := s.Post("store", "/api/redeem-codes", `{"count": 1, "sku": "PLUGIN"}`)
	var codes struct{ Codes []string }
	minted.JSON(t, &codes)
	env := append(os.Environ(), "STORE="+s.URL("store", ""), "KEY="+s.Keys["store"], "LICENSE="+key, "CODE="+codes.Codes[0])
	var out strings.Builder
	ran := 0
	for _, block := range append(blocks(t, "license-checks.md", "sh"), blocks(t, "store.md", "sh")...) {
		if !strings.HasPrefix(block, "curl") {
			continue
		}
		for _, line := range strings.Split(strings.ReplaceAll(block, "\\\n", ""), "\n") {
			if line == "" {
				continue
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(line, "curl -s", "curl -sf", 1))
			cmd.Env = env
			got, err := cmd.Output()
			assert.NoError(t, err, "%s", line)
			ran++
			out.Write(got)
			out.WriteByte('\n')
		}
	}
	assert.That(t, ran == 11, "%d lines were run", ran)
	for _, part := range []string{
		`"code":"not_activated"`, `"activated":true`, `"label":"the Mac in the studio"`, `"deactivated":true`,
		`"batch":"launch"`, `"batches":[`, `"provider":"code"`, `"order_ref":"` + ref, `"customers":[`, `"licenses":[`, `"orders_paid":2`,
	} {
		assert.Contains(t, out.String(), part, "no answer holds")
	}
}
