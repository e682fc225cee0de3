package cli

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The packages' database, and its unit.
const (
	packageFile = "/var/lib/quartermaster/quartermaster.db"
	packageUnit = "/usr/lib/systemd/system/quartermaster.service"
)

// packageSettings are the files that may name a package's database.
var packageSettings = []string{"/etc/quartermaster/quartermaster.env", "/etc/default/quartermaster"}

// findPackageFile uses the package's file under root if no file is named and none is here.
func (p *program) findPackageFile(root string) {
	if p.dbGiven || isThere(p.dbPath) {
		return
	}
	for _, file := range append(namedIn(root), packageFile) {
		if file = filepath.Join(root, file); isThere(file) {
			p.dbPath = file
			p.notice(fmt.Sprintf("no --db is given: this is the installed shop, %s", file))
			return
		}
	}
}

// namedIn are the databases in the package's settings.
func namedIn(root string) (files []string) {
	for _, settings := range packageSettings {
		f, err := os.Open(filepath.Join(root, settings))
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			if value, named := strings.CutPrefix(strings.TrimSpace(lines.Text()), "QUARTERMASTER_DB="); named {
				files = append(files, strings.Trim(value, `"'`))
			}
		}
		_ = f.Close()
	}
	return files
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil || os.IsPermission(err)
}
