package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/webhook"
)

// senderOf names the database for which this program runs a sender, and nothing else, until it is killed.
const senderOf = "QUARTERMASTER_TEST_SENDER"

func TestMain(m *testing.M) {
	path := os.Getenv(senderOf)
	if path == "" {
		os.Exit(m.Run())
	}
	d, err := db.Open(path, db.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	webhook.NewSender(d, webhook.Options{Version: "1.2.3", AllowPrivate: true}).Run(context.Background())
}

// TestKill kills a sender's process while its receiver has the request. After the restart that delivery is interrupted
// and not repeated, and pending ones are sent.
func TestKill(t *testing.T) {
	t.Parallel()
	s := open(t, webhook.Options{})
	url, requests := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Store-Delivery") == "2" {
			<-r.Context().Done()
		}
	})
	s.add(url)
	s.emit("order.paid", "order.refunded", "code.redeemed")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), senderOf+"="+s.path)
	child.Stderr = os.Stderr
	assert.OK(t, child.Start())
	wait(t, requests)
	wait(t, requests)
	assert.OK(t, child.Process.Kill())
	_ = child.Wait() // it was killed
	equal(t, "what the crash left", s.states(1), []string{"delivered", "sending", "pending"})
	s.run()
	id := wait(t, requests).header.Get("X-Store-Delivery")
	assert.That(t, id == "3", "after the restart delivery %s was sent, want 3", id)
	s.attempt()
	s.attempt()
	equal(t, "the log", s.states(1), []string{"delivered", "interrupted", "delivered"})
	assert.That(t, len(requests) <= 0, "%d more requests were made", len(requests))
}
