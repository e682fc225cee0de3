package screen

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"sync"
	"time"

	"quartermaster/schema/page"
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

// keep returns the name under which the user finds the fields again; "" when too many wait.
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
	name := newKey()
	d.wait[name] = draft{user, fields, now.Add(draftFor)}
	return name
}

// find returns the user's fields back; a reload finds them again.
func (d *drafts) find(user, name string, now time.Time) url.Values {
	d.mu.Lock()
	defer d.mu.Unlock()
	if x, ok := d.wait[name]; ok && x.user == user && now.Before(x.until) {
		return x.fields
	}
	return nil
}

// ownerOf names whose a draft is: a user by name, a tenant or a buyer by what the session
// is of.
func ownerOf(a area, subject int64) string {
	return string(sessionKinds[a]) + " " + page.Num(subject)
}

func (x *exchange) owner() string {
	if x.visitor.area == page.Staff {
		return x.who().User
	}
	return ownerOf(x.visitor.area, x.visitor.caller.Subject)
}

// unsent is the form that came without a session: where it stands, and what was typed.
func (x *exchange) unsent() (to, form string) {
	name := x.path["name"]
	if name == "" || x.fields == nil {
		return x.homeOf(), ""
	}
	to = strings.TrimSuffix(x.homeOf(), "/") + "/do/" + name
	return to, withoutSecrets(x.s.ops[x.route.area][name], x.fields).Encode()
}

// backTo is where one is led who has signed in: to, with the form that could not be sent
// before, if it is the owner's.
func (x *exchange) backTo(to, form, owner string) string {
	fields, err := url.ParseQuery(form)
	do := strings.TrimSuffix(x.homeOf(), "/") + "/do/"
	if err != nil || len(fields) == 0 || !strings.HasPrefix(to, do) || strings.Contains(to, "?") {
		return to
	}
	if x.route.area != page.Staff && !madeFor(fields.Get("idempotency_key"), owner) {
		return x.homeOf()
	}
	if name := x.s.drafts.keep(owner, fields, x.s.DB.Now()); name != "" {
		return to + "?draft=" + name
	}
	return to
}

// markKey is what the forms of tenants and buyers are marked with, and markStart what its
// marks begin with: those of an earlier process say nothing.
var markKey, markStart = func() ([]byte, string) {
	b := make([]byte, 36)
	_, _ = rand.Read(b) // never fails
	return b[:32], hex.EncodeToString(b[32:]) + "."
}()

func markOf(owner string) string {
	h := hmac.New(sha256.New, markKey)
	h.Write([]byte(owner))
	return markStart + hex.EncodeToString(h.Sum(nil)[:8]) + "."
}

// newKey makes the idempotency keys of a page. Those of tenants and buyers, who share
// devices and are told apart by nothing but their session, tell for whom the form was made.
func (x *exchange) newKey() func() string {
	x.keys = newKeys()
	next := keysFrom(x.keys)
	if x.visitor == nil || x.visitor.area != page.Tenant && x.visitor.area != page.Buyer {
		return next
	}
	mark := markOf(x.owner())
	return func() string { return mark + next() }
}

// madeFor reports whether a form's key may be the owner's: it is not where it was made for
// somebody else.
func madeFor(key, owner string) bool {
	return !strings.HasPrefix(key, markStart) || strings.HasPrefix(key, markOf(owner))
}
