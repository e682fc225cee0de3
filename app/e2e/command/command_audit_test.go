package command

import (
	"encoding/json"
	"fmt"
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"regexp"
	"strings"
	"testing"
)

func TestAuditShowsWhoDidWhat(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	c.Ok("user", "add", "mo", "--role", "member")
	c.Ok("import", "reorder", "skus", write(c, "skus.csv", "sku\nA\nB\n"), "--as", "mo")
	var all struct {
		Entries []struct {
			ID      int64          `json:"id"`
			At      string         `json:"at"`
			Service string         `json:"service"`
			Actor   string         `json:"actor"`
			Via     string         `json:"via"`
			Action  string         `json:"action"`
			Subject string         `json:"subject"`
			Changes map[string]any `json:"changes"` // JSON itself, not a string that contains it
		} `json:"entries"`
	}
	out := c.Ok("audit", "--json")
	assert.OK(t, json.Unmarshal([]byte(out), &all), "in %s", out)
	e := all.Entries
	assert.Must(t, len(e) >= 4, "%s", out)
	for i := 1; i < len(e); i++ {
		assert.That(t, e[i-1].ID > e[i].ID, "entry %d stands above %d", e[i-1].ID, e[i].ID)
	}
	assert.That(t, e[0].Subject == "sku:B" && e[1].Subject == "sku:A" && e[0].Actor == "mo" && e[0].Via == "cli" &&
		e[0].Service == "reorder" && e[0].Action == "sku.created" && e[0].At == "2026-11-20T21:05:00Z" &&
		e[0].Changes["sku"] == "B", "newest: %+v", e[0])
	assert.That(t, e[2].Action == "user.added" && e[2].Actor == "cli" && e[2].Service == "" &&
		e[2].Changes["name"] == "mo", "third: %+v", e[2])
	one := c.Ok("audit", "--json", "--limit", "1", "--service", "reorder")
	if !regexp.MustCompile(`^\{"entries":\[\{"id":\d+,"at":"2026-11-20T21:05:00Z","service":"reorder","actor":"mo","via":"cli","action":"sku.created","subject":"sku:B","changes":\{.*\}\}\]\}\n$`).MatchString(one) {
		t.Errorf("one entry: %s", one)
	}
	if store := c.Ok("audit", "--json", "--service", "store"); strings.Count(store, `"id"`) != 1 || !strings.Contains(store, `"action":"key.created"`) {
		t.Errorf("of the store: %s", store) // the key that init made
	}
	text := c.Ok("audit", "--service", "reorder")
	if lines := strings.Split(text, "\n"); len(lines) != 5 || !strings.Contains(lines[0], "ACTOR") || !strings.Contains(lines[1], "sku:B") {
		t.Errorf("as text:\n%s", text)
	}
	for flags, want := range map[string]int{
		"--actor mo": 2, "--actor MO --subject sku:A": 1, "--subject sku": 2, "--subject sku:C": 0, "--subject s": 0,
		"--via cli --service reorder": 3, "--via web": 0, "--since 1h --actor mo": 2, "--since 2026-11-20 --actor mo": 2,
		"--since 2026-11-21": 0, "--until 2026-11-19": 0, "--until 2026-11-20 --actor mo": 2,
	} {
		out := c.Ok(append([]string{"audit", "--json"}, strings.Fields(flags)...)...)
		assert.That(t, strings.Count(out, `"id"`) == want, "%s: want %d entries, got %s", flags, want, out)
	}
	refuses(c, 2, []string{"--since", "yesterday"}, "audit", "--since", "yesterday")
	refuses(c, 2, []string{"--via", "post"}, "audit", "--via", "post")
	refuses(c, 2, []string{"--service", `"shop"`, "store, maintenance, rental, reorder"}, "audit", "--service", "shop")
	refuses(c, 2, []string{"--limit"}, "audit", "--limit", "0")
	refuses(c, 2, []string{"--limit"}, "audit", "--limit", "many")
	refuses(c, 2, []string{"unknown"}, "audit", "everything")
}

func TestAuditOfAnEmptyTrail(t *testing.T) {
	t.Parallel()
	c := apptest.BareCLI(t)
	refuses(c, 1, []string{"no database at " + c.Db}, "audit")
	c.Ok("migrate")
	equal(c, "an empty trail", c.Ok("audit", "--json"), `{"entries":[]}`+"\n")
}

func TestAuditListsFiftyByDefault(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	c.Ok("import", "reorder", "skus", write(c, "skus.csv", numbered(60)))
	assert.Equal(t, strings.Count(c.Ok("audit", "--json"), `"id"`), 50, "entries")
	assert.Equal(t, strings.Count(c.Ok("audit", "--json", "--limit", "60"), `"id"`), 60, "entries of 60")
}

// numbered is a catalogue of n SKUs.
func numbered(n int) string {
	var b strings.Builder
	b.WriteString("sku\n")
	for i := range n {
		fmt.Fprintf(&b, "SKU-%d\n", i)
	}
	return b.String()
}
