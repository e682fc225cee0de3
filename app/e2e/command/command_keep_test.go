package command

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tamper changes rows in a way that no command does.
func tamper(c *apptest.CLI, statements ...string) {
	c.Helper()
	d, err := db.Open(c.Db, db.Options{})
	assert.OK(c, err)
	err = db.Exec(context.Background(), d, db.Bookkeeping(), func(tx *db.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(s); err != nil {
				return err
			}
		}
		return nil
	})
	assert.OK(c, err)
	assert.OK(c, d.Close())
}

func TestBackupAndRestoreOverTheCommandLine(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	copied := filepath.Join(c.Dir, "copy.db")
	c.Ok("import", "reorder", "skus", write(c, "a.csv", "sku\nA\n"))
	out := c.Ok("backup", copied)
	assert.That(t, strings.HasPrefix(out, copied+": ") && strings.HasSuffix(out, " bytes, checked\n"), "it says %q", out)
	c.Ok("import", "reorder", "skus", write(c, "b.csv", "sku\nB\n"))
	later := c.Ok("export", "reorder", "skus")
	st, err := os.Stat(copied)
	assert.That(t, err == nil && st.Mode().Perm() == 0o600, "the copy: %v, %v", st, err)

	kept := c.Db + ".before-restore"
	equal(c, "a restore", c.Ok("restore", copied, "--json"), `{"database":"`+c.Db+`","kept":"`+kept+`"}`+"\n")
	got := c.Ok("export", "reorder", "skus")
	assert.That(t, strings.Contains(got, "\nA,") && !strings.Contains(got, "\nB,"), "restored:\n%s", got)
	equal(c, "what was kept", c.Ok("export", "reorder", "skus", "--db", kept), later)

	empty := filepath.Join(c.Dir, "new.db")
	equal(c, "a restore where nothing was", c.Ok("restore", copied, "--db", empty), empty+": restored from "+copied+"\n")
	assert.Contains(t, c.Ok("export", "reorder", "skus", "--db", empty), "\nA,", "restored")

	c.Ok("backup", copied) // over an existing file
	if out := c.Ok("backup", copied, "--json"); !strings.HasPrefix(out, `{"file":"`+copied+`","bytes":`) {
		t.Errorf("as JSON: %s", out)
	}
	refuses(c, 1, []string{"the database itself"}, "backup", c.Db)
	refuses(c, 1, []string{"the database itself"}, "restore", c.Db)
	refuses(c, 1, []string{"there is no copy at"}, "restore", filepath.Join(c.Dir, "nowhere.db"))
	refuses(c, 1, []string{"nowhere"}, "backup", filepath.Join(c.Dir, "nowhere", "copy.db"))
	refuses(c, 2, nil, "backup")
	refuses(c, 2, nil, "restore", copied, copied)
	text := write(c, "text.db", "no database")
	refuses(c, 1, []string{"not a Quartermaster database"}, "restore", text)

	release := assert.Value(db.Hold(c.Db))(t)
	c.Ok("backup", copied)
	refuses(c, 1, []string{"served by another process"}, "restore", copied)
	assert.OK(t, release())
	left, err := filepath.Glob(filepath.Join(c.Dir, "*.part-*"))
	assert.That(t, err == nil && len(left) <= 0, "left behind: %v, %v", left, err)
}

func TestMigrateCreatesAndReports(t *testing.T) {
	t.Parallel()
	c := apptest.BareCLI(t)
	refuses(c, 1, []string{"no database at " + c.Db}, "migrate", "status")
	out := c.Ok("migrate")
	assert.That(t, strings.HasPrefix(out, "applied 0001_core\n"), "it says %q", out)
	n := strings.Count(out, "\n")
	if out := c.Ok("migrate"); !strings.HasPrefix(out, "nothing to apply: all ") {
		t.Errorf("a second time it says %q", out)
	}
	status := c.Ok("migrate", "status", "--json")
	assert.That(t, strings.HasPrefix(status, `{"migrations":[{"name":"0001_core","applied_at":"2026-11-20T21:05:00Z"},`) &&
		strings.Count(status, `"name"`) == n, "status: %s", status)
	equal(c, "migrate --json", c.Ok("migrate", "--json"), status)
	text := c.Ok("migrate", "status")
	assert.That(t, strings.HasPrefix(text, "MIGRATION  ") && !strings.Contains(text, "missing"), "as text:\n%s", text)
	refuses(c, 2, nil, "migrate", "everything")
}

