package crash

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// serveLoad serves the load's shop and opens its workers.
func (l *load) serve(args ...string) *apptest.Process {
	l.t.Helper()
	p := apptest.Serve(l.t, l.dir, append([]string{"--timezone", "UTC"}, args...)...)
	if l.workers == nil {
		l.open(p)
	}
	return p
}

// each sends every worker's errand once.
func (l *load) each(p *apptest.Process, judge func(a *loadWorker, done bool, status int, body string)) {
	l.t.Helper()
	for _, a := range l.workers {
		before := a.n
		status, body, err := l.send(p, a)
		if err != nil {
			l.t.Errorf("%s: %v", a.kind, err)
			continue
		}
		judge(a, a.n != before, status, body)
	}
}

// refusedFor reports whether the answer blames the machine, in the words of its surface.
func refusedFor(a *loadWorker, status int, body string) bool {
	if a.path == "/mcp" {
		return status == http.StatusOK && strings.Contains(body, `"isError":true`) && strings.Contains(body, "nothing was written")
	}
	return status == http.StatusServiceUnavailable && strings.Contains(body, `"error":"unavailable"`)
}

// suffers requires the process to keep its promises while nothing can be written, and to recover by itself after heal.
func (l *load) suffers(p *apptest.Process, heal func()) {
	l.t.Helper()
	l.each(p, func(a *loadWorker, done bool, status int, body string) {
		assert.That(l.t, !done && refusedFor(a, status, body), "%s without a disk: %d %s", a.kind, status, body)
	})
	l.reads(p)
	heal()
	l.goesOn(p)
}

// goesOn requires that every worker is served again and that the rows match the answers.
func (l *load) goesOn(p *apptest.Process) {
	l.t.Helper()
	for range 2 {
		l.each(p, func(a *loadWorker, done bool, status int, body string) {
			assert.That(l.t, done, "%s when there is a disk again: %d %s", a.kind, status, body)
		})
	}
	l.holds(l.path)
}

// reads sends each service a read request.
func (l *load) reads(p *apptest.Process) {
	l.t.Helper()
	for service, path := range map[string]string{
		"store": "/api/orders", "maintenance": "/api/work-orders", "rental": "/api/units", "reorder": "/api/reorder-report",
	} {
		status, body := apptest.Ask(l.t, p, "GET", service, path, l.keys[service], "")
		assert.That(l.t, status == 200, "reading %s: %d %s", path, status, body)
	}
}

// TestDiskFails makes the writes of a serving process fail in every way that a disk can.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	l := newLoad(t)
	p := l.serve()
	l.each(p, func(*loadWorker, bool, int, string) {})
	if straced(t, "ENOSPC, EIO and EROFS at each write, and at some of them under load") {
		for _, fault := range []string{"ENOSPC", "EIO", "EROFS"} {
			l.suffers(p, inject(t, p.Cmd.Process.Pid, "pwrite64", "error="+fault, l.path+"-wal"))
			l.someFail(p, fault)
		}
		l.unreadable(p)
	}
	code := p.Stop(t)
	assert.That(t, code == 0, "exit %d: %s", code, p.Stderr)
	l.doctor(l.path)
}

// someFail makes some of the writes fail while every worker continues. A commit is cut off at any of its pages, and the
// next one may succeed.
func (l *load) someFail(p *apptest.Process, fault string) {
	l.t.Helper()
	for step := 2; step <= apptest.Times(5, 40); step += 3 {
		heal := inject(l.t, p.Cmd.Process.Pid, "pwrite64", fmt.Sprintf("error=%s:when=%d+%d", fault, step, step), l.path, l.path+"-wal")
		goal := l.acks.Load() + 10
		var failures atomic.Int64
		stop := make(chan struct{})
		group := l.run(p, stop, func(a *loadWorker, status int, body string) {
			failures.Add(1)
			assert.That(l.t, refusedFor(a, status, body), "%s while some writes fail: %d %s", a.kind, status, body)
		})
		apptest.Await(l.t, "answers of both sorts", func() bool {
			return l.t.Failed() || failures.Load() >= 10 && (l.acks.Load() >= goal || failures.Load() >= 100)
		})
		close(stop)
		group.Wait()
		heal()
		l.goesOn(p)
	}
}

// unreadable makes reads fail: a request is refused, and succeeds when repeated.
func (l *load) unreadable(p *apptest.Process) {
	l.t.Helper()
	heal := inject(l.t, p.Cmd.Process.Pid, "pread64", "error=EIO", l.path, l.path+"-wal")
	for _, service := range []string{"store", "maintenance", "rental", "reorder"} {
		path := map[string]string{"store": "/api/orders", "maintenance": "/api/parts", "rental": "/api/leases", "reorder": "/api/skus"}[service]
		status, body := apptest.Ask(l.t, p, "GET", service, path, l.keys[service], "")
		// 200: from the engine's cache
		assert.That(l.t, status == 200 || status == 503 && strings.Contains(body, `"error":"unavailable"`),
			"reading %s from a disk that cannot be read: %d %s", path, status, body)
	}
	heal()
	l.reads(p)
	l.goesOn(p)
}

