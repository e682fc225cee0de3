package screens

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// TestResendingIsWholeAndOnce sends the forms "Send failed again" and "Send examples" as a browser does. Every failed
// delivery and every example is sent; the same form again, at once or later, sends nothing more.
func TestResendingIsWholeAndOnce(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, "--webhook-allow-private")
	v := s.Person("maintenance", "alice", "admin")
	hook := apptest.Receive(t)
	status(t, v.Post("/do/add_webhook", "url", hook.URL, "idempotency_key", "hook"), http.StatusOK)

	form := []string{"id", "1", "idempotency_key", "examples"}
	status(t, v.Post("/do/test_webhook", form...), http.StatusSeeOther)
	examples := len(hook.All())
	assert.That(t, examples >= 3, "%d examples were sent, want one of each event", examples)
	status(t, v.Post("/do/test_webhook", form...), http.StatusSeeOther)
	n := len(hook.All())
	assert.That(t, n == examples, "the same form again sent %d examples more", n-examples)

	const missed = 5
	hook.Answer(500)
	for i := range missed {
		status(t, v.Post("/do/save_asset", "asset_tag", fmt.Sprint("P-", i), "name", "Pump", "status", "operational"), http.StatusSeeOther)
		a := s.Post("maintenance", "/api/work-orders", fmt.Sprintf(`{"asset_id":%d,"description":"leaks"}`, i+1))
		assert.Must(t, a.Status == http.StatusCreated, "%v", a.Body)
	}
	apptest.Await(t, "the failed deliveries", func() bool {
		return strings.Count(s.MustCLI("webhook", "deliveries", "--json"), `"state":"failed"`) == missed
	})
	hook.Answer(204)
	before := len(hook.All())
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			status(t, v.Post("/do/resend_failed", "idempotency_key", "again"), http.StatusSeeOther)
		})
	}
	group.Wait()
	status(t, v.Post("/do/resend_failed", "idempotency_key", "again"), http.StatusSeeOther)
	assert.Equal(t, len(hook.All())-before, missed, "deliveries were sent again")
}

// TestKeyCreationIsIdempotent sends the form that creates an API key many times at once. An operation that acts in
// another service than its caller's is done once too.
func TestKeyCreationIsIdempotent(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "alice", "admin")
	var group sync.WaitGroup
	for range 30 {
		group.Go(func() {
			v.Post("/do/create_key", "service", "rental", "user", "alice", "scope", "read", "label", "twice", "idempotency_key", "k")
		})
	}
	group.Wait()
	assert.Equal(t, strings.Count(s.MustCLI("key", "list", "--json"), `"label":"twice"`), 1, "keys were made")
}

// TestEscapedPathsAreDistinct requests two SKUs, one of which is the escaped form of the other. Neither gets the
// other's cached answer.
func TestEscapedPathsAreDistinct(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	code, out, errs := s.Pipe("sku,name,current_stock\nA/B,Slash,10\nA%2FB,Percent,10\n", "import", "reorder", "skus", "-")
	assert.Must(t, code == 0, "%v %v", out, errs)
	change := func(path string) apptest.Answer {
		return s.Do("reorder", "POST", "/api/skus/"+path+"/stock", s.Keys["reorder"], `{"delta":-1,"reason":"count"}`, "Idempotency-Key: k")
	}
	for _, c := range []struct{ path, sku, replayed string }{
		{"A%2FB", "A/B", ""}, {"A%252FB", "A%2FB", ""}, {"A%2fB", "A/B", "true"}, {"A%252FB", "A%2FB", "true"},
	} {
		a := change(c.path)
		if a.Status/100 != 2 || !strings.Contains(a.Body, fmt.Sprintf("%q", c.sku)) || a.Header.Get("Idempotent-Replayed") != c.replayed {
			t.Errorf("%s: %d %s, replayed %q; want the SKU %s, replayed %q", c.path, a.Status, a.Body, a.Header.Get("Idempotent-Replayed"), c.sku, c.replayed)
		}
	}
}

