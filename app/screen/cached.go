package screen

import (
	"bytes"
	"context"
	"io"

	"github.com/a-h/templ"

	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// drawn is the body of a page with what the frame around it shows of it.
type drawn struct {
	title, notice string
	audited       string // the record's name in the audit trail, where the page's address does not tell it
	keys          string // what its forms' idempotency keys begin with
	body          []byte
}

// bodyCache answers with the body of a page of staff as it was drawn before, until anything
// is committed or the day ends, as with REST's answers, and from the same cache: loading and
// drawing a list takes several times what sending it takes. The frame is drawn for each
// request.
type bodyCache struct {
	x          *exchange
	what, with string
	version    int64 // of the database before the page was loaded
	on         *db.Dependencies
}

// bodyCache notes what the page is made of from here on.
func (x *exchange) bodyCache() *bodyCache {
	k := &bodyCache{x: x, what: "page " + x.r.URL.EscapedPath(), with: x.r.URL.RawQuery + " " + x.s.DB.Today().String()}
	var ctx context.Context
	ctx, k.on = db.Track(x.r.Context())
	x.r = x.r.WithContext(ctx)
	return k
}

// get finds the body that was drawn for the same question of the same user.
func (k *bodyCache) get() (d drawn, found bool) {
	kept, version, found := k.x.s.Cache.Get(k.x.who(), k.what, k.with)
	k.version = version
	parts := bytes.SplitN(kept, []byte{0}, 5)
	if !found || len(parts) != 5 {
		return drawn{}, false
	}
	return drawn{string(parts[0]), string(parts[1]), string(parts[2]), string(parts[3]), parts[4]}, true
}

// put keeps the body, unless it looks at the clock more closely than by the day.
func (k *bodyCache) put(f *page.Frame, d drawn) {
	if f.Clocked {
		return
	}
	head := []byte(d.title + "\x00" + d.notice + "\x00" + d.audited + "\x00" + d.keys + "\x00")
	if bytes.Count(head, []byte{0}) == 4 {
		k.x.s.Cache.Put(k.x.who(), k.what, k.with, k.version, k.on, append(head, d.body...))
	}
}

// markup is the body as a component. Each answer has idempotency keys of its own, since
// each of its forms may be sent once.
func (d drawn) markup() templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		old, fresh := []byte(d.keys), []byte(newKeys())
		rest := d.body
		for {
			at := bytes.Index(rest, old)
			if at < 0 {
				_, err := w.Write(rest)
				return err
			}
			if _, err := w.Write(rest[:at]); err != nil {
				return err
			}
			if _, err := w.Write(fresh); err != nil {
				return err
			}
			rest = rest[at+len(old):]
		}
	})
}
