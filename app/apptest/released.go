package apptest

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"quartermaster/schema/assert"
)

// Unpacked reads a gzipped file of testdata/released.
func Unpacked(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("../../..", "testdata", "released", name))
	assert.OK(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	assert.OK(t, err)
	b, err := io.ReadAll(z)
	assert.OK(t, err)
	return b
}
