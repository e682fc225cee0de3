//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"quartermaster/app/server"
)

// build builds the program as for a release.
func build(ctx context.Context, to string) error {
	where := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}")
	dir, err := where.Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", to, ".")
	cmd.Dir, cmd.Env = strings.TrimSpace(string(dir)), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w: %s", err, out)
	}
	return nil
}

// process is a measured running program.
type process struct {
	cmd   *exec.Cmd
	addrs map[string]string // by service
}

// command starts a program, under strace if each sync is to be delayed. strace attaches from outside, so that the
// process stays our child.
func (b *bench) command(name string, args ...string) *exec.Cmd {
	if b.sync > 0 {
		delay := fmt.Sprintf("inject=fsync,fdatasync:delay_exit=%d", b.sync.Microseconds())
		args = append([]string{"-D", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e",
			delay, name}, args...)
		name = "strace"
	}
	return exec.Command(name, args...)
}

// serve starts the program on the data set, waits until it answers, and measures how long that took.
func (b *bench) serve() (*process, error) {
	args := []string{"serve", "--db", b.path, "--timezone", "UTC", "--log-format", "json", "--webhook-allow-private"}
	p := &process{addrs: map[string]string{}}
	for _, s := range server.Names {
		addr, err := freeAddr()
		if err != nil {
			return nil, err
		}
		p.addrs[s] = addr
		args = append(args, "--"+s+"-addr", addr)
	}
	p.cmd = b.command(b.binary, args...)
	// the cost of a log is the write, wherever it goes
	log, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd.Stderr = log
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for {
		c, err := dial(p.addrs["reorder"])
		if err == nil {
			status, err := c.do([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"))
			c.close()
			if err == nil && status == 200 {
				b.start = append(b.start, time.Since(began))
				return p, nil
			}
		}
		if time.Since(began) > time.Minute {
			p.stop()
			return nil, errors.New("the program does not serve within a minute")
		}
		time.Sleep(500 * time.Microsecond)
	}
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// stop ends the process as an operator would.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait()
}

// child starts this program as one of the baselines. Its first line is its address.
func (b *bench) child(kind string, args ...string) (*process, *bufio.Reader, error) {
	p := &process{}
	p.cmd = b.command(b.self, append([]string{"-child", kind}, args...)...)
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, nil, err
	}
	return p, bufio.NewReader(out), nil
}

// plainCommits runs the plain commits for a turn.
func (b *bench) plainCommits() (s sample, err error) {
	p, out, err := b.child("plain", "-data", b.dir, "-for", b.slice.String())
	if err != nil {
		return s, err
	}
	err = json.NewDecoder(out).Decode(&s)
	return s, errors.Join(err, p.cmd.Wait())
}

// cpu is the processor time that the process has used so far.
func (p *process) cpu() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 13 {
		return 0, errors.New("/proc/PID/stat has another form")
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	const tick = 10 * time.Millisecond // USER_HZ is 100 wherever Go runs
	return time.Duration(user+system) * tick, err
}

// memory is a line of the process's status, in MiB.
func (p *process) memory(line string) (float64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	all, err := io.ReadAll(f)
	if err != nil {
		return 0, err
	}
	for l := range strings.Lines(string(all)) {
		if name, rest, ok := strings.Cut(l, ":"); ok && name == line {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/PID/status has no %s", line)
}
