package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/webhook"
)

// resend requests deliveries and returns "of:new state" for each new one.
func (s *fixture) resend(ask webhook.ResendRequest) []string {
	s.t.Helper()
	made := assert.Value(s.sender.Resend(s.t.Context(), db.CLI(""), ask))(s.t)
	texts := []string{}
	for _, m := range made {
		texts = append(texts, fmt.Sprintf("%d:%d %s", m.Of, m.ID, m.State))
	}
	return texts
}

func TestResend(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	var answer atomic.Int64
	answer.Store(500)
	url, requests := receiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(answer.Load())) })
	added := s.add(url)
	stop := s.run()
	s.emit("order.paid", "order.refunded")
	first, second := wait(t, requests), wait(t, requests)
	s.attempt()
	s.attempt()
	stop() // a resend needs no server

	answer.Store(202)
	made, err := s.sender.Resend(t.Context(), db.CLI(""), webhook.ResendRequest{IDs: []int64{2, 1, 2}})
	assert.Must(t, err == nil && len(made) == 2, "got %+v, %v", made, err)
	for i, want := range []got{first, second} {
		g := wait(t, requests)
		if !bytes.Equal(g.body, want.body) || g.header.Get("Webhook-Id") != want.header.Get("Webhook-Id") ||
			g.header.Get("X-Store-Signature") != want.header.Get("X-Store-Signature") || g.header.Get("X-Store-Event") != want.header.Get("X-Store-Event") {
			t.Errorf("the resend differs:\n%s %v\n%s %v", g.body, g.header, want.body, want.header)
		}
		id := g.header.Get("X-Store-Delivery")
		assert.That(t, id == fmt.Sprint(3+i), "the resend is delivery %s, want %d", id, 3+i)
		ours, standards := verify(t, added.Secret, g)
		assert.That(t, ours && standards, "the resend verifies: ours %v, Standard Webhooks' %v", ours, standards)
	}
	text, err := json.Marshal(made[0])
	want := fmt.Sprintf(`{"resend_of":1,"id":3,"service":"store","endpoint_id":1,"event":"order.paid","event_id":%q,`+
		`"kind":"resend","state":"delivered","response_code":202,"error":null,"duration_ms":%d,"created_at":%q,"attempted_at":%q}`,
		first.header.Get("Webhook-Id"), *made[0].DurationMS, made[0].CreatedAt, made[0].AttemptedAt)
	assert.That(t, err == nil && string(text) == want, "a resend is\n%s\nwant\n%s", text, want)
	equal(t, "the log", s.states(1), []string{"failed", "failed", "delivered", "delivered"})
	s.holdAudit([]string{
		`store cli webhook.added webhook:1 {"site":"` + strings.TrimSuffix(url, "/hooks") + `","events":[]}`,
		`store cli delivery.resent delivery:1 {"delivery":3,"webhook":1,"event":"` + first.header.Get("Webhook-Id") + `"}`,
		`store cli delivery.resent delivery:2 {"delivery":4,"webhook":1,"event":"` + second.header.Get("Webhook-Id") + `"}`,
	})
}

