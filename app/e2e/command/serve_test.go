package command

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"quartermaster/app/apptest"
	command "quartermaster/app/cli"
	"quartermaster/schema/assert"
)

func TestServeStopsGracefullyAndKeepsEverything(t *testing.T) {
	dir := t.TempDir()
	keys := apptest.Keys(t, dir)
	p := apptest.Serve(t, dir)
	code, _, errs := apptest.Exec(t, dir, "serve")
	assert.That(t, code == 1 && strings.Contains(errs, "served by another process"),
		"a second serve: exit %d: %s", code, errs)
	status, body := apptest.Ask(t, p, "GET", "reorder", "/api/ping", keys["reorder"], "")
	assert.That(t, status == 200, "ping: %d %s", status, body)
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit %d after SIGTERM: %s", code, p.Stderr)
	}
	if st, err := os.Stat(filepath.Join(dir, "quartermaster.db-wal")); err == nil && st.Size() > 0 {
		t.Errorf("%d bytes are left in the log after a graceful stop", st.Size())
	}
	again := apptest.Serve(t, dir)
	status, body = apptest.Ask(t, again, "GET", "reorder", "/api/ping", keys["reorder"], "")
	assert.That(t, status == 200, "after the restart: %d %s", status, body)
}

// TestSecondSignalExitsAtOnce holds a request open, so that a graceful stop would wait for it.
func TestSecondSignalExitsAtOnce(t *testing.T) {
	dir := t.TempDir()
	keys := apptest.Keys(t, dir)
	p := apptest.Serve(t, dir)
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.URL("reorder", ""), "http://"))
	assert.OK(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST /api/sales-history HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+keys["reorder"]+
		"\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n")
	assert.OK(t, err)
	buf := make([]byte, 64)
	if n, err := conn.Read(buf); err != nil || !strings.Contains(string(buf[:n]), "100 Continue") {
		t.Fatalf("%q %v", buf[:n], err) // the request is under way from here on
	}
	assert.OK(t, p.Cmd.Process.Signal(syscall.SIGTERM))
	apptest.Await(t, "the stop to begin", func() bool { return strings.Contains(p.Stderr.String(), "stopping") })
	assert.OK(t, p.Cmd.Process.Signal(syscall.SIGTERM))
	code := p.Wait(t)
	assert.That(t, code != 0, "the second signal did not end it at once")
}

func TestServeRefusals(t *testing.T) {
	dir := t.TempDir()
	assert.OK(t, os.WriteFile(filepath.Join(dir, "empty.db"), nil, 0o600))
	assert.OK(t, os.WriteFile(filepath.Join(dir, "other.db"), []byte(strings.Repeat("not a database ", 20)), 0o600))
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"missing", []string{"serve"}, 1, "quartermaster init"},
		{"empty", []string{"serve", "--db", "empty.db"}, 1, "empty.db"},
		{"foreign", []string{"serve", "--db", "other.db"}, 1, "untouched"},
		{"not loopback", []string{"serve", "--init", "--store-addr", "0.0.0.0:0"}, 2, "--behind-proxy"},
		{"half of TLS", []string{"serve", "--init", "--tls-cert", "x.pem"}, 2, "--tls-key"},
		{"no such zone", []string{"serve", "--init", "--timezone", "Mars/Base"}, 2, "Mars/Base"},
		{"all off", []string{"serve", "--init", "--store-addr", "off", "--maintenance-addr", "off", "--rental-addr", "off", "--reorder-addr", "off"}, 2, "off"},
		{"bad address", []string{"serve", "--init", "--store-addr", "8081"}, 2, "host:port"},
		{"bad proxy", []string{"serve", "--init", "--trusted-proxy", "ten"}, 2, "CIDR"},
		{"bad origin", []string{"serve", "--init", "--cors-origin", "shop.example"}, 2, "origin"},
		{"unknown flag", []string{"serve", "--fast"}, 2, "--fast"},
		{"unknown command", []string{"server"}, 2, "server"},
		{"missing for another command", []string{"user", "list", "--db", "none.db"}, 1, "none.db"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := apptest.Exec(t, dir, c.args...)
			assert.That(t, code == c.code && strings.Contains(errs, c.says) && out == "",
				"exit %d, want %d, saying %q: %s (stdout %q)", code, c.code, c.says, errs, out)
		})
	}
	for _, name := range []string{"quartermaster.db", "none.db"} {
		_, err := os.Stat(filepath.Join(dir, name))
		assert.That(t, err != nil, "a refused command made %s", name)
	}
}

func TestServeInitPrintsTheNextStep(t *testing.T) {
	p := apptest.Serve(t, t.TempDir(), "--init")
	for _, want := range []string{"quartermaster init", "user add", "key create"} {
		apptest.Await(t, want, func() bool { return strings.Contains(p.Stderr.String(), want) })
	}
}

