//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"sync/atomic"
	"time"
)

// changedLists are lists whose time must depend only on their rows, also right after a change of a record in their
// sums, and the trail at the command line.
func (b *bench) changedLists(p, empty *process) []oneCase {
	s := b.shop
	nothing := floor{"empty handler", b.ask(empty, "empty", 1, always(request("GET", "/", "", "")))}
	reading := b.reading()
	count := func(_, n int) []byte {
		return request("POST", fmt.Sprintf("/api/skus/SKU-%06d/stock", 1+n*7919%s.skus), s.keys["reorder"],
			fmt.Sprintf(`{"set_to":%d}`, atomic.AddInt64(&s.shown, 1)%900))
	}
	var cases []oneCase
	for _, l := range []struct {
		name, service string
		write         func(client, n int) []byte
		list          []byte
	}{
		{"list: the first 20 of the reorder report, a SKU counted", "reorder", count,
			s.call("reorder", "reorder_report", `{"limit":20}`)},
		{"list: what to order, the page, a SKU counted", "reorder", count, s.browse("/")},
		{"list: SKUs, the page, a SKU counted", "reorder", count, s.browse("/skus")},
		{"list: 20 products below their reorder point, a SKU counted", "reorder", count,
			s.call("reorder", "list_products", `{"below_reorder":true,"limit":20}`)},
		{"list: plans that are overdue, a reading posted", "maintenance", reading,
			s.get("maintenance", "/api/pm-due?status=overdue")},
		{"list: what is due, the page, a reading posted", "maintenance", reading, s.browse("/pm-due")},
	} {
		cases = append(cases, oneCase{name: l.name, clients: 1, floors: []floor{nothing},
			ours: b.afterWrite(p, l.service, l.write, l.list)})
	}
	return append(cases, oneCase{
		name: "list: audit --service, the command", clients: 1, ours: b.runs("audit", "--service", "rental", "--limit", "20",
			"--json"),
		floors: []floor{{"the command that does nothing", b.runs("version")}},
	})
}

// afterWrite requests a list right after each of the service's own writes; the time is the list's, the processor time
// that of both.
func (b *bench) afterWrite(p *process, service string, write func(client, n int) []byte, list []byte) runner {
	return func() (sample, error) {
		return oneByOne(p, service, b.slice, func(c *client, n int) (time.Duration, error) {
			if status, err := c.do(write(0, n)); err != nil || status/100 != 2 {
				return 0, fmt.Errorf("the write before a list: status %d, %w", status, err)
			}
			return c.ask(list)
		})
	}
}

// runs runs the program with the arguments repeatedly.
func (b *bench) runs(args ...string) runner {
	return func() (s sample, err error) {
		if args[0] != "version" {
			args = append(args[:len(args):len(args)], "--db", b.path)
		}
		for began := time.Now(); s.Ops == 0 || time.Since(began) < b.slice; s.Ops++ {
			cmd := exec.Command(b.binary, args...) // #nosec G204 -- the measured program
			asked := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				return s, fmt.Errorf("%v: %w: %s", args, err, out)
			}
			s.Took = append(s.Took, time.Since(asked))
			s.Wall += s.Took[s.Ops]
			s.CPU += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		return s, nil
	}
}
