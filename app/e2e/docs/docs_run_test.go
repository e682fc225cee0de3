//go:build unix

package docs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// leftOut and the code below try the documents. The blocks of a document run in order in one shell, in their own
// folder, with the program in the path and free ports in place of 8081 to 8084. The source of a document controls this:
//
//	```sh                       runs; a failing command fails the test
//	```sh not run: REASON       is skipped and counted (see leftOut)
//	```csv NAME                 is a file of the folder (any language followed by a name)
//	```text, output, json, ```  right after a shell block: its output,
//	                            with ... for parts that vary; in JSON
//	                            spaces do not count. -update rewrites those without ...
//	<!-- output -->             before a block: the output of the last shell block, after prose
//	<!-- sh ... -->             runs but is not shown; `ctrl-c` ends serve,
//	                            `listens ADDRESS` waits for a server
//	<!-- clock: 2026-11-20 -->  the current day for the document; default: today
//	# refused                   after a command: it must fail; its message is part of the output
//
// The command `serve` starts a server beside the shell; its output goes to serve.out. apk_... and whsec_... in a block
// are $KEY and $SECRET. Receivers at other hosts are replaced by one on this machine. curl fails where the server
// refuses.
const leftOut = 13

type step struct {
	line     int
	kind     string // sh, hidden, file, left
	text     string
	name     string // of the file, or the reason for skipping
	at, end  int    // position of the expected output in the document
	language string // of the expected output
	want     string
	shown    bool // the document has an expected output
}

var (
	clockLine = regexp.MustCompile(`(?m)^<!-- clock: (\d{4}-\d\d-\d\d) -->$`)
	partStart = regexp.MustCompile("(?ms)^```([a-z]*)([^\n]*)\n(.*?)^```$|^<!-- sh\n(.*?)^-->$")
)

// steps returns the steps of a document in order.
func steps(text string) (all []step) {
	last, behind := -1, 0
	for _, m := range partStart.FindAllStringSubmatchIndex(text, -1) {
		group := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return text[m[2*n]:m[2*n+1]]
		}
		s := step{line: strings.Count(text[:m[0]], "\n") + 1, kind: "hidden", text: group(4)}
		between := strings.TrimSpace(text[behind:m[0]])
		behind = m[1]
		if strings.HasPrefix(text[m[0]:], "```") {
			s.text, s.name = group(3), strings.TrimSpace(group(2))
			reason, left := strings.CutPrefix(s.name, "not run: ")
			language := group(1)
			switch {
			case language == "sh" && left:
				s.kind, s.name = "left", reason
			case language == "sh":
				s.kind = "sh"
			case s.name != "":
				s.kind = "file"
			case last >= 0 && (between == "" || strings.HasSuffix(between, "<!-- output -->")) && strings.Contains(" text output json ", " "+language+" ") || last >= 0 && between == "" && language == "":
				on := &all[last]
				on.shown, on.language, on.want, on.at, on.end = true, language, s.text, m[6], m[7]
				last = -1
				continue
			default:
				if between != "" {
					last = -1
				}
				continue
			}
		}
		all = append(all, s)
		if s.kind == "sh" {
			last = len(all) - 1
		}
	}
	return all
}

func TestDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the real program")
	}
	binary, left := apptest.Binary(t), 0
	for _, path := range documents(t) {
		content := assert.Value(os.ReadFile(path))(t)
		all, runs := steps(string(content)), 0
		for _, s := range all {
			switch s.kind {
			case "left":
				left++
				t.Logf("%s:%d is left out: %s", filepath.Base(path), s.line, s.name)
			case "sh":
				runs++
			}
		}
		if runs > 0 {
			t.Run(filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				runDocument(t, binary, path, string(content), all)
			})
		}
	}
	assert.That(t, left == leftOut,
		"%d shell blocks are left out, the test knows of %d: run what can be run, and set leftOut", left, leftOut)
}

