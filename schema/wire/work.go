package wire

import "net/http"

// worker is a response writer that bounds how many requests are worked on at once.
type worker interface{ Work(what string) error }

// Work waits until there is room to work out an answer that may be large; what names the
// question, for no question takes all the room. The room is
// given back when the answer begins to be sent, or with the end of the request. When there
// is none for long it refuses, as unavailable. Without a server that bounds it there is
// always room.
func Work(w http.ResponseWriter, what string) error {
	for {
		if b, ok := w.(worker); ok {
			return b.Work(what)
		}
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		w = u.Unwrap()
	}
}
