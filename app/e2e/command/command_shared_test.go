package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"strings"
	"testing"
)

// TestCommandsOfAllServices covers what the commands of all services have in common, besides records.
func TestCommandsOfAllServices(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	list := func(into any, args ...string) {
		t.Helper()
		assert.OK(t, json.Unmarshal([]byte(c.Ok(append(args, "--json")...)), into))
	}

	// The file stores the time zone. A flag or variable that differs applies to the process, with a line that names both.
	c.Ok("settings", "timezone", "Asia/Tokyo")
	if code, _, told := c.Call("status"); code != 0 || !strings.Contains(told, "UTC") || !strings.Contains(told, "Asia/Tokyo") {
		t.Errorf("a variable that differs: exit %d %s", code, told)
	}
	c.Env["QUARTERMASTER_TIMEZONE"] = ""
	c.Ok("import", "reorder", "skus", write(c, "skus.csv", "sku,current_stock\nA,1\n"))
	var report struct{ Today string }
	list(&report, "reorder", "report")
	if report.Today != "2026-11-21" { // 21:05 in UTC
		t.Errorf("today is %s in Tokyo", report.Today)
	}
	refuses(c, 1, []string{"Middle/Earth", "IANA"}, "settings", "timezone", "Middle/Earth")
	c.Ok("settings", "timezone", "UTC")

	// People.
	c.Ok("user", "add", "vic", "--role", "viewer", "--service", "store")
	c.Ok("user", "role", "vic", "member")
	c.Ok("user", "add", "zed", "--role", "viewer")
	c.Ok("user", "role", "zed", "none", "--service", "rental")
	c.Ok("user", "role", "zed", "admin")
	var people struct {
		Users []struct {
			Name  string
			Roles map[string]string
		}
	}
	list(&people, "user", "list")
	roles := map[string]string{}
	for _, u := range people.Users {
		roles[u.Name] = fmt.Sprint(u.Roles)
	}
	assert.That(t, roles["vic"] == "map[store:member]" &&
		roles["zed"] == "map[maintenance:admin reorder:admin store:admin]", "the roles are %v", roles)
	refuses(c, 2, []string{"service"}, "user", "role", "vic", "none")
	for _, name := range []string{"cli", "system", "request", "portal", "buyer"} {
		refuses(c, 1, []string{name}, "user", "add", name, "--role", "viewer")
	}
	for _, args := range [][]string{{"user", "role", "alice", "member", "--service", "rental"}, {"user", "disable", "alice"}, {"user", "remove", "alice"}} {
		refuses(c, 1, []string{"last admin", "rental"}, args...)
	}
	c.Ok("user", "remove", "vic")
	refuses(c, 1, []string{"vic"}, "user", "add", "vic", "--role", "viewer")

	// Dry runs write nothing and report what would change; a new record has no former state.
	before := c.Ok("audit", "--json")
	for _, args := range [][]string{
		{"reorder", "skus", "save", "NEW", "--name", "New"}, {"reorder", "adjust", "A", "--set", "7"}, {"user", "add", "would", "--role", "viewer"},
		{"store", "product", "save", "P", "--name", "P", "--kind", "other"}, {"store", "settings", "--currency", "EUR"}, {"settings", "timezone", "Europe/Berlin"},
		{"maintenance", "assets", "save", "M-1", "--name", "Mill"}, {"webhook", "add", "--service", "store", "--url", "https://example.com/"},
	} {
		var would struct {
			Would []struct {
				Record, Field string
				Before, After any
			}
		}
		list(&would, append(args, "--dry-run")...)
		assert.That(t, len(would.Would) != 0 && would.Would[0].Record != "" && would.Would[0].Field != "",
			"%v --dry-run: %+v", args, would)
	}
	assert.Equal(t, c.Ok("audit", "--json"), before, "a dry run left something in the trail")
	var preview map[string]any
	list(&preview, "import", "reorder", "skus", write(c, "more.csv", "sku,current_stock\nA,2\nB,1\n"), "--dry-run")
	assert.That(t, fmt.Sprint(preview["new"], preview["same"], preview["refused"]) == "1 0 0", "the preview: %v", preview)

	// A flag may be given once; the audit trail can be filtered; a copy goes to stdout.
	refuses(c, 2, nil, "store", "settings", "--currency", "EUR", "--currency", "USD")
	refuses(c, 2, nil, "reorder", "adjust", "A", "--set", "1", "--set", "2")
	type trail struct {
		Entries []struct{ Action, Subject, Actor, Via string }
	}
	for _, filter := range [][]string{{"--actor", "cli"}, {"--subject", "settings"}, {"--since", "1h"}, {"--since", "2026-11-20"}, {"--via", "cli"}} {
		var found trail
		list(&found, append([]string{"audit"}, filter...)...)
		assert.That(t, len(found.Entries) != 0, "audit %v is empty", filter)
	}
	for _, filter := range [][]string{{"--actor", "nobody"}, {"--subject", "settings:9"}, {"--since", "2026-11-22"}, {"--via", "rest"}} {
		var found trail
		list(&found, append([]string{"audit"}, filter...)...)
		assert.That(t, len(found.Entries) == 0, "audit %v finds %+v", filter, found)
	}
	copied := filepath.Join(c.Dir, "copy.db")
	assert.OK(t, os.WriteFile(copied, []byte(c.Ok("backup", "-")), 0o600))
	c.Ok("doctor", "--db", copied)

	// Records are found by name; #ID is an id; several matches are listed.
	c.Ok("maintenance", "assets", "save", "M-1", "--name", "Mill")
	c.Ok("maintenance", "assets", "save", "17", "--name", "Press")
	for _, name := range []string{"M-1", "m-1", "Mill", "#1", "#2"} {
		c.Ok("maintenance", "assets", "show", name)
	}
	refuses(c, 1, []string{"no asset 9"}, "maintenance", "assets", "show", "#9")
}
