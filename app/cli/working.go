package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// working shows on a terminal what a long task is doing, and for how long. end removes the line.
func (p *program) working(what func() string) (end func()) {
	if !onTerminal(p.Stderr) {
		return func() {}
	}
	quit, ended := make(chan struct{}), make(chan struct{})
	began := time.Now()
	go func() {
		defer close(ended)
		tick := time.NewTicker(250 * time.Millisecond)
		defer tick.Stop()
		const clear = "\r\x1b[K"
		for {
			select {
			case <-quit:
				fmt.Fprint(p.Stderr, clear)
				return
			case <-tick.C:
				fmt.Fprintf(p.Stderr, "%s%s, %d s", clear, what(), int(time.Since(began).Seconds()))
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}

// copying returns the progress of the copy in the folder.
func copying(folder string, of int64) func() string {
	return func() string {
		var size int64
		parts, _ := filepath.Glob(filepath.Join(folder, fmt.Sprintf("*.part-%d", os.Getpid())))
		for _, name := range parts {
			if st, err := os.Stat(name); err == nil {
				size += st.Size()
			}
		}
		switch {
		case size == 0 || of == 0:
			return "copying"
		case size >= of:
			return "checking the copy"
		}
		return fmt.Sprintf("copied %d of at most %d MB", size>>20, of>>20)
	}
}

// sizeOf is a file's size, 0 if there is none.
func sizeOf(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return st.Size()
}
