package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// TestTheInstalledShopIsFound: if no file is named and none is in the folder.
func TestTheInstalledShopIsFound(t *testing.T) {
	write := func(path, content string) string {
		t.Helper()
		assert.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.OK(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	root, here := t.TempDir(), filepath.Join(t.TempDir(), "quartermaster.db")
	find := func(given bool) string {
		p := &program{Env: Env{Stderr: io.Discard}, dbPath: here, dbGiven: given}
		p.findPackageFile(root)
		return strings.TrimPrefix(p.dbPath, root)
	}
	for _, step := range []struct{ made, content, want string }{
		{"", "", here},
		{packageFile, "x", packageFile},
		{"/etc/default/quartermaster", "# the shop\nQUARTERMASTER_DB=\"/srv/none.db\"\n", packageFile},
		{"/srv/shop.db", "x", packageFile},
		{"/etc/quartermaster/quartermaster.env", "QUARTERMASTER_DB=/srv/shop.db\n", "/srv/shop.db"},
	} {
		if step.made != "" {
			write(filepath.Join(root, step.made), step.content)
		}
		assert.Equal(t, find(false), step.want, "with %s", step.made)
	}
	assert.Equal(t, find(true), here, "a file that is named")
	write(here, "x")
	assert.Equal(t, find(false), here, "a file that is here")
}

// TestTheNextStepOfAPackage: the unit for the package's file, the server for others.
func TestTheNextStepOfAPackage(t *testing.T) {
	for path, want := range map[string]string{packageFile: "systemctl start quartermaster\n", "shop.db": "quartermaster serve --db shop.db\n"} {
		var b strings.Builder
		(&program{dbPath: path}).nextSteps(&b, "http://x/welcome/y", path == packageFile)
		assert.That(t, strings.Contains(b.String(), "Next: "+want) && strings.Contains(b.String(), "http://x/welcome/y\n"),
			"%s: %s", path, b.String())
	}
}
