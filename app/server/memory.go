package server

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

// The memory for bodies and answers under way, in MiB.
const (
	usualMiB = 64
	leastMiB = 20 // an upload of 16 MiB must find room
)

// memory is the budget for bodies and answers, in bytes.
func (c *Config) memory() int64 {
	mib := int64(c.MemoryMiB)
	if mib == 0 {
		mib = usualMiB
		if most := allowedMemory(); most > 0 {
			mib = max(leastMiB, min(mib, most*3/8>>20))
		}
	}
	return mib << 20
}

// besideBudget is what the process takes at most beside twice its budget, in bytes, before
// the collector runs for as long as it takes.
const besideBudget = 64 << 20

// setMemoryLimit has the collector stay below what the budget comes to, and below what the
// process may take where that was set, unless the environment says
// something else.
func setMemoryLimit(budget int64) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := 2*budget + besideBudget
	if most := allowedMemory(); most > 0 {
		limit = min(limit, most*3/5) // what the engine takes is beside it, and the limit is overshot
	}
	debug.SetMemoryLimit(limit)
}

// allowedMemory is the limit of the control group that the process is in, or of a group
// around it; 0 when there is none.
func allowedMemory() (least int64) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(own)) {
		// "0::/path" of the one hierarchy, or "9:memory:/path" of the one for memory
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		root, file := "/sys/fs/cgroup", "memory.max"
		switch {
		case len(fields) != 3 || fields[1] != "" && fields[1] != "memory":
			continue
		case fields[1] == "memory":
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for dir := filepath.Join(root, fields[2]); strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
			text, err := os.ReadFile(filepath.Join(dir, file)) // #nosec G304 -- under /sys
			if err != nil {
				continue
			}
			n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			if err == nil && n < 1<<50 && (least == 0 || n < least) { // the older hierarchy says "none" with a large number
				least = n
			}
		}
	}
	return least
}
