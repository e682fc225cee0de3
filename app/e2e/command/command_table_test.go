package command

import (
	"os"
	"path/filepath"
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"strings"
	"testing"
)

const catalogue = `sku,name,supplier,supplier_sku,barcode,unit,unit_cost_cents,current_stock,lead_time_days,safety_stock_days,pack_size,moq,active
NAIL,"Nails, 3""",Iron & Co,N-3,,box,450,12.5,7,3,10,0,1
TEA,'=Tea,Leaf,,4006381333931,kg,1999,3,14,5,1,2.5,1
OLD,Old thing,,,,,0,0,7,3,1,0,0
`

func write(c *apptest.CLI, name, content string) string {
	c.Helper()
	path := filepath.Join(c.Dir, name)
	assert.OK(c, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func read(c *apptest.CLI, path string) string {
	c.Helper()
	b := assert.Value(os.ReadFile(path))(c)
	return string(b)
}

func TestImportAndExportOverTheCommandLine(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	file := write(c, "skus.csv", catalogue)
	equal(c, "a dry run", c.Ok("import", "reorder", "skus", file, "--dry-run"), "would import 3 rows\n3 of 3 rows are new, 0 changed, 0 the same, 0 refused\n")
	header, _, _ := strings.Cut(catalogue, "\n")
	equal(c, "after a dry run", c.Ok("export", "reorder", "skus"), header+"\n")
	equal(c, "an import", c.Ok("import", "reorder", "skus", file), "imported 3 rows\n")

	out := c.Ok("export", "reorder", "skus")
	lines := strings.SplitAfter(catalogue, "\n")
	equal(c, "exported", out, lines[0]+lines[1]+lines[3]+lines[2]) // by SKU
	target := filepath.Join(c.Dir, "out.csv")
	write(c, "out.csv", "what was there before")
	equal(c, "an export to a file prints", c.Ok("export", "reorder", "skus", target), "")
	equal(c, "the file", read(c, target), out)
	left, err := filepath.Glob(filepath.Join(c.Dir, ".*"))
	assert.That(t, err == nil && len(left) <= 0, "left beside the export: %v, %v", left, err)

	other := apptest.NewCLI(t)
	other.Stdin = out
	equal(other, "an import of stdin", other.Ok("import", "reorder", "skus", "-", "--json"), `{"imported":3,"errors":[]}`+"\n")
	equal(other, "exported again", other.Ok("export", "reorder", "skus", "-"), out)
}

func TestImportNamesTheRowsThatItRefuses(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	file := write(c, "skus.csv", "sku,active\nA,1\nB,yes\n\nC,\"0\nD,1\n")
	code, out, err := c.Call("import", "reorder", "skus", file)
	assert.That(t, code == 1 && out == "imported 1 rows\n", "exit %d with %q", code, out)
	equal(c, "stderr", err, `line 3: active: "yes" is not allowed; it takes true (1) or false (0)
line 5: a quoted cell begins here and has no closing quote; lines 5 to 6 were skipped
quartermaster: 2 of 3 rows were refused
`)
	code, out, _ = c.Call("import", "reorder", "skus", file, "--json", "--dry-run")
	assert.That(t, code == 1, "exit %d", code)
	equal(c, "as JSON", out, `{"imported":1,"errors":[{"line":3,"reason":"active: \"yes\" is not allowed; it takes true (1) or false (0)"},`+
		`{"line":5,"reason":"a quoted cell begins here and has no closing quote; lines 5 to 6 were skipped"}],`+
		`"new":0,"changed":0,"same":1,"refused":2,"changes":[],"would":[],"events":{},`+
		`"found":{"format":"csv","delimiter":",","encoding":"utf-8","header_line":1,"columns":["sku","active"]},"left_out":[],"notes":[],"replaced":0}`+"\n")
}

func TestImportRefusesAFileByName(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	file := write(c, "skus.csv", "sku,colour\nA,red\n")
	refuses(c, 1, []string{`unknown column "colour"`, "the columns of skus are sku, name, supplier,"}, "import", "reorder", "skus", file)
	refuses(c, 1, []string{"nowhere.csv"}, "import", "reorder", "skus", filepath.Join(c.Dir, "nowhere.csv"))
	refuses(c, 1, []string{"is a folder"}, "import", "reorder", "skus", c.Dir)
	equal(c, "nothing was imported", c.Ok("export", "reorder", "skus"), catalogue[:strings.Index(catalogue, "\n")+1])
}

func TestImportAndExportWrongUsage(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	file := write(c, "skus.csv", "sku\nA\n")
	for _, args := range [][]string{
		{"import"}, {"import", "reorder", "skus"}, {"import", "reorder", "skus", file, "more"},
		{"export", "reorder"}, {"export", "reorder", "skus", file, "more"},
		{"import", "reorder", "skus", file, "--as="}, {"import", "reorder", "skus", file, "--as", " "},
	} {
		refuses(c, 2, nil, args...)
	}
	refuses(c, 2, []string{`"orders"`, "not one of skus"}, "import", "reorder", "orders", file)
	refuses(c, 2, []string{`"orders"`, "not one of skus"}, "export", "reorder", "orders")
	refuses(c, 2, []string{`"shop"`, "store, maintenance, rental, reorder"}, "export", "shop", "skus")
	refuses(c, 2, []string{"--add", "skus", "does not take it"}, "import", "reorder", "skus", file, "--add")
	refuses(c, 2, []string{"--emit", "skus", "does not take it"}, "import", "reorder", "skus", file, "--emit")
	equal(c, "nothing was imported", c.Ok("export", "reorder", "skus"), catalogue[:strings.Index(catalogue, "\n")+1])
}

func TestImportAndExportNeedADatabase(t *testing.T) {
	t.Parallel()
	c := apptest.BareCLI(t)
	file := write(c, "skus.csv", "sku\nA\n")
	refuses(c, 1, []string{"no database at " + c.Db}, "import", "reorder", "skus", file)
	refuses(c, 1, []string{"no database at " + c.Db}, "export", "reorder", "skus")
	_, err := os.Stat(c.Db)
	assert.That(t, os.IsNotExist(err), "a database was made: %v", err)
}

func TestImportActsAsAUser(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	file := write(c, "skus.csv", "sku\nA\n")
	c.Ok("user", "add", "vera", "--role", "viewer")
	c.Ok("user", "add", "mo", "--role", "member", "--service", "reorder")
	c.Ok("user", "add", "dis", "--role", "admin")
	c.Ok("user", "disable", "dis")
	c.Ok("user", "add", "renter", "--role", "admin", "--service", "rental")
	refuses(c, 1, []string{"vera", "viewer"}, "import", "reorder", "skus", file, "--as", "vera")
	refuses(c, 1, []string{"vera", "viewer"}, "import", "reorder", "skus", file, "--as", "vera", "--dry-run")
	refuses(c, 1, []string{`"dis" is disabled`}, "import", "reorder", "skus", file, "--as", "dis")
	refuses(c, 1, []string{`"renter" has no role in the reorder service`}, "import", "reorder", "skus", file, "--as", "renter")
	for _, name := range []string{"nobody", "Renter", "cli"} {
		refuses(c, 1, []string{`no user "` + name + `"`}, "import", "reorder", "skus", file, "--as", name)
	}
	equal(c, "refused imports left", c.Ok("export", "reorder", "skus"), catalogue[:strings.Index(catalogue, "\n")+1])
	c.Ok("import", "reorder", "skus", file, "--as", "mo")
	c.Ok("import", "reorder", "skus", write(c, "more.csv", "sku\nB\n"))
}

// TestExportKeepsTheOldFileUntilTheNewIsComplete: an export that cannot be written leaves the old file.
func TestExportKeepsTheOldFileUntilTheNewIsComplete(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	refuses(c, 1, []string{"nowhere"}, "export", "reorder", "skus", filepath.Join(c.Dir, "nowhere", "x.csv"))
	refuses(c, 1, nil, "export", "reorder", "skus", c.Dir)
	device := "/dev/null"
	c.Ok("export", "reorder", "skus", device)
	st, err := os.Stat(device)
	assert.That(t, err == nil && !st.Mode().IsRegular(), "%s was replaced: %v, %v", device, st, err)
}

// TestExportDoesNotOverwriteADatabase: a database given as the output file is not overwritten.
func TestExportDoesNotOverwriteADatabase(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	c.Ok("import", "reorder", "skus", write(c, "skus.csv", catalogue))
	other := filepath.Join(c.Dir, "other.db")
	c.Ok("backup", other)
	bad := write(c, "bad.csv", "sku,name\n,nameless\nNEW,new\n")
	for target, want := range map[string]string{
		c.Db: "is the database itself", c.Db + "-wal": "belongs to the database", c.Db + ".lock": "belongs to the database",
		other: "is a database", other + "-wal": "belongs to the database",
	} {
		refuses(c, 1, []string{want}, "export", "reorder", "skus", target)
		refuses(c, 1, []string{want}, "import", "reorder", "skus", bad, "--refused", target)
	}
	got := c.Ok("export", "reorder", "skus")
	assert.That(t, !strings.Contains(got, "NEW") && strings.Contains(got, "NAIL"), "exported %s", got)
	c.Ok("doctor")
	c.Ok("doctor", "--db", other)
}

func TestTheShellCompletesServicesTablesAndUsers(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"import", ""}, "store\nmaintenance\nrental\nreorder\n"},
		{[]string{"export", "re"}, "reorder\n"},
		{[]string{"import", "reorder", "sk"}, "skus\n"},
		{[]string{"export", "reorder", "skus", ""}, "csv\n:8\n"},
		{[]string{"import", "--db", c.Db, "--as", ""}, "alice\n"},
	} {
		out := c.Ok(append([]string{"__complete"}, x.args...)...)
		assert.Contains(t, out, x.want, "%v completes to", x.args)
	}
}

