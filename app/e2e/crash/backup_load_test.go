package crash

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// TestBackupUnderLoad copies a database while every worker writes. Each copy is the database at one moment between its
// begin and end. A copy that is cut off never gets its final name. A restored file equals the copy byte for byte.
func TestBackupUnderLoad(t *testing.T) {
	l := newLoad(t)
	l.grow(apptest.Times(2, 15))
	p := l.serve()
	stop := make(chan struct{})
	group := l.run(p, stop, nil)
	goal := l.acks.Load() + int64(apptest.Times(50, 500))
	l.pulse.restart()
	apptest.Await(t, "answers", func() bool { return t.Failed() || l.acks.Load() >= goal })
	calm := l.pulse.restart()
	target := filepath.Join(l.dir, "copy.db")
	var stalls []time.Duration
	for range apptest.Times(2, 10) {
		before := l.reached()
		l.pulse.restart()
		code, _, errs := apptest.Exec(t, l.dir, "backup", "copy.db")
		assert.That(t, code == 0, "backup: exit %d: %s", code, errs)
		stalls = append(stalls, l.pulse.restart())
		l.between(target, before, l.reached())
	}
	l.cutOff(target)
	p.Kill(t)
	close(stop)
	group.Wait()
	t.Logf("the longest time between two answered writes: %v without a backup, %v while one was made", calm, stalls)
	for _, s := range stalls {
		assert.That(t, !apptest.Long() || s <= 250*time.Millisecond || s <= 2*calm, "a backup held the writers up for %v", s)
	}

	log, err := os.Stat(l.path + "-wal")
	assert.Must(t, err == nil && log.Size() != 0, "the killed server left no log (%v)", err)
	code, _, errs := apptest.Exec(t, l.dir, "restore", "copy.db")
	assert.Must(t, code == 0, "restore: exit %d: %s", code, errs)
	want, got := content(t, target), content(t, l.path)
	if log, err := os.Stat(l.path + "-wal"); !bytes.Equal(want, got) || err == nil && log.Size() > 0 {
		t.Errorf("restored %d bytes of %d, and a log (%v)", len(got), len(want), err)
	}
	l.serve()
	l.doctor(l.path)
	l.holds(l.path + ".before-restore") // including the log that the killed server left
}

// grow adds photos of ten megabytes.
func (l *load) grow(photos int) {
	l.t.Helper()
	l.cli("id,asset_tag,description\n,LATHE,photographed\n", "import", "maintenance", "work-orders", "-")
	photo := filepath.Join(l.dir, "photo.jpg")
	noise := make([]byte, 9<<20)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(noise) // never fails
	assert.OK(l.t, os.WriteFile(photo, append([]byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00"), noise...), 0o600))
	for range photos {
		l.cli("", "maintenance", "photo", "add", "1", photo)
	}
}

func content(t testing.TB, path string) []byte {
	t.Helper()
	b := assert.Value(os.ReadFile(path))(t)
	return b
}

// reached returns how far every worker has come, from what is stored.
func (l *load) reached() map[string]int {
	l.t.Helper()
	return l.extent(l.path)
}

// extent returns how far each worker has come in a database: the errands from 1 on that are stored, with as many
// events.
func (l *load) extent(path string) map[string]int {
	l.t.Helper()
	far := map[string]int{}
	d, err := db.Open(path, db.Options{})
	assert.OK(l.t, err)
	err = d.View(context.Background(), func(c *db.Conn) error {
		for _, a := range l.workers {
			if a.stored == "" {
				continue
			}
			n, _, err := db.One(c, db.Int, "SELECT count(*) FROM ("+a.stored+")")
			if err != nil {
				return err
			}
			far[a.kind] = int(n)
			if wrong := once(c, a.kind, a.stored, int(n), false); len(wrong) > 0 {
				return fmt.Errorf("%s", strings.Join(wrong, ", "))
			}
			if a.event == "" {
				continue
			}
			if wrong := once(c, a.kind+"'s event", a.events(), int(n), false); len(wrong) > 0 {
				return fmt.Errorf("%s", strings.Join(wrong, ", "))
			}
		}
		return nil
	})
	assert.NoError(l.t, err, "%s", path)
	assert.NoError(l.t, d.Close())
	return far
}

// between requires a copy to lie between two moments.
func (l *load) between(path string, before, after map[string]int) {
	l.t.Helper()
	for kind, n := range l.extent(path) {
		assert.That(l.t, n >= before[kind] && n <= after[kind],
			"the copy has %d of %s; there were %d before it and %d after", n, kind, before[kind], after[kind])
	}
	l.doctor(path)
}

// cutOff kills backups. The target keeps its bytes or becomes a whole copy.
func (l *load) cutOff(target string) {
	l.t.Helper()
	random := rand.New(rand.NewPCG(20261120, 4))
	was := content(l.t, target)
	for range apptest.Times(2, 20) {
		cmd := exec.Command(apptest.Binary(l.t), "backup", "copy.db")
		cmd.Dir = l.dir
		assert.OK(l.t, cmd.Start())
		<-time.After(time.Duration(random.IntN(300)) * time.Millisecond)
		_ = cmd.Process.Kill()
		if cmd.Wait() == nil || !bytes.Equal(content(l.t, target), was) { // it finished before the kill
			l.extent(target)
			l.doctor(target)
			was = content(l.t, target)
		}
		left := assert.Value(filepath.Glob(target + ".part-*"))(l.t)
		for _, name := range left {
			assert.OK(l.t, os.Remove(name))
		}
	}
}
