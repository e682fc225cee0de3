package webhook_test

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/webhook"
)

func TestOrderPerReceiver(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	every, all := receiver(t, nil)
	some, refunds := receiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	s.add(every)
	s.add(some, "order.refunded")
	names := []string{"order.paid", "order.refunded", "code.redeemed", "order.refunded", "order.paid", "order.refunded"}
	s.emit(names...) // a backlog
	s.run()
	s.emit(names...) // and new events meanwhile
	names = append(names, names...)
	var heard []string
	last := 0
	for range names {
		g := wait(t, all)
		heard = append(heard, g.header.Get("X-Store-Event"))
		id, err := strconv.Atoi(g.header.Get("X-Store-Delivery"))
		assert.That(t, err == nil && id > last, "delivery %d came after %d (%v)", id, last, err)
		last = id
	}
	equal(t, "the events in their order", heard, names)
	for range 6 {
		assert.Equal(t, wait(t, refunds).header.Get("X-Store-Event"), "order.refunded", "the second receiver got")
	}
	for range 18 {
		s.attempt()
	}
	equal(t, "the first receiver's log", s.states(1), slices.Repeat([]string{"delivered"}, 12))
	equal(t, "the second receiver's log", s.states(2), slices.Repeat([]string{"failed"}, 6))
	for _, d := range s.log(webhook.Filter{Endpoint: 2}) {
		assert.That(t, d.ResponseCode != nil && *d.ResponseCode == 418 && d.Error == nil && d.DurationMS != nil &&
			d.AttemptedAt != nil, "a refused delivery is kept as %+v", d)
	}
}

// TestSendingMarkIsDurableFirst reads, from within the receiver, what another connection sees.
func TestSendingMarkIsDurableFirst(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	other := attach(t, s.path, db.Options{}, webhook.Options{})
	seen := make(chan webhook.Delivery, 1)
	url, _ := receiver(t, func(http.ResponseWriter, *http.Request) {
		all, err := webhook.Deliveries(context.Background(), other.d, webhook.Filter{})
		assert.NoError(t, err)
		seen <- all[0]
	})
	s.add(url)
	s.run()
	s.emit("order.paid")
	if d := wait(t, seen); d.State != "sending" || d.AttemptedAt == nil || d.ResponseCode != nil {
		t.Errorf("while it is being sent, a delivery is %+v", d)
	}
}

func TestHangingReceiverDelaysNobody(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	release := make(chan struct{})
	slow, slowRequests := receiver(t, func(http.ResponseWriter, *http.Request) { <-release })
	fast, fastRequests := receiver(t, nil)
	hanging, other := s.add(slow), s.add(fast)
	s.run()
	s.emit("order.paid")
	wait(t, slowRequests)
	s.emit("order.refunded", "order.paid")
	for range 3 {
		wait(t, fastRequests)
		if a := s.attempt(); a.Endpoint != other.ID || a.State != "delivered" || a.Status != 200 {
			t.Errorf("the fast receiver's attempt: %+v", a)
		}
	}
	equal(t, "the hanging receiver's log", s.states(hanging.ID), []string{"sending", "pending", "pending"})
	close(release)
	for range 3 {
		a := s.attempt()
		assert.That(t, a.Endpoint == hanging.ID && a.State == "delivered", "the slow receiver's attempt: %+v", a)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{Timeout: 100 * time.Millisecond})
	url, _ := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Store-Event") == "order.paid" {
			<-r.Context().Done()
		}
	})
	s.add(url)
	s.run()
	s.emit("order.paid", "order.refunded")
	a := s.attempt()
	assert.That(t, a.State == "failed" && a.Error == "timeout" && a.Status == 0, "a receiver that does not answer: %+v", a)
	a = s.attempt()
	assert.That(t, a.Delivery == 2, "the next one: %+v", a)
	d := s.log(webhook.Filter{})[0]
	assert.That(t, d.State == "failed" && d.Error != nil && *d.Error == "timeout" && d.ResponseCode == nil,
		"it is kept as %+v", d)
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	url, requests := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	})
	s.add(url)
	s.run()
	s.emit("order.paid")
	a := s.attempt()
	assert.That(t, a.State == "failed" && a.Status == 307 && a.Error == "", "a redirect: %+v", a)
	s.emit("order.paid")
	s.attempt()
	for range 2 {
		assert.Equal(t, wait(t, requests).path, "/hooks", "was asked for")
	}
	assert.That(t, len(requests) <= 0, "%d more requests were made", len(requests))
}

