package apptest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	command "quartermaster/app/cli"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"quartermaster/schema/assert"
)

var build struct {
	once sync.Once
	path string
	err  error
}

// Binary builds the real program, once for all tests of the process, and returns its path. QUARTERMASTER_BINARY names
// another one to test instead, such as one for another machine under emulation.
func Binary(t testing.TB) string {
	t.Helper()
	if other := os.Getenv("QUARTERMASTER_BINARY"); other != "" {
		return other
	}
	build.once.Do(func() {
		dir, err := os.MkdirTemp("", "quartermaster-test")
		if err != nil {
			build.err = err
			return
		}
		build.path = filepath.Join(dir, "quartermaster")
		cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", build.path, ".")
		cmd.Dir = root(t)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			build.err = errors.New(string(out))
		}
	})
	assert.OK(t, build.err)
	return build.path
}

// Main runs a package's tests and then removes what Binary built. Started again with QUARTERMASTER_TEST_AHEAD, a test
// binary is instead the program with a clock that is ahead, for documents with their own date.
func Main(m *testing.M) int {
	if ahead := os.Getenv("QUARTERMASTER_TEST_AHEAD"); ahead != "" {
		return asProgram(ahead)
	}
	code := m.Run()
	if build.path != "" {
		_ = os.RemoveAll(filepath.Dir(build.path))
	}
	return code
}

func asProgram(ahead string) int {
	by, err := time.ParseDuration(ahead)
	if err != nil {
		return 2
	}
	return command.Run(context.Background(), command.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Now: func() time.Time { return time.Now().Add(by) },
	})
}

// Exec runs the real program in dir to its end.
func Exec(t testing.TB, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(Binary(t), args...)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// Process is the running server program.
type Process struct {
	Cmd    *exec.Cmd
	Stdout *Buffer
	Stderr *Buffer

	mu    sync.Mutex
	addrs map[string]string
	up    chan struct{} // closed when every listener has been reported
	done  chan struct{} // closed when the process has ended
}

// Serve starts the real program's serve in dir with free ports and waits until it listens. It is killed when the test
// ends, if it still runs.
func Serve(t testing.TB, dir string, args ...string) *Process {
	t.Helper()
	return ServeUnder(t, dir, "", args...)
}

// ServeUnder is Serve after a shell line, which may limit the process.
func ServeUnder(t testing.TB, dir, first string, args ...string) *Process {
	t.Helper()
	all := []string{"serve", "--log-format", "json"}
	for _, s := range []string{"store", "maintenance", "rental", "reorder"} {
		all = append(all, "--"+s+"-addr", "127.0.0.1:0")
	}
	p := &Process{
		Cmd: exec.Command(Binary(t), append(all, args...)...), Stdout: &Buffer{}, Stderr: &Buffer{},
		addrs: map[string]string{}, up: make(chan struct{}), done: make(chan struct{}),
	}
	if first != "" {
		p.Cmd = exec.Command("sh", append([]string{"-c", first + ` && exec "$@"`, "sh"}, p.Cmd.Args...)...)
	}
	p.Cmd.Dir = dir
	p.Cmd.Stdout = p.Stdout
	stderr, err := p.Cmd.StderrPipe()
	assert.OK(t, err)
	assert.OK(t, p.Cmd.Start())
	go p.follow(bufio.NewReader(stderr))
	t.Cleanup(func() {
		_ = p.Cmd.Process.Kill()
		<-p.done
	})
	select {
	case <-p.up:
	case <-p.done:
		t.Fatalf("serve ended: %s", p.Stderr)
	case <-time.After(time.Minute): // it takes milliseconds
		t.Fatalf("serve does not listen: %s", p.Stderr)
	}
	return p
}

// follow keeps the log and finds the addresses in it.
func (p *Process) follow(r *bufio.Reader) {
	defer close(p.done)
	listening := 0
	for {
		line, err := r.ReadString('\n')
		_, _ = p.Stderr.Write([]byte(line))
		var entry struct{ Service, Addr, Message string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Message == "listening" {
			p.mu.Lock()
			p.addrs[entry.Service] = entry.Addr
			p.mu.Unlock()
			if listening++; listening == 4 {
				close(p.up)
			}
		}
		if err != nil {
			_ = p.Cmd.Wait()
			return
		}
	}
}

// Await waits until the condition holds.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	late := time.After(30 * time.Second)
	for !holds() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// URL is the address of a path of a service.
func (p *Process) URL(service, path string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return "http://" + p.addrs[service] + path
}

// Stop sends SIGTERM, waits for the end and returns the exit code.
func (p *Process) Stop(t testing.TB) int {
	t.Helper()
	assert.OK(t, p.Cmd.Process.Signal(syscall.SIGTERM))
	return p.Wait(t)
}

// Kill ends it as kill -9 does.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	assert.OK(t, p.Cmd.Process.Kill())
	p.Wait(t)
}

// Wait waits for the end and returns the exit code.
func (p *Process) Wait(t testing.TB) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(time.Minute): // a stop takes ten seconds at most
		t.Fatalf("the process does not end: %s", p.Stderr)
	}
	return p.Cmd.ProcessState.ExitCode()
}

// Keys runs init on a new database in dir and returns the keys by service.
func Keys(t testing.TB, dir string) map[string]string {
	t.Helper()
	code, out, errs := Exec(t, dir, "init", "--json")
	assert.Must(t, code == 0, "init: exit %d: %s", code, errs)
	var made struct{ Keys map[string]string }
	assert.OK(t, json.NewDecoder(strings.NewReader(out)).Decode(&made))
	return made.Keys
}

// Ask is one request to the real program.
func Ask(t testing.TB, p *Process, method, service, path, key, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, p.URL(service, path), strings.NewReader(body))
	assert.OK(t, err)
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	assert.OK(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	assert.OK(t, err)
	return resp.StatusCode, string(b)
}

var addrs atomic.Int64

// FreeAddr is an address for a server that must be told its port. Its port is below those that a system gives to
// sockets of port 0, so no socket of another test takes it before the server listens.
func FreeAddr(t testing.TB) string {
	t.Helper()
	for range 1000 {
		addr := fmt.Sprintf("127.0.0.1:%d", 10000+(int64(os.Getpid())*1000+addrs.Add(1))%20000)
		if l, err := net.Listen("tcp", addr); err == nil {
			assert.OK(t, l.Close())
			return addr
		}
	}
	t.Fatal("no free port from 10000 to 30000")
	return ""
}
