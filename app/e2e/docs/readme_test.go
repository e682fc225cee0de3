package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// section is a second-level section of the README.
func section(t *testing.T, name string) string {
	t.Helper()
	readme := assert.Value(os.ReadFile("../../../README.md"))(t)
	_, text, found := strings.Cut(string(readme), "\n## "+name+"\n")
	assert.Must(t, found, "the README has no section %s", name)
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// TestReadmeNamesEveryDependency: each direct requirement of go.mod has a row with a reason, and nothing else has.
func TestReadmeNamesEveryDependency(t *testing.T) {
	t.Parallel()
	mod := assert.Value(os.ReadFile("../../../go.mod"))(t)
	var required, named []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllSubmatch(mod, -1) {
		required = append(required, string(m[1]))
	}
	for row := range strings.SplitSeq(section(t, "Dependencies"), "\n") {
		cells := strings.Split(row, "|")
		if len(cells) != 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			named = append(named, m[1])
		}
		if strings.TrimSpace(cells[2]) == "" {
			t.Errorf("no reason for%s", cells[1])
		}
	}
	slices.Sort(required)
	slices.Sort(named)
	assert.That(t, len(required) != 0 && slices.Equal(required, named),
		"the README names %q, go.mod requires %q", named, required)
}

// TestReadmeShowsTheTree: the tree has exactly the package folders.
func TestReadmeShowsTheTree(t *testing.T) {
	t.Parallel()
	tree := section(t, "The tree")
	there := map[string]bool{}
	for _, depth := range []string{"../../../[a-z]*", "../../../[a-z]*/*", "../../../[a-z]*/*/*"} {
		folders := assert.Value(filepath.Glob(depth))(t)
		for _, folder := range folders {
			name := filepath.Base(folder)
			there[name] = true
			sources, _ := filepath.Glob(filepath.Join(folder, "*.go"))
			assert.That(t, len(sources) == 0 || strings.HasPrefix(folder, "../../../testdata/") ||
				strings.Contains(tree, name+"/"), "the README's tree lacks %s", folder)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^ *([a-z]+)/ `).FindAllStringSubmatch(tree, -1) {
		assert.That(t, there[m[1]], "the README's tree has %s/, which is not there", m[1])
	}
}
