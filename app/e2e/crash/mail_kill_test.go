package crash

import (
	"encoding/json"
	"regexp"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestNoMailIsLostByKills ends the program, as kill -9 does, at each verb that it sends to the mail server, and between
// a message's arrival and its answer: once at the first message of a run, once at the second. Every order's message
// arrives, always with one Message-ID, and twice only if its last answer was lost. QUARTERMASTER_LONG makes it 200
// kills.
func TestNoMailIsLostByKills(t *testing.T) {
	t.Parallel()
	to := apptest.StartMail(t)
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		code, out, errs := apptest.Exec(t, dir, args...)
		assert.Must(t, code == 0, "%v %v", args, errs)
		return out
	}
	run("init", "--admin", "vera")
	run("store", "product", "save", "PLUGIN", "--name", "Audio plugin", "--price-cents", "4900")
	run("mail", "set", "--host", "127.0.0.1", "--port", strconv.FormatInt(to.Port, 10), "--security", "none", "--user", "shop", "--password", "sesame",
		"--from", "shop@example.com", "--rate", "600")

	var wanted atomic.Pointer[string]
	var left atomic.Int64
	reached, killed := make(chan bool), make(chan bool)
	to.At = func(verb string) {
		if is := wanted.Load(); is != nil && *is == verb && left.Add(-1) == 0 {
			reached <- true
			<-killed
		}
	}
	verbs := []string{"CONNECT", "EHLO", "AUTH", "MAIL", "RCPT", "DATA", ".", "QUIT"}
	kills := 2 * len(verbs)
	if apptest.Long() {
		kills = 25 * len(verbs)
	}
	record := func() {
		run("store", "order", "record", "--email", "ann@example.com", "--sku", "PLUGIN")
	}
	record() // so that there is always one before
	doubles := 0
	for i := range kills {
		record()
		verb := verbs[i%len(verbs)]
		if verb == "." {
			doubles++
		}
		left.Store(int64(i/len(verbs)%2 + 1))
		wanted.Store(&verb)
		p := apptest.Serve(t, dir)
		select {
		case <-reached:
		case <-time.After(time.Minute):
			t.Fatalf("kill %d: %s is not said: %s", i, verb, to.Verbs())
		}
		p.Kill(t)
		wanted.Store(nil)
		killed <- true
	}
	p := apptest.Serve(t, dir)
	var state struct {
		Mails []struct{ State, Record string }
		Total int
	}
	apptest.Await(t, "all messages to be sent", func() bool {
		assert.OK(t, json.Unmarshal([]byte(run("mail", "list", "--state", "queued", "--json")), &state))
		return len(state.Mails) == 0
	})
	p.Stop(t)

	ids := map[string]map[string]bool{} // message numbers by order
	order, id := regexp.MustCompile(`ORD-[A-Z0-9]+`), regexp.MustCompile(`(?i)Message-ID: (<[^>]+>)`)
	taken := 0
	for _, m := range to.Got() {
		ref, number := order.FindString(m.Text), id.FindStringSubmatch(m.Text)
		assert.Must(t, ref != "" && number != nil, "no order or number in %s", m.Text)
		if ids[ref] == nil {
			ids[ref] = map[string]bool{}
		}
		ids[ref][number[1]] = true
		taken++
	}
	assert.That(t, len(ids) == kills+1, "of %d orders %d were mailed", kills+1, len(ids))
	for ref, numbers := range ids {
		assert.That(t, len(numbers) == 1, "%s came with %d numbers", ref, len(numbers))
	}
	twice := taken - len(ids)
	assert.That(t, twice <= doubles, "%d messages came twice, and %d answers were lost", twice, doubles)
}
