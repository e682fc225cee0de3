package server

import (
	"runtime/debug"
	"strings"
)

// Version is the program's version: the release's, else the toolchain's from the checkout's tags, else "0.0.0-devel".
var Version = ""

// Commit is the program's revision: the release's, else the checkout's, else "unknown".
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