// aged returns the file to the version before the newest migration.
func aged(c *apptest.CLI) {
	c.Helper()
	script := read(c, "../../../schema/db/sql/0028_expiry_notices.sql")
	statements := []string{"DELETE FROM schema_migrations WHERE name = '0028_expiry_notices'"}
	for _, kind := range []string{"INDEX", "TABLE"} {
		made := regexp.MustCompile(`(?m)^CREATE `+kind+` (\w+)`).FindAllStringSubmatch(script, -1)
		assert.Must(c, len(made) != 0, "the migration makes no %s", kind)
		for _, m := range slices.Backward(made) {
			statements = append(statements, "DROP "+kind+" "+m[1])
		}
	}
	tamper(c, statements...)
}

func TestMigrateBringsAnOlderFileUp(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	aged(c)
	refuses(c, 1, []string{"older version", "0028_expiry_notices is missing", "quartermaster migrate --db " + c.Db}, "user", "list")
	assert.Contains(t, c.Ok("migrate", "status", "--json"), `{"name":"0028_expiry_notices","applied_at":null}`, "status")
	s := c.Ok("migrate", "status")
	assert.That(t, regexp.MustCompile(`(?m)^0028_expiry_notices +missing$`).MatchString(s), "status:\n%s", s)
	code, out, _ := c.Call("doctor")
	if code != 1 || out != "schema: to do: 0028_expiry_notices is missing; `quartermaster migrate` applies it\n" {
		t.Errorf("doctor: exit %d\n%s", code, out)
	}
	release := assert.Value(db.Hold(c.Db))(t)
	refuses(c, 1, []string{"served by another process"}, "migrate")
	assert.OK(t, release())
	code, out, told := c.Call("migrate")
	assert.That(t, code == 0 && out == "applied 0028_expiry_notices\n" && strings.Contains(told, ".before-v") &&
		strings.Contains(told, "to go back"), "exit %d, %q, %q", code, out, told)
	assert.Contains(t, c.Ok("user", "list"), "alice", "users afterwards")
	c.Ok("export", "reorder", "skus")
	c.Ok("doctor")
}

func TestMigrateLeavesANewerFileAlone(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	tamper(c, "INSERT INTO schema_migrations VALUES ('9999_future', 1)")
	before := read(c, c.Db)
	for _, args := range [][]string{{"migrate"}, {"migrate", "status"}, {"doctor"}, {"user", "list"}} {
		refuses(c, 1, []string{"made by a newer Quartermaster", c.Db, "9999_future", "go back", "restore", ".before-v"}, args...)
	}
	assert.That(t, read(c, c.Db) == before, "the file was touched")
}

// TestANewerBackupIsLeftAlone: a backup's file is in another journal mode than a served one. No command changes a byte
// of it either.
func TestANewerBackupIsLeftAlone(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	old := filepath.Join(t.TempDir(), "backup.db")
	c.Ok("backup", old)
	c.Db = old
	tamper(c, "INSERT INTO schema_migrations VALUES ('9999_future', 1)")
	file := []byte(read(c, old))
	file[18], file[19] = 1, 1 // back to a backup's mode, since tampering served the file
	assert.OK(t, os.WriteFile(old, file, 0o600))
	before := read(c, old)
	for _, args := range [][]string{
		{"user", "list"}, {"key", "list"}, {"audit"}, {"webhook", "list"}, {"export", "reorder", "skus"}, {"serve"}, {"doctor"}, {"migrate"},
	} {
		refuses(c, 1, []string{"made by a newer Quartermaster", "9999_future"}, args...)
		if read(c, old) != before {
			t.Errorf("%s touched the file", strings.Join(args, " "))
			before = read(c, old)
		}
	}
}

