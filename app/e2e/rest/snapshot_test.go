package rest

import (
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestSnapshotSeesEveryRow proves that the matrix can fail: a new, changed or deleted row in any table is seen.
func TestSnapshotSeesEveryRow(t *testing.T) {
	s := apptest.StartFilled(t)
	for _, write := range []func(){
		func() { s.Key("reorder", "zoe", "viewer", "read") },
		func() { s.MustCLI("user", "disable", "zoe") },
	} {
		before := apptest.Digest(t, s)
		write()
		assert.That(t, apptest.Digest(t, s) != before, "a write left the digest as it was")
	}
}