func TestServeDemoRefusesARealShop(t *testing.T) {
	for _, admin := range []string{"robin", "demo"} {
		path := filepath.Join(t.TempDir(), "shop.db")
		run := func(args ...string) (code int, out, told string) {
			var stdout, stderr strings.Builder
			code = command.Run(t.Context(), command.Env{Args: append(args, "--db", path), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }})
			return code, stdout.String(), stderr.String()
		}
		if code, _, told := run("init", "--admin", admin); code != 0 {
			t.Fatal(told)
		}
		code, out, told := run("serve", "--demo", "--store-addr", "127.0.0.1:0", "--maintenance-addr", "127.0.0.1:0", "--rental-addr", "127.0.0.1:0", "--reorder-addr", "127.0.0.1:0")
		assert.That(t, code == 1 && out == "" && strings.Contains(told, path+" is not a demo shop") &&
			strings.Count(told, "\n") == 1, "exit %d, %q, %q", code, out, told)
	}
}

func TestServeDemoPrintsKeysThatWork(t *testing.T) {
	dir := t.TempDir()
	first := ""
	for range 2 { // the second start finds the demo filled, and prints the same keys
		p := apptest.Serve(t, dir, "--demo")
		apptest.Await(t, "four keys", func() bool { return strings.Count(p.Stdout.String(), "curl ") == 4 })
		shown := ""
		for _, line := range strings.Split(p.Stdout.String(), "\n") {
			service, key, ok := strings.Cut(line, "  ")
			if !ok || service == "" {
				continue
			}
			shown += line + "\n"
			status, body := apptest.Ask(t, p, "GET", service, "/api/ping", key, "")
			assert.That(t, status == 200, "%s: %d %s", service, status, body)
		}
		if strings.Count(shown, "\n") != 4 || first != "" && shown != first {
			t.Errorf("stdout: %s, at the start before: %s", p.Stdout, first)
		}
		first = shown
		assert.Equal(t, p.Stop(t), 0, "exit")
	}
}

// TestInterruptedDemoStartsAgain kills the first start of a demo at many moments of its filling. The next start has
// a complete shop.
func TestInterruptedDemoStartsAgain(t *testing.T) {
	for i := range 12 {
		dir := t.TempDir()
		cmd := serveDemo(t, dir)
		assert.OK(t, cmd.Start())
		signal := os.Interrupt
		if i%2 == 0 {
			signal = os.Kill
		}
		cut := time.AfterFunc(time.Duration(5+12*i)*time.Millisecond, func() { _ = cmd.Process.Signal(signal) })
		_ = cmd.Wait()
		cut.Stop()
		p := apptest.Serve(t, dir, "--demo")
		apptest.Await(t, "four keys", func() bool { return strings.Count(p.Stdout.String(), "curl ") == 4 })
		code := p.Stop(t)
		assert.Must(t, code == 0, "cut off after %d ms: exit %d: %s", 5+12*i, code, p.Stderr)
	}
}

// serveDemo is the command of a demo on any free ports.
func serveDemo(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(apptest.Binary(t), "serve", "--demo", "--store-addr", "127.0.0.1:0", "--maintenance-addr", "127.0.0.1:0", "--rental-addr", "127.0.0.1:0", "--reorder-addr", "127.0.0.1:0")
	cmd.Dir = dir
	return cmd
}

// TestSimultaneousFirstStarts: the others are refused, and none replaces the served file with its own.
func TestSimultaneousFirstStarts(t *testing.T) {
	dir, ended := t.TempDir(), make(chan string)
	var all []*exec.Cmd
	for range 3 {
		cmd := serveDemo(t, dir)
		var said strings.Builder
		cmd.Stderr = &said
		assert.OK(t, cmd.Start())
		all = append(all, cmd)
		go func() {
			_ = cmd.Wait()
			ended <- said.String()
		}()
	}
	for range 2 {
		assert.Contains(t, <-ended, "is served by another process", "one that ended said")
	}
	for _, cmd := range all {
		_ = cmd.Process.Signal(os.Interrupt)
	}
	assert.Lacks(t, <-ended, "replaced", "the one that served said")
}

// TestPlainHTTP listens beyond loopback without TLS only if the operator allows it, and warns at every start.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys := apptest.Keys(t, dir)
	code, _, errs := apptest.Exec(t, dir, "serve", "--store-addr", "0.0.0.0:0")
	assert.That(t, code != 0 && strings.Contains(errs, "--plain-http"), "without the word: exit %d: %s", code, errs)
	p := apptest.Serve(t, dir, "--plain-http", "--store-addr", "0.0.0.0:0")
	assert.Contains(t, p.Stderr.String(), "everybody on this network can read keys", "no warning: %s", p.Stderr)
	status, body := apptest.Ask(t, p, "GET", "store", "/api/ping", keys["store"], "")
	assert.That(t, status == 200, "%d %s", status, body)
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit %d: %s", code, p.Stderr)
	}
}
