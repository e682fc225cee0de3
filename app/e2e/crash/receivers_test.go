package crash

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// ill starts a receiver that handles each connection as given, and returns its URL.
func ill(t testing.TB, do func(c net.Conn, done <-chan struct{})) string {
	t.Helper()
	l := assert.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	done := make(chan struct{})
	t.Cleanup(func() {
		close(done)
		l.Close()
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				do(c, done)
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/hook"
}

// endlessly writes the head, then the text until nobody accepts more.
func endlessly(head, text string) func(net.Conn, <-chan struct{}) {
	block := strings.Repeat(text, 1+4096/len(text))
	return func(c net.Conn, _ <-chan struct{}) {
		_, _ = c.Read(make([]byte, 64<<10)) // a client hangs up if it is answered before its request
		_, err := io.WriteString(c, head)
		for err == nil {
			_, err = io.WriteString(c, block)
		}
	}
}

// drip writes a good answer one byte at a time and never finishes it.
func drip(c net.Conn, done <-chan struct{}) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for _, b := range []byte("HTTP/1.1 200 OK\r\nX-Slow: " + strings.Repeat("z", 1000)) {
		if _, err := c.Write([]byte{b}); err != nil {
			return
		}
		select {
		case <-tick.C:
		case <-done:
			return
		}
	}
}

// bomb is an answer that unpacks to a gigabyte.
func bomb(t testing.TB) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range apptest.Times(64, 1024) {
		_, err := z.Write(zeros)
		assert.OK(t, err)
	}
	assert.OK(t, z.Close())
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", b.Len(), b.String())
}

// illnesses are the receivers with what the delivery log must say of each.
func illnesses(t testing.TB, good string) map[string]string {
	t.Helper()
	redirect := "HTTP/1.1 307 Temporary Redirect\r\nLocation: " + good + "/redirected\r\nContent-Length: 0\r\n\r\n"
	answer := func(s string) func(net.Conn, <-chan struct{}) {
		return func(c net.Conn, _ <-chan struct{}) {
			_, _ = c.Read(make([]byte, 64<<10))
			_, _ = io.WriteString(c, s)
		}
	}
	return map[string]string{
		ill(t, func(_ net.Conn, done <-chan struct{}) { <-done }): "failed timeout",
		ill(t, drip):                               "failed timeout",
		ill(t, answer(redirect)):                   "failed 307",
		ill(t, func(net.Conn, <-chan struct{}) {}): "failed closed",
		ill(t, answer("\x00\x01\x02 this is no HTTP at all \r\n\r\n")):          "failed bad_response",
		ill(t, endlessly("HTTP/1.1 200 OK\r\n", "X-Endless: aaaaaaaaaaaa\r\n")): "failed bad_response",
		ill(t, endlessly("HTTP/1.1 200 OK\r\n\r\n", "a")):                       "delivered 200",
		ill(t, answer(bomb(t))): "delivered 200",
	}
}

// TestIllReceivers attaches every kind of bad receiver. The good one gets all its events in order, the API answers as
// before, and the process does not grow.
func TestIllReceivers(t *testing.T) {
	t.Parallel()
	l := newLoad(t)
	var ids []int64
	var redirected atomic.Int64
	came := make(chan int64, 100_000)
	good := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/redirected") {
			redirected.Add(1)
			return
		}
		var e struct{ Data struct{ ID int64 } }
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&e))
		came <- e.Data.ID
	}))
	t.Cleanup(good.Close)
	l.cli("", "webhook", "add", "--service", "maintenance", "--url", good.URL)
	for range 8 { // so that the baseline serves as many
		l.attach("maintenance", http.StatusNoContent)
	}
	p := l.serve("--webhook-allow-private")
	n := apptest.Times(150, 1000)
	l.timed(p, n) // so that the baseline is of a warm process
	baseline, before := l.timed(p, n), resident(t, p)

	says := illnesses(t, good.URL)
	for id := 2; id <= 9; id++ {
		l.insist("webhook", "remove", strconv.Itoa(id))
	}
	for url := range says {
		l.insist("webhook", "add", "--service", "maintenance", "--url", url)
	}
	slowed := l.timed(p, n)
	for len(came) < 3*n { // while deliveries arrive
		so := len(came)
		apptest.Await(t, "the next event at the good receiver", func() bool { return len(came) > so })
	}
	for range len(came) {
		ids = append(ids, <-came)
	}
	assert.That(t, slices.IsSorted(ids) && ids[0] != ids[1] && redirected.Load() <= 0,
		"events came in the order %v, redirects followed: %d", ids, redirected.Load())
	l.diagnosed(says)
	after := resident(t, p)
	t.Logf("99th percentile of a write: %v with nine good receivers, %v with one and eight bad ones; resident memory %d KiB, then %d KiB",
		baseline, slowed, before>>10, after>>10)
	assert.That(t, after <= before+20<<20, "the process grew from %d to %d bytes", before, after)
	if apptest.Long() && slowed > 4*baseline+50*time.Millisecond { // the receivers share the processors
		t.Errorf("the 99th percentile went from %v to %v", baseline, slowed)
	}
}

// insist repeats a command while the busy server holds the database.
func (l *load) insist(args ...string) {
	l.t.Helper()
	apptest.Await(l.t, strings.Join(args, " "), func() bool {
		code, _, errs := l.try("", args...)
		assert.Must(l.t, code == 0 || strings.Contains(errs, "another program has locked the database"), "%v: exit %d: %s",
			args, code, errs)
		return code == 0
	})
}

