package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/db"
)

// tamper changes rows in a way that no command does.
func (c *cli) tamper(statements ...string) {
	c.Helper()
	d, err := db.Open(c.db, db.Options{})
	if err != nil {
		c.Fatal(err)
	}
	err = db.Exec(context.Background(), d, db.Bookkeeping(), func(tx *db.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		c.Fatal(err)
	}
	if err := d.Close(); err != nil {
		c.Fatal(err)
	}
}

func TestBackupAndRestoreOverTheCommandLine(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	copied := filepath.Join(c.dir, "copy.db")
	c.ok("import", "reorder", "skus", c.write("a.csv", "sku\nA\n"))
	out := c.ok("backup", copied)
	if !strings.HasPrefix(out, copied+": ") || !strings.HasSuffix(out, " bytes, checked\n") {
		t.Errorf("it says %q", out)
	}
	c.ok("import", "reorder", "skus", c.write("b.csv", "sku\nB\n"))
	later := c.ok("export", "reorder", "skus")
	st, err := os.Stat(copied)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v, %v", st, err)
	}

	kept := c.db + ".before-restore"
	c.equal("a restore", c.ok("restore", copied, "--json"), `{"database":"`+c.db+`","kept":"`+kept+`"}`+"\n")
	if got := c.ok("export", "reorder", "skus"); !strings.Contains(got, "\nA,") || strings.Contains(got, "\nB,") {
		t.Errorf("restored:\n%s", got)
	}
	c.equal("what was kept", c.ok("export", "reorder", "skus", "--db", kept), later)

	empty := filepath.Join(c.dir, "new.db")
	c.equal("a restore where nothing was", c.ok("restore", copied, "--db", empty), empty+": restored from "+copied+"\n")
	if got := c.ok("export", "reorder", "skus", "--db", empty); !strings.Contains(got, "\nA,") {
		t.Errorf("restored:\n%s", got)
	}

	c.ok("backup", copied) // over an existing file
	if out := c.ok("backup", copied, "--json"); !strings.HasPrefix(out, `{"file":"`+copied+`","bytes":`) {
		t.Errorf("as JSON: %s", out)
	}
	c.refuses(1, []string{"the database itself"}, "backup", c.db)
	c.refuses(1, []string{"the database itself"}, "restore", c.db)
	c.refuses(1, []string{"there is no copy at"}, "restore", filepath.Join(c.dir, "nowhere.db"))
	c.refuses(1, []string{"nowhere"}, "backup", filepath.Join(c.dir, "nowhere", "copy.db"))
	c.refuses(2, nil, "backup")
	c.refuses(2, nil, "restore", copied, copied)
	text := c.write("text.db", "no database")
	c.refuses(1, []string{"not a Quartermaster database"}, "restore", text)

	release, err := db.Hold(c.db)
	if err != nil {
		t.Fatal(err)
	}
	c.ok("backup", copied)
	c.refuses(1, []string{"served by another process"}, "restore", copied)
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(c.dir, "*.part-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestMigrateCreatesAndReports(t *testing.T) {
	t.Parallel()
	c := bareCLI(t)
	c.refuses(1, []string{"no database at " + c.db}, "migrate", "status")
	out := c.ok("migrate")
	if !strings.HasPrefix(out, "applied 0001_core\n") {
		t.Errorf("it says %q", out)
	}
	n := strings.Count(out, "\n")
	if out := c.ok("migrate"); !strings.HasPrefix(out, "nothing to apply: all ") {
		t.Errorf("a second time it says %q", out)
	}
	status := c.ok("migrate", "status", "--json")
	if !strings.HasPrefix(status, `{"migrations":[{"name":"0001_core","applied_at":"2026-11-20T21:05:00Z"},`) || strings.Count(status, `"name"`) != n {
		t.Errorf("status: %s", status)
	}
	c.equal("migrate --json", c.ok("migrate", "--json"), status)
	if text := c.ok("migrate", "status"); !strings.HasPrefix(text, "MIGRATION  ") || strings.Contains(text, "missing") {
		t.Errorf("as text:\n%s", text)
	}
	c.refuses(2, nil, "migrate", "everything")
}

// aged returns the file to the version before the newest migration.
func (c *cli) aged() {
	c.Helper()
	script := c.read("../schema/db/sql/0028_expiry_notices.sql")
	statements := []string{"DELETE FROM schema_migrations WHERE name = '0028_expiry_notices'"}
	for _, kind := range []string{"INDEX", "TABLE"} {
		made := regexp.MustCompile(`(?m)^CREATE `+kind+` (\w+)`).FindAllStringSubmatch(script, -1)
		if len(made) == 0 {
			c.Fatalf("the migration makes no %s", kind)
		}
		for _, m := range slices.Backward(made) {
			statements = append(statements, "DROP "+kind+" "+m[1])
		}
	}
	c.tamper(statements...)
}

func TestMigrateBringsAnOlderFileUp(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.aged()
	c.refuses(1, []string{"older version", "0028_expiry_notices is missing", "quartermaster migrate --db " + c.db}, "user", "list")
	if s := c.ok("migrate", "status", "--json"); !strings.Contains(s, `{"name":"0028_expiry_notices","applied_at":null}`) {
		t.Errorf("status: %s", s)
	}
	if s := c.ok("migrate", "status"); !regexp.MustCompile(`(?m)^0028_expiry_notices +missing$`).MatchString(s) {
		t.Errorf("status:\n%s", s)
	}
	code, out, _ := c.call("doctor")
	if code != 1 || out != "schema: to do: 0028_expiry_notices is missing; `quartermaster migrate` applies it\n" {
		t.Errorf("doctor: exit %d\n%s", code, out)
	}
	release, err := db.Hold(c.db)
	if err != nil {
		t.Fatal(err)
	}
	c.refuses(1, []string{"served by another process"}, "migrate")
	if err := release(); err != nil {
		t.Fatal(err)
	}
	code, out, told := c.call("migrate")
	if code != 0 || out != "applied 0028_expiry_notices\n" || !strings.Contains(told, ".before-v") || !strings.Contains(told, "to go back") {
		t.Errorf("exit %d, %q, %q", code, out, told)
	}
	if got := c.ok("user", "list"); !strings.Contains(got, "alice") {
		t.Errorf("users afterwards:\n%s", got)
	}
	c.ok("export", "reorder", "skus")
	c.ok("doctor")
}

func TestMigrateLeavesANewerFileAlone(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.tamper("INSERT INTO schema_migrations VALUES ('9999_future', 1)")
	before := c.read(c.db)
	for _, args := range [][]string{{"migrate"}, {"migrate", "status"}, {"doctor"}, {"user", "list"}} {
		c.refuses(1, []string{"made by a newer Quartermaster", c.db, "9999_future", "go back", "restore", ".before-v"}, args...)
	}
	if c.read(c.db) != before {
		t.Error("the file was touched")
	}
}

// TestANewerBackupIsLeftAlone: a backup's file is in another journal mode than a served one. No command changes a byte
// of it either.
func TestANewerBackupIsLeftAlone(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	old := filepath.Join(t.TempDir(), "backup.db")
	c.ok("backup", old)
	c.db = old
	c.tamper("INSERT INTO schema_migrations VALUES ('9999_future', 1)")
	file := []byte(c.read(old))
	file[18], file[19] = 1, 1 // back to a backup's mode, since tampering served the file
	if err := os.WriteFile(old, file, 0o600); err != nil {
		t.Fatal(err)
	}
	before := c.read(old)
	for _, args := range [][]string{
		{"user", "list"}, {"key", "list"}, {"audit"}, {"webhook", "list"}, {"export", "reorder", "skus"}, {"serve"}, {"doctor"}, {"migrate"},
	} {
		c.refuses(1, []string{"made by a newer Quartermaster", "9999_future"}, args...)
		if c.read(old) != before {
			t.Errorf("%s touched the file", strings.Join(args, " "))
			before = c.read(old)
		}
	}
}

func TestBackupReplacesOnlyACopy(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	notes := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(notes, []byte("what I must not lose"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.refuses(1, []string{notes, "no copy of a database"}, "backup", notes)
	if c.read(notes) != "what I must not lose" {
		t.Error("it was replaced")
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	c.ok("backup", copied)
	c.ok("backup", copied)
	c.refuses(1, []string{"there is no copy at " + copied + ".gone"}, "restore", copied+".gone")
}

// TestWrongValuesAreExplained: a wrong value is explained in words, with a pointer to the command's help.
func TestWrongValuesAreExplained(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.refuses(2, []string{`--amount: "9.50" is not allowed; it is in cents: 950`, "Run 'quartermaster rental charge --help' for usage."},
		"rental", "charge", "1", "--type", "other", "--amount", "9.50", "--due", "2026-08-15", "--label", "R")
	c.refuses(2, []string{`--window: "x" is not allowed; it takes a whole number`}, "reorder", "settings", "--window", "x")
}

func TestDoctorPassesAGoodFile(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	out := c.ok("doctor")
	for _, want := range []string{"schema: ok, ", "pages and references: ok\n", "free disk: ok, ", "deliveries: ok, 0 pending\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	var found struct {
		OK     bool `json:"ok"`
		Checks []struct {
			Name     string   `json:"name"`
			OK       bool     `json:"ok"`
			Note     string   `json:"note"`
			Breaches []string `json:"breaches"`
		} `json:"checks"`
	}
	if err := json.Unmarshal([]byte(c.ok("doctor", "--json")), &found); err != nil || !found.OK || len(found.Checks) < 4 {
		t.Errorf("as JSON: %+v, %v", found, err)
	}
	for _, check := range found.Checks {
		if !check.OK || check.Breaches == nil || len(check.Breaches) != 0 {
			t.Errorf("%+v", check)
		}
	}
	bare := bareCLI(t)
	bare.refuses(1, []string{"no database at " + bare.db}, "doctor")
}

// TestDoctorRecomputesTheRules: a rule that the rows break is named, with its service.
func TestDoctorRecomputesTheRules(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.ok("import", "reorder", "skus", c.write("skus.csv", "sku,current_stock\nTEA,5\nNAIL,0\n"))
	c.ok("doctor")
	c.tamper("UPDATE skus SET is_below = 1 - is_below WHERE sku = 'TEA'")
	code, out, err := c.call("doctor")
	if code != 1 || !strings.Contains(out, "reorder: breach: ") || !strings.Contains(out, "TEA") || strings.Contains(out, "NAIL") ||
		!strings.Contains(out, "pages and references: ok\n") || !strings.Contains(err, c.db+": 1\n") {
		t.Errorf("exit %d\n%s%s", code, out, err)
	}
	code, out, _ = c.call("doctor", "--json")
	if code != 1 || !strings.HasPrefix(out, `{"ok":false,"checks":[`) || !strings.Contains(out, `{"name":"reorder","ok":false,"note":"","breaches":["`) {
		t.Errorf("exit %d\n%s", code, out)
	}
}

// TestDoctorFindsADamagedFile overwrites a page that holds the text with noise.
func TestDoctorFindsADamagedFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SKU-1500":  "pages and references: breach: ",
		"0001_core": "schema: breach: the file is damaged: ",
	} {
		c := newCLI(t)
		c.ok("import", "reorder", "skus", c.write("skus.csv", numbered(2000)))
		b := []byte(c.read(c.db))
		page := bytes.Index(b, []byte(text)) / 4096 * 4096
		for i := page; i < page+4096; i++ {
			b[i] ^= 0x5a
		}
		if err := os.WriteFile(c.db, b, 0o600); err != nil {
			t.Fatal(err)
		}
		code, out, err := c.call("doctor")
		if code != 1 || !strings.Contains(out, want) || !strings.Contains(err, c.db) || strings.Contains(out+err, "quartermaster doctor") {
			t.Errorf("the page with %s: exit %d\n%s%s", text, code, out, err)
		}
	}
}
