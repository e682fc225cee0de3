package screen

import (
	"crypto/rand"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"sync"

	"quartermaster/schema"
	"quartermaster/schema/page"
)

// message is shown once, on the session's next page.
type message struct {
	Text    string
	Failed  bool        // nothing of it was done
	Refused []string    // its refused records, by name
	Marks   *page.Marks // the refused rows, which stay marked
	Undo    *schema.Undo
	Key     string // the idempotency key of the undo's form
}

// flashes are the messages for their sessions' next page. They are not worth a commit each, so they live as long as the
// process.
type flashes struct {
	mu   sync.Mutex
	wait map[int64][]message // by session
}

const (
	mostWaiting = 4096
	mostRefused = 1000 // named in one message
	fewRefused  = 10   // visible at once
)

func (f *flashes) add(session int64, m message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wait == nil || len(f.wait) > mostWaiting {
		f.wait = map[int64][]message{}
	}
	if n := len(f.wait[session]); n > 4 {
		f.wait[session] = f.wait[session][n-4:]
	}
	f.wait[session] = append(f.wait[session], m)
}

func (f *flashes) take(session int64) []message {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.wait[session]
	delete(f.wait, session)
	return m
}

// newKeys is the random prefix of one page's idempotency keys.
func newKeys() string {
	var b [9]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// keysFrom makes the keys of a page's forms: a random prefix and a number, so that a page of many forms compresses
// well.
func keysFrom(start string) func() string {
	n := 0
	return func() string {
		n++
		return start + "-" + strconv.Itoa(n)
	}
}

// newKey is the key of a single form.
func newKey() string { return keysFrom(newKeys())() }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func queryEscape(s string) string { return url.QueryEscape(s) }
