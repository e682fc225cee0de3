package crash

import (
	"bufio"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"quartermaster/schema/assert"
)

// recorded are the calls that change files, and those that answer.
const recorded = "pwrite64,write,fsync,fdatasync,ftruncate,?open,openat,?unlink,unlinkat,?rename,?renameat,renameat2,copy_file_range,sendfile"

// straceArgs make strace write the calls with all their bytes.
func straceArgs(to string) []string {
	return []string{"-f", "-y", "-xx", "-s", "80000", "-o", to, "-e", "trace=" + recorded, "-e", "signal=none"}
}

// follow records a running process from now until the recording ends.
func follow(t testing.TB, pid int) (file string, wait func()) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "calls")
	cmd := exec.Command("strace", append(straceArgs(file), "-p", strconv.Itoa(pid))...)
	stderr, err := cmd.StderrPipe()
	assert.OK(t, err)
	assert.OK(t, cmd.Start())
	in := bufio.NewReader(stderr)
	for line := ""; !strings.Contains(line, "attached"); {
		line, err = in.ReadString('\n')
		assert.Must(t, err == nil, "strace: %v: %s", err, line)
	}
	go func() { _, _ = in.WriteTo(devNull{}) }()
	t.Cleanup(func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	return file, func() { _ = cmd.Wait() }
}

type devNull struct{}

func (devNull) Write(p []byte) (int, error) { return len(p), nil }

// call is one system call of a recording.
type call struct {
	name, args string
	ret        string // the text after "= "
	changed    *change
	before     []*change // the changes that a sync makes safe
}

// moment is the begin or the end of a call.
type moment struct {
	*call
	ends bool
}

// moments reads a recording. A call without interruption begins and ends at once.
func moments(t testing.TB, file string) (all []moment) {
	t.Helper()
	f := assert.Value(os.Open(file))(t)
	defer f.Close()
	open := map[string]*call{} // by thread
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 1<<20), 1<<20)
	for lines.Scan() {
		thread, rest, _ := strings.Cut(lines.Text(), " ")
		rest = strings.TrimLeft(rest, " ")
		if strings.HasPrefix(rest, "<... ") {
			c := open[thread]
			delete(open, thread)
			if c == nil {
				continue // it began before the recording
			}
			_, more, _ := strings.Cut(rest, " resumed>")
			args, ret := cutReturn(more)
			c.args, c.ret = c.args+args, ret
			all = append(all, moment{c, true})
			continue
		}
		name, args, ok := strings.Cut(rest, "(")
		if !ok {
			continue // a signal, or the end of a thread
		}
		c := &call{name: name}
		all = append(all, moment{c, false})
		if begun, cut := strings.CutSuffix(args, " <unfinished ...>"); cut {
			c.args = begun
			open[thread] = c
			continue
		}
		c.args, c.ret = cutReturn(args)
		all = append(all, moment{c, true})
	}
	assert.OK(t, lines.Err())
	return all
}

func cutReturn(s string) (args, ret string) {
	i := strings.LastIndex(s, " = ")
	if i < 0 {
		return s, "?"
	}
	return strings.TrimSuffix(strings.TrimRight(s[:i], " "), ")"), s[i+3:]
}

func (c *call) failed() bool { return strings.HasPrefix(c.ret, "-") || strings.HasPrefix(c.ret, "?") }

// path is the n-th file descriptor's path.
func path(s string, n int) string {
	for ; ; n-- {
		_, rest, ok := strings.Cut(s, "<")
		if !ok {
			return ""
		}
		name, after, _ := strings.Cut(rest, ">")
		if n == 0 {
			return string(unhex(name))
		}
		s = after
	}
}

// text is the n-th quoted string, and the rest after it.
func text(s string, n int) (content []byte, after string) {
	for ; ; n-- {
		_, rest, ok := strings.Cut(s, `"`)
		if !ok {
			return nil, ""
		}
		quoted, after, _ := strings.Cut(rest, `"`)
		if n == 0 {
			return unhex(quoted), after
		}
		s = after
	}
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, `\x`, ""))
	if err != nil {
		return []byte(s) // strace writes it unquoted, such as socket:[12]
	}
	return b
}