// TestNoRepeat has a receiver that reads every request and closes the connection, after which an HTTP client may retry.
func TestNoRepeat(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	url, requests := receiver(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	s.add(url)
	s.run()
	for _, want := range []string{"1", "2"} {
		s.emit("order.paid")
		a := s.attempt()
		assert.That(t, a.State == "failed" && a.Error == "closed" && a.Status == 0, "a closed connection: %+v", a)
		id := wait(t, requests).header.Get("X-Store-Delivery")
		assert.That(t, id == want, "delivery %s was sent, want %s", id, want)
	}
	assert.That(t, len(requests) <= 0, "%d more requests were made", len(requests))
}

func TestEventsOfAnotherProcessAreSent(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	other := attach(t, s.path, db.Options{}, webhook.Options{})
	url, requests := receiver(t, nil)
	s.run()
	for range 3 { // another process makes both receiver and event
		other.add(url)
	}
	other.emit("order.paid")
	for range 3 {
		wait(t, requests)
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	url, requests := receiver(t, nil)
	busy, quiet := s.add(url), s.add(url, "order.refunded")
	s.emit(slices.Repeat([]string{"order.paid"}, 250)...)
	s.write("UPDATE deliveries SET state = 'delivered' WHERE id <= 240 AND endpoint_id = ?", busy.ID)
	s.write("UPDATE deliveries SET state = 'failed' WHERE id <= 240 AND id % 2 = 0")
	s.write("UPDATE deliveries SET state = 'sending', kind = 'resend', attempted_at = ? WHERE id = 1", time.Now().Unix()+1)
	s.emit("order.refunded") // one for each
	assert.OK(t, s.receivers.Disable(t.Context(), db.CLI("store"), busy.ID))
	stop := s.run()
	g := wait(t, requests)
	assert.That(t, g.header.Get("X-Store-Delivery") == "252", "delivery %s was sent", g.header.Get("X-Store-Delivery"))
	s.attempt()
	stop()
	equal(t, "the quiet receiver's log", s.states(quiet.ID), []string{"delivered"})
	n := len(s.states(busy.ID))
	assert.That(t, n == 251, "a receiver to which nothing was sent has %d deliveries left, want 251", n)
	assert.OK(t, s.receivers.Enable(t.Context(), db.CLI("store"), busy.ID))
	s.run()
	for range 11 { // 241 to 250, and 251
		s.attempt()
	}
	all := s.log(webhook.Filter{Endpoint: busy.ID})
	if len(all) != 201 || all[0].ID != 1 || all[0].State != "sending" || all[1].ID != 52 {
		t.Errorf("%d deliveries are left, from %d and %d on; want 200 from 52 on and the one being sent", len(all), all[0].ID, all[1].ID)
	}
}

func TestBacklogDoesNotEmptyTheLog(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	release := make(chan struct{})
	blocked, atIt := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Store-Delivery") == "11" {
			<-release
		}
	})
	defer close(release)
	s.add(blocked)
	s.emit(slices.Repeat([]string{"order.paid"}, 300)...)
	s.run()
	for range 11 {
		wait(t, atIt)
	}
	for range 10 {
		s.attempt()
	}
	states := s.states(1)
	equal(t, "the log in front of a backlog", states[:12], append(slices.Repeat([]string{"delivered"}, 10), "sending", "pending"))
	assert.That(t, len(states) == 300, "%d deliveries are there, want 300", len(states))
}

func TestDisabledAndRemoved(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	url, requests := receiver(t, nil)
	held, gone, open := s.add(url), s.add(url), s.add(url)
	s.emit("order.paid") // deliveries 1, 2 and 3
	assert.OK(t, s.receivers.Disable(t.Context(), db.CLI("store"), held.ID))
	assert.OK(t, s.receivers.Remove(t.Context(), db.CLI("store"), gone.ID))
	s.emit("order.refunded") // delivery 4, for the third alone
	s.run()
	for range 2 {
		assert.Equal(t, s.attempt().Endpoint, open.ID, "an attempt was made at receiver")
	}
	equal(t, "the disabled receiver's log", s.states(held.ID), []string{"pending"})
	equal(t, "the removed receiver's log", s.states(gone.ID), []string{"interrupted"})
	assert.OK(t, s.receivers.Enable(t.Context(), db.CLI("store"), held.ID))
	s.emit("order.refunded")
	var sent []string
	for range 3 {
		if a := s.attempt(); a.Endpoint == held.ID {
			sent = append(sent, a.Event)
		}
	}
	equal(t, "what the enabled receiver got", sent, []string{"order.paid", "order.refunded"})
	assert.That(t, len(requests) == 5, "%d requests were made, want 5", len(requests))
}

// TestWake disables polling: an event of this process is sent at once, because its commit wakes the sender.
func TestWake(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	s.sender.SetPoll(time.Hour)
	url, requests := receiver(t, nil)
	s.add(url)
	s.run()
	for range 20 {
		s.emit("order.paid")
		wait(t, requests)
	}
}

// TestDisabledMeanwhile disables a receiver while it has a delivery: the next one stays pending.
func TestDisabledMeanwhile(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	release := make(chan struct{})
	url, requests := receiver(t, func(http.ResponseWriter, *http.Request) { <-release })
	added := s.add(url)
	s.emit("order.paid", "order.refunded")
	stop := s.run()
	wait(t, requests)
	assert.OK(t, s.receivers.Disable(t.Context(), db.CLI("store"), added.ID))
	close(release)
	s.attempt()
	stop()
	equal(t, "the log", s.states(added.ID), []string{"delivered", "pending"})
}
