package app_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
)

// block is one fenced block of a document.
type block struct {
	line   int
	info   string
	text   string
	output string // what stands behind it as its output; "" when nothing does
}

// document reads the fenced blocks of a Markdown file. A block of output belongs to the
// shell block before it.
func document(t *testing.T, path string) (blocks []block, text string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var in *block
	for i, line := range strings.Split(string(content), "\n") {
		switch {
		case in == nil && strings.HasPrefix(line, "```"):
			in = &block{line: i + 1, info: strings.TrimPrefix(line, "```")}
		case in == nil:
		case line == "```":
			if in.info == "output" && len(blocks) > 0 {
				blocks[len(blocks)-1].output = in.text
			} else {
				blocks = append(blocks, *in)
			}
			in = nil
		default:
			in.text += line + "\n"
		}
	}
	if in != nil {
		t.Errorf("%s:%d: the block is not closed", path, in.line)
	}
	return blocks, string(content)
}

// documents are the README and everything in docs.
func documents(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("../docs/*.md")
	if err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	return append(all, "../README.md", "../CONTRIBUTING.md", "../CHANGELOG.md")
}

var (
	links   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	notWord = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// A link into the tree leads to a file that is there, and to a heading that it has.
func TestDocumentsHaveNoDeadLinks(t *testing.T) {
	for _, path := range documents(t) {
		_, text := document(t, path)
		for _, m := range links.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			file := path
			if target != "" {
				file = filepath.Join(filepath.Dir(path), target)
			}
			content, err := os.ReadFile(file)
			if st, is := os.Stat(file); is == nil && st.IsDir() {
				continue
			}
			if err != nil {
				t.Errorf("%s: the link %s leads nowhere", path, m[1])
				continue
			}
			if anchor != "" && !hasHeading(string(content), anchor) {
				t.Errorf("%s: %s has no heading #%s", path, file, anchor)
			}
		}
	}
}

func hasHeading(text, anchor string) bool {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		slug := strings.ReplaceAll(notWord.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		if slug == anchor {
			return true
		}
	}
	return false
}

// Documents that say so are tried: their shell blocks run in order in a folder of their
// own, with the program in the path. `serve` goes on beside them; the four ports are
// free ones. What stands as a block's output must be what it prints, with ... for
// whatever is not the same each time.
func TestDocumentsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the real program")
	}
	for _, path := range documents(t) {
		blocks, text := document(t, path)
		if !strings.Contains(text, "<!-- tested: every shell block") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) { runDocument(t, path, blocks) })
	}
}

func runDocument(t *testing.T, path string, blocks []block) {
	dir, bin := t.TempDir(), t.TempDir()
	env, ports := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "TZ=UTC", "QUARTERMASTER_WEBHOOK_ALLOW_PRIVATE=true"}, []string{}
	for i, service := range []string{"STORE", "MAINTENANCE", "RENTAL", "REORDER"} {
		addr := freeAddr(t)
		env = append(env, fmt.Sprintf("QUARTERMASTER_%s_ADDR=%s", service, addr))
		ports = append(ports, fmt.Sprintf("127.0.0.1:%d", 8081+i), addr)
	}
	wrapper := "#!/bin/sh\nif [ \"$1\" != serve ]; then exec '" + apptest.Binary(t) + "' \"$@\"; fi\n" +
		"'" + apptest.Binary(t) + "' \"$@\" >serve.out 2>serve.log &\necho $! >>'" + bin + "/pids'\n" +
		"for i in $(seq 300); do if '" + apptest.Binary(t) + "' healthcheck 2>/dev/null; then exit 0; fi; sleep 0.05; done\ncat serve.log >&2; exit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "quartermaster"), []byte(wrapper), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop := exec.Command("/bin/sh", "-c", "for p in $(cat '"+bin+"/pids' 2>/dev/null); do kill $p; while kill -0 $p 2>/dev/null; do sleep 0.05; done; done")
		if out, err := stop.CombinedOutput(); err != nil {
			t.Logf("%v: %s", err, out)
		}
	})
	to := strings.NewReplacer(ports...)
	for _, b := range blocks {
		if b.info != "sh" {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		script := exec.CommandContext(ctx, "/bin/sh", "-e", "-c", "[ ! -e .state ] || . ./.state\n"+to.Replace(b.text)+"\nset | grep -E '^KEY=' >.state || true\n")
		script.Dir, script.Env = dir, env
		var stderr strings.Builder
		script.Stderr = &stderr
		out, err := script.Output()
		cancel()
		if err != nil {
			t.Fatalf("%s:%d: %v\n%s%s", path, b.line, err, out, stderr.String())
		}
		if b.output != "" && !outputIs(string(out), b.output) {
			t.Errorf("%s:%d printed\n%swant\n%s%s", path, b.line, out, b.output, stderr.String())
		}
	}
}

// outputIs compares with a text in which ... stands for anything.
func outputIs(got, want string) bool {
	parts := strings.Split(strings.TrimSpace(want), "...")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(parts, ".*") + `$`).MatchString(strings.TrimSpace(got))
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Every line of a shell block that calls the program names a command that there is,
// with flags that it has.
func TestDocumentsCallCommandsThatThereAre(t *testing.T) {
	c := newCLI(t)
	helped := map[string]string{}
	flag := regexp.MustCompile(`\s(--[a-z][a-z-]*)`)
	for _, path := range documents(t) {
		if filepath.Base(path) == "CHANGELOG.md" {
			continue
		}
		blocks, _ := document(t, path)
		for _, b := range blocks {
			if b.info != "sh" {
				continue
			}
			for line := range strings.SplitSeq(strings.ReplaceAll(b.text, "\\\n", " "), "\n") {
				line, _, _ = strings.Cut(line, " #")
				line, _, _ = strings.Cut(line, " | ")
				call := strings.TrimPrefix(strings.TrimSpace(line), "./")
				words := strings.Fields(call)
				if len(words) < 2 || words[0] != "quartermaster" {
					continue
				}
				help := c.helpFor(helped, words[1:])
				if help == "" {
					t.Errorf("%s:%d: there is no command %s", path, b.line, call)
					continue
				}
				for _, m := range flag.FindAllStringSubmatch(call, -1) {
					if !strings.Contains(help, m[1]) {
						t.Errorf("%s:%d: %s: the command has no %s", path, b.line, call, m[1])
					}
				}
			}
		}
	}
}

// helpFor is the help of the longest command that the words begin with.
func (c *cli) helpFor(known map[string]string, words []string) string {
	n := 0
	for n < len(words) && regexp.MustCompile(`^[a-z][a-z-]*$`).MatchString(words[n]) && n < 4 {
		n++
	}
	for ; n > 0; n-- {
		name := strings.Join(words[:n], " ")
		if _, ok := known[name]; !ok {
			code, out, _ := c.call(append(append([]string{}, words[:n]...), "--help")...)
			known[name] = ""
			if code == 0 && strings.Contains(out, "quartermaster "+name) {
				known[name] = out
			}
		}
		if known[name] != "" {
			return known[name]
		}
	}
	return ""
}
