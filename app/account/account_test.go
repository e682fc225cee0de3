package account

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/db/dbtest"
	"quartermaster/schema/fault"
)

// fixture is a database file with a clock that the test moves.
type fixture struct {
	t     testing.TB
	d     *db.DB
	nanos *atomic.Int64
}

var noon = time.Date(2026, 11, 20, 12, 0, 30, 0, time.UTC)

func newFixture(t testing.TB) fixture {
	t.Helper()
	h := fixture{t: t, nanos: new(atomic.Int64)}
	h.nanos.Store(noon.UnixNano())
	path := filepath.Join(t.TempDir(), "shop.db")
	dbtest.Create(t, path)
	h.d = h.open(path)
	return h
}

// open opens the file again, as another process would.
func (h fixture) open(path string) *db.DB {
	h.t.Helper()
	d := assert.Value(db.Open(path, db.Options{Now: h.now, Zone: time.UTC}))(h.t)
	h.t.Cleanup(func() {
		assert.NoError(h.t, d.Close())
	})
	return d
}

func (h fixture) now() time.Time       { return time.Unix(0, h.nanos.Load()).UTC() }
func (h fixture) pass(d time.Duration) { h.nanos.Add(int64(d)) }
func (h fixture) user(name string) User {
	return assert.Value(h.add(name, "member", "store", "rental"))(h.t)
}
func (h fixture) add(name, role string, services ...string) (User, error) {
	return AddUser(context.Background(), h.d, db.CLI(""), name, role, services)
}

func (h fixture) key(n NewKey) (Key, string) {
	h.t.Helper()
	k, full, err := CreateKey(context.Background(), h.d, db.CLI(""), n)
	assert.OK(h.t, err)
	return k, full
}

// entry is a line of the audit trail without its time.
type entry struct{ service, actor, via, action, subject, changes string }

func (h fixture) audit() []entry {
	h.t.Helper()
	var all []entry
	err := h.d.View(context.Background(), func(c *db.Conn) (err error) {
		all, err = db.All(c, func(r *db.Row) entry {
			return entry{r.Text(), r.Text(), r.Text(), r.Text(), r.Text(), r.Text()}
		}, "SELECT service, actor, via, action, subject, changes FROM audit ORDER BY id")
		return err
	})
	assert.OK(h.t, err)
	return all
}

// refused fails the test unless err is a refusal of the kind whose detail contains each of the words.
func refused(t testing.TB, err error, kind fault.Kind, words ...string) {
	t.Helper()
	e, ok := fault.As(err)
	assert.Must(t, ok && e.Kind == kind, "got %v, want a refusal of kind %s", err, kind)
	for _, w := range words {
		assert.Must(t, strings.Contains(e.Detail, w), "the detail %q does not hold %q", e.Detail, w)
	}
}

func disable(ctx context.Context, d *db.DB, who db.Caller, name string) (User, error) {
	return setDisabled(ctx, d, who, name, true)
}

func enable(ctx context.Context, d *db.DB, who db.Caller, name string) (User, error) {
	return setDisabled(ctx, d, who, name, false)
}