// timed opens n work orders by four clients and returns the 99th percentile of their times.
func (l *load) timed(p *apptest.Process, n int) time.Duration {
	l.t.Helper()
	took := make(chan time.Duration, n)
	var left atomic.Int64
	left.Store(int64(n))
	finished := make(chan struct{})
	const clients = 4
	for range clients {
		go func() {
			defer func() { finished <- struct{}{} }()
			for left.Add(-1) >= 0 {
				began := time.Now()
				status, body := apptest.Ask(l.t, p, "POST", "maintenance", "/api/work-orders", l.keys["maintenance"],
					`{"asset_id":2,"description":"timed"}`)
				assert.That(l.t, status == 201, "%d %s", status, body)
				took <- time.Since(began)
			}
		}()
	}
	for range clients {
		<-finished
	}
	close(took)
	var all []time.Duration
	for d := range took {
		all = append(all, d)
	}
	slices.Sort(all)
	return all[len(all)*99/100].Round(10 * time.Microsecond)
}

// resident is the memory of the process; 0 where the system does not report it.
func resident(t testing.TB, p *apptest.Process) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		t.Logf("the system does not tell how much memory a process takes (%v): not checked", err)
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib := assert.Value(strconv.ParseInt(strings.Fields(rest)[0], 10, 64))(t)
	return kib << 10
}

// diagnosed compares the first attempt at each receiver with what the log must say.
func (l *load) diagnosed(says map[string]string) {
	l.t.Helper()
	var hooks struct {
		Webhooks []struct {
			ID  int64
			URL string
		}
	}
	assert.OK(l.t, json.Unmarshal([]byte(l.cli("", "webhook", "list", "--json")), &hooks))
	for url, want := range says {
		site := strings.TrimSuffix(url, "/hook")
		i := slices.IndexFunc(hooks.Webhooks, func(h struct {
			ID  int64
			URL string
		}) bool {
			return strings.HasPrefix(h.URL, site)
		})
		assert.Must(l.t, i >= 0, "%s is not in the list", url)
		got := ""
		apptest.Await(l.t, "the attempt at "+want, func() bool {
			got = l.outcome(hooks.Webhooks[i].ID)
			return got != ""
		})
		assert.That(l.t, got == want, "a receiver of which the log is to say %q: %q", want, got)
	}
}

// outcome is what the log says of a receiver's newest finished attempt, or of a failed one if there is one. Pending
// ones may fill a list.
func (l *load) outcome(endpoint int64) string {
	l.t.Helper()
	if failed := l.newest(endpoint, "--failed"); failed != "" {
		return failed
	}
	return l.newest(endpoint)
}

func (l *load) newest(endpoint int64, more ...string) string {
	l.t.Helper()
	var log struct {
		Deliveries []struct {
			State string
			Code  *int `json:"response_code"`
			Error *string
		}
	}
	out := l.cli("", append([]string{"webhook", "deliveries", "--endpoint", strconv.FormatInt(endpoint, 10), "--limit", "1000", "--json"}, more...)...)
	assert.OK(l.t, json.Unmarshal([]byte(out), &log))
	for _, d := range log.Deliveries {
		switch {
		case d.State == "pending" || d.State == "sending":
		case d.Code != nil:
			return fmt.Sprint(d.State, " ", *d.Code)
		case d.Error != nil:
			return d.State + " " + *d.Error
		default:
			return d.State
		}
	}
	return ""
}

// TestNoConnectionToTheMachineItself adds receivers in every spelling of a forbidden address. None is reached.
func TestNoConnectionToTheMachineItself(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	listening, err := net.Listen("tcp", ":0") // on every address of every family
	assert.OK(t, err)
	t.Cleanup(func() { listening.Close() })
	go func() {
		for {
			c, err := listening.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			c.Close()
		}
	}()
	_, port, err := net.SplitHostPort(listening.Addr().String())
	assert.OK(t, err)
	always := []string{ // refused also where private addresses are allowed
		"2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.1", "127.0.1", "0", "0.0.0.0", "[::]",
		"[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[::7f00:1]", "[fe80::1]", "[fe80::1%25lo]",
		"169.254.169.254", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "224.0.0.1", "[ff02::1]",
	}
	private := []string{"127.0.0.1", "127.1.2.3", "localhost", "LocalHost", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "10.0.0.1", "192.168.0.1", "[fc00::1]"}
	for _, c := range []struct {
		flags []string
		hosts []string
	}{{nil, append(private, always...)}, {[]string{"--webhook-allow-private"}, always}} {
		l := newLoad(t)
		added := map[string]bool{}
		for _, host := range c.hosts {
			code, out, errs := l.try("", "webhook", "add", "--service", "maintenance", "--url", "http://"+host+":"+port+"/", "--json")
			if code == 0 {
				added[host] = true
			} else if code != 1 || out != "" || !strings.Contains(errs, "url") {
				t.Errorf("%s: exit %d: %s%s", host, code, out, errs)
			}
		}
		p := l.serve(c.flags...)
		status, body := apptest.Ask(t, p, "POST", "maintenance", "/api/work-orders", l.keys["maintenance"],
			`{"asset_id":1,"description":"x"}`)
		assert.Must(t, status == 201, "%d %s", status, body)
		for id := 1; id <= len(added); id++ {
			got := ""
			apptest.Await(t, "the attempt", func() bool { got = l.outcome(int64(id)); return got != "" })
			assert.That(t, got == "failed blocked_address", "receiver %d of %v: %s", id, c.hosts, got)
		}
		assert.That(t, len(added) >= len(c.hosts)/2 && connections.Load() <= 0,
			"%d receivers of %d were added, %d connections were made", len(added), len(c.hosts), connections.Load())
		p.Kill(t)
	}
}
