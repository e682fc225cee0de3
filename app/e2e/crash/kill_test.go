package crash

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/app/server"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// inbox is a receiver that counts deliveries and answers as configured.
type inbox struct {
	service string
	status  int

	mu    sync.Mutex
	got   map[string]int // by event id
	last  int            // the number of the newest delivery
	order []string       // deliveries out of order
}

// attach starts a receiver and adds it to the shop.
func (l *load) attach(service string, status int) *inbox {
	l.t.Helper()
	in := &inbox{service: service, status: status, got: map[string]int{}}
	server := httptest.NewServer(in)
	l.t.Cleanup(server.Close)
	l.cli("", "webhook", "add", "--service", service, "--url", server.URL)
	return in
}

func (in *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // a killed sender cuts it off
	number, _ := strconv.Atoi(r.Header.Get("X-" + map[string]string{
		"store": "Store", "maintenance": "Maintenance", "rental": "Rental", "reorder": "Reorder"}[in.service] + "-Delivery"))
	in.mu.Lock()
	in.got[r.Header.Get("Webhook-Id")]++
	if number <= in.last {
		in.order = append(in.order, fmt.Sprintf("%d after %d", number, in.last))
	}
	in.last = number
	in.mu.Unlock()
	w.WriteHeader(in.status)
}

// TestKill ends the process as kill -9 does while all four services write and send. Answered writes are stored, nothing
// is stored twice, no event is sent twice or out of order, and a receiver misses at most the event that was under way.
func TestKill(t *testing.T) {
	t.Parallel()
	const seed = 20261120
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	l := newLoad(t)
	var inboxes []*inbox
	for _, service := range server.Names {
		inboxes = append(inboxes, l.attach(service, http.StatusNoContent), l.attach(service, http.StatusInternalServerError))
	}
	kills := apptest.Times(10, 200)
	starts := make([]time.Duration, 0, kills)
	p := apptest.Serve(t, l.dir, "--webhook-allow-private", "--timezone", "UTC")
	l.open(p)
	for kill := 1; kill <= kills; kill++ {
		goal := l.acks.Load() + int64(1+random.IntN(40))
		group := l.run(p, nil, nil)
		apptest.Await(t, "answers", func() bool { return l.acks.Load() >= goal || t.Failed() })
		<-time.After(time.Duration(random.IntN(3000)) * time.Microsecond)
		p.Kill(t)
		group.Wait()
		l.client.CloseIdleConnections()
		if kill%5 == 0 {
			l.killAtStart(time.Duration(random.IntN(40_000)) * time.Microsecond)
		}
		began := time.Now()
		p = apptest.Serve(t, l.dir, "--webhook-allow-private", "--timezone", "UTC")
		starts = append(starts, time.Since(began))
		if kill%apptest.Times(3, 10) == 0 {
			l.holds(l.path)
		}
		assert.Must(t, !t.Failed(), "after kill %d", kill)
	}
	l.finish(p)
	l.drained(p)
	l.received(inboxes, kills+kills/5)
	p.Kill(t)
	l.holds(l.path)
	l.doctor(l.path)
	slices.Sort(starts)
	t.Logf("%d kills, %d answered writes; from start to all four listening: median %v, longest %v",
		kills, l.acks.Load(), starts[len(starts)/2].Round(time.Millisecond), starts[len(starts)-1].Round(time.Millisecond))
	longest := starts[len(starts)-1]
	assert.That(t, !apptest.Long() || longest <= 10*time.Second, "a restart took %v", longest)
}

// killAtStart starts the program and kills it before or during its startup.
func (l *load) killAtStart(after time.Duration) {
	l.t.Helper()
	args := []string{"serve", "--webhook-allow-private"}
	for _, s := range server.Names {
		args = append(args, "--"+s+"-addr", "127.0.0.1:0")
	}
	cmd := exec.Command(apptest.Binary(l.t), args...)
	cmd.Dir = l.dir
	assert.OK(l.t, cmd.Start())
	<-time.After(after)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
}

// drained waits until no delivery is outstanding.
func (l *load) drained(p *apptest.Process) {
	l.t.Helper()
	d := assert.Value(db.Open(l.path, db.Options{}))(l.t)
	apptest.Await(l.t, "the deliveries", func() bool {
		n := assert.Value(d.QueryInt("SELECT count(*) FROM deliveries WHERE state IN ('pending', 'sending')"))(l.t)
		return n == 0
	})
	assert.OK(l.t, d.Close(), "%s", p.Stderr)
}

// received compares the receivers' deliveries with the log of events.
func (l *load) received(inboxes []*inbox, kills int) {
	l.t.Helper()
	d := assert.Value(db.Open(l.path, db.Options{}))(l.t)
	defer d.Close()
	for i, in := range inboxes {
		var ids []string
		err := d.View(context.Background(), func(c *db.Conn) (err error) {
			ids, err = db.All(c, db.Text, "SELECT id FROM events WHERE service = ? ORDER BY seq", in.service)
			return err
		})
		assert.OK(l.t, err)
		missed := 0
		in.mu.Lock()
		for _, id := range ids {
			if in.got[id] == 0 {
				missed++
			}
			assert.That(l.t, in.got[id] <= 1, "receiver %d of %s got %s %d times", i, in.service, id, in.got[id])
			delete(in.got, id)
		}
		assert.That(l.t, len(in.got) == 0 && len(in.order) == 0 && missed <= kills && len(ids) != 0,
			"receiver %d of %s: %d events, %d missed in %d kills, %d unknown, out of order: %v", i, in.service, len(ids), missed,
			kills, len(in.got), in.order)
		in.mu.Unlock()
		l.t.Logf("receiver of %s: %d events, %d interrupted by a kill", in.service, len(ids), missed)
	}
}

// doctor runs the program's doctor on a database.
func (l *load) doctor(path string) {
	l.t.Helper()
	code, out, errs := apptest.Exec(l.t, l.dir, "doctor", "--db", path, "--timezone", "UTC")
	assert.That(l.t, code == 0, "doctor: exit %d: %s%s", code, out, errs)
}
