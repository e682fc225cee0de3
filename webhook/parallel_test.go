package webhook_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/webhook"
)

// emitAbout emits one event for each subject.
func (s *fixture) emitAbout(subjects ...string) {
	s.t.Helper()
	for _, about := range subjects {
		err := db.Exec(s.t.Context(), s.d, db.CLI("store"), func(tx *db.Tx) error {
			if err := tx.Audit("test.emitted", about, struct{}{}); err != nil {
				return err
			}
			return tx.Emit("order.paid", map[string]string{"about": about})
		})
		assert.OK(s.t, err)
	}
}

// TestSeveralAtATimeInOrderPerSubject: a receiver with several places gets as many deliveries at once, but never two of
// one subject, nor a later one first.
func TestSeveralAtATimeInOrderPerSubject(t *testing.T) {
	t.Parallel()
	const parallel, subjects, rounds = 4, 6, 10
	s := open(t, webhook.Options{})
	var mu sync.Mutex
	under, most, last := map[string]bool{}, 0, map[string]int{}
	full := make(chan struct{})
	url, _ := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		var id int
		_, _ = fmt.Sscan(r.Header.Get("X-Store-Delivery"), &id)
		about := fmt.Sprint(id % subjects) // as they were emitted
		mu.Lock()
		assert.That(t, !under[about], "two deliveries about %s at once", about)
		assert.That(t, id >= last[about], "delivery %d about %s came after %d", id, about, last[about])
		under[about], last[about] = true, id
		if most = max(most, len(under)); len(under) == parallel {
			select {
			case <-full:
			default:
				close(full)
			}
		}
		mu.Unlock()
		<-full // until all places are used
		mu.Lock()
		delete(under, about)
		mu.Unlock()
		if id%7 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	added := assert.Value(s.receivers.Add(t.Context(), db.CLI("store"), url, nil, "", parallel))(t)
	for range rounds {
		for i := range subjects {
			s.emitAbout("order:" + fmt.Sprint((i+1)%subjects)) // delivery ids begin at 1
		}
	}
	stop := s.run()
	for range subjects * rounds {
		s.attempt()
	}
	stop()
	assert.That(t, most == parallel, "at most %d were under way, want %d", most, parallel)
	for _, d := range s.log(webhook.Filter{Endpoint: added.ID}) {
		want := map[bool]string{true: "failed", false: "delivered"}[d.ID%7 == 0]
		assert.That(t, d.State == want, "delivery %d is %s, want %s", d.ID, d.State, want)
	}
	list, err := s.receivers.List(t.Context(), "store")
	assert.That(t, err == nil && len(list) == 1 && list[0].Parallel == parallel && list[0].Last != nil,
		"listed as %+v, %v", list, err)
}

// TestAFreePlaceIsUsedAtOnce: a new event uses a free place while others are under way, and an event that fills the
// places is noticed too.
func TestAFreePlaceIsUsedAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	s.sender.SetPoll(time.Hour)
	release := make(chan struct{})
	url, requests := receiver(t, func(http.ResponseWriter, *http.Request) { <-release })
	_, err := s.receivers.Add(t.Context(), db.CLI("store"), url, nil, "", 2)
	assert.OK(t, err)
	s.run()
	s.emitAbout("order:1")
	wait(t, requests)
	s.emitAbout("order:2") // beside the first
	wait(t, requests)
	s.emitAbout("order:3") // must wait
	release <- struct{}{}
	wait(t, requests)
	close(release)
	for range 3 {
		s.attempt()
	}
}

func TestParallelIsBounded(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	cli := db.CLI("store")
	_, err := s.receivers.Add(t.Context(), cli, "https://shop.example", nil, "", 17)
	assert.That(t, fault.Is(err, fault.Invalid), "17 at a time: %v", err)
	one := s.add("https://shop.example")
	assert.NoError(t, s.receivers.SetParallel(t.Context(), cli, one.ID, 16))
	n := s.number("SELECT parallel FROM endpoints")
	assert.That(t, n == 16, "it takes %d at a time, want 16", n)
}

