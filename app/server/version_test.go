package server

import (
	"runtime/debug"
	"testing"

	"quartermaster/schema/assert"
)

// TestTheVersionComesFromTheBuild: first the release's version, then the toolchain's.
func TestTheVersionComesFromTheBuild(t *testing.T) {
	t.Parallel()
	built := func(version string, revision ...string) func() (*debug.BuildInfo, bool) {
		info := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for _, r := range revision {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: "vcs.revision", Value: r})
		}
		return func() (*debug.BuildInfo, bool) { return info, true }
	}
	none := func() (*debug.BuildInfo, bool) { return nil, false }
	for _, c := range []struct {
		version, commit string
		read            func() (*debug.BuildInfo, bool)
		want, wantOf    string
	}{
		{"2.1.0", "abc", built("v1.9.0", "def"), "2.1.0", "abc"},
		{"", "", built("v2.1.0", "def"), "2.1.0", "def"},
		{"", "", built("v0.0.0-20261120210500-0123456789ab", "def"), "0.0.0-20261120210500-0123456789ab", "def"},
		{"", "", built("(devel)"), "0.0.0-devel", "unknown"},
		{"", "", none, "0.0.0-devel", "unknown"},
	} {
		got, of := versionOf(c.version, c.commit, c.read)
		assert.That(t, got == c.want && of == c.wantOf, "%+v: %s of %s", c, got, of)
	}
}
