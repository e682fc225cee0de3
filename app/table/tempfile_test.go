package table

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// TestTemporaryFilesHaveNoNames: the temporary file of an import or export has no name while in use, on systems that
// allow it, and is gone when closed.
func TestTemporaryFilesHaveNoNames(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir) // Windows
	names := func() (all []string) {
		entries := assert.Value(os.ReadDir(dir))(t)
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return all
	}
	large := strings.Repeat("x", 64<<10)
	for what, open := range map[string]func() (on *tempFile, read, end func() error){
		"a pipe to import": func() (*tempFile, func() error, func() error) {
			f := assert.Value(Open(strings.NewReader(large)))(t)
			return f.spool, func() error {
				got, err := io.ReadAll(f.whole())
				assert.That(t, string(got) == large, "it does not hold what it was given")
				return err
			}, f.Close
		},
		"an export": func() (*tempFile, func() error, func() error) {
			s := &Spool{}
			for range 2 * spoolInMemory / len(large) {
				_, err := io.WriteString(s, large)
				assert.OK(t, err)
			}
			return s.file, func() error { return s.CopyTo(&bytes.Buffer{}) }, s.Close
		},
	} {
		on, read, end := open()
		assert.Must(t, on != nil, "%s is in no file", what)
		st, err := on.Stat()
		if err != nil || runtime.GOOS != "windows" && (st.Mode().Perm() != 0o600 || len(names()) > 0) {
			t.Errorf("%s: mode %v, names %q (%v)", what, st.Mode(), names(), err)
		}
		assert.NoError(t, read(), "%s", what)
		err = end()
		assert.That(t, err == nil && len(names()) <= 0, "%s: %v, left %q", what, err, names())
	}
}
