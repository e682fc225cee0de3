package crash

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	command "quartermaster/app/cli"
	"quartermaster/schema/assert"
)

// TestPower records the writes, syncs and answers of a serving process and cuts the power at random moments. The files
// are rebuilt with unsynced data lost, torn or in another order. Everything answered by then must be there.
func TestPower(t *testing.T) {
	if !straced(t, "power cuts") {
		return
	}
	const seed = 20261120
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	l := newLoad(t)
	p := l.serve()
	l.each(p, func(*loadWorker, bool, int, string) {})
	calls, wait := follow(t, p.Cmd.Process.Pid)
	before := files(t, l.dir)
	start := map[string]int{}
	for _, a := range l.workers {
		start[a.kind] = a.n - 1
	}
	goal, stop := l.acks.Load()+int64(apptest.Times(120, 1500)), make(chan struct{})
	group := l.run(p, stop, nil)
	apptest.Await(t, "answers", func() bool { return t.Failed() || l.acks.Load() >= goal })
	close(stop)
	group.Wait()
	code := p.Stop(t)
	assert.That(t, code == 0, "exit %d: %s", code, p.Stderr)
	wait()

	all := moments(t, calls)
	d, answered, checkpoints := newDisk(before), start, 0
	cuts := picks(random, len(all), apptest.Times(30, 1000))
	for i, m := range all {
		for len(cuts) > 0 && cuts[0] == i {
			l.afterCut(d, random, answered, i)
			cuts = cuts[1:]
		}
		d.play(t, m, l.dir)
		if m.changed != nil && m.ends && d.names["quartermaster.db"].pending != nil {
			checkpoints++
		}
		if id, ok := m.answers(); ok {
			if kind, n, ok := strings.Cut(id, "."); ok {
				kind = strings.ReplaceAll(kind, "-", " ")
				answered[kind] = number0(n)
			}
		}
		assert.Must(t, !t.Failed(), "at %d of %d", i, len(all))
	}
	l.afterCut(d, random, answered, len(all))
	for _, a := range l.workers {
		assert.That(t, answered[a.kind] == a.n-1, "%s: %d answers came, %d are recorded", a.kind, a.n-1, answered[a.kind])
	}
	assert.That(t, checkpoints != 0, "no checkpoint was recorded")
	t.Logf("%d begins and ends of calls, %d answers, %d writes while the file itself was being written", len(all), l.acks.Load(), checkpoints)
}

func number0(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// picks returns k places below n in order.
func picks(random *rand.Rand, n, k int) (all []int) {
	for range k {
		all = append(all, random.IntN(n))
	}
	slices.Sort(all)
	return all
}

// files reads the files of a folder that a power cut leaves.
func files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range []string{"quartermaster.db", "quartermaster.db-wal"} {
		content := assert.Value(os.ReadFile(filepath.Join(dir, name)))(t)
		all[name] = content
	}
	return all
}

// afterCut cuts the power and opens the remaining files.
func (l *load) afterCut(d *disk, random *rand.Rand, answered map[string]int, at int) {
	l.t.Helper()
	dir := assert.Value(os.MkdirTemp(l.t.TempDir(), "cut"))(l.t)
	d.cutPower(l.t, random, dir)
	left := filepath.Join(dir, "quartermaster.db")
	for _, wrong := range l.wrong(left, func(a *loadWorker) (int, bool) { return answered[a.kind], true }) {
		l.t.Errorf("power cut at %d: %s", at, wrong)
	}
	var out, errs strings.Builder
	code := command.Run(context.Background(), command.Env{
		Args: []string{"doctor", "--db", left, "--timezone", "UTC"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(string) string { return "" },
	})
	assert.That(l.t, code == 0, "power cut at %d: doctor: %s%s", at, out.String(), errs.String())
	assert.NoError(l.t, os.RemoveAll(dir))
}
