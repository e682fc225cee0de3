package screen

import (
	"net/url"
	"sync"
	"time"
)

// drafts are forms that were sent after their session had ended and are too long for an
// address: they wait, as long as the process lives, for the person who has signed in again.
type drafts struct {
	mu   sync.Mutex
	wait map[string]draft
}

type draft struct {
	user   string
	fields url.Values
	until  time.Time
}

const (
	mostDrafts = 64
	draftFor   = 30 * time.Minute
)

// keep gives the name under which the user finds the fields again; "" when too many wait.
func (d *drafts) keep(user string, fields url.Values, now time.Time) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, x := range d.wait {
		if now.After(x.until) {
			delete(d.wait, name)
		}
	}
	if len(d.wait) >= mostDrafts {
		return ""
	}
	if d.wait == nil {
		d.wait = map[string]draft{}
	}
	name := newKey()()
	d.wait[name] = draft{user, fields, now.Add(draftFor)}
	return name
}

// find gives the user's fields back; a reload finds them again.
func (d *drafts) find(user, name string, now time.Time) url.Values {
	d.mu.Lock()
	defer d.mu.Unlock()
	if x, ok := d.wait[name]; ok && x.user == user && now.Before(x.until) {
		return x.fields
	}
	return nil
}