func TestBackupReplacesOnlyACopy(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	notes := filepath.Join(t.TempDir(), "notes.txt")
	assert.OK(t, os.WriteFile(notes, []byte("what I must not lose"), 0o600))
	refuses(c, 1, []string{notes, "no copy of a database"}, "backup", notes)
	assert.That(t, read(c, notes) == "what I must not lose", "it was replaced")
	copied := filepath.Join(t.TempDir(), "copy.db")
	c.Ok("backup", copied)
	c.Ok("backup", copied)
	refuses(c, 1, []string{"there is no copy at " + copied + ".gone"}, "restore", copied+".gone")
}

// TestWrongValuesAreExplained: a wrong value is explained in words, with a pointer to the command's help.
func TestWrongValuesAreExplained(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	refuses(c, 2, []string{`--amount: "9.50" is not allowed; it is in cents: 950`, "Run 'quartermaster rental charge --help' for usage."},
		"rental", "charge", "1", "--type", "other", "--amount", "9.50", "--due", "2026-08-15", "--label", "R")
	refuses(c, 2, []string{`--window: "x" is not allowed; it takes a whole number`}, "reorder", "settings", "--window", "x")
}

func TestDoctorPassesAGoodFile(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	out := c.Ok("doctor")
	for _, want := range []string{"schema: ok, ", "pages and references: ok\n", "free disk: ok, ", "deliveries: ok, 0 pending\n"} {
		assert.Contains(t, out, want)
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
	err := json.Unmarshal([]byte(c.Ok("doctor", "--json")), &found)
	assert.That(t, err == nil && found.OK && len(found.Checks) >= 4, "as JSON: %+v, %v", found, err)
	for _, check := range found.Checks {
		assert.That(t, check.OK && check.Breaches != nil && len(check.Breaches) == 0, "%+v", check)
	}
	bare := apptest.BareCLI(t)
	refuses(bare, 1, []string{"no database at " + bare.Db}, "doctor")
}

// TestDoctorRecomputesTheRules: a rule that the rows break is named, with its service.
func TestDoctorRecomputesTheRules(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	c.Ok("import", "reorder", "skus", write(c, "skus.csv", "sku,current_stock\nTEA,5\nNAIL,0\n"))
	c.Ok("doctor")
	tamper(c, "UPDATE skus SET is_below = 1 - is_below WHERE sku = 'TEA'")
	code, out, err := c.Call("doctor")
	assert.That(t, code == 1 && strings.Contains(out, "reorder: breach: ") && strings.Contains(out, "TEA") &&
		!strings.Contains(out, "NAIL") && strings.Contains(out, "pages and references: ok\n") &&
		strings.Contains(err, c.Db+": 1\n"), "exit %d\n%s%s", code, out, err)
	code, out, _ = c.Call("doctor", "--json")
	assert.That(t, code == 1 && strings.HasPrefix(out, `{"ok":false,"checks":[`) &&
		strings.Contains(out, `{"name":"reorder","ok":false,"note":"","breaches":["`), "exit %d\n%s", code, out)
}

// TestDoctorFindsADamagedFile overwrites a page that holds the text with noise.
func TestDoctorFindsADamagedFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SKU-1500":  "pages and references: breach: ",
		"0001_core": "schema: breach: the file is damaged: ",
	} {
		c := apptest.NewCLI(t)
		c.Ok("import", "reorder", "skus", write(c, "skus.csv", numbered(2000)))
		b := []byte(read(c, c.Db))
		page := bytes.Index(b, []byte(text)) / 4096 * 4096
		for i := page; i < page+4096; i++ {
			b[i] ^= 0x5a
		}
		assert.OK(t, os.WriteFile(c.Db, b, 0o600))
		code, out, err := c.Call("doctor")
		assert.That(t, code == 1 && strings.Contains(out, want) && strings.Contains(err, c.Db) &&
			!strings.Contains(out+err, "quartermaster doctor"), "the page with %s: exit %d\n%s%s", text, code, out, err)
	}
}