func TestExamplesAreSentAndKept(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	url, requests := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Store-Event") == "order.refunded" {
			w.WriteHeader(http.StatusGone)
		}
	})
	added := s.add(url, "order.paid", "order.refunded")
	examples := []webhook.Example{
		{Event: "order.paid", Data: map[string]int{"n": 1}}, {Event: "order.refunded", Data: map[string]int{"n": 2}}, {Event: "code.redeemed"},
	}
	made, err := s.sender.Test(t.Context(), db.CLI(""), added.ID, examples)
	assert.Must(t, err == nil && len(made) == 2 && made[0].Kind == "test" && made[0].State == "delivered" &&
		made[1].State == "failed" && *made[1].ResponseCode == 410, "made %+v, %v", made, err)
	first := wait(t, requests)
	assert.That(t, strings.Contains(string(first.body), `"event":"order.paid","test":true,"service":"store"`) &&
		first.header.Get("X-Store-Test") == "true", "sent %s with %v", first.body, first.header)
	wait(t, requests)
	sent, err := s.sender.Sent(t.Context(), db.CLI(""), made[0].ID)
	assert.Must(t, err == nil && sent.Body == string(first.body) && sent.URL == url && sent.Method == "POST",
		"the request as it was sent: %+v, %v", sent, err)
	for name, value := range sent.Headers {
		got := first.header.Get(name)
		assert.That(t, got == value, "%s: came %q, told %q", name, got, value)
	}
	if again, err := s.sender.Resend(t.Context(), db.CLI(""), webhook.ResendRequest{Failed: true}); err != nil || len(again) != 0 {
		t.Errorf("an example that failed is among those to be sent again: %+v, %v", again, err)
	}
	again, err := s.sender.Resend(t.Context(), db.CLI(""), webhook.ResendRequest{IDs: []int64{made[0].ID}})
	if g := wait(t, requests); err != nil || len(again) != 1 || g.header.Get("X-Store-Test") != "true" {
		t.Errorf("an example sent again: %+v, %v, %v", again, err, g.header)
	}
	_, err = s.sender.Test(t.Context(), db.Caller{Service: "store", User: "mo", Role: "member", Scope: "full"}, added.ID, examples)
	assert.That(t, fault.Is(err, fault.Forbidden), "by a member: %v", err)
	changes, err := s.d.Trial(t.Context(), func(d *db.DB) error {
		_, err := webhook.NewSender(d, webhook.Options{AllowPrivate: true}).Test(t.Context(), db.CLI(""), added.ID, examples)
		return err
	})
	assert.That(t, err == nil && len(requests) == 0, "a trial sent %d requests: %v, %v", len(requests), changes, err)
}

// TestOneWriteADelivery: with one place, one delivery's outcome and the next one's mark are one write.
func TestOneWriteADelivery(t *testing.T) {
	t.Parallel()
	const events = 40
	s := open(t, webhook.Options{})
	release := make(chan struct{})
	url, requests := receiver(t, func(http.ResponseWriter, *http.Request) { <-release })
	s.add(url)
	stop := s.run()
	s.emit("order.paid")
	wait(t, requests)
	for range events {
		s.emit("order.paid")
	}
	before := s.d.Stats().Writes
	close(release)
	for range events + 1 {
		s.attempt()
	}
	stop()
	if n := s.d.Stats().Writes - before; n > events+5 { // a worker that was notified again looks once more
		t.Errorf("%d deliveries took %d writes", events, n)
	}
}

// TestNothingIsSentWithoutASendingMark: no connection is made for a delivery whose sending mark cannot be stored.
func TestNothingIsSentWithoutASendingMark(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	s.sender.SetPoll(5 * time.Millisecond)
	connected := make(chan struct{}, 1000)
	requests := make(chan string, 1000)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests <- r.Header.Get("X-Store-Delivery")
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connected <- struct{}{}
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	s.add(server.URL)
	s.emit("order.paid")
	s.write("CREATE TABLE none (id INTEGER PRIMARY KEY)")
	s.write("CREATE TABLE owing (id INTEGER REFERENCES none (id) DEFERRABLE INITIALLY DEFERRED)")
	s.write(`CREATE TRIGGER refuses AFTER UPDATE ON deliveries WHEN new.state = 'sending'
		BEGIN INSERT INTO owing (id) VALUES (1); END`) // so that the commit fails
	s.run()
	wait(t, s.trouble)
	wait(t, s.trouble)
	assert.That(t, len(connected)+len(requests) <= 0, "a connection was made for a delivery whose mark was not stored")
	equal(t, "the log", s.states(1), []string{"pending"})
	s.write("DROP TRIGGER refuses")
	a := s.attempt()
	assert.That(t, a.State == "delivered" && wait(t, requests) == "1", "afterwards: %+v", a)
	assert.That(t, len(requests) <= 0, "it was sent more than once")
}
