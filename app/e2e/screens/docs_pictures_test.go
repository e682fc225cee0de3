package screens

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// picturesOf are the sources of the documents' pictures. docs/pictures/made-of.txt holds the hashes of their lines.
var picturesOf = []string{
	"app/screen/static/style.css", "schema/page/layout.templ",
	"maintenance/page/board.templ", "rental/page/month.templ", "store/page/people.templ", "store/page/buyer.templ",
	"store/page/today.templ", "rental/page/portal.templ", "reorder/page/order.templ",
}

// mostChanged is the share of a file's lines, in percent, that may change before the pictures must be made again. A
// corrected margin needs no new pictures; a new look does.
const mostChanged = 20

// TestPicturesAreOfThisVersion compares the sources of the pictured pages with the hashes.
func TestPicturesAreOfThisVersion(t *testing.T) {
	t.Parallel()
	made := filepath.Join("../../..", "docs", "pictures", "made-of.txt")
	if flag.Lookup("update").Value.String() == "true" {
		var b strings.Builder
		for _, name := range picturesOf {
			b.WriteString(name + " " + strings.Join(hashedLines(t, name), " ") + "\n")
		}
		assert.OK(t, os.WriteFile(made, []byte(b.String()), 0o600))
	}
	b := assert.Value(os.ReadFile(made))(t)
	was := map[string][]string{}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 0 {
			was[f[0]] = f[1:]
		}
	}
	for _, name := range picturesOf {
		now := hashedLines(t, name)
		old := map[string]bool{}
		for _, h := range was[name] {
			old[h] = true
		}
		changed := 0
		for _, h := range now {
			if !old[h] {
				changed++
			}
		}
		if 100*changed > mostChanged*len(now) {
			t.Errorf("%d of %d lines of %s are others than in the pictures of docs/pictures: remake them with DOCS=1 .ci/screens, look at them, then go test ./app/e2e/screens -run TestPictures -update", changed, len(now), name)
		}
	}
}

// hashedLines returns a source's lines without indentation, each as six hexadecimal digits.
func hashedLines(t *testing.T, name string) (hashed []string) {
	t.Helper()
	b := assert.Value(os.ReadFile(filepath.Join("../../..", filepath.FromSlash(name))))(t)
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSpace(line); line != "" {
			sum := sha256.Sum256([]byte(line))
			hashed = append(hashed, hex.EncodeToString(sum[:3]))
		}
	}
	return hashed
}