// runDocument runs the steps and compares their output with the document.
func runDocument(t *testing.T, binary, path, text string, all []step) {
	dir, aside := t.TempDir(), t.TempDir()
	to := tools(t, binary, dir, aside, text)
	script := "set -e\nmkdir -p tmp\n"
	for i, s := range all {
		switch s.kind {
		case "file":
			script += fmt.Sprintf("cat >'%s' <<'END OF THE FILE'\n%sEND OF THE FILE\n", s.name, s.text)
		case "sh", "hidden":
			script += fmt.Sprintf("exec >'%s/out.%d' 2>'%s/err.%d'\necho %d >'%s/at'\n%s\n", aside, i, aside, i, i, aside, refusals(to.Replace(s.text)))
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", script)
	cmd.Dir, cmd.Env = dir, environment(t, dir, aside, text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	failed := cmd.Run()
	endGroup(t, cmd)
	at := -1
	if b, err := os.ReadFile(filepath.Join(aside, "at")); err == nil {
		_, _ = fmt.Sscan(string(b), &at)
	}
	if failed != nil && !errors.Is(failed, exec.ErrWaitDelay) {
		line := 0
		if at >= 0 {
			line = all[at].line
		}
		t.Fatalf("%s:%d: %v\n%s%s%s", path, line, failed, read(aside, "out", at), read(aside, "err", at), tail(filepath.Join(dir, "serve.log")))
	}
	assert.Equal(t, tail(filepath.Join(aside, "refused")), "", "%s: the server refuses: curl", path)
	now := text
	for i := len(all) - 1; i >= 0; i-- {
		s := all[i]
		if !s.shown || printedIs(read(aside, "out", i), s.want, s.language) {
			continue
		}
		if update := flag.Lookup("update"); update.Value.String() == "true" && !strings.Contains(s.want, "...") {
			now = now[:s.at] + trimLines(read(aside, "out", i)) + now[s.end:]
			continue
		}
		t.Errorf("%s:%d printed\n%swant\n%s%s", path, s.line, read(aside, "out", i), s.want, read(aside, "err", i))
	}
	if now != text {
		if err := os.WriteFile(path, []byte(now), 0o644); err != nil { // #nosec G306 -- a document
			t.Fatal(err)
		}
	}
}

func which(t *testing.T, name string) string {
	t.Helper()
	path := assert.Value(exec.LookPath(name))(t)
	return path
}

// tools puts the program, and a go command that skips its build, into the folder's bin. It returns the replacements for
// addresses and paths.
func tools(t *testing.T, binary, dir, aside, text string) *strings.Replacer {
	t.Helper()
	bin := filepath.Join(aside, "bin")
	assert.OK(t, os.Mkdir(bin, 0o700))
	repository := assert.Value(filepath.Abs("../../.."))(t)
	if clockLine.MatchString(text) {
		binary = filepath.Join(bin, "program")
		at, _ := time.Parse(time.DateOnly, clockLine.FindStringSubmatch(text)[1])
		ahead := at.Add(21*time.Hour + 5*time.Minute).Sub(time.Now().Truncate(time.Second))
		script(t, binary, fmt.Sprintf("QUARTERMASTER_TEST_AHEAD=%s exec '%s' \"$@\"\n", ahead, os.Args[0]))
		script(t, filepath.Join(bin, "date"), fmt.Sprintf("exec /bin/date -d \"@$(($(/bin/date +%%s) + %d))\" \"$@\"\n", int64(ahead.Seconds())))
	}
	script(t, filepath.Join(bin, "quartermaster"), strings.NewReplacer("PROGRAM", binary, "ASIDE", aside).Replace(
		`if [ "$1" != serve ]; then exec 'PROGRAM' "$@"; fi
'PROGRAM' "$@" >serve.out 2>serve.log &
echo $! >>'ASIDE/serving'
for i in $(seq 400); do
  case "$*" in *--demo*) grep -q '^reorder  apk_' serve.out || { sleep 0.05; continue; } ;; esac # its keys are told
  if 'PROGRAM' healthcheck >/dev/null 2>&1; then exit 0; fi
  if ! kill -0 $! 2>/dev/null; then cat serve.log >&2; exit 1; fi
  sleep 0.05
done
cat serve.log >&2
exit 1
`))
	script(t, filepath.Join(bin, "ctrl-c"), "for p in $(cat '"+aside+"/serving'); do\n  kill -INT $p || true\n  while kill -0 $p; do sleep 0.02; done\ndone 2>/dev/null\n: >'"+aside+"/serving'\n")
	script(t, filepath.Join(bin, "listens"), "until '"+which(t, "curl")+"' -s -o /dev/null http://$1; do sleep 0.05; done\n")
	script(t, filepath.Join(bin, "curl"), strings.NewReplacer("CURL", which(t, "curl"), "ASIDE", aside).Replace(
		`'CURL' --fail-with-body "$@" && exit 0
code=$?
echo "$@" >>'ASIDE/refused'
exit $code
`))
	compiler := which(t, "go")
	script(t, filepath.Join(bin, "go"), strings.NewReplacer("COMPILER", compiler, "BIN", bin, "REPOSITORY", repository).Replace(
		`for last; do :; done
case "$1 $last" in
"build .")
  while [ "$1" != -o ]; do shift; done
  exec cp BIN/quartermaster "$2" ;;
esac
cd 'REPOSITORY' && exec 'COMPILER' "$@"
`))
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(receiver.Close)
	free := apptest.FreeAddr(t)
	pairs := []string{"/tmp/", dir + "/tmp/", "/backup", dir + "/backup", "apk_...", "$KEY", "whsec_...", "$SECRET", "127.0.0.1:9000", free, `("127.0.0.1", 9000)`, hostPort(free),
		"https://ntfy.sh", receiver.URL, "https://example.org", receiver.URL, "https://hooks.example.com", receiver.URL}
	for i := range ports {
		ours := apptest.FreeAddr(t)
		pairs = append(pairs, fmt.Sprintf("127.0.0.1:%d", 8081+i), ours, fmt.Sprintf("localhost:%d", 8081+i), ours)
		assert.OK(t, os.WriteFile(filepath.Join(aside, ports[i]), []byte(ours), 0o600))
	}
	return strings.NewReplacer(pairs...)
}

var ports = []string{"STORE", "MAINTENANCE", "RENTAL", "REORDER"}

func hostPort(addr string) string {
	host, port, _ := strings.Cut(addr, ":")
	return fmt.Sprintf("(%q, %s)", host, port)
}

func script(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil { // #nosec G306 -- it is run
		t.Fatal(err)
	}
}

func environment(t *testing.T, dir, aside, text string) []string {
	t.Helper()
	env := []string{"PATH=" + filepath.Join(aside, "bin") + ":" + os.Getenv("PATH"), "HOME=" + dir, "TZ=UTC", "TMPDIR=" + filepath.Join(dir, "tmp"),
		"QUARTERMASTER_WEBHOOK_ALLOW_PRIVATE=true", "REFUSED=" + filepath.Join(aside, "refused"), "QUARTERMASTER_TIMEZONE=UTC"}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		if out, err := exec.Command("go", "env", name).Output(); err == nil {
			env = append(env, name+"="+strings.TrimSpace(string(out)))
		}
	}
	for _, service := range ports {
		addr := assert.Value(os.ReadFile(filepath.Join(aside, service)))(t)
		env = append(env, fmt.Sprintf("QUARTERMASTER_%s_ADDR=%s", service, addr))
	}
	return env
}

// endGroup ends what the document started and waits for it.
func endGroup(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	signal := syscall.SIGTERM
	for began := time.Now(); syscall.Kill(-cmd.Process.Pid, signal) == nil; time.Sleep(10 * time.Millisecond) {
		if signal = 0; time.Since(began) > 15*time.Second {
			t.Error("what the document started does not end")
			signal = syscall.SIGKILL
		}
	}
}

// refusals makes the success of a command marked as refused an error.
func refusals(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		if !strings.Contains(lines[i], "# refused") {
			continue
		}
		first := i
		for first > 0 && strings.HasSuffix(lines[first-1], "\\") {
			first--
		}
		lines[first] = "if { " + lines[first]
		lines[i] += "\n} 2>&1; then echo 'this should be refused' >&2; exit 99; fi; : >\"$REFUSED\""
	}
	return strings.Join(lines, "\n")
}

func read(dir, name string, n int) string {
	b, _ := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%s.%d", name, n)))
	return string(b)
}

// tail is the end of a file that may be missing.
func tail(path string) string {
	b, _ := os.ReadFile(path)
	return string(b[max(0, len(b)-2000):])
}

// printedIs compares with a text in which ... matches anything.
func printedIs(got, want, language string) bool {
	if language == "json" {
		got, want = strings.Join(strings.Fields(got), ""), strings.Join(strings.Fields(want), "")
	}
	parts := strings.Split(strings.TrimSpace(trimLines(want)), "...")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `$`).MatchString(strings.TrimSpace(trimLines(got)))
}

// trimLines removes the padding of a table's last column.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