func TestResendRefuses(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	url, requests := receiver(t, nil)
	kept, held, gone := s.add(url), s.add(url), s.add(url)
	s.emit("order.paid")     // deliveries 1, 2, 3
	s.emit("order.refunded") // 4, 5, 6
	s.write("UPDATE deliveries SET state = 'failed', attempted_at = ? WHERE id <= 3", time.Now().Unix())
	s.write("UPDATE deliveries SET state = 'sending', attempted_at = ? WHERE id = 5", time.Now().Unix())
	assert.OK(t, s.receivers.Disable(t.Context(), db.CLI("store"), held.ID))
	assert.OK(t, s.receivers.Remove(t.Context(), db.CLI("store"), gone.ID))
	viewer := db.Caller{Service: "store", User: "ada", Role: "viewer", Scope: "full", Via: "cli"}
	for _, c := range []struct {
		who  db.Caller
		ask  webhook.ResendRequest
		kind fault.Kind
		text string
	}{
		{db.CLI(""), webhook.ResendRequest{IDs: []int64{1, 98, 99}}, fault.NotFound, "there is no delivery 98, 99; nothing was sent"},
		{db.CLI("reorder"), webhook.ResendRequest{IDs: []int64{1}}, fault.NotFound, "there is no delivery 1; nothing was sent"},
		{db.CLI(""), webhook.ResendRequest{IDs: []int64{1, 4}}, fault.Conflict, "delivery 4 is pending: wait until its attempt is over"},
		{db.CLI(""), webhook.ResendRequest{IDs: []int64{1, 5}}, fault.Conflict, "delivery 5 is sending: wait until its attempt is over"},
		{db.CLI(""), webhook.ResendRequest{IDs: []int64{1, 2}}, fault.Conflict, "webhook 2 is disabled: enable it first"},
		{db.CLI(""), webhook.ResendRequest{IDs: []int64{1, 3}}, fault.NotFound, "there is no webhook 3"},
		{db.CLI(""), webhook.ResendRequest{Failed: true, Endpoint: held.ID}, fault.Conflict, "webhook 2 is disabled: enable it first"},
		{db.CLI(""), webhook.ResendRequest{Failed: true, Endpoint: gone.ID}, fault.NotFound, "there is no webhook 3"},
		{db.CLI("reorder"), webhook.ResendRequest{Failed: true, Endpoint: kept.ID}, fault.NotFound, "there is no webhook 1"},
		{db.CLI(""), webhook.ResendRequest{}, fault.Invalid, "deliveries: name them by their ids, or ask for the failed ones; one of the two"},
		{db.CLI(""), webhook.ResendRequest{IDs: []int64{1}, Failed: true}, fault.Invalid, "deliveries: name them by their ids, or ask for the failed ones; one of the two"},
		{db.CLI(""), webhook.ResendRequest{IDs: []int64{1}, Since: time.Hour}, fault.Invalid, "endpoint and since narrow the failed deliveries; they do not go with ids"},
		{db.CLI(""), webhook.ResendRequest{Failed: true, Since: -time.Hour}, fault.Invalid, "since: a duration of 0 or more is allowed"},
		{viewer, webhook.ResendRequest{IDs: []int64{99}}, fault.Forbidden, "resending a delivery writes, and the user ada has the role viewer, which only reads: role member or admin is needed"},
	} {
		made, err := s.sender.Resend(t.Context(), c.who, c.ask)
		assert.That(t, fault.Is(err, c.kind) && err.Error() == c.text && len(made) == 0 && made != nil,
			"%+v: got %v, %v; want %q", c.ask, made, err, c.text)
	}
	assert.That(t, len(requests) == 0, "%d requests were made", len(requests))
	equal(t, "what --failed finds", s.resend(webhook.ResendRequest{Failed: true}), []string{"1:7 delivered"})
}