// TestFailedSyncEndsTheProcess: after a failed sync nobody knows what the disk holds, and a second sync may falsely
// succeed. The process ends and says why. An unanswered write may be stored or not, but never twice.
func TestFailedSyncEndsTheProcess(t *testing.T) {
	t.Parallel()
	if !straced(t, "a sync that fails") {
		return
	}
	l := newLoad(t)
	p := l.serve()
	for i := range apptest.Times(2, len(l.workers)) {
		a := l.workers[(i*5+1)%len(l.workers)]
		before := a.n
		heal := inject(t, p.Cmd.Process.Pid, "fsync,fdatasync", "error=EIO", l.path+"-wal")
		status, body, err := l.send(p, a)
		assert.That(t, err != nil && a.n == before, "%s whose sync failed: %d %s", a.kind, status, body)
		code := p.Wait(t)
		assert.That(t, code == 1 && strings.Contains(p.Stderr.String(), "could not be synced"), "exit %d: %s", code, p.Stderr)
		heal()
		p = l.serve()
		l.finish(p)
		l.goesOn(p)
	}
}

// TestFailedSyncOfACheckpoint: the log on the disk is complete, so a failed checkpoint is repeated later and nothing is
// lost.
func TestFailedSyncOfACheckpoint(t *testing.T) {
	t.Parallel()
	if !straced(t, "a checkpoint whose sync fails") {
		return
	}
	l := newLoad(t)
	p := l.serve()
	heal := inject(t, p.Cmd.Process.Pid, "fsync,fdatasync", "error=EIO", l.path)
	first, stop := l.acks.Load(), make(chan struct{})
	group := l.run(p, stop, nil)
	for n := range int64(apptest.Times(1, 30)) { // in hundreds: each commit tries the checkpoint again, which is slow
		apptest.Await(t, "answers", func() bool { return t.Failed() || l.acks.Load() >= first+100*(n+1) })
	}
	close(stop)
	group.Wait()
	p.Kill(t)
	heal()
	p = l.serve()
	l.goesOn(p)
	l.doctor(l.path)
}

// TestDiskFull fills a real, small disk, if the machine lets the test mount one.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Logf("a small disk cannot be mounted here (%v %s): not checked: a disk that is really full", err, out)
		return
	}
	t.Cleanup(func() {
		out, err := exec.Command("umount", dir).CombinedOutput()
		assert.That(t, err == nil, "%v: %s", err, out)
	})
	l := newLoad(t)
	small := filepath.Join(dir, "quartermaster.db")
	content := assert.Value(os.ReadFile(l.path))(t)
	assert.OK(t, os.WriteFile(small, content, 0o600))
	l.dir, l.path = dir, small
	p := l.serve()
	l.each(p, func(*loadWorker, bool, int, string) {})
	filler := filepath.Join(dir, "filler")
	l.suffers(p, fill(t, filler))
	free := fill(t, filler)
	code, out, errs := apptest.Exec(t, dir, "backup", "copy.db")
	if left, _ := filepath.Glob(filepath.Join(dir, "copy.db*")); code != 1 || !strings.Contains(errs, "the disk is full") || out != "" || len(left) > 0 {
		t.Errorf("backup to a full disk: exit %d: %s%s, left behind: %v", code, out, errs, left)
	}
	p.Kill(t)
	free()
	p = l.serve()
	l.finish(p)
	l.goesOn(p)
	p.Kill(t)
	l.doctorOf()
}

// doctorOf checks a database on a disk that is nearly full on purpose: every check except free space must pass.
func (l *load) doctorOf() {
	l.t.Helper()
	_, out, errs := apptest.Exec(l.t, l.dir, "doctor")
	breaches := strings.Count(out, "breach:")
	assert.That(l.t, breaches == strings.Count(out, "free disk: breach:") && out != "", "doctor: %s%s", out, errs)
}

// fill takes all room of the disk; the function that it returns frees it.
func fill(t testing.TB, path string) (free func()) {
	t.Helper()
	f, err := os.Create(path)
	assert.OK(t, err)
	defer f.Close()
	for size := 1 << 20; size > 0; size >>= 1 {
		block := make([]byte, size)
		for err = nil; err == nil; {
			_, err = f.Write(block)
		}
	}
	return func() {
		assert.OK(t, os.Remove(path))
	}
}
