package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// output is standard output that remembers failed writes, which must be reported.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// closed notes that standard output was closed from the start, for one-time secrets.
func (o *output) closed() {
	if f, ok := o.w.(*os.File); ok && o.err == nil && unread(f) {
		o.err = os.ErrClosed
	}
}

// onTerminal reports whether the file is a terminal.
func onTerminal(v any) bool {
	if o, wrapped := v.(*output); wrapped {
		v = o.w
	}
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
