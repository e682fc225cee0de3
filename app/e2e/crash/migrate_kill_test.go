package crash

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// older returns a database of each earlier schema: those in the migrations, and the released ones under
// testdata/released.
func older(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "run", "./testdata/old-schema", "-out", dir)
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	made, err := filepath.Glob(filepath.Join(dir, "*.db"))
	assert.Must(t, err == nil && len(made) != 0, "no earlier schema %v", err)
	packed, err := filepath.Glob("../../../testdata/released/*.db.gz")
	assert.Must(t, err == nil && len(packed) != 0, "no released file %v", err)
	for _, name := range packed {
		path := filepath.Join(dir, strings.TrimSuffix(filepath.Base(name), ".gz"))
		assert.OK(t, os.WriteFile(path, apptest.Unpacked(t, filepath.Base(name)), 0o600))
		made = append(made, path)
	}
	return made
}

// TestMigrationIsKilled kills the program at any of the writes of a migration, from each earlier schema. Each step is
// done or not, and the next start does the rest.
func TestMigrationIsKilled(t *testing.T) {
	t.Parallel()
	const seed = 20261120
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 3))
	dir := t.TempDir()
	apptest.Keys(t, dir)
	whole := schemaOf(t, filepath.Join(dir, "quartermaster.db"))
	precise, between := straced(t, "a kill at a chosen write (it is killed at a chosen time)"), 0
	for _, old := range older(t) {
		content := assert.Value(os.ReadFile(old))(t)
		writes, took := measure(t, content, precise)
		for range apptest.Times(1, 15) {
			path := killMidway(t, random, content, writes, took)
			dir := filepath.Dir(path)
			between += stepped(t, path, content)
			code, _, errs := apptest.Exec(t, dir, "migrate")
			assert.That(t, code == 0, "%s: migrate after a kill: exit %d: %s", filepath.Base(old), code, errs)
			if got := schemaOf(t, path); !slices.Equal(got, whole) {
				t.Errorf("%s: the schema after a kill is another one:\n%v\n%v", filepath.Base(old), got, whole)
			}
			if code, out, _ := apptest.Exec(t, dir, "user", "list"); code != 0 || !strings.Contains(out, "old") && !strings.Contains(out, "demo") {
				t.Errorf("%s: the user is gone: %s", filepath.Base(old), out)
			}
			if code, out, errs := apptest.Exec(t, dir, "doctor"); code != 0 {
				t.Errorf("%s: doctor: %s%s", filepath.Base(old), out, errs)
			}
		}
	}
	t.Logf("%d kills left a schema between the old one and the new", between)
}

// schemaOf lists the schema objects of the database at path.
func schemaOf(t testing.TB, path string) (all []string) {
	t.Helper()
	d, err := db.Open(path, db.Options{})
	assert.OK(t, err)
	err = d.View(context.Background(), func(c *db.Conn) (err error) {
		all, err = db.All(c, db.Text, "SELECT name || ': ' || coalesce(sql, '') FROM sqlite_schema ORDER BY name")
		return err
	})
	assert.OK(t, err)
	assert.OK(t, d.Close())
	for i, s := range all {
		if name, _, _ := strings.Cut(s, ":"); name == "schema_migrations" { // the program makes it, however it is spelled
			all[i] = name
		}
	}
	return all
}

// stepped checks what a kill left: the migrations from the first to some, and a complete copy if it has its name. It
// returns 1 for a state between old and new.
func stepped(t testing.TB, path string, old []byte) int {
	t.Helper()
	all, err := db.Status(path)
	if err != nil {
		t.Error(err)
		return 0
	}
	applied, missing := 0, 0
	for _, m := range all {
		switch {
		case m.AppliedAt == nil:
			missing++
		case missing > 0:
			t.Errorf("%s is applied, and one before it is not: %v", m.Name, all)
		case *m.AppliedAt != 1:
			applied++
		}
	}
	asides := assert.Value(filepath.Glob(path + ".before-v*"))(t)
	for _, aside := range asides {
		_, err := db.Status(aside)
		assert.That(t, err == nil || strings.Contains(aside, ".part-"), "%s: %v", aside, err)
	}
	if now, err := os.ReadFile(path); err != nil || applied == 0 && len(asides) == 0 && !bytes.Equal(now[100:], old[100:]) {
		t.Errorf("nothing was applied, yet the file is another one (%v)", err)
	}
	if applied > 0 && missing > 0 {
		return 1
	}
	return 0
}

