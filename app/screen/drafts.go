package screen

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/page"
)

// drafts are forms that were sent after their session had ended. They wait, while the process lives, for the person to
// sign in again. Those of staff are too long for an address; those of tenants and buyers are kept by owner.
type drafts struct {
	mu   sync.Mutex
	wait map[string]draft
	size int // of all fields, in bytes
}

type draft struct {
	owner  string
	to     string // the form's address
	fields url.Values
	size   int
	until  time.Time
	led    bool // its owner was redirected to it
}

const (
	mostDrafts = 64
	mostTyped  = 4 << 20 // bytes, of all drafts
	draftFor   = 30 * time.Minute
)

// keep returns the name under which the owner finds the fields again; "" if too many wait. It replaces the owner's
// earlier draft of the same form. led: the owner knows of it.
func (d *drafts) keep(owner, to string, fields url.Values, now time.Time, led bool) string {
	size := len(fields.Encode())
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, x := range d.wait {
		if now.After(x.until) || x.owner == owner && x.to == to {
			d.size -= x.size
			delete(d.wait, name)
		}
	}
	if len(d.wait) >= mostDrafts || d.size+size > mostTyped {
		return ""
	}
	if d.wait == nil {
		d.wait = map[string]draft{}
	}
	name := newKey()
	d.size += size
	d.wait[name] = draft{owner: owner, to: to, fields: fields, size: size, until: now.Add(draftFor), led: led}
	return name
}

// find returns the owner's fields; a reload finds them again.
func (d *drafts) find(owner, name string, now time.Time) url.Values {
	d.mu.Lock()
	defer d.mu.Unlock()
	if x, ok := d.wait[name]; ok && x.owner == owner && now.Before(x.until) {
		return x.fields
	}
	return nil
}

// lead returns the address of the owner's waiting form, once; "" if there is none.
func (d *drafts) lead(owner string, now time.Time) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, x := range d.wait {
		if x.owner == owner && !x.led && now.Before(x.until) {
			x.led = true
			d.wait[name] = x
			return x.to + "?draft=" + name
		}
	}
	return ""
}

// ownerOf identifies a draft's owner: a user by name, a tenant or a buyer by the session's subject.
func ownerOf(a area, subject int64) string {
	return string(sessionKinds[a]) + " " + page.Num(subject)
}

func (x *exchange) owner() string {
	if x.visitor.area == page.Staff {
		return x.who().User
	}
	return ownerOf(x.visitor.area, x.visitor.caller.Subject)
}

// unsent is a form that came without a session: its status, and what was typed.
func (x *exchange) unsent() (to string, fields url.Values) {
	name := x.path["name"]
	if name == "" || x.fields == nil {
		return x.homeOf(), nil
	}
	return x.doOf() + name, withoutSecrets(x.s.ops[x.route.area][name], x.fields)
}

// doOf is the prefix of the addresses of the area's forms.
func (x *exchange) doOf() string { return strings.TrimSuffix(x.homeOf(), "/") + "/do/" }

// backTo is the page after signing in: to, with the form that could not be sent before.
func (x *exchange) backTo(to, form, user string) string {
	fields, err := url.ParseQuery(form)
	if err != nil || len(fields) == 0 || !strings.HasPrefix(to, x.doOf()) || strings.Contains(to, "?") {
		return to
	}
	if name := x.s.drafts.keep(user, to, fields, x.s.DB.Now(), false); name != "" {
		return to + "?draft=" + name
	}
	return to
}

// emptyForm is the address of a form to fill in again; the area's first page for one that needs its record.
func (x *exchange) emptyForm(to string) string {
	name, is := strings.CutPrefix(to, x.doOf())
	if !is {
		return to
	}
	for _, a := range x.s.ops[x.route.area][name].Args(schema.Page) {
		if a.Required && a.Kind == schema.IntKind {
			return x.homeOf()
		}
	}
	return to
}

// marks mark the forms of a tenant or a buyer with their owner. They share devices and have no names here, so that
// nothing else identifies a form that comes without a session. Each process has its own key: marks of an earlier one
// are invalid.
type marks struct {
	key   []byte
	start string // of every mark
}

func newMarks() marks {
	b := make([]byte, 36)
	_, _ = rand.Read(b) // never fails
	return marks{key: b[:32], start: hex.EncodeToString(b[32:]) + "."}
}

// of is the mark of a subject of the area.
func (m marks) of(a area, subject int64) string {
	h := hmac.New(sha256.New, m.key)
	h.Write([]byte(ownerOf(a, subject)))
	return m.start + page.Num(subject) + "." + hex.EncodeToString(h.Sum(nil)[:8]) + "."
}

// owner is the owner of the form with the idempotency key; false if that cannot be proved.
func (m marks) owner(a area, key string) (owner string, shown bool) {
	rest, ours := strings.CutPrefix(key, m.start)
	number, _, _ := strings.Cut(rest, ".")
	subject, err := strconv.ParseInt(number, 10, 64)
	if !ours || err != nil {
		return "", false
	}
	mark := m.of(a, subject)
	return ownerOf(a, subject), len(key) > len(mark) && hmac.Equal([]byte(key[:len(mark)]), []byte(mark))
}

// newKey makes the idempotency keys of a page; those of tenants and buyers are marked.
func (x *exchange) newKey() func() string {
	next := keysFrom(newKeys())
	if x.visitor == nil || x.visitor.area != page.Tenant && x.visitor.area != page.Buyer {
		return next
	}
	mark := x.s.marks.of(x.visitor.area, x.visitor.caller.Subject)
	return func() string { return mark + next() }
}
