package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheInstalledShopIsFound: if no file is named and none is in the folder.
func TestTheInstalledShopIsFound(t *testing.T) {
	write := func(path, content string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
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
		if got := find(false); got != step.want {
			t.Errorf("with %s: %s, want %s", step.made, got, step.want)
		}
	}
	if got := find(true); got != here {
		t.Errorf("a file that is named: %s", got)
	}
	write(here, "x")
	if got := find(false); got != here {
		t.Errorf("a file that is here: %s", got)
	}
}

// TestTheNextStepOfAPackage: the unit for the package's file, the server for others.
func TestTheNextStepOfAPackage(t *testing.T) {
	for path, want := range map[string]string{packageFile: "systemctl start quartermaster\n", "shop.db": "quartermaster serve --db shop.db\n"} {
		var b strings.Builder
		(&program{dbPath: path}).nextSteps(&b, "http://x/welcome/y", path == packageFile)
		if !strings.Contains(b.String(), "Next: "+want) || !strings.Contains(b.String(), "http://x/welcome/y\n") {
			t.Errorf("%s: %s", path, b.String())
		}
	}
}
