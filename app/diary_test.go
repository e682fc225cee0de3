package app_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// diary runs the commands of a page of the docs in order, on a database of its own, and
// holds what they print against the page. A block ```csv NAME is a file; a block ```sh
// is commands; the block ```text behind it is what they print together. With -update the
// page is written anew.
func diary(t *testing.T, page string) {
	t.Helper()
	path := filepath.Join("..", "docs", page)
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := newCLI(t)
	block := regexp.MustCompile("(?ms)^```(\\w+)([^\n]*)\n(.*?)^```$")
	printed := ""
	now := block.ReplaceAllStringFunc(string(was), func(text string) string {
		m := block.FindStringSubmatch(text)
		switch m[1] {
		case "csv":
			c.write(strings.TrimSpace(m[2]), m[3])
		case "sh":
			printed = ""
			for _, line := range strings.Split(strings.ReplaceAll(m[3], "\\\n", " "), "\n") {
				args := shellWords(line)
				if len(args) == 0 || args[0] != "quartermaster" {
					continue
				}
				for i := range args {
					if strings.HasSuffix(args[i], ".csv") {
						args[i] = filepath.Join(c.dir, args[i])
					}
				}
				code, out, told := c.call(args[1:]...)
				if strings.Contains(line, "# refused") != (code != 0) {
					t.Errorf("%s: exit %d\n%s%s", line, code, out, told)
				}
				printed += out
				if code != 0 {
					printed += told
				}
			}
		case "text":
			return "```text\n" + trimLines(printed) + "```"
		}
		return text
	})
	if now == string(was) {
		return
	}
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		if err := os.WriteFile(path, []byte(now), 0o644); err != nil { // #nosec G306 -- a page of the docs
			t.Fatal(err)
		}
		return
	}
	t.Errorf("docs/%s does not tell what the commands print; run it with -update and read the diff", page)
}

// trimLines drops the spaces that pad a table's last column.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// shellWords splits a command line as a shell does, with quotes, up to a comment.
func shellWords(line string) (all []string) {
	for _, m := range regexp.MustCompile(`(?:[^\s"'#]|"[^"]*"|'[^']*')+|#.*`).FindAllString(line, -1) {
		if m[0] == '#' {
			break
		}
		all = append(all, strings.NewReplacer(`"`, "", `'`, "").Replace(m))
	}
	return all
}

func TestReorderDiary(t *testing.T) { diary(t, "reorder.md") }
