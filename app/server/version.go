package server

import (
	"runtime/debug"
	"strings"
)

// Version is the program's own version: what a release says, else what the toolchain made of
// the checkout's tags, else "0.0.0-devel".
var Version = ""

// Commit is what the program was built from: what a release says, else the checkout's
// revision, else "unknown".
var Commit = ""

func init() { Version, Commit = versionOf(Version, Commit, debug.ReadBuildInfo) }

func versionOf(version, commit string, read func() (*debug.BuildInfo, bool)) (string, string) {
	info, ok := read()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if version == "" {
		if version = strings.TrimPrefix(info.Main.Version, "v"); version == "" || version == "(devel)" {
			version = "0.0.0-devel"
		}
	}
	if commit == "" {
		commit = "unknown"
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	return version, commit
}
