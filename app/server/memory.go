package server

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"quartermaster/schema/fault"
)

// The memory for bodies and answers in progress, in MiB.
const (
	usualMiB = 64
	leastMiB = 20 // an upload of 16 MiB must fit
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

// besideBudget is the process's memory beyond the budget, in bytes, while the collector runs.
const besideBudget = 60 << 20

// setMemoryLimit makes the collector stay below the budget's total, and below the process's own limit if there is one,
// unless the environment sets another.
func setMemoryLimit(budget int64) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	limit := budget + besideBudget
	if most := allowedMemory(); most > 0 {
		limit = min(limit, most*3/5) // the engine's memory is not included, and the limit is overshot
	}
	debug.SetMemoryLimit(limit)
}

// allowedMemory is the limit of the process's control group, or of an enclosing one; 0 if there is none.
func allowedMemory() (least int64) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(own)) {
		// "0::/path" of the unified hierarchy, or "9:memory:/path" of the memory controller
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

// memory bounds the total of large bodies and answers. When it is used up, the oldest connection that waits for its
// client is closed: a client that sends half a body, or reads no answer, holds memory only until another needs it.
type memory struct {
	size     int64
	left     *semaphore.Weighted
	most     int32 // how many may wait for it; each keeps one of the connections meanwhile
	waiting  atomic.Int32
	limiters []*connLimiter // of the listeners that share it
	idle     *time.Timer    // returns unused memory to the system
}

const (
	waitMemory  = 5 * time.Second
	cutEvery    = 20 * time.Millisecond
	givesBackIn = 3 * time.Second // after the last large body or answer
)

func newMemory(size int64, connections int) *memory {
	m := &memory{size: size, left: semaphore.NewWeighted(size), most: int32(connections / 2)} // #nosec G115 -- 512 at most
	// The first time is soon after the start, which loads most of the program's file.
	m.idle = time.AfterFunc(givesBackIn, func() {
		runtime.GC() // pools keep their content for one collection
		debug.FreeOSMemory()
		LetGoOfOwnFile()
	})
	return m
}

// take takes n bytes, or refuses after a while, or at once if many wait already. A request for more than the total
// waits for all of it.
func (m *memory) take(ctx context.Context, n int64) error {
	n = min(n, m.size)
	if m.left.TryAcquire(n) {
		return nil
	}
	defer m.waiting.Add(-1)
	if m.waiting.Add(1) <= m.most {
		for late := time.Now().Add(waitMemory); time.Now().Before(late) && ctx.Err() == nil; {
			for _, r := range m.limiters {
				if s := r.oldest((*limitedConn).stalled); s != nil {
					_ = s.Close()
					break
				}
			}
			short, cancel := context.WithTimeout(ctx, cutEvery)
			err := m.left.Acquire(short, n)
			cancel()
			if err == nil {
				return nil
			}
		}
	}
	e := fault.Unavailablef(nil, "the server is busy: nothing was written; try again in a moment")
	e.Retry = time.Second
	return e
}

func (m *memory) give(n int64) {
	m.left.Release(min(n, m.size))
	m.idle.Reset(givesBackIn)
}
