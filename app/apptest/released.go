package apptest

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// Unpacked reads a gzipped file of testdata/released.
func Unpacked(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("../../..", "testdata", "released", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