// measure migrates once and returns the number of writes and the time.
func measure(t testing.TB, content []byte, precise bool) (writes int, took time.Duration) {
	t.Helper()
	dir := t.TempDir()
	assert.OK(t, os.WriteFile(filepath.Join(dir, "quartermaster.db"), content, 0o600))
	if !precise {
		began := time.Now()
		code, _, errs := apptest.Exec(t, dir, "migrate")
		assert.Must(t, code == 0, "%v", errs)
		return 0, time.Since(began)
	}
	cmd := exec.Command("strace", "-f", "-o", "calls", "-e", "trace=pwrite64", apptest.Binary(t), "migrate")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	assert.Must(t, err == nil, "%v: %s", err, out)
	calls := assert.Value(os.ReadFile(filepath.Join(dir, "calls")))(t)
	return bytes.Count(calls, []byte("pwrite64(")), 0
}

// killMidway migrates a file with the content, kills the program meanwhile, and returns the file's path. Without a
// number of writes it is killed within took.
func killMidway(t testing.TB, random *rand.Rand, content []byte, writes int, took time.Duration) string {
	t.Helper()
	for n := writes; ; {
		dir := t.TempDir()
		path := filepath.Join(dir, "quartermaster.db")
		assert.OK(t, os.WriteFile(path, content, 0o600))
		if writes == 0 {
			killAfter(t, dir, time.Duration(random.Int64N(int64(took))))
			return path
		}
		n = 1 + random.IntN(n)
		if killAtWrite(t, dir, n) {
			return path
		}
	}
}

// killAtWrite migrates and kills at the n-th write of any thread; false if no thread wrote that often.
func killAtWrite(t testing.TB, dir string, n int) bool {
	t.Helper()
	cmd := exec.Command("strace", "-f", "-o", os.DevNull, "-e", "trace=pwrite64",
		"-e", fmt.Sprintf("inject=pwrite64:signal=KILL:when=%d", n), apptest.Binary(t), "migrate")
	cmd.Dir = dir
	return cmd.Run() != nil
}

func killAfter(t testing.TB, dir string, d time.Duration) {
	t.Helper()
	cmd := exec.Command(apptest.Binary(t), "migrate")
	cmd.Dir = dir
	assert.OK(t, cmd.Start())
	<-time.After(d)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
}

// TestForeignFilesAreRefused makes every command that opens a file open foreign files. They are refused by name, and
// no byte changes.
func TestForeignFilesAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apptest.Keys(t, dir)
	path := filepath.Join(dir, "quartermaster.db")
	good := assert.Value(os.ReadFile(path))(t)
	d := assert.Value(db.Open(path, db.Options{}))(t)
	err := db.Exec(context.Background(), d, db.Bookkeeping(), func(tx *db.Tx) error {
		_, err := tx.Exec("INSERT INTO schema_migrations VALUES ('9999_future', 1)")
		return err
	})
	assert.OK(t, err)
	assert.OK(t, d.Close())
	newer := assert.Value(os.ReadFile(path))(t)
	foreign, torn := bytes.Clone(good), bytes.Clone(good)
	binary.BigEndian.PutUint32(foreign[68:], 0)
	for i := 100; i < 4096; i++ { // the schema's first page, after a valid header
		torn[i] ^= 0x5a
	}
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"newer.db":   {newer, "9999_future"},
		"foreign.db": {foreign, "another program"},
		"text.db":    {bytes.Repeat([]byte("hello "), 1000), "not an SQLite file"},
		"empty.db":   {nil, "the file is empty"},
		"torn.db":    {torn, "damaged"},
		"short.db":   {good[:50], "damaged"},
	} {
		assert.OK(t, os.WriteFile(filepath.Join(dir, name), c.content, 0o600))
		for _, args := range [][]string{{"serve"}, {"migrate"}, {"backup", "copy.db"}, {"doctor"}, {"user", "list"}, {"restore", name, "--db", "to.db"}} {
			if name == "empty.db" && args[0] == "migrate" {
				continue // it makes a missing database
			}
			if args[0] != "restore" {
				args = append(args, "--db", name)
			}
			code, out, errs := apptest.Exec(t, dir, args...)
			assert.That(t, code == 1 && strings.Contains(out+errs, c.says) && (strings.Contains(out+errs, name) ||
				args[0] == "doctor"), "%v of %s: exit %d: %s%s", args, name, code, out, errs)
			now, err := os.ReadFile(filepath.Join(dir, name))
			assert.That(t, err == nil && bytes.Equal(now, c.content), "%v changed %s (%v)", args, name, err)
		}
	}
	for _, name := range []string{"to.db", "copy.db"} {
		_, err := os.Stat(filepath.Join(dir, name))
		assert.That(t, err != nil, "a refused command made %s", name)
	}
}
