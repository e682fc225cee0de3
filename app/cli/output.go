package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// output is standard output that remembers whether everything was taken: what could not
// be printed has not happened in silence.
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

// closed takes note of a standard output that was closed from the start, for what is shown
// once.
func (o *output) closed() {
	if f, ok := o.w.(*os.File); ok && o.err == nil && unread(f) {
		o.err = os.ErrClosed
	}
}

// onTerminal reports whether what is written there, or read from there, is a person's.
func onTerminal(v any) bool {
	if o, wrapped := v.(*output); wrapped {
		v = o.w
	}
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
