package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	command "quartermaster/app/cli"
	"quartermaster/schema/assert"
)

// fullOutput accepts no bytes.
type fullOutput struct{}

func (fullOutput) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestUnprintableOutputIsReported runs commands of every kind whose output cannot be written. Each ends with 1 and says
// so.
func TestUnprintableOutputIsReported(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	full := func(args ...string) outcome {
		var errs bytes.Buffer
		code := command.Run(context.Background(), command.Env{
			Args: append(args, "--db", s.db), Stdin: strings.NewReader(""), Stdout: fullOutput{}, Stderr: &errs,
			Getenv: func(string) string { return "" },
			Now:    func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) },
		})
		return outcome{code, "", errs.String()}
	}
	for _, line := range []string{
		"init --admin alice", // the file and its user stay
		"key create --service store --user alice", "key create --service store --user alice --json",
		"webhook add --service store --url https://shop.example/in", "webhook rotate 1", "webhook rotate 1 --json",
	} {
		if o := full(strings.Fields(line)...); o.code != 1 || !strings.Contains(o.errors, "shown once") || !strings.Contains(o.errors, "lost: ") {
			t.Errorf("%s: exit %d: %s", line, o.code, o.errors)
		}
	}
	s.done("store", "product", "save", "PLUGIN", "--name", "Tape Echo", "--price-cents", "4900")
	for _, line := range []string{
		"--help", "help", "key --help", "version", "migrate", "doctor", "doctor --json", "status", "status --json", "status --csv",
		"backup " + s.db + ".copy", "completion bash", "completion zsh",
		"user list", "user list --json", "user add bob --role member --service store --json", "key list", "key list --json",
		"webhook list", "webhook list --json", "audit", "audit --json", "audit --csv",
		"export store orders", "export rental charges", "export reorder skus", "export maintenance assets",
		"store orders list", "store orders list --json", "store orders list --csv", "store products list", "store stats", "store settings",
		"store codes mint --count 20 --sku PLUGIN --tier pro --batch launch", "store order record --email ann@example.org --sku PLUGIN",
		"rental arrears", "rental units list", "maintenance due", "maintenance assets list", "reorder report", "reorder report --csv",
		"reorder settings",
	} {
		if o := full(strings.Fields(line)...); o.code != 1 || !strings.Contains(o.errors, "no space left on device") {
			t.Errorf("%s: exit %d: %s", line, o.code, o.errors)
		}
	}
	// An import that adds is done once, however often it is repeated because its output failed.
	sales := filepath.Join(t.TempDir(), "sales.csv")
	assert.OK(t, os.WriteFile(sales, []byte("date,sku,qty\n2026-11-19,TEA,3\n"), 0o600))
	s.done("reorder", "skus", "save", "TEA", "--name", "Tea")
	add := []string{"import", "reorder", "sales", sales, "--add"}
	for _, c := range []struct {
		run  func(...string) outcome
		more []string
		sold int
	}{{full, nil, 3}, {full, nil, 3}, {s.run, nil, 3}, {s.run, nil, 6}, {full, nil, 9}, {s.run, []string{"--again"}, 12}} {
		o := c.run(append(add, c.more...)...)
		assert.Contains(t, s.done("export", "reorder", "sales"), fmt.Sprintf("TEA,%d,\n", c.sold),
			"exit %d %s, want %d sold", o.code, o.errors, c.sold)
	}
	o := s.run("export", "store", "orders", "/dev/full")
	assert.That(t, runtime.GOOS != "linux" || o.code == 1, "an export to a full device: exit %d: %s", o.code, o.errors)
}

// TestUnprintableSecretIsReported makes secrets with standard output closed, and discarded.
func TestUnprintableSecretIsReported(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("told on Linux alone")
	}
	dir := t.TempDir()
	apptest.Keys(t, dir)
	for line, want := range map[string]int{
		"key create --service store --user admin >&-": 1, "key create --service store --user admin > /dev/null": 0,
		"init --db other.db >&-": 1, "init --db third.db > /dev/null": 0,
		"webhook add --service store --url https://shop.example/in >&-": 1,
	} {
		cmd := exec.Command("sh", "-c", apptest.Binary(t)+" "+line)
		cmd.Dir = dir
		var errs bytes.Buffer
		cmd.Stderr = &errs
		_ = cmd.Run() // the exit code is checked
		if got := cmd.ProcessState.ExitCode(); got != want || strings.Contains(errs.String(), "lost: ") != (want == 1) {
			t.Errorf("%s: exit %d: %s", line, got, errs.String())
		}
	}
}

// TestAKeyWithoutAReaderIsRevoked: if the reader of the output is gone, nobody has the key, and it opens nothing.
func TestAKeyWithoutAReaderIsRevoked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	apptest.Keys(t, dir)
	for _, out := range []string{"gone pipe", "full device"} {
		args := "key create --service store --user admin --label " + strings.Fields(out)[0]
		var errs bytes.Buffer
		cmd := exec.Command(apptest.Binary(t), strings.Fields(args)...)
		cmd.Dir, cmd.Stderr = dir, &errs
		if out == "gone pipe" {
			r, w, err := os.Pipe()
			assert.OK(t, err)
			assert.OK(t, r.Close())
			cmd.Stdout = w
		} else {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			if err != nil {
				continue // another system
			}
			cmd.Stdout = full
		}
		_ = cmd.Run() // the exit code is checked
		if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(errs.String(), "is lost: key ") || !strings.Contains(errs.String(), "is revoked again") {
			t.Errorf("%s: exit %d: %s", out, code, errs.String())
		}
	}
	_, list, _ := apptest.Exec(t, dir, "key", "list", "--json")
	assert.That(t, strings.Count(list, `"label":"gone"`) == 1 && strings.Count(list, `"revoked_at":null`) == 4,
		"the keys: %s", list)
}

// TestSecretsComeFromAFile: a secret can be given outside the command line.
func TestSecretsComeFromAFile(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.done("init", "--admin", "alice")
	file := filepath.Join(t.TempDir(), "secret")
	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	assert.OK(t, os.WriteFile(file, []byte(secret+"\nnot this\n"), 0o600))
	run := func(stdin string, args ...string) (int, string) {
		var out, errs bytes.Buffer
		code := command.Run(context.Background(), command.Env{
			Args: append(args, "--db", s.db), Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs,
			Getenv: func(string) string { return "" }, Now: time.Now,
		})
		return code, out.String() + errs.String()
	}
	for _, how := range [][]string{{"", "--secret-file", file}, {secret + "\r\n", "--secret-file", "-"}, {secret, "--secret", "-"}} {
		args := append([]string{"webhook", "add", "--service", "store", "--url", "https://shop.example/in"}, how[1:]...)
		code, out := run(how[0], args...)
		assert.That(t, code == 0 && strings.Contains(out, "secret: "+secret+"\n"), "%q: exit %d: %s", how, code, out)
	}
	code, out := run(secret+"\n", "store", "provider", "set", "stripe", "--secret-file", "-")
	assert.That(t, code == 0, "the provider's: exit %d: %s", code, out)
	for want, args := range map[string][]string{
		"is empty; put the secret": {"--secret-file", "-"},
		"no such file":             {"--secret-file", file + ".none"},
		"if any flags in the":      {"--secret-file", "-", "--secret", "x"},
		"at least one of the":      {},
	} {
		code, out := run("", append([]string{"store", "provider", "set", "stripe"}, args...)...)
		assert.That(t, code != 0 && strings.Contains(out, want), "%v: exit %d: %s", args, code, out)
	}
}
