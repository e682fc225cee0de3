package wire

import "net/http"

// holder bounds the memory of running requests: they wait for n bytes, hold them until they end, and are refused, as
// unavailable, after a long wait.
type holder interface{ Hold(n int64) error }

// LargeAnswer is the memory, in bytes, held while a possibly large answer is computed.
const LargeAnswer = 8 << 20

// Hold waits for n bytes of memory. Without a server that bounds it there is always enough.
func Hold(w http.ResponseWriter, n int64) error {
	for {
		if h, ok := w.(holder); ok {
			return h.Hold(n)
		}
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		w = u.Unwrap()
	}
}

// HoldBody waits for the memory of the request's body, of at most most bytes; a small one needs none.
func HoldBody(r *http.Request, most int64) error {
	size := r.ContentLength
	if size < 0 {
		size = most
	}
	if h, ok := r.Body.(holder); ok && size > freeBody {
		return h.Hold(size)
	}
	return nil
}
