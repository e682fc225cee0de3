//go:build unix

package db

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"quartermaster/schema/assert"
)

// TestPipesAreRefusedAtOnce: opening a pipe does not wait for its writer.
func TestPipesAreRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	assert.OK(t, syscall.Mkfifo(pipe, 0o600))
	for _, path := range []string{pipe, dir} {
		_, err := Open(path, Options{})
		assert.That(t, errors.Is(err, ErrForeign), "%s: %v", path, err)
	}
}
