package crash

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestIdleConnectionsLeaveFilesFree: with a limit of 1024 open files, 1,100 idle connections to each service block
// neither it nor another service.
func TestIdleConnectionsLeaveFilesFree(t *testing.T) {
	dir := t.TempDir()
	keys := apptest.Keys(t, dir)
	p := apptest.ServeUnder(t, dir, "ulimit -n 1024")
	const idle = 1100
	for _, service := range []string{"reorder", "store", "maintenance", "rental"} {
		var all []net.Conn
		for range idle {
			conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL(service, ""), "http://"))
			assert.OK(t, err, "%s, connection %d", service, len(all))
			all = append(all, conn)
		}
		good(t, p, keys, 2)
		code, _, errs := apptest.Exec(t, dir, "status")
		assert.That(t, code == 0, "a command beside %d idle connections: %s", idle, errs)
		for _, c := range all {
			_ = c.Close()
		}
	}
	code := p.Stop(t)
	assert.That(t, code == 0 && !strings.Contains(p.Stderr.String(), "too many open files"), "exit %d: %s", code, p.Stderr)
}

// TestHangUpsEndNothing: neither a closed terminal nor a log without a reader ends the server. SIGTERM does, with 0.
func TestHangUpsEndNothing(t *testing.T) {
	dir := t.TempDir()
	keys := apptest.Keys(t, dir)
	cmd := exec.Command(apptest.Binary(t), "serve", "--log-format", "json", "--store-addr", "127.0.0.1:0", "--maintenance-addr", "off", "--rental-addr", "off", "--reorder-addr", "off")
	cmd.Dir = dir
	log := assert.Value(cmd.StderrPipe())(t)
	out := assert.Value(cmd.StdoutPipe())(t)
	assert.OK(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	addr, in := "", bufio.NewReader(log)
	for addr == "" {
		line, err := in.ReadString('\n')
		assert.OK(t, err, "%v", line)
		if _, rest, is := strings.Cut(line, `"url":"`); is {
			addr, _, _ = strings.Cut(rest, `"`)
		}
	}
	ping := func() {
		t.Helper()
		r, _ := http.NewRequest(http.MethodGet, addr+"/api/ping", nil)
		r.Header.Set("Authorization", "Bearer "+keys["store"])
		resp, err := http.DefaultClient.Do(r)
		assert.OK(t, err)
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		assert.Must(t, err == nil && resp.StatusCode == 200, "%v %v", resp.StatusCode, err)
	}
	ping()
	_, _ = log.Close(), out.Close() // from here on each request logs a line without a reader
	for range 20 {
		ping()
	}
	for _, signal := range []syscall.Signal{syscall.SIGHUP, syscall.SIGPIPE} {
		assert.OK(t, cmd.Process.Signal(signal))
		ping()
	}
	assert.OK(t, cmd.Process.Signal(syscall.SIGTERM))
	assert.NoError(t, cmd.Wait())
}

// group64 makes a control group of 64 MB and returns the shell line that enters it.
func group64(t testing.TB) (enter string, ok bool) {
	t.Helper()
	for root, limit := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		dir := filepath.Join(root, fmt.Sprintf("quartermaster-test-%d", os.Getpid()))
		if os.Mkdir(dir, 0o700) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(dir) })
		if _, err := os.Stat(filepath.Join(dir, limit)); err != nil {
			continue
		}
		if os.WriteFile(filepath.Join(dir, limit), []byte("64000000"), 0o600) == nil {
			return "echo $$ > " + filepath.Join(dir, "cgroup.procs"), true
		}
	}
	t.Log("there can be no control group here: not checked: 64 MB")
	return "", false
}

// TestCrowdsIn64MB: in a control group of 64 MB the server survives crowds of 500 that send half bodies or read no
// answers, and serves everyone else. The test prints the figures.
func TestCrowdsIn64MB(t *testing.T) {
	if !apptest.Long() {
		t.Skip("a long form only; TestBodiesAndAnswersHaveABudget is the short one")
	}
	enter, ok := group64(t)
	if !ok {
		return
	}
	dir := t.TempDir()
	keys := apptest.Keys(t, dir)
	fillSKUs(t, dir, 4000)
	p := apptest.ServeUnder(t, dir, enter)
	t.Cleanup(func() { _ = p.Cmd.Process.Kill(); p.Wait(t) })
	pings := func() (p50, p99, most time.Duration) {
		client := &http.Client{Transport: &http.Transport{}, Timeout: notShutOut}
		defer client.CloseIdleConnections()
		took := make([]time.Duration, 1000)
		for i := range took {
			began := time.Now()
			service := []string{"store", "reorder", "rental", "maintenance"}[i%4]
			wellAnswered(t, client, p, service, "GET", "/api/ping", keys[service], "")
			took[i] = time.Since(began)
		}
		slices.Sort(took)
		return took[len(took)/2], took[len(took)*99/100], took[len(took)-1]
	}
	median, before, _ := pings()
	t.Logf("a ping takes %v at the median, %v at the 99th percentile", median, before)
	for _, c := range memoryCrowds(keys["reorder"]) {
		leave := crowdOf(t, p, c.texts...)
		coming, coming99, longest := pings() // while they connect
		median, beside, _ := pings()
		good(t, p, keys, 2)
		leave()
		t.Logf("500 %s: while they come a ping takes %v at the median, %v at the 99th percentile, %v at most; when they are there %v and %v, %.1f times that before; %d MiB at most",
			c.name, coming, coming99, longest, median, beside, float64(beside)/float64(before), memoryOf(t, p, "VmHWM")>>20)
	}
	good(t, p, keys, 1)
}

// TestClientThatReadsNothingIsDisconnected requests a large answer, reads none of it, and is disconnected after 20
// seconds.
func TestClientThatReadsNothingIsDisconnected(t *testing.T) {
	if !apptest.Long() {
		t.Skip("it takes 20 seconds; TestUnreadAnswerIsCutOff in app/server is the short form")
	}
	t.Parallel()
	dir := t.TempDir()
	keys := apptest.Keys(t, dir)
	fillSKUs(t, dir, 10_000)
	p := apptest.Serve(t, dir)
	conn := assert.Value(net.Dial("tcp", strings.TrimPrefix(p.URL("reorder", ""), "http://")))(t)
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	began := time.Now()
	fmt.Fprintf(conn, "GET /api/reorder-report?status=all HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", keys["reorder"])
	apptest.Await(t, "the end of the request", func() bool {
		return time.Since(began) > 25*time.Second || strings.Contains(p.Stderr.String(), `"route":"/api/reorder-report"`) && time.Since(began) > time.Second
	})
	took := time.Since(began)
	n, _ := io.Copy(io.Discard, conn)
	if took < 15*time.Second || took > 25*time.Second || n > 4<<20 {
		t.Errorf("it was cut off after %v, with %d bytes", took, n)
	} else {
		t.Logf("cut off after %v; %d KB had gone out", took.Round(time.Millisecond), n>>10)
	}
}
