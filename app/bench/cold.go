//go:build linux

package main

import (
	"errors"
	"fmt"
	"time"
)

// writesBeside is the number of readings per second posted while cold runs.
const writesBeside = 50

// cold are requests without a cached answer: each is sent right after one of fifty writes a second was answered.
func (b *bench) cold(p *process) []oneCase {
	s := b.shop
	var cases []oneCase
	for _, q := range []struct{ name, service, path string }{
		{"work order by id", "maintenance", "/api/work-orders/7"},
		{"200 work orders", "maintenance", "/api/work-orders"},
		{"what is due of all plans", "maintenance", "/api/pm-due"},
		{"200 orders of the store", "store", "/api/orders?limit=200"},
		{"ledger of a lease", "rental", fmt.Sprintf("/api/leases/%d/ledger", s.leases/2)},
		{"arrears of all leases", "rental", "/api/arrears"},
		{"reorder report, all", "reorder", "/api/reorder-report?status=all"},
		{"reorder report, flagged", "reorder", "/api/reorder-report"},
	} {
		request := s.get(q.service, q.path)
		cases = append(cases, oneCase{
			name: fmt.Sprintf("under %d writes/s: %s", writesBeside, q.name), clients: 1,
			ours: b.underWrites(p, q.service, request), floors: []floor{b.afresh(p, q.service, request)},
		})
	}
	return cases
}

// underWrites posts fifty readings a second by one client; another one sends its request as soon as one is answered.
// The rate is over the time in which a request was open.
func (b *bench) underWrites(p *process, service string, request []byte) runner {
	return func() (s sample, err error) {
		answered, stop := make(chan struct{}), make(chan struct{})
		ended := make(chan error, 1)
		go func() { ended <- b.writeEvery(p, time.Second/writesBeside, answered, stop) }()
		defer func() {
			close(stop)
			err = errors.Join(err, <-ended)
		}()
		// the processor time includes the writes
		return oneByOne(p, service, 5*b.slice, func(c *client, _ int) (time.Duration, error) {
			select {
			case <-answered:
				return c.ask(request)
			case err := <-ended:
				ended <- nil
				return 0, err
			}
		})
	}
}

// writeEvery posts readings until stop is closed, and notifies a waiting client of each.
func (b *bench) writeEvery(p *process, every time.Duration, answered chan<- struct{}, stop <-chan struct{}) error {
	c, err := dial(p.addrs["maintenance"])
	if err != nil {
		return err
	}
	defer c.close()
	next, tick := b.reading(), time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return nil
		case <-tick.C:
		}
		if status, err := c.do(next(0, n)); err != nil || status >= 300 {
			return errors.Join(err, fmt.Errorf("a reading beside: status %d", status))
		}
		select {
		case answered <- struct{}{}:
		default: // the previous request is still open
		}
	}
}