// sameRefusals reports whether two imports refused the same lines for the same reasons.
func sameRefusals(a, b string) bool {
	refusals := func(text string) string {
		var lines []string
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(line, "line ") {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "\n")
	}
	return refusals(a) == refusals(b)
}

// TestImportOfSales: a table that is imported as one whole keeps the same promises.
func TestImportOfSales(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	c.Ok("import", "reorder", "skus", write(c, "skus.csv", catalogue))
	const header = "date,sku,qty,channel\n"
	file := write(c, "sales.csv", "date,sku,qty\n"+"2026-11-19,TEA,2.5\n2026-11-20,TEA,1\n2026-02-30,TEA,1\n2026-11-19,COFFEE,1\n\n2026-11-19,TEA,0.5\n2026-11-19\n")
	code, out, told := c.Call("import", "reorder", "sales", file, "--dry-run")
	assert.That(t, code == 1 && out == "would import 3 rows\n3 of 6 rows are new, 0 changed, 0 the same, 3 refused\n",
		"a dry run: exit %d, %q", code, out)
	for _, line := range []string{"line 4: ", "line 5: ", "line 8: it has 1 cells"} {
		assert.Contains(t, told, line)
	}
	equal(c, "after a dry run", c.Ok("export", "reorder", "sales"), header)
	code, out, again := c.Call("import", "reorder", "sales", file)
	assert.That(t, code == 1 && out == "imported 3 rows\n" && sameRefusals(again, told),
		"exit %d, %q, told %s", code, out, again)
	sales := header + "2026-11-19,TEA,3,\n2026-11-20,TEA,1,\n"
	equal(c, "stored", c.Ok("export", "reorder", "sales"), sales)
	stored := write(c, "stored.csv", sales)
	c.Ok("import", "reorder", "sales", stored)
	equal(c, "replaced by the same", c.Ok("export", "reorder", "sales"), sales)
	c.Ok("import", "reorder", "sales", stored, "--add")
	equal(c, "added", c.Ok("export", "reorder", "sales"), header+"2026-11-19,TEA,6,\n2026-11-20,TEA,2,\n")
	refuses(c, 2, []string{"--emit"}, "import", "reorder", "sales", stored, "--emit")
	c.Ok("user", "add", "vera", "--role", "viewer")
	refuses(c, 1, []string{"vera", "viewer"}, "import", "reorder", "sales", stored, "--as", "vera")
}
