package rest

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// asked is one request of a table: the line of month.md that it holds, and the parts of its answer, separated by |. A
// part that begins with ! must be absent.
type asked struct {
	what, method, path, body string
	status                   int
	says                     string
}

// askAll sends the requests in order with the owner's key.
func askAll(t *testing.T, s *apptest.Fixture, service string, all []asked) {
	t.Helper()
	for _, q := range all {
		a := s.Do(service, q.method, q.path, s.Keys[service], q.body)
		assert.That(t, a.Status == q.status,
			"%s: %s %s %s: %d %s, want %d", q.what, q.method, q.path, q.body, a.Status, a.Body, q.status)
		saysAll(t, q.what, a.Body, q.says)
	}
}

func saysAll(t *testing.T, what, text, parts string) {
	t.Helper()
	for _, p := range strings.Split(parts, "|") {
		not, has := strings.CutPrefix(p, "!")
		assert.That(t, has != strings.Contains(text, not), "%s: %q stands in or is missing from %s", what, p, text)
	}
}

// typed is one command of a table: words separated by spaces, ~ for a space in a word.
type typed struct {
	what, line string
	code       int
	says       string
}

func typeAll(t *testing.T, call func(args ...string) (int, string, string), all []typed) {
	t.Helper()
	for _, q := range all {
		args := strings.Fields(q.line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "~", " ")
		}
		code, out, errs := call(args...)
		assert.That(t, code == q.code, "%s: %s: exit %d, want %d: %s%s", q.what, q.line, code, q.code, out, errs)
		saysAll(t, q.what, out+errs, q.says)
	}
}

// TestMonthOfAllServices holds the lines of month.md's "All services" that the command line shows.
func TestMonthOfAllServices(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	c.Env["QUARTERMASTER_TIMEZONE"] = ""
	typeAll(t, c.Call, []typed{
		{"a zone is kept", "settings timezone Europe/Berlin", 0, "Europe/Berlin, from the next start on"},
		{"and audited", "audit --limit 1 --json", 0, `"action":"settings.timezone"|Europe/Berlin`},
		{"another one holds for the process, and both are named", "user list --timezone Asia/Tokyo", 0, "Asia/Tokyo|Europe/Berlin"},
		{"no zone", "settings timezone Nowhere/Land", 1, "Nowhere/Land|IANA name"},
		{"the currency of all services", "settings currency eur", 0, "currency: EUR"},
		{"by the store's settings too", "store settings", 0, "currency: EUR"},
		{"as a question", "settings currency", 0, "currency: EUR"},
		{"no currency", "settings currency nuts", 1, "currency"},
		{"a person", "user add bob --role member --service rental --service reorder", 0, ""},
		{"a role where bob has one", "user role bob viewer", 0, ""},
		{"and nowhere else", "user list --json", 0, `"name":"bob","disabled":false,"roles":{"rental":"viewer","reorder":"viewer"}`},
		{"none needs a service", "user role bob none", 2, "service is missing"},
		{"one who has none gets all four", "user role bob none --service rental --service reorder", 0, ""},
		{"all four", "user role bob member", 0, ""},
		{"they are all there", "user list --json", 0, `"maintenance":"member"|"store":"member"`},
		{"the last admin stays one", "user role alice member", 1, "last admin"},
		{"is not disabled", "user disable alice", 1, "last admin"},
		{"and not removed", "user remove alice --yes", 1, "last admin"},
		{"bob is removed", "user remove bob --yes", 0, ""},
		{"his name is not given again", "user add bob --role member", 1, "bob"},
		{"a name of the trail", "user add portal --role member", 1, "portal"},
		{"a flag twice", "rental charge 1 --type other --amount 1 --amount 2 --due 2026-11-20 --label x", 2, "--amount|once"},
		{"the trail by actor", "audit --actor cli --since 24h --via cli --json", 0, `"via":"cli"`},
		{"by subject", "audit --subject settings --json", 0, `"subject":"settings"|!user`},
		{"all four at a glance", "status", 0, "store|maintenance|rental|reorder"},
		{"--json of it", "status --json", 0, `"rental":`},
	})
	if out := c.Ok("backup", "-"); !strings.HasPrefix(out, "SQLite format 3\x00") || len(out)%4096 != 0 {
		t.Errorf("the backup on standard output begins with %q and has %d bytes", out[:min(20, len(out))], len(out))
	}
}

// TestMonthsListsAtTheCommandLine: every list of the command line is complete, with --csv and --json.
func TestMonthsListsAtTheCommandLine(t *testing.T) {
	t.Parallel()
	s := apptest.StartFilled(t)
	for _, line := range []string{"maintenance work-orders list", "maintenance assets list", "maintenance parts list", "maintenance plans list", "maintenance due",
		"rental properties list", "rental units list", "rental leases list", "rental tenants list", "rental tickets list", "rental arrears", "rental rent-roll",
		"rental ledger #1", "reorder skus list", "reorder sales list", "reorder suppliers list", "store orders list", "store customers list", "store licenses list",
		"store products list", "store batches list", "store stats"} {
		args := strings.Fields(line)
		assert.Contains(t, s.MustCLI(args...), "\n", "%s prints", line)
		var whole map[string]any
		assert.NoError(t, json.Unmarshal([]byte(s.MustCLI(append(args, "--json")...)), &whole), "%s --json", line)
		rows := 0
		for name, v := range whole {
			if list, is := v.([]any); is && name != "by_tenant" {
				rows = max(rows, len(list))
			}
		}
		if line == "store stats" {
			continue
		}
		cells, err := csv.NewReader(strings.NewReader(s.MustCLI(append(args, "--csv")...))).ReadAll()
		assert.That(t, err == nil && len(cells) >= 1 && len(cells)-1 == rows,
			"%s --csv: %d rows of %d, %v", line, len(cells)-1, rows, err)
	}
	for _, line := range []string{"maintenance work-orders show 1", "maintenance assets show LATHE-1", "maintenance parts show OIL-VG46", "maintenance plans show LATHE-1/Check~the~belts",
		"rental properties show Harbour~House", "rental units show Harbour~House/1A", "rental leases show Harbour~House/1A", "rental tenants show Ada~Brandt",
		"rental tenants show ada@example.org", "rental leases show #1", "rental ledger Harbour~House/1A", "rental tickets show 1", "maintenance assets show #1"} {
		typeAll(t, s.CLI, []typed{{line, line + " --json", 0, "{"}, {line, line, 0, ""}})
	}
	typeAll(t, s.CLI, []typed{
		{"a filter", "maintenance work-orders list --status open --json", 0, `"status":"open"|!"status":"done"`},
		{"a name that is not there", "rental ledger Nowhere/1", 1, "Nowhere"},
		{"a trial writes nothing", "rental charge #1 --type repair --amount 700 --due 2026-11-20 --label Key --dry-run --json", 0, `"would":[|"before":null|"after":"Key"`},
		{"and it is not there", "rental ledger #1 --json", 0, "!Key"},
	})
	before := apptest.SnapshotOf(t, s)
	code, out, errs := s.Pipe("name,email\nZoe,z@example.org\nAda Brandt,ada@example.org\n,x\n", "import", "rental", "tenants", "-", "--dry-run", "--json")
	assert.That(t, code == 1 && strings.Contains(out, `"new":1,"changed":0,"same":1,"refused":1`),
		"a trial of an import: exit %d %s%s", code, out, errs)
	before.Check("a trial of an import")
}