// TestResendFailed tests --failed on a log made by hand: failed and interrupted deliveries whose event has not reached
// that receiver since.
func TestResendFailed(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	url, requests := receiver(t, nil)
	one, two := s.add(url), s.add(url, "order.refunded")
	now := time.Now().Unix()
	log := func(event int, endpoint int64, state string, ago int64) {
		t.Helper()
		s.write(`INSERT INTO deliveries (endpoint_id, event_seq, kind, state, created_at, attempted_at)
			VALUES (?, ?, 'resend', ?, ?, ?)`, endpoint, event, state, now-ago, now-ago)
	}
	assert.OK(t, s.receivers.Disable(t.Context(), db.CLI("store"), one.ID))
	s.emit("order.paid", "order.paid", "order.paid", "order.paid", "order.paid", "order.paid", "order.paid")
	assert.OK(t, s.receivers.Enable(t.Context(), db.CLI("store"), one.ID))
	log(2, one.ID, "failed", 7200)    // 1: superseded by 2, tried once
	log(2, one.ID, "failed", 3000)    // 2
	log(1, one.ID, "interrupted", 60) // 3: an older event, logged later
	log(3, one.ID, "failed", 60)      // 4: reached since
	log(3, one.ID, "delivered", 50)   // 5
	log(4, one.ID, "delivered", 60)   // 6: reached before, resent, failed
	log(4, one.ID, "failed", 50)      // 7
	log(5, one.ID, "failed", 60)      // 8: under way in another process
	log(5, one.ID, "sending", 1)      // 9
	log(6, one.ID, "failed", 60)      // 10: reached another receiver only
	log(6, two.ID, "delivered", 60)   // 11
	log(7, one.ID, "failed", 60)      // 12: its later resend was interrupted long ago
	log(7, one.ID, "sending", 31)     // 13
	log(2, two.ID, "failed", 60)      // 14: the same event at another receiver
	equal(t, "within a second", s.resend(webhook.ResendRequest{Failed: true, Since: time.Second}), []string{})
	equal(t, "of the second receiver", s.resend(webhook.ResendRequest{Failed: true, Endpoint: two.ID, Since: time.Hour}), []string{"14:15 delivered"})
	log(2, two.ID, "failed", 40) // 16
	made, err := s.sender.Resend(t.Context(), db.CLI("store"), webhook.ResendRequest{Failed: true, Since: time.Hour})
	assert.OK(t, err)
	var of []int64
	last := int64(0)
	for _, m := range made {
		of = append(of, m.Of)
		if m.EndpointID == one.ID {
			assert.That(t, m.ID >= last, "delivery %d was made after %d", m.ID, last)
			last = m.ID
		}
	}
	equal(t, "of all receivers, in the order of the events", of, []int64{3, 2, 16, 7, 10, 13})
	equal(t, "a second time", s.resend(webhook.ResendRequest{Failed: true}), []string{})
	assert.That(t, len(requests) == 7, "%d requests were made, want 7", len(requests))
}

// TestResendBesideAServer runs a server and another process's resend on one database: neither takes the other's
// delivery for one of a dead process.
func TestResendBesideAServer(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	cli := attach(t, s.path, db.Options{}, webhook.Options{})
	release := make(chan struct{})
	var fail atomic.Bool
	fail.Store(true)
	url, requests := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		if fail.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		<-release
	})
	s.add(url)
	stop := s.run()
	s.emit("order.paid")
	wait(t, requests)
	s.attempt()
	stop()
	fail.Store(false)
	resent := make(chan []webhook.Resent, 1)
	go func() {
		made, err := cli.sender.Resend(context.Background(), db.CLI(""), webhook.ResendRequest{IDs: []int64{1}})
		assert.NoError(t, err)
		resent <- made
	}()
	wait(t, requests)
	s.run() // a server starts while the resend is under way
	s.emit("order.refunded")
	assert.Equal(t, wait(t, requests).header.Get("X-Store-Delivery"), "3", "the server sent delivery")
	// A second command starts while both are under way, and leaves both alone.
	equal(t, "a second command", cli.resend(webhook.ResendRequest{Failed: true}), []string{})
	equal(t, "the log", s.states(1), []string{"failed", "sending", "sending"})
	close(release)
	made := wait(t, resent)
	assert.That(t, len(made) == 1 && made[0].State == "delivered" && made[0].ID == 2, "the resend: %+v", made)
	s.attempt()
	equal(t, "the log in the end", s.states(1), []string{"failed", "delivered", "delivered"})
}

func TestResendCutOff(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	url, requests := receiver(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s.add(url)
	s.emit("order.paid", "order.refunded")
	s.write("UPDATE deliveries SET state = 'failed', attempted_at = 0")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		<-requests
		cancel()
	}()
	made, err := s.sender.Resend(ctx, db.CLI(""), webhook.ResendRequest{Failed: true})
	assert.That(t, err != nil && len(made) == 1 && made[0].State == "interrupted", "got %+v, %v", made, err)
	equal(t, "the log", s.states(1), []string{"failed", "failed", "interrupted"})
	assert.That(t, len(requests) <= 0, "the second was sent although the command was cut off")
}