// play applies one moment to the disk. Writes count from their begin, syncs from their return.
func (d *disk) play(t testing.TB, m moment, dir string) {
	t.Helper()
	here := func(full string) (name string, ok bool) { // a file of the folder that a power cut leaves
		if !filepath.IsAbs(full) {
			full = filepath.Join(dir, full)
		}
		name = filepath.Base(full)
		return name, filepath.Dir(full) == dir && !strings.HasSuffix(name, "-shm") && !strings.HasSuffix(name, ".lock")
	}
	switch m.name {
	case "pwrite64", "write", "ftruncate":
		d.playWrite(t, m, here)
	case "fsync", "fdatasync":
		full := path(m.args, 0)
		name, ok := here(full)
		n := d.names[name]
		switch {
		case full == dir && m.ends && !m.failed():
			d.syncNames()
		case !ok || n == nil:
		case !m.ends:
			m.before = n.returned()
		case !m.failed():
			n.sync(m.before)
		}
	case "open", "openat":
		if name, ok := here(path(m.ret, 0)); ok && m.ends && !m.failed() && strings.Contains(m.args, "O_CREAT") {
			d.create(name)
		}
	case "unlink", "unlinkat":
		what, _ := text(m.args, 0)
		if name, ok := here(string(what)); ok && m.ends && !m.failed() {
			d.remove(name)
		}
	case "rename", "renameat", "renameat2":
		from, _ := text(m.args, 0)
		to, _ := text(m.args, 1)
		if name, ok := here(string(from)); ok && m.ends && !m.failed() {
			d.rename(name, filepath.Base(string(to)))
		}
	case "copy_file_range", "sendfile":
		_, ok := here(path(m.args, 1))
		assert.Must(t, !ok, "%s(%s): its bytes cannot be seen", m.name, m.args)
	}
}

func (d *disk) playWrite(t testing.TB, m moment, here func(string) (string, bool)) {
	t.Helper()
	if m.ends {
		if m.changed != nil {
			m.changed.done = true
			assert.Must(t, !m.failed(), "%s failed in the recording: %s", m.name, m.ret)
		}
		return
	}
	name, ok := here(path(m.args, 0))
	n := d.names[name]
	if !ok || n == nil {
		return
	}
	c := &change{}
	if m.name == "ftruncate" {
		_, size, _ := strings.Cut(m.args, ">, ")
		c.cut, c.at = true, number(t, size)
	} else {
		var after string
		c.data, after = text(m.args, 0)
		fields := strings.Split(strings.TrimPrefix(after, ", "), ", ")
		assert.Must(t, number(t, fields[0]) == int64(len(c.data)) && m.name != "write",
			"%s of %s: %d bytes are recorded, and then %s", m.name, name, len(c.data), after)
		c.at = number(t, fields[1])
	}
	m.changed = c
	n.pending = append(n.pending, c)
}

func number(t testing.TB, s string) int64 {
	t.Helper()
	n := assert.Value(strconv.ParseInt(s, 0, 64))(t)
	return n
}

// answers returns the request's id if the moment is the begin of a successful answer.
func (m moment) answers() (id string, ok bool) {
	if m.name != "write" || m.ends || !strings.Contains(m.args[:min(len(m.args), 120)], "<") {
		return "", false
	}
	if !strings.HasPrefix(path(m.args, 0), "socket:") && !strings.HasPrefix(path(m.args, 0), "TCP") {
		return "", false
	}
	data, _ := text(m.args, 0)
	head := string(data)
	if !strings.HasPrefix(head, "HTTP/1.1 2") || strings.Contains(head, `"isError":true`) {
		return "", false
	}
	_, id, ok = strings.Cut(head, "\r\nX-Request-Id: ")
	id, _, _ = strings.Cut(id, "\r\n")
	return id, ok
}
