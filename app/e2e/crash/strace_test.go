package crash

import (
	"bufio"
	"bytes"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"quartermaster/schema/assert"
)

// straced reports whether strace can trace here; otherwise the test names what it skips.
func straced(t testing.TB, without string) bool {
	t.Helper()
	straceWorks.once.Do(func() {
		straceWorks.err = exec.Command("strace", "-f", "-o", "/dev/null", "-e", "trace=write", "true").Run()
	})
	if straceWorks.err != nil {
		t.Logf("strace does not work here (%v): not checked: %s", straceWorks.err, without)
	}
	return straceWorks.err == nil
}

var straceWorks struct {
	once sync.Once
	err  error
}

// inject makes a running process's system calls on the files fail, as spec says in strace's syntax, until the returned
// function is called.
func inject(t testing.TB, pid int, calls, spec string, files ...string) (heal func()) {
	t.Helper()
	args := []string{"-f", "-o", "/dev/null", "-p", strconv.Itoa(pid), "-e", "trace=" + calls, "-e", "inject=" + calls + ":" + spec}
	for _, f := range files {
		args = append(args, "-P", f)
	}
	cmd := exec.Command("strace", args...)
	stderr := assert.Value(cmd.StderrPipe())(t)
	assert.OK(t, cmd.Start())
	var said bytes.Buffer
	in := bufio.NewReader(stderr)
	for !strings.Contains(said.String(), "attached") {
		line, err := in.ReadString('\n')
		said.WriteString(line)
		assert.Must(t, err == nil, "strace: %v: %s", err, said.String())
	}
	drained := make(chan struct{})
	go func() {
		_, _ = in.WriteTo(&said)
		close(drained)
	}()
	var once sync.Once
	heal = func() {
		once.Do(func() {
			_ = cmd.Process.Signal(syscall.SIGTERM) // it detaches from the process
			<-drained
			_ = cmd.Wait()
		})
	}
	t.Cleanup(heal)
	return heal
}
