package db

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
)

// inside knows which goroutine is the writer's, and whether it is running the function
// of a transaction. An Update by that function would wait for itself for ever.
type inside struct {
	writer []byte // the writer goroutine's name, set before the first transaction
	fn     atomic.Bool
}

// is reports whether the caller runs in a transaction's function. It costs a microsecond
// while another's transaction runs, and nothing otherwise.
func (in *inside) is() bool { return in.fn.Load() && bytes.Equal(goroutine(), in.writer) }

// goroutine is the name of the calling goroutine, such as "goroutine 12".
func goroutine() []byte {
	line := make([]byte, 64)
	line = line[:runtime.Stack(line, false)]
	if end := bytes.IndexByte(line, '['); end > 0 {
		line = line[:end]
	}
	return line
}

// nestedError names the function that called Update inside of an Update.
func nestedError() error {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for {
		f, more := frames.Next()
		if f.Function != "" && (!strings.Contains(f.Function, "/schema/db.") || strings.HasSuffix(f.File, "_test.go")) || !more {
			return fmt.Errorf("db: %s (line %d) calls Update inside an Update: let the inner function take the transaction", f.Function, f.Line)
		}
	}
}