// slowly sends a request's head, calls meanwhile when the server has begun to read the body, sends the body and returns
// the answer's status line.
func slowly(t *testing.T, address, path, head, body string, meanwhile func()) string {
	t.Helper()
	c := assert.Value(net.Dial("tcp", address))(t)
	defer c.Close()
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: %d\r\n%s\r\n", path, address, len(body), head)
	r := bufio.NewReader(c)
	if line, err := r.ReadString('\n'); err != nil || !strings.Contains(line, " 100 ") {
		t.Fatalf("%s: %q, %v; want 100 Continue", path, line, err)
	}
	_, _ = r.ReadString('\n')
	meanwhile()
	fmt.Fprint(c, body)
	line := assert.Value(r.ReadString('\n'))(t)
	return line
}

// TestAccessLostWhileTheBodyWasRead holds a request open while its user is disabled or its key revoked. Nothing is
// written any more, and no copy of the database is returned.
func TestAccessLostWhileTheBodyWasRead(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	code, out, errs := s.Pipe("sku,name,current_stock\nA-1,One,10\n", "import", "reorder", "skus", "-")
	assert.Must(t, code == 0, "%v %v", out, errs)
	for _, path := range []string{"/do/make_backup", "/do/save_sku", "/import/skus"} {
		user := strings.ReplaceAll(path[1:], "/", "-")
		v := s.Person("reorder", user, "admin")
		base := assert.Value(url.Parse(v.Base))(t)
		var cookies []string
		for _, c := range v.Client.Jar.Cookies(base) {
			cookies = append(cookies, c.Name+"="+c.Value)
		}
		head := "Cookie: " + strings.Join(cookies, "; ") + "\r\nOrigin: " + v.Base + "\r\nAccept: text/html\r\nContent-Type: application/x-www-form-urlencoded\r\n"
		line := slowly(t, base.Host, path, head, "sku=NEW&name=New", func() { s.MustCLI("user", "disable", user) })
		assert.Lacks(t, line, " 200 ", "%s of a user who was disabled meanwhile", path)
	}
	key := s.Key("reorder", "kim", "member", "full")
	head := "Authorization: Bearer " + key + "\r\nContent-Type: application/json\r\n"
	address := strings.TrimPrefix(s.URL("reorder", ""), "http://")
	for _, path := range []string{"/api/skus/A-1/stock", "/mcp"} {
		line := slowly(t, address, path, head, `{"delta":-1,"reason":"count"}`, func() { s.MustCLI("user", "disable", "kim") })
		assert.Contains(t, line, " 401 ", "%s with the key of a user who was disabled meanwhile", path)
		s.MustCLI("user", "enable", "kim")
	}
	assert.That(t, !strings.Contains(s.MustCLI("reorder", "skus", "list", "--json"), "NEW") &&
		!strings.Contains(s.MustCLI("audit", "--json"), "backup.made"), "something was written, or a backup made")
}

// TestAccessLostWhileTheWriteWaited: another process holds the file and revokes a key meanwhile. The write that waits
// for the file is refused. It is alone, so that only its own server is in the dump of goroutines.
func TestAccessLostWhileTheWriteWaited(t *testing.T) {
	s := apptest.Start(t)
	code, out, errs := s.Pipe("sku,name,current_stock\nA-1,One,10\n", "import", "reorder", "skus", "-")
	assert.Must(t, code == 0, "%v %v", out, errs)
	other, err := db.Open(s.Path, db.Options{})
	assert.OK(t, err)
	defer other.Close()
	key, answer := s.Key("reorder", "kim", "member", "full"), make(chan apptest.Answer)
	err = db.Exec(t.Context(), other, db.Bookkeeping(), func(tx *db.Tx) error {
		go func() { answer <- s.Do("reorder", "POST", "/api/skus/A-1/stock", key, `{"delta":-1,"reason":"count"}`) }()
		for dump := make([]byte, 1<<20); !bytes.Contains(dump, []byte("reorder.(*Service).Adjust(")); runtime.Gosched() {
			dump = dump[:runtime.Stack(dump[:cap(dump)], true)]
		}
		_, err := tx.Exec("UPDATE keys SET revoked_at = ? WHERE user_id = (SELECT id FROM users WHERE name = 'kim')", tx.Now())
		return err
	})
	assert.OK(t, err)
	if a := <-answer; a.Status != http.StatusUnauthorized || !strings.Contains(a.Body, "nothing was written") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
