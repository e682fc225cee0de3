package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/webhook"
)

// verify checks a delivery as its receiver would: our own signature by recomputing it, and those of Standard Webhooks
// with their library.
func verify(t *testing.T, secret string, g got) (ours, standards bool) {
	t.Helper()
	m := hmac.New(sha256.New, []byte(secret))
	m.Write(g.body)
	ours = g.header.Get("X-Store-Signature") == "sha256="+hex.EncodeToString(m.Sum(nil))
	lib, err := standardwebhooks.NewWebhookRaw([]byte(secret))
	if strings.HasPrefix(secret, "whsec_") {
		lib, err = standardwebhooks.NewWebhook(secret)
	}
	assert.OK(t, err)
	return ours, lib.Verify(g.body, g.header) == nil
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "s", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "geheim ünd länger"} {
		s := open(t, webhook.Options{})
		url, requests := receiver(t, nil)
		added := assert.Value(s.receivers.Add(t.Context(), db.CLI("store"), url, nil, secret, 0))(t)
		assert.That(t, secret == "" || added.Secret == secret, "the secret became %q, want %q", added.Secret, secret)
		stop := s.run()
		s.emit("order.paid")
		g := wait(t, requests)
		if ours, standards := verify(t, added.Secret, g); !ours || !standards {
			t.Errorf("secret %q: our signature is right: %v, Standard Webhooks': %v", secret, ours, standards)
		}
		if ours, standards := verify(t, "whsec_AAAA", g); ours || standards {
			t.Errorf("secret %q: another secret verifies: ours %v, Standard Webhooks' %v", secret, ours, standards)
		}
		g.body[0] ^= 1
		if ours, standards := verify(t, added.Secret, g); ours || standards {
			t.Errorf("secret %q: another body verifies: ours %v, Standard Webhooks' %v", secret, ours, standards)
		}
		stop()
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	url, requests := receiver(t, nil)
	s.add(url)
	s.run()
	s.emit("order.paid")
	g := wait(t, requests)
	s.attempt()
	d := s.log(webhook.Filter{})[0]
	for name, want := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "quartermaster/1.2.3",
		"X-Store-Event": "order.paid", "X-Store-Delivery": "1", "Webhook-Id": d.EventID, "Accept-Encoding": "",
	} {
		assert.Equal(t, g.header.Get(name), want, "%s", name)
	}
	want := `{"id":"` + d.EventID + `","event":"order.paid","service":"store","created_at":"` + d.CreatedAt.String() +
		`","data":{"note":"<b>&</b> ünï"}}`
	assert.That(t, string(g.body) == want, "the body is\n%s\nwant\n%s", g.body, want)
}

// TestRotation has its own clock: the old secret also signs for 24 hours to the second, in Standard Webhooks' list
// only.
func TestRotation(t *testing.T) {
	t.Parallel()
	path := open(t, webhook.Options{}).path
	now := time.Now()
	s := attach(t, path, db.Options{Now: func() time.Time { return now }}, webhook.Options{})
	url, requests := receiver(t, nil)
	first := s.add(url)
	second := assert.Value(s.receivers.Rotate(t.Context(), db.CLI(""), first.ID))(t)
	assert.That(t, second.ID == first.ID && second.Secret != first.Secret && strings.HasPrefix(second.Secret, "whsec_"),
		"rotating %v gave %v", first, second)
	s.emit("order.paid")
	stop := s.run()
	g := wait(t, requests)
	if ours, standards := verify(t, second.Secret, g); !ours || !standards {
		t.Errorf("after a rotation the new secret verifies: ours %v, Standard Webhooks' %v", ours, standards)
	}
	if ours, standards := verify(t, first.Secret, g); ours || !standards {
		t.Errorf("after a rotation the old secret verifies: ours %v, want false; Standard Webhooks' %v, want true", ours, standards)
	}
	s.attempt()
	stop()

	for _, c := range []struct {
		after time.Duration
		signs bool
	}{{24*time.Hour - time.Second, true}, {24 * time.Hour, false}} {
		start := now
		s := attach(t, path, db.Options{Now: func() time.Time { return start.Add(c.after) }}, webhook.Options{})
		s.emit("order.paid")
		stop := s.run()
		g := wait(t, requests)
		s.attempt()
		stop()
		assert.Equal(t, len(strings.Fields(g.header.Get("Webhook-Signature"))) == 2, c.signs,
			"%v after the rotation the old secret signs along", c.after)
	}
	third := assert.Value(s.receivers.Rotate(t.Context(), db.CLI("store"), first.ID))(t)
	s.emit("order.paid")
	s.run()
	g = wait(t, requests)
	_, standards := verify(t, first.Secret, g)
	assert.That(t, !standards, "after a second rotation the first secret still signs along")
	for _, secret := range []string{second.Secret, third.Secret} {
		_, standards := verify(t, secret, g)
		assert.That(t, standards, "after a second rotation %s does not sign along", secret)
	}
}
