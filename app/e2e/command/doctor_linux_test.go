package command

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// asNobody runs the program as a user who owns no files, or as this user unless that is root.
func asNobody(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := assert.Value(os.MkdirTemp("", "nobody"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program := filepath.Join(dir, "quartermaster")
	content := assert.Value(os.ReadFile(apptest.Binary(t)))(t)
	if err := os.WriteFile(program, content, 0o755); err != nil { // #nosec G306 -- other users run it
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { // #nosec G302 -- other users run its files
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	_ = cmd.Run() // the exit code is checked
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// TestDoctorOnOlderAndUnreadableFiles: an older schema and an unreadable file are reported as such, not as broken
// rules.
func TestDoctorOnOlderAndUnreadableFiles(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	tamper(c, "DELETE FROM schema_migrations WHERE name = (SELECT max(name) FROM schema_migrations)")
	code, out, errs := c.Call("doctor")
	assert.That(t, code == 1 && strings.Contains(out, "schema: to do: ") && !strings.Contains(out+errs, "breach") &&
		strings.Contains(errs, "quartermaster migrate --db "+c.Db), "exit %d: %s%s", code, out, errs)
	for dir := filepath.Dir(c.Db); dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // #nosec G302 -- other users list it
			t.Fatal(err)
		}
	}
	assert.OK(t, os.Chmod(c.Db, 0))
	code, out, errs = asNobody(t, "doctor", "--db", c.Db)
	assert.That(t, code == 1 && !strings.Contains(out+errs, "breach") &&
		strings.Contains(errs, "may not be opened by this user"), "exit %d: %s%s", code, out, errs)
}
