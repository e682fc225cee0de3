//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// deliveries are the events of work orders that so many clients create, sent to a receiver. The turn's time gives their
// number: as many as the receiver could take in it. A delivery's time is from the turn's beginning to the receiver's
// answer.
func (b *bench) deliveries(p *process) []oneCase {
	const atOnce, takes = 8, 50 * time.Millisecond
	n := max(atOnce, int(atOnce*b.slice/takes))
	return []oneCase{
		{
			name: fmt.Sprintf("deliveries: %d at a time to a receiver that takes %s, as %d clients write", atOnce, takes,
				writers), clients: writers, target: "1,000 in 8 s",
			ours: func() (sample, error) { return b.deliver(p, &receiver{takes: takes}, atOnce, n) },
			floors: []floor{
				{"the exchanges alone", func() (sample, error) { return exchanges(&receiver{takes: takes}, atOnce, n) }}},
		},
		{
			name: "deliveries: in order to a receiver that answers at once", clients: 1, target: "0.95 x plain",
			ours:   func() (sample, error) { return b.deliver(p, &receiver{held: make(chan struct{})}, 1, n) },
			floors: []floor{{"plain commits", b.plainCommits}},
		},
	}
}

const writers = 16 // clients that cause events

// receiver takes deliveries.
type receiver struct {
	takes time.Duration
	held  chan struct{} // nil, or closed when it may answer

	mu      sync.Mutex
	arrived []time.Time
}

func (r *receiver) ServeHTTP(_ http.ResponseWriter, q *http.Request) {
	_, _ = io.Copy(io.Discard, q.Body)
	if r.held != nil {
		<-r.held
	}
	time.Sleep(r.takes)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrived = append(r.arrived, time.Now())
}

// listen serves the receiver until close is called.
func (r *receiver) listen() (url string, end func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	return "http://" + l.Addr().String() + "/", server.Close, nil
}

// wait waits until n deliveries were answered and returns them as a turn that began then.
func (r *receiver) wait(began time.Time, n int) (s sample, err error) {
	for until := began.Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		all := r.arrived
		r.mu.Unlock()
		switch {
		case len(all) >= n:
			for _, at := range all {
				s.Took = append(s.Took, at.Sub(began))
			}
			s.Ops, s.Wall = len(all), all[len(all)-1].Sub(began)
			return s, nil
		case time.Now().After(until):
			return s, fmt.Errorf("%d of %d deliveries arrived within two minutes", len(all), n)
		}
	}
}

// deliver causes n events and waits until the receiver has all of them. A held one gets the first when all have
// happened.
func (b *bench) deliver(p *process, r *receiver, parallel, n int) (s sample, err error) {
	url, end, err := r.listen()
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, end()) }()
	id, err := b.webhook("add", "--service", "maintenance", "--event", "workorder.created", "--url", url, "--parallel",
		fmt.Sprint(parallel))
	if err != nil {
		return s, err
	}
	defer func() {
		_, gone := b.webhook("remove", id, "--yes")
		err = errors.Join(err, gone)
	}()
	before, err := p.cpu()
	if err != nil {
		return s, err
	}
	began := time.Now()
	if err := b.create(p, n); err != nil {
		return s, err
	}
	if r.held != nil {
		began = time.Now()
		close(r.held)
	}
	if s, err = r.wait(began, n); err != nil {
		return s, err
	}
	after, err := p.cpu()
	s.CPU = after - before
	return s, err
}

// create creates n work orders, by several clients at once.
func (b *bench) create(p *process, n int) error {
	r := request("POST", "/api/work-orders", b.shop.keys["maintenance"],
		`{"asset_id":1,"description":"a bearing is worn"}`)
	var all sync.WaitGroup
	failed := make([]error, writers)
	for i := range writers {
		all.Go(func() {
			c, err := dial(p.addrs["maintenance"])
			if err != nil {
				failed[i] = err
				return
			}
			defer c.close()
			for range (n + i) / writers { // n in all
				if status, err := c.do(r); err != nil || status != http.StatusCreated {
					failed[i] = errors.Join(err, fmt.Errorf("creating a work order: status %d", status))
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// webhook runs a command of the program on receivers and returns the printed id.
func (b *bench) webhook(act string, args ...string) (id string, err error) {
	out, err := exec.Command(b.binary, append([]string{"webhook", act, "--db", b.path}, args...)...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("webhook %s: %w: %s", act, err, exit.Stderr)
		}
		return "", err
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimPrefix(line, "id: "), nil
}

// exchanges posts n bodies to a receiver, so many at a time, each over its own connection: the cost of deliveries
// without a database.
func exchanges(r *receiver, parallel, n int) (s sample, err error) {
	url, end, err := r.listen()
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, end()) }()
	began := time.Now()
	var all sync.WaitGroup
	failed := make([]error, parallel)
	transport := &http.Transport{DisableKeepAlives: true}
	for i := range parallel {
		all.Go(func() {
			for range (n + i) / parallel {
				q, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(make([]byte, 700)))
				if err != nil {
					failed[i] = err
					return
				}
				resp, err := transport.RoundTrip(q)
				if err != nil {
					failed[i] = err
					return
				}
				_ = resp.Body.Close()
			}
		})
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil {
		return s, err
	}
	return r.wait(began, n)
}
