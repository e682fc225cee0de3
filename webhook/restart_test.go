package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/webhook"
)

func TestRestart(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	url, requests := receiver(t, nil)
	s.add(url)
	s.emit("order.paid", "order.paid", "order.paid", "order.paid")
	now := time.Now().Unix()
	s.write("UPDATE deliveries SET state = 'sending', attempted_at = ? WHERE id = 1", now)
	s.write("UPDATE deliveries SET state = 'sending', kind = 'resend', attempted_at = ? WHERE id = 2", now-31)
	s.write("UPDATE deliveries SET state = 'sending', kind = 'resend', attempted_at = ? WHERE id = 3", now+1)
	s.run()
	id := wait(t, requests).header.Get("X-Store-Delivery")
	assert.That(t, id == "4", "delivery %s was sent", id)
	var reported []string
	for range 3 {
		a := s.attempt()
		reported = append(reported, fmt.Sprint(a.Delivery, a.State))
	}
	slices.Sort(reported)
	equal(t, "what was reported", reported, []string{"1interrupted", "2interrupted", "4delivered"})
	// The third is a resend that another process is making now.
	equal(t, "the log", s.states(1), []string{"interrupted", "interrupted", "sending", "delivered"})
	assert.That(t, len(requests) <= 0, "%d more requests were made", len(requests))
}

func TestStopLetsAttemptsFinish(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	release := make(chan struct{})
	url, requests := receiver(t, func(http.ResponseWriter, *http.Request) { <-release })
	s.add(url)
	s.emit("order.paid", "order.refunded")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.sender.Run(ctx)
	}()
	wait(t, requests)
	cancel()
	close(release)
	wait(t, done)
	a := s.attempt()
	assert.That(t, a.State == "delivered", "the attempt under way: %+v", a)
	equal(t, "the log", s.states(1), []string{"delivered", "pending"})
	assert.That(t, len(requests) <= 0, "another attempt was begun")
}

func TestStopCutsOffWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{Timeout: time.Hour, Grace: time.Millisecond})
	url, requests := receiver(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s.add(url)
	s.emit("order.paid", "order.refunded")
	stop := s.run()
	wait(t, requests)
	stop()
	equal(t, "the log", s.states(1), []string{"interrupted", "pending"})
	d := s.log(webhook.Filter{})[0]
	assert.That(t, d.ResponseCode == nil && d.Error == nil, "an interrupted delivery is %+v", d)
}

// TestOutcomeSurvivesABusyDatabase makes another process hold the database from before the receiver's answer until the
// sender has failed to store the outcome.
func TestOutcomeSurvivesABusyDatabase(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	other := attach(t, s.path, db.Options{}, webhook.Options{})
	held, tried, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	url, requests := receiver(t, func(http.ResponseWriter, *http.Request) {
		select {
		case <-held:
			return // the second delivery
		default:
		}
		go func() {
			defer close(over)
			assert.NoError(t, db.Exec(context.Background(), other.d, db.Bookkeeping(), func(*db.Tx) error {
				close(held)
				<-tried
				return nil
			}))
		}()
		<-held
	})
	s.add(url)
	s.emit("order.paid", "order.refunded")
	s.run()
	wait(t, s.trouble)
	assert.That(t, len(requests) == 1, "%d requests were made while the database was held, want 1", len(requests))
	close(tried)
	wait(t, over)
	for range 2 {
		a := s.attempt()
		assert.That(t, a.State == "delivered", "an attempt: %+v", a)
	}
	equal(t, "the log", s.states(1), []string{"delivered", "delivered"})
	assert.That(t, len(requests) == 2, "%d requests were made in all, want 2", len(requests))
}

// TestOldEventsAreDeleted: old events are deleted in steps of 200. Between two steps the housekeeping pauses for nine
// times the step's duration and at least 100 ms: each pause is counted, and another writer writes in it.
func TestOldEventsAreDeleted(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	s.add("https://shop.example", "order.refunded")
	s.emit("order.paid", "order.refunded", "order.paid")
	s.write(`WITH RECURSIVE n (i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
		INSERT INTO events (seq, id, service, event, created_at, body) SELECT i, 'evt_' || i, 'store', 'order.paid', 0, x'7b7d' FROM n`)
	s.write("UPDATE deliveries SET state = 'failed', attempted_at = 0")
	stored := func() int64 { return s.number("SELECT COUNT(*) FROM events") }
	all, rests := stored(), int64(0)
	began := time.Now()
	rest := func(_ context.Context, d time.Duration) bool {
		rests++
		gone := all - stored()
		assert.That(t, gone == 200*rests, "at rest %d %d events are gone, want %d", rests, gone, 200*rests)
		if step := time.Since(began); d < 100*time.Millisecond || d > max(100*time.Millisecond, 9*step) {
			t.Errorf("rest %d is one of %s after a step of at most %s", rests, d, step)
		}
		s.write("UPDATE deliveries SET attempted_at = ?", rests)
		began = time.Now()
		return true
	}
	s.sender.CleanUp(t.Context(), func(ctx context.Context, d time.Duration) bool { return rest(ctx, d) && rests < 3 })
	assert.Equal(t, all-stored(), 600, "events are gone when it was told to end in its third rest")
	began = time.Now()
	s.sender.CleanUp(t.Context(), rest)
	if rests != 9 { // 1,999 events are deleted in ten steps
		t.Errorf("it rested %d times, want 9", rests)
	}
	n, kept := stored(), s.number("SELECT COUNT(*) FROM events WHERE seq > 2000 OR seq = 2")
	assert.That(t, n == 10_001 && kept == n, "%d events are left, %d of those that stay, want 10001", n, kept)
}
