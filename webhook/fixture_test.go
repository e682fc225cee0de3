package webhook_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/db/dbtest"
	"quartermaster/webhook"
)

// events are two services' events.
var events = map[string][]string{
	"store":   {"order.paid", "order.refunded", "code.redeemed"},
	"reorder": {"sku.reorder_point"},
}

// fixture is a database with receivers and a sender.
type fixture struct {
	t         *testing.T
	path      string
	d         *db.DB
	receivers *webhook.Receivers
	sender    *webhook.Sender
	attempts  chan webhook.Attempt
	trouble   chan error
}

// open makes a database and a sender that does not run yet.
func open(t *testing.T, o webhook.Options) *fixture {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	dbtest.Create(t, path)
	return attach(t, path, db.Options{}, o)
}

// attach opens an existing database as another process.
func attach(t *testing.T, path string, do db.Options, o webhook.Options) *fixture {
	t.Helper()
	d := assert.Value(db.Open(path, do))(t)
	t.Cleanup(func() {
		assert.NoError(t, d.Close())
	})
	s := &fixture{t: t, path: path, d: d, attempts: make(chan webhook.Attempt, 1000), trouble: make(chan error, 1000)}
	o.Version, o.AllowPrivate = "1.2.3", true
	if o.Timeout == 0 {
		o.Timeout = time.Minute // a slow machine must not look like a slow receiver
	}
	o.Log = func(a webhook.Attempt) { s.attempts <- a }
	o.Trouble = func(err error) { s.trouble <- err }
	s.receivers, s.sender = webhook.NewReceivers(d, events), webhook.NewSender(d, o)
	d.OnEmit(s.sender.Wake)
	return s
}

// run runs the sender until the test ends, or until stop, which waits for it.
func (s *fixture) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.sender.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	s.t.Cleanup(stop)
	return stop
}

// add adds a receiver of the store.
func (s *fixture) add(url string, events ...string) webhook.Secret {
	s.t.Helper()
	added := assert.Value(s.receivers.Add(s.t.Context(), db.CLI("store"), url, events, "", 0))(s.t)
	return added
}

// emit emits events of the store, each in its own transaction.
func (s *fixture) emit(names ...string) {
	s.t.Helper()
	for _, name := range names {
		err := db.Exec(s.t.Context(), s.d, db.CLI("store"), func(tx *db.Tx) error {
			if err := tx.Emit(name, map[string]string{"note": "<b>&</b> ünï"}); err != nil {
				return err
			}
			return tx.Audit("test.emitted", "test:1", struct{}{})
		})
		assert.OK(s.t, err)
	}
}

// write changes rows without the checks, to make states that need time or a crash.
func (s *fixture) write(query string, args ...any) {
	s.t.Helper()
	err := db.Exec(s.t.Context(), s.d, db.Bookkeeping(), func(tx *db.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
	assert.OK(s.t, err)
}

// number reads a single number.
func (s *fixture) number(query string, args ...any) int64 {
	s.t.Helper()
	var n int64
	err := s.d.View(s.t.Context(), func(c *db.Conn) (err error) {
		n, _, err = db.One(c, db.Int, query, args...)
		return err
	})
	assert.OK(s.t, err)
	return n
}

// log is the delivery log, oldest first.
func (s *fixture) log(f webhook.Filter) []webhook.Delivery {
	s.t.Helper()
	if f.Limit == 0 {
		f.Limit = 100_000
	}
	all := assert.Value(webhook.Deliveries(s.t.Context(), s.d, f))(s.t)
	slices.Reverse(all)
	return all
}

// states are the states of a receiver's deliveries, oldest first.
func (s *fixture) states(endpoint int64) []string {
	s.t.Helper()
	states := []string{}
	for _, d := range s.log(webhook.Filter{Endpoint: endpoint}) {
		states = append(states, d.State)
	}
	return states
}

// attempt waits for the outcome of the next attempt, which is logged by then.
func (s *fixture) attempt() webhook.Attempt { s.t.Helper(); return wait(s.t, s.attempts) }

func wait[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(time.Minute):
		t.Fatal("waited for a minute in vain")
		panic("unreachable")
	}
}

// got is a request as the receiver saw it.
type got struct {
	path   string
	header http.Header
	body   []byte
}

// receiver is a server that answers by answer, nil for 200, and reports its requests.
func receiver(t *testing.T, answer http.HandlerFunc) (url string, requests <-chan got) {
	t.Helper()
	seen := make(chan got, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		seen <- got{path: r.URL.Path, header: r.Header, body: body}
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/hooks", seen
}

func same[T any](t *testing.T, what string, got, want []T, equal func(a, b T) bool) {
	t.Helper()
	assert.That(t, slices.EqualFunc(got, want, equal), "%s: got %v, want %v", what, got, want)
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	same(t, what, got, want, func(a, b T) bool { return a == b })
}
