package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// smallDisk returns a folder on a disk of its own, if the machine lets the test mount one.
func smallDisk(t testing.TB, size, without string) (dir string, ok bool) {
	t.Helper()
	dir = t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Logf("a small disk cannot be mounted here (%v %s): not checked: %s", err, out, without)
		return "", false
	}
	t.Cleanup(func() {
		out, err := exec.Command("umount", dir).CombinedOutput()
		assert.NoError(t, err, "%s", out)
	})
	return dir, true
}

// TestRentIsDueOnAFullDisk: nothing can be posted, so readers get the ledgers unchanged, marked as incomplete. With
// room again they are complete, without the mark. A server that starts on a full disk says so.
func TestRentIsDueOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir, ok := smallDisk(t, "8m", "rent that is due on a full disk")
	if !ok {
		return
	}
	var made struct {
		Keys map[string]string
		Link string
	}
	code, out, errs := apptest.Exec(t, dir, "init", "--json")
	err := json.Unmarshal([]byte(out), &made)
	assert.Must(t, code == 0 && err == nil, "%v %v", err, errs)
	for _, table := range []struct{ name, rows string }{
		{"properties", "name\nHouse\n"}, {"units", "property,name\nHouse,A\nHouse,B\n"}, {"tenants", "name\nAnn\nBob\n"},
		{"leases", "property,unit,start_date,tenant,rent_cents,frequency\nHouse,A,2026-01-05,Ann,100,weekly\nHouse,B,2026-01-05,Bob,100,weekly\n"},
	} {
		file := filepath.Join(dir, table.name+".csv")
		assert.OK(t, os.WriteFile(file, []byte(table.rows), 0o600))
		if code, _, errs := apptest.Exec(t, dir, "import", "rental", table.name, file); code != 0 {
			t.Fatal(errs)
		}
	}
	p := apptest.Serve(t, dir)
	jar, _ := cookiejar.New(nil)
	ann := &apptest.Visitor{T: t, Base: p.URL("rental", ""), Client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	got := ann.Post(made.Link[strings.Index(made.Link, "/welcome/"):], "password", apptest.Password)
	assert.Must(t, got.Status == http.StatusSeeOther, "%d %s", got.Status, got.Body)
	reads := func(marked bool) {
		t.Helper()
		expect := func(what string, status int, body string) {
			t.Helper()
			if has := strings.Contains(body, "could not be posted: the disk is full"); status != 200 || has != marked || strings.Contains(body, `"isError":true`) {
				t.Errorf("%s: %d, marked %t, want %t: %.600s", what, status, has, marked, body)
			}
		}
		key := made.Keys["rental"]
		for _, path := range []string{"/api/leases/1/ledger", "/api/leases", "/api/leases?status=active", "/api/arrears"} {
			status, body := apptest.Ask(t, p, "GET", "rental", path, key, "")
			expect(path, status, body)
		}
		for tool, arguments := range map[string]string{"lease_detail": `{"lease_id":1}`, "list_leases": `{}`, "arrears_report": `{}`, "rent_roll": `{}`} {
			status, body := apptest.Ask(t, p, "POST", "rental", "/mcp", key, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments))
			expect(tool, status, body)
		}
		for _, path := range []string{"/", "/leases", "/leases/1", "/arrears", "/rent-roll", "/tenants", "/tenants/1", "/leases/1/statement", "/leases/1/reminder"} {
			got := ann.Get(path)
			expect("the page "+path, got.Status, got.Body)
		}
	}
	free := fill(t, filepath.Join(dir, "full"))
	reads(true)
	status, body := apptest.Ask(t, p, "POST", "rental", "/api/maintenance", made.Keys["rental"],
		`{"unit_id":1,"title":"Tap drips","priority":"low"}`)
	assert.That(t, status == 503 && strings.Contains(body, "the disk is full"), "a write: %d %s", status, body)
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit %d: %s", code, p.Stderr)
	}
	again := fill(t, filepath.Join(dir, "again")) // the room that the stop freed
	for _, command := range [][]string{{"serve", "--store-addr", "127.0.0.1:0"}, {"rental", "arrears"}, {"status"}, {"key", "list"}} {
		if code, out, errs := apptest.Exec(t, dir, command...); code != 1 || !strings.Contains(errs, "the disk is full") {
			t.Errorf("%v on a full disk: exit %d: %s%s", command, code, out, errs)
		}
	}
	again()
	free()
	p = apptest.Serve(t, dir)
	ann = ann.At(p.URL("rental", ""))
	reads(false)
}
